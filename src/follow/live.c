/* SPDX-License-Identifier: ISC
 *
 * The file is mapped read-only, so that our bugs cannot damage a program's recording; except for
 * the header, if permitted, where one word says that a follower wants to be woken.
 */
#include "follow/live.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <weft/error.h>

#include "abi/buffer_abi.h"
#include "format/weft/buffer.h"
#include "format/weft/follow/mark.h"
#include "source/mapping.h"
#include "source/seed.h"

/* Limits the sleep, because an event that does not fill its packet wakes no follower. */
static const uint64_t WAIT_MAX_NS = 20000000;

uint64_t weft__follow_live_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void weft__follow_live_wait_slack(void)
{
	const struct timespec slack = {0, WEFT__MARK_SLACK_NS};
	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &slack, NULL) == EINTR)
		continue;
}

int weft__follow_live_map(
	int fd, const struct stat *status, int rights, void **ret_bytes, size_t *ret_size)
{
	*ret_bytes = NULL;
	*ret_size = (size_t)status->st_size;
	if (!S_ISREG(status->st_mode))
		return WEFT_ERROR_FORMAT;
	if (status->st_size == 0)
		return WEFT_ERROR_EMPTY;
	if ((size_t)status->st_size < sizeof(struct weft_abi_buffer))
		return WEFT_ERROR_FORMAT;
	void *bytes = mmap(NULL, *ret_size, rights, MAP_SHARED, fd, 0);
	if (bytes == MAP_FAILED)
		return WEFT_ERROR_SYSTEM;
	*ret_bytes = bytes;
	return weft__source_mapping_guard(bytes, *ret_size);
}

/* True if the header is complete, since the magic is stored last. An incomplete header has no pid,
 * which would look like an ended program. */
static bool is_complete(const struct weft__live_ring *live)
{
	bool has_magic = weft__format_buffer_probe(live->bytes, live->size);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return has_magic;
}

/* Maps the header for writing, if the descriptor permits that; only `waiters` is ever written. */
static void map_header(struct weft__live_ring *live, int fd)
{
	const struct weft_abi_buffer *header = live->bytes;
	struct stat status;
	void *page = MAP_FAILED;
	if (fstat(fd, &status) == 0 && status.st_ino == live->process.inode && !header->stream)
		page = mmap(NULL, sizeof(*header), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED && weft__source_mapping_guard(page, sizeof(*header)) == 0)
		live->page = page;
	else if (page != MAP_FAILED)
		munmap(page, sizeof(*header));
}

static int start(struct weft__live_ring *live, int fd)
{
	struct stat status;
	if (fstat(fd, &status) != 0)
		return WEFT_ERROR_SYSTEM;
	int error = weft__follow_live_map(fd, &status, PROT_READ, &live->bytes, &live->size);
	if (error)
		return error;
	if (!is_complete(live))
		return WEFT_ERROR_FORMAT;
	const struct weft_abi_buffer *header = live->bytes;
	live->clock = header->clock;
	weft__follow_process_open(&live->process, header->pid, status.st_ino);
	return 0;
}

int weft__follow_live_open_descriptor(struct weft__live_ring *live, int fd)
{
	*live = (struct weft__live_ring){.process = {.fd = -1}};
	weft__source_seed_hashes_once();
	int error = start(live, fd);
	if (!error)
		map_header(live, fd);
	return error;
}

int weft__follow_live_open(struct weft__live_ring *live, const char *path)
{
	*live = (struct weft__live_ring){.process = {.fd = -1}};
	/* Opening a FIFO does not block, and nothing is opened for writing before it was checked. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int error = fd < 0 ? WEFT_ERROR_SYSTEM : weft__follow_live_open_descriptor(live, fd);
	int reason = errno;
	if (fd >= 0)
		close(fd);
	if (!error && (fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) >= 0) {
		map_header(live, fd);
		close(fd);
	}
	errno = reason;
	return error;
}

/* Registers a wake-up, unless an earlier one is registered. Returns the word's value. */
static uint32_t register_waiter(struct weft_abi_buffer *header, uint32_t claims)
{
	uint32_t hand = (uint32_t)__atomic_load_n(&header->hand, __ATOMIC_RELAXED);
	uint32_t wish = hand + claims ? hand + claims : 1;
	uint32_t now = __atomic_load_n(&header->waiters, __ATOMIC_RELAXED);
	while (now == 0 || (int32_t)(wish - now) < 0)
		if (__atomic_compare_exchange_n(
				&header->waiters, &now, wish, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			return wish;
	return now;
}

bool weft__follow_live_wait(const struct weft__live_ring *live, uint32_t claims, uint64_t ns)
{
	struct weft_abi_buffer *header = live->page;
	if (ns > WAIT_MAX_NS)
		ns = WAIT_MAX_NS;
	if (!header || weft__follow_process_is_gone(&live->process)) /* a guest has neither */
		return weft__follow_process_sleep(&live->process, ns);
	uint32_t word = register_waiter(header, claims);
	const struct timespec time = {0, (long)ns};
	/* EAGAIN: woken before we slept. */
	return syscall(SYS_futex, &header->waiters, FUTEX_WAIT, word, &time, NULL, 0) == 0 ||
		   errno != EINTR;
}

void weft__follow_live_close(struct weft__live_ring *live)
{
	weft__follow_process_close(&live->process);
	if (!live->bytes || live->guest)
		return;
	if (live->page) {
		weft__source_mapping_release(live->page);
		munmap(live->page, sizeof(struct weft_abi_buffer));
		live->page = NULL;
	}
	weft__source_mapping_release(live->bytes);
	munmap(live->bytes, live->size);
	live->bytes = NULL;
}
