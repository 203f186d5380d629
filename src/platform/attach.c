/* SPDX-License-Identifier: ISC
 *
 * The page through which another process asks this one to record (abi/attach_abi.h).
 *
 * It is a memfd, whose mapping and descriptor other processes find in /proc. Only our user and root
 * can open it there; it cannot be shortened, so neither side can take the memory from the other.
 * Forked children share it. The descriptor stays open: without it only root could open the page. It
 * has a number above those that shells and daemons assign, and within the kernel's first table of
 * 64, so that no other descriptor moves and no table grows.
 */
#include "platform/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "abi/attach_abi.h"
#include "record/atomics.h"

#define DESCRIPTOR_MIN 50

static struct weft_abi_attach *page;

/* ---- The page ---- */

/* A limit on the size of files would end the program by SIGXFSZ. */
static bool may_grow(void)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= WEFT_ABI_ATTACH_BYTES;
}

static int make_file(void)
{
	int low = memfd_create(WEFT_ABI_ATTACH_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (low < 0)
		return -1;
	int fd = fcntl(low, F_DUPFD_CLOEXEC, DESCRIPTOR_MIN);
	close(low);
	if (fd >= 0 && fchmod(fd, 0600) == 0 && ftruncate(fd, WEFT_ABI_ATTACH_BYTES) == 0 &&
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

const uint8_t *weft__attach_offer(void)
{
	int fd = may_grow() ? make_file() : -1;
	if (fd < 0)
		return NULL;
	void *memory = mmap(NULL, WEFT_ABI_ATTACH_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		close(fd);
		return NULL;
	}
	page = memory;
	page->version = WEFT_ABI_ATTACH_VERSION;
	weft__fence_release();
	memcpy(page->magic, WEFT_ABI_ATTACH_MAGIC, sizeof(page->magic));
	return &page->level;
}

/* ---- Requests ---- */

bool weft__attach_is_for_us(void)
{
	return page && weft__load(&page->level) && weft__load(&page->pid) == (uint32_t)getpid();
}

static bool is_void(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	return now_ns > weft__load(&page->until_unix_ns);
}

/* Copies a text that may change meanwhile. False if it has no NUL. */
static bool copy_text(char *to, const char *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!(to[i] = weft__load(&from[i])))
			return true;
	return false;
}

bool weft__attach_take(struct weft__attach_request *ret_request)
{
	struct weft__attach_request *request = ret_request;
	if (!weft__attach_is_for_us())
		return false;
	request->number = weft__load_acquire(&page->number);
	request->ring_bytes = weft__load(&page->ring_bytes);
	_Static_assert(sizeof(request->directory) == sizeof(page->directory), "directory");
	if (is_void()) {
		weft__store(&page->level, 0);
		return false;
	}
	bool is_whole = copy_text(request->directory, page->directory, sizeof(page->directory));
	size_t length = is_whole ? strlen(request->directory) : 0;
	if (length && request->directory[0] == '/' && request->directory[length - 1] == '/')
		return true;
	weft__attach_answer(request->number, "the request is malformed");
	return false;
}

/* The level first: once another process sees the answer, it may store its next request. */
void weft__attach_answer(uint32_t number, const char *reason)
{
	size_t size = strnlen(reason, sizeof(page->reason) - 1);
	for (size_t i = 0; i < size; i++)
		weft__store(&page->reason[i], reason[i]);
	weft__store(&page->reason[size], '\0');
	weft__store(&page->level, 0);
	weft__store_release(&page->answered, number);
}

/* The environment of a set-user-ID program is its caller's, who must not make it write files. */
bool weft__attach_is_wanted(void)
{
	const char *wanted = secure_getenv("WEFT_ATTACH");
	if (getauxval(AT_SECURE))
		return false;
	if (!wanted || !*wanted)
		return true;
	if (strcmp(wanted, "none") != 0)
		weft__linux_report("WEFT_ATTACH", "the only value is none");
	return false;
}
