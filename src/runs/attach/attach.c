/* SPDX-License-Identifier: ISC
 *
 * Stores a request in the page of a linked process and waits for its answer.
 *
 * The page is read and written by system calls, not mapped: a hostile process could have made one
 * that it can shorten. What it contains is copied before it is used.
 */
#include "runs/attach/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <weft/levels.h>
#include <weft/source.h>
#include <weft/watch.h>

#include "abi/attach_abi.h"
#include "runs/attach/answered.h"
#include "runs/attach/page.h"
#include "runs/directory/directory.h"
#include "runs/directory/find.h"
#include "runs/directory/rings.h"
#include "runs/message.h"
#include "source/process.h"

static const uint64_t LEASE_NS = 2000000000;

static uint64_t unix_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void pause_ms(unsigned ms)
{
	const struct timespec pause = {0, (long)ms * 1000000};
	nanosleep(&pause, NULL);
}

/* ---- The request ---- */

static bool store(int fd, const void *bytes, size_t size, size_t offset)
{
	return pwrite(fd, bytes, size, (off_t)offset) == (ssize_t)size;
}

#define STORE(fd, field, value)                                           \
	store(fd, &(__typeof__(((struct weft_abi_attach *)0)->field)){value}, \
		sizeof(((struct weft_abi_attach *)0)->field), offsetof(struct weft_abi_attach, field))

static bool load(int fd, struct weft_abi_attach *ret_page)
{
	return pread(fd, ret_page, sizeof(*ret_page), 0) == (ssize_t)sizeof(*ret_page);
}

/* False after a report, unless the page is one that we can use. */
static bool check(int fd, pid_t pid, struct weft_abi_attach *ret_page)
{
	if (!load(fd, ret_page) ||
		memcmp(ret_page->magic, WEFT_ABI_ATTACH_MAGIC, sizeof(ret_page->magic)) != 0)
		weft__runs_report("process %d: the page for requests is damaged", (int)pid);
	else if (ret_page->version != WEFT_ABI_ATTACH_VERSION)
		weft__runs_report("process %d has another version of libweft, which takes no requests of "
						  "this weft",
			(int)pid);
	else if (ret_page->owner != (uint32_t)weft__source_process_own_pid(pid))
		weft__runs_report(
			"process %d has no page for requests of its own: it was forked by clone() "
			"or by a process that may not make one",
			(int)pid);
	else if (flock(fd, LOCK_EX | LOCK_NB) != 0)
		weft__runs_report("process %d is asked by another weft just now; try again", (int)pid);
	else
		return true;
	return false;
}

static bool ask(int fd, const struct weft__runs_attach_options *options, uint32_t number)
{
	return STORE(fd, until_unix_ns, unix_ns() + LEASE_NS) &&
		   STORE(fd, ring_bytes, options->size_bytes) && STORE(fd, number, number) &&
		   STORE(fd, level, WEFT_LEVEL_MAX);
}

/* False after a report, unless the process still runs, and the caller waits. */
static bool is_awaited(const struct weft__runs_attach_options *options)
{
	enum weft__source_process state = weft__source_process_state(options->pid);
	if (state == WEFT__SOURCE_PROCESS_NONE || state == WEFT__SOURCE_PROCESS_ENDED)
		weft__runs_report("process %d ended before it made a recording call", (int)options->pid);
	else if (!options->goes_on(options->context))
		weft__runs_report(
			"process %d has made no recording call yet; nothing is recorded", (int)options->pid);
	else
		return true;
	return false;
}

static void report_waiting(pid_t pid)
{
	bool is_stopped = weft__source_process_state(pid) == WEFT__SOURCE_PROCESS_STOPPED;
	weft__runs_report(
		is_stopped ? "process %d is stopped, by a signal or a debugger; waiting until it goes "
					 "on and makes a recording call; Ctrl-C gives up"
				   : "waiting for the next recording call of process %d; Ctrl-C gives up",
		(int)pid);
}

/* Waits for the answer. False after a report, or if the caller gives up. */
static bool await(int fd, const struct weft__runs_attach_options *options, uint32_t number,
	struct weft_abi_attach *ret_page)
{
	struct weft_abi_attach *page = ret_page;
	bool is_loaded;
	for (unsigned turn = 0; (is_loaded = load(fd, page)) && page->answered != number; turn++) {
		if (!is_awaited(options))
			return false;
		if (turn == 100)
			report_waiting(options->pid);
		STORE(fd, until_unix_ns, unix_ns() + LEASE_NS);
		pause_ms(10);
	}
	page->reason[sizeof(page->reason) - 1] = '\0';
	page->directory[sizeof(page->directory) - 1] = '\0';
	if (!is_loaded)
		weft__runs_report("process %d: %s", (int)options->pid, strerror(errno));
	else if (page->reason[0])
		weft__runs_report(
			"process %d does not record: %s", (int)options->pid, weft__runs_shown(page->reason));
	return is_loaded && !page->reason[0];
}

static void report_unopened(pid_t pid)
{
	if (errno == ENOENT)
		weft__runs_report_unfound(pid);
	else
		weft__runs_report(
			"process %d: its page for requests cannot be opened: %s; if it has closed "
			"the descriptor, root can",
			(int)pid, strerror(errno));
}

/* The user of a process that has one. False after a report. */
static bool find_user(pid_t pid, uint64_t *ret_user)
{
	uint64_t users[4];
	bool good = weft__source_process_users(pid, users);
	for (int i = 1; i < 4 && good; i++)
		good = users[i] == users[0];
	if (good)
		*ret_user = users[0];
	else
		weft__runs_report("process %d acts for several users just now; try again later", (int)pid);
	return good;
}

/* Asks by the page. False after a report. */
static bool request(int fd, const struct weft__runs_attach_options *options, uint64_t user,
	char ret_directory[PATH_MAX])
{
	struct weft_abi_attach page;
	if (!check(fd, options->pid, &page))
		return false;
	uint32_t number = page.number + 1;
	bool good = ask(fd, options, number);
	if (!good)
		weft__runs_report("process %d: %s", (int)options->pid, strerror(errno));
	good = good && await(fd, options, number, &page);
	STORE(fd, level, 0);
	return good && weft__runs_answered_open(options->pid, user, page.directory, ret_directory);
}

/* The process may execute another program meanwhile, for another user. So its user is the one that
 * it had before its page was opened. */
bool weft__runs_attach(
	const struct weft__runs_attach_options *options, char ret_directory[PATH_MAX], pid_t *ret_pid)
{
	uint64_t user;
	if (weft__source_process_state(options->pid) < WEFT__SOURCE_PROCESS_STOPPED) {
		weft__runs_report_unfound(options->pid);
		return false;
	}
	if (!find_user(options->pid, &user))
		return false;
	int fd = weft__runs_page_open(options->pid);
	if (fd < 0) {
		report_unopened(options->pid);
		return false;
	}
	bool good = request(fd, options, user, ret_directory);
	close(fd); /* gives up the lock */
	if (!good)
		return false;
	weft__runs_directory_share(ret_directory);
	*ret_pid = weft__source_process_own_pid(options->pid);
	return true;
}

/* A directory in the process's own mount namespace is found below its root directory. */
bool weft__runs_reach(pid_t pid, const char *directory, char ret_directory[PATH_MAX])
{
	char root[32];
	uint64_t user;
	size_t size = (size_t)snprintf(
		root, sizeof(root), "/proc/%d/root", (int)weft__source_process_thread(pid));
	if (strncmp(directory, root, size) == 0)
		directory += size;
	return find_user(pid, &user) && weft__runs_answered_open(pid, user, directory, ret_directory);
}

/* ---- The end ---- */

static const unsigned STOP_WAIT_MS = 250;
/* A thread may be inside its last event, and wait for a processor. */
static const unsigned SETTLE_WAIT_MS = 1000;

struct weft__runs_detached {
	struct detached {
		struct weft_watch *watch;
		int fd;
		uint64_t packets_offset, size;
		struct weft__runs_ring ring;
		bool is_stopped;
	} * list;
	size_t count;
};

/* Opens a ring that its process may still write. */
static bool open_ring(
	const char *directory, const struct weft__runs_ring *ring, struct detached *ret_detached)
{
	char path[PATH_MAX + NAME_MAX + 1];
	struct weft_ring_check check;
	struct weft_abi_buffer header;
	snprintf(path, sizeof(path), "%s%s", directory, ring->name);
	int fd = weft_source_open_ring(path, ring->pid, WEFT_RING_WRITE, &check);
	if (fd < 0)
		return false;
	if (pread(fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
		weft_watch_open_descriptor(fd, &ret_detached->watch)) {
		close(fd);
		return false;
	}
	ret_detached->fd = fd;
	ret_detached->packets_offset = header.packets_offset;
	ret_detached->size = header.buffer_bytes;
	ret_detached->ring = *ring;
	ret_detached->is_stopped = false;
	return true;
}

/* True if all have stopped. */
static bool ask_to_stop(struct weft__runs_detached *detached)
{
	bool have_stopped = true;
	for (size_t i = 0; i < detached->count; i++) {
		struct detached *ring = &detached->list[i];
		if (!ring->is_stopped)
			ring->is_stopped = weft_watch_ask_stop(ring->watch);
		have_stopped &= ring->is_stopped;
	}
	return have_stopped;
}

/* True if a thread of a process that has stopped is still inside an event. */
static bool is_unsettled(const char *directory, const struct weft__runs_detached *detached)
{
	for (size_t i = 0; i < detached->count; i++)
		if (detached->list[i].is_stopped &&
			weft__runs_ring_is_running(directory, &detached->list[i].ring))
			return true;
	return false;
}

struct weft__runs_detached *weft__runs_detach(const char *directory)
{
	struct weft__runs_detached *detached = calloc(1, sizeof(*detached));
	struct weft__runs_rings rings;
	if (!detached || !weft__runs_rings_find(directory, 1, &rings))
		return detached;
	detached->list = calloc(rings.count + 1, sizeof(*detached->list));
	for (size_t i = 0; detached->list && i < rings.count; i++)
		if (!rings.list[i].is_failure && rings.list[i].is_running)
			detached->count +=
				open_ring(directory, &rings.list[i], &detached->list[detached->count]);
	weft__runs_rings_finish(&rings);
	for (unsigned ms = 0; !ask_to_stop(detached) && ms < STOP_WAIT_MS; ms += 5)
		pause_ms(5);
	for (unsigned ms = 0; is_unsettled(directory, detached) && ms < SETTLE_WAIT_MS; ms += 10)
		pause_ms(10);
	return detached;
}

/* The header and the slots of threads stay: threads may still look there. */
static void free_packets(const struct detached *ring)
{
	if (ring->packets_offset < ring->size)
		(void)fallocate(ring->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			(off_t)ring->packets_offset, (off_t)(ring->size - ring->packets_offset));
}

void weft__runs_detached_finish(struct weft__runs_detached *detached, bool is_saved)
{
	if (!detached)
		return;
	for (size_t i = 0; i < detached->count; i++) {
		if (is_saved)
			free_packets(&detached->list[i]);
		weft_watch_close(detached->list[i].watch);
		close(detached->list[i].fd);
	}
	free(detached->list);
	free(detached);
}
