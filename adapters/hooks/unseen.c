/* SPDX-License-Identifier: ISC
 *
 * Facts about what cannot be recorded. They are names in the buffer, of which readers make
 * sentences. Each is something that was observed: nothing is guessed.
 *
 * A program has few such facts, so a small table serves; what it has no room for is recorded all
 * the same, but not again in children.
 */
#include <fcntl.h>
#include <string.h>

#define WEFT_CATEGORY thread
#include "hooks/unseen.h"
#include "kernel/call.h"

/* ---- The facts of the process ---- */

#define FACTS      32
#define WHAT_BYTES 256

static struct fact {
	uint32_t state; /* FREE, TAKEN or KEPT */
	const char *key;
	char what[WHAT_BYTES];
} facts[FACTS];

enum {
	FREE,
	TAKEN,
	KEPT
};

static bool is_kept(const char *key, const char *what)
{
	for (int i = 0; i < FACTS; i++)
		if (__atomic_load_n(&facts[i].state, __ATOMIC_ACQUIRE) == KEPT &&
			strcmp(facts[i].key, key) == 0 && strcmp(facts[i].what, what) == 0)
			return true;
	return false;
}

static void keep(const char *key, const char *what)
{
	for (int i = 0; i < FACTS; i++) {
		uint32_t is = FREE;
		if (!__atomic_compare_exchange_n(
				&facts[i].state, &is, TAKEN, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		facts[i].key = key;
		strcpy(facts[i].what, what);
		__atomic_store_n(&facts[i].state, KEPT, __ATOMIC_RELEASE);
		return;
	}
}

/* Readers refuse control characters, which a file's name may have. The end of a long path says
 * more than its beginning. */
static void clean(char ret[static WHAT_BYTES], const char *what)
{
	size_t size = strlen(what);
	strcpy(ret, size < WHAT_BYTES ? what : what + size - WHAT_BYTES + 1);
	for (char *it = ret; *it; it++)
		if ((unsigned char)*it < ' ')
			*it = '?';
}

void weft__hooks_unseen_here(const char *key, const char *what)
{
	char text[WHAT_BYTES];
	clean(text, what);
	weft__unseen(key, text);
}

struct fact_words {
	const char *key, *what;
};

static void record(void *of)
{
	const struct fact_words *it = of;
	char text[WHAT_BYTES];
	clean(text, it->what);
	if (is_kept(it->key, text))
		return;
	keep(it->key, text);
	weft__unseen(it->key, text);
}

void weft__hooks_unseen(const char *key, const char *what)
{
	struct fact_words words = {key, what};
	weft__hooks_aside(record, &words);
}

void weft__hooks_unseen_inherited(void)
{
	for (int i = 0; i < FACTS; i++)
		if (__atomic_load_n(&facts[i].state, __ATOMIC_ACQUIRE) == KEPT)
			weft__unseen(facts[i].key, facts[i].what);
}

/* ---- Files of /proc ---- */

static int open_file(const char *path, int flags)
{
	return weft__kernel_open(path, flags | O_RDONLY | O_CLOEXEC, 0);
}

/* ---- Threads ---- */

/* True for threads of the kernel, for io_uring, which it shows among those of the process. */
static bool is_kernels(const char *thread)
{
	struct weft__hooks_text path = {0};
	char name[4] = "";
	weft__hooks_append(&path, "/proc/self/task/");
	weft__hooks_append(&path, thread);
	weft__hooks_append(&path, "/comm");
	path.bytes[path.size] = '\0';
	int fd = open_file(path.bytes, 0);
	if (fd < 0)
		return true; /* it has ended */
	long size = weft__kernel_read(fd, name, sizeof(name));
	weft__kernel_close(fd);
	return size == sizeof(name) && memcmp(name, "iou-", sizeof(name)) == 0;
}

static bool is_unknown(const char *thread)
{
	uint32_t number = 0;
	for (const char *digit = thread; *digit >= '0' && *digit <= '9'; digit++)
		number = number * 10 + (uint32_t)(*digit - '0');
	return number && !weft__hooks_may_know_thread(number) && !is_kernels(thread);
}

struct entry {
	uint64_t inode, offset;
	uint16_t bytes;
	unsigned char type;
	char name[];
};

static uint32_t count_unknown(int fd)
{
	_Alignas(struct entry) char bytes[512];
	uint32_t count = 0;
	for (long size;
		 (size = weft__kernel_call(SYS_getdents64, fd, (long)bytes, sizeof(bytes), 0, 0, 0)) > 0;)
		for (long at = 0; at < size; at += ((struct entry *)(bytes + at))->bytes)
			count += is_unknown(((struct entry *)(bytes + at))->name);
	return count;
}

/* Threads that a hook has seen created may not have begun yet. */
static void report_threads(void)
{
	int fd = open_file("/proc/self/task", O_DIRECTORY);
	if (fd < 0)
		return;
	uint32_t unborn = weft__hooks_unborn(0), count = count_unknown(fd);
	weft__kernel_close(fd);
	if (count <= unborn)
		return;
	struct weft__hooks_text text = {0};
	weft__hooks_append_number(&text, count - unborn);
	weft__hooks_append(&text, count - unborn == 1 ? " thread" : " threads");
	text.bytes[text.size] = '\0';
	weft__hooks_unseen_here("threads", text.bytes);
}

/* ---- io_uring ---- */

/* A ring is mapped while it is used, also one that a library has made by instructions of its own,
 * not by syscall(). */
static unsigned count_rings(int fd)
{
	static const char mark[] = "anon_inode:[io_uring]";
	char bytes[512];
	size_t matched = 0;
	unsigned count = 0;
	for (long size; (size = weft__kernel_read(fd, bytes, sizeof(bytes))) > 0;)
		for (long i = 0; i < size; i++) {
			matched = bytes[i] == mark[matched] ? matched + 1 : bytes[i] == mark[0];
			count += matched == sizeof(mark) - 1;
		}
	return count;
}

static unsigned (*known_rings)(void);

void weft__hooks_offer_rings(unsigned (*function)(void))
{
	known_rings = function;
}

static void report_rings(void)
{
	int fd = open_file("/proc/self/maps", 0);
	if (fd < 0)
		return;
	unsigned count = count_rings(fd);
	weft__kernel_close(fd);
	if (count > (known_rings ? known_rings() : 0))
		weft__hooks_unseen("io_uring", "the process");
}

void weft__hooks_unseen_at_end(void)
{
	report_rings();
	if (weft_enabled(WEFT_LEVEL_INFO))
		report_threads();
}
