/* SPDX-License-Identifier: ISC
 *
 * Titles of processes. A program that forks workers may write what each of them does over its
 * arguments, as setproctitle() does, and `ps` shows that. The kernel reads it for us, so memory
 * that the program has given back is no danger.
 *
 * It is looked for before the main thread waits for the first, second, fourth, eighth … time, so
 * that a process that is killed has one, and again when the process ends.
 */
#include <fcntl.h>
#include <string.h>

#define WEFT_CATEGORY always
#include "hooks/hooks.h"
#include "hooks/unseen.h"
#include "kernel/call.h"

#define TITLE_BYTES 96

static char first[TITLE_BYTES]; /* the first argument, before the program could change it */
static char title[TITLE_BYTES];
static uint32_t epoch, waits, titles;

/* While this is true, no other thread can miss the descriptor that is open for a moment. */
extern char __libc_single_threaded __attribute__((weak));

static bool read_argument(char ret[static TITLE_BYTES])
{
	int fd = weft__kernel_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
	long size = fd < 0 ? 0 : weft__kernel_read(fd, ret, TITLE_BYTES - 1);
	if (fd >= 0)
		weft__kernel_close(fd);
	ret[size > 0 ? size : 0] = '\0';
	size_t end = strlen(ret);
	if (end == TITLE_BYTES - 1) { /* without its last letter, which may be cut */
		while (end && (ret[end - 1] & 0xc0) == 0x80)
			end--;
		end -= end > 0;
	}
	while (end && ret[end - 1] == ' ')
		end--;
	ret[end] = '\0';
	return end > 0;
}

void weft__hooks_title_begins(void)
{
	epoch = weft__hooks_epoch();
	waits = titles = 0;
	*title = '\0';
	if (epoch == 1)
		read_argument(first);
}

static void set(const char *now)
{
	struct weft__hooks_text fact = {0};
	uint64_t task = weft__hooks_main_task();
	if (epoch != weft__hooks_epoch() || !*now || strcmp(now, title) == 0)
		return;
	strcpy(title, now);
	weft__hooks_append_number(&fact, titles++); /* a title that comes back is a new fact */
	weft__hooks_append(&fact, " ");
	weft__hooks_append(&fact, title);
	fact.bytes[fact.size] = 0;
	weft__hooks_unseen_here("title", fact.bytes);
	weft_label_n_as(task, title, strlen(title));
}

static void find(void *unused)
{
	(void)unused;
	char now[TITLE_BYTES];
	if (read_argument(now) && strcmp(now, first) != 0)
		set(now);
}

static void take_name(void *unused)
{
	(void)unused;
	char now[16] = "";
	weft__kernel_thread_name(now);
	set(now);
}

/* Aside, because texts need more stack than a hook may use. */
static void call(void (*work)(void *))
{
	if (weft__hooks_main_task() == WEFT_TASK_NONE || !weft__hooks_system_begin())
		return;
	weft__hooks_aside(work, NULL);
	weft__hooks_system_end();
}

void weft__hooks_find_title(void)
{
	call(find);
}

void weft__hooks_title_named(void)
{
	call(take_name);
}

void weft__hooks_title_waits(void)
{
	if (&__libc_single_threaded == NULL || !__libc_single_threaded)
		return;
	uint32_t number = waits++;
	if ((number & (number - 1)) == 0)
		weft__hooks_find_title();
}
