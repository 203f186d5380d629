/* SPDX-License-Identifier: ISC
 *
 * A separate thread drains the rings and writes the files, so that a disk that does not respond
 * delays neither the signals that are passed on to the program nor its end. The program never
 * waits: events that the ring cannot hold until the disk responds are lost, and counted.
 *
 * inotify reports new rings in the run directory. Each ring gives one stream, which is one file or
 * a series of files.
 */
#include "runs/stream/streaming.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include <weft/source.h>

#include "runs/message.h"
#include "runs/saving/name.h"

static const uint64_t WAIT_NS = 20000000;
/* Between two attempts to write to a full disk. */
static const uint64_t RETRY_NS = 50000000;
/* After the program's end: how long a disk may accept no bytes before we give up. */
static const uint64_t PATIENCE_NS = 3000000000;

static void sleep_ns(uint64_t ns)
{
	const struct timespec time = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
	nanosleep(&time, NULL);
}

/* ---- Rings ---- */

struct weft__ring_stream *weft__runs_stream_find(
	const struct weft__runs_stream *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->list[i]->ring.name, name) == 0)
			return s->list[i];
	return NULL;
}

char *weft__runs_stream_name(const struct weft__runs_stream *s, const struct weft__runs_ring *ring,
	const struct weft__runs_ring *before)
{
	char *name = weft__runs_name_trace(s->options.output, ring, before), *compressed;
	bool by_itself = weft__runs_is_directory(s->options.output) || before;
	size_t length = name ? strlen(name) : 0;
	if (!name || !s->options.compress || !by_itself ||
		(length > 4 && strcmp(name + length - 4, ".zst") == 0))
		return name;
	if (asprintf(&compressed, "%s.zst", name) < 0)
		compressed = NULL;
	free(name);
	return compressed;
}

/* Another ring of the run, of the same process if there is one: that has the shorter name, and its
 * file may not exist yet. */
static const struct weft__runs_ring *find_before(const struct weft__runs_stream *s, pid_t pid)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i]->ring.pid == pid)
			return &s->list[i]->ring;
	return s->count ? &s->list[0]->ring : NULL;
}

/* Returns the ring's stream; NULL: memory is short. */
static struct weft__ring_stream *add_stream(
	struct weft__runs_stream *s, const struct weft__runs_ring *ring, const char *path)
{
	struct weft__ring_stream **list = realloc(s->list, (s->count + 1) * sizeof(*list));
	if (!list)
		return NULL;
	s->list = list;
	struct weft__ring_stream *r = calloc(1, sizeof(*r));
	char *name = r ? weft__runs_stream_name(s, ring, find_before(s, ring->pid)) : NULL;
	if (!name) {
		free(r);
		return NULL;
	}
	r->ring = *ring;
	r->values = WEFT__RUNS_NO_VALUES;
	snprintf(r->path, sizeof(r->path), "%s", path);
	weft__runs_stream_file_init(&r->file, &s->options, name);
	return list[s->count++] = r;
}

static bool add_guest(void *stream, const struct weft__runs_ring *ring, struct weft_guest *guest)
{
	struct weft__runs_stream *s = stream;
	struct weft__ring_stream *r = add_stream(s, ring, ring->name);
	const void *bytes;
	size_t size;
	if (!r) {
		weft__runs_report("%s", strerror(ENOMEM));
		return false;
	}
	r->guest = guest;
	r->has_pages = weft_guest_bytes(guest, &bytes, &size);
	return true;
}

/* Adds the rings that are new in the directory. */
static void discover(struct weft__runs_stream *s)
{
	struct weft__runs_rings rings;
	if (s->guests)
		weft__runs_guests_look(s->guests, add_guest, s);
	if (!s->directory[0] || !weft__runs_rings_find(s->directory, 1, &rings))
		return;
	for (size_t i = 0; i < rings.count; i++) {
		char path[PATH_MAX + NAME_MAX + 1];
		snprintf(path, sizeof(path), "%s%s", s->directory, rings.list[i].name);
		if (!rings.list[i].is_failure && !weft__runs_stream_find(s, rings.list[i].name) &&
			!add_stream(s, &rings.list[i], path))
			weft__runs_report("%s", strerror(ENOMEM));
	}
	weft__runs_rings_finish(&rings);
}

static bool directory_has_changed(struct weft__runs_stream *s)
{
	char events[4096];
	bool changed = false;
	while (s->notify >= 0 && read(s->notify, events, sizeof(events)) > 0)
		changed = true;
	return changed;
}

/* ---- The thread ---- */

static struct weft__ring_stream *only_open(const struct weft__runs_stream *s)
{
	struct weft__ring_stream *only = NULL;
	for (size_t i = 0; i < s->count; i++) {
		if (s->list[i]->is_done)
			continue;
		if (only || !s->list[i]->stream)
			return NULL;
		only = s->list[i];
	}
	return only;
}

static bool any(const struct weft__runs_stream *s, bool stuck)
{
	for (size_t i = 0; i < s->count; i++)
		if (!s->list[i]->is_done && (!stuck || s->list[i]->is_stuck))
			return true;
	return false;
}

/* Waits until the directory changes or `ns` have passed. */
static void wait_for_rings(const struct weft__runs_stream *s, uint64_t ns)
{
	struct pollfd descriptor = {.fd = s->notify, .events = POLLIN};
	const struct timespec time = {0, (long)ns};
	ppoll(&descriptor, 1, &time, NULL);
}

static void wait(const struct weft__runs_stream *s, uint64_t *idle_ns)
{
	struct weft__ring_stream *only = only_open(s);
	if (any(s, true))
		sleep_ns(RETRY_NS);
	else if (only)
		weft_stream_wait(only->stream, WAIT_NS);
	else
		wait_for_rings(s, *idle_ns);
	*idle_ns = 2 * *idle_ns < WAIT_NS ? 2 * *idle_ns : WAIT_NS;
}

/* True if more rings may come. */
static bool goes_on(const struct weft__runs_stream *s)
{
	return s->guests ? weft__runs_guests_go_on(s->guests) : s->directory[0];
}

/* The disk accepts no more bytes. */
static void give_up(struct weft__runs_stream *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (!s->list[i]->is_done)
			weft__runs_ring_stream_give_up(s, s->list[i]);
}

static void *run_streams(void *context)
{
	struct weft__runs_stream *s = context;
	uint64_t idle_ns = 1000000;
	/* A process to which we attached may have made its ring before the directory was watched. */
	discover(s);
	for (;;) {
		/* Loaded first, so that the code below sees every ring that existed when it was set. */
		bool is_last = atomic_load(&s->stops), busy = false;
		if (directory_has_changed(s))
			busy = true;
		if (busy || (is_last && !s->guests) || s->notify < 0)
			discover(s);
		for (size_t i = 0; i < s->count; i++)
			busy |= weft__runs_ring_stream_serve(s, s->list[i], is_last);
		if ((is_last || !goes_on(s)) && !any(s, false))
			break;
		if (is_last && weft__runs_stream_now_ns() - atomic_load(&s->progress_ns) > PATIENCE_NS) {
			give_up(s);
			break;
		}
		if (busy)
			idle_ns = 1000000;
		else
			wait(s, &idle_ns);
	}
	atomic_store(&s->is_ended, true);
	return NULL;
}

void weft__runs_stream_destroy(struct weft__runs_stream *s)
{
	for (size_t i = 0; i < s->count; i++) {
		weft_stream_close(s->list[i]->stream);
		weft__runs_stream_values_finish(s->list[i]);
		weft__runs_stream_file_finish(&s->list[i]->file);
		free(s->list[i]);
	}
	weft__runs_guests_destroy(s->guests);
	if (s->notify >= 0)
		close(s->notify);
	free(s->list);
	free(s);
}

static struct weft__runs_stream *create(const struct weft__runs_stream_options *options)
{
	struct weft__runs_stream *s = calloc(1, sizeof(*s));
	if (!s || weft_source_survive_truncation() != 0) {
		free(s);
		weft__runs_report("%s", strerror(ENOMEM));
		return NULL;
	}
	s->options = *options;
	if (!options->has_max)
		s->options.max_bytes = weft__runs_stream_usual_limit(options);
	s->piece_bytes = weft__runs_stream_piece_bytes(&s->options);
	s->notify = -1;
	return s;
}

/* The thread blocks signals: the main thread waits for them. */
static bool start_thread(struct weft__runs_stream *s)
{
	sigset_t all, before;
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGSEGV);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&s->thread, NULL, run_streams, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		weft__runs_report("cannot start the thread that streams: %s", strerror(error));
	return !error;
}

struct weft__runs_stream *weft__runs_stream_start(
	const char *directory, const struct weft__runs_stream_options *options)
{
	struct weft__runs_stream *s = create(options);
	if (!s)
		return NULL;
	snprintf(s->directory, sizeof(s->directory), "%s", directory);
	s->notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (s->notify >= 0 && inotify_add_watch(s->notify, directory, IN_CREATE | IN_MOVED_TO) < 0) {
		close(s->notify);
		s->notify = -1;
	}
	if (start_thread(s))
		return s;
	weft__runs_stream_destroy(s);
	return NULL;
}

/* ---- The end ---- */

static bool is_interrupted(void)
{
	static const int wanted[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	sigset_t pending;
	if (sigpending(&pending) != 0)
		return false;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (sigismember(&pending, wanted[i]))
			return true;
	return false;
}

/* False: the thread hangs in a write, and a signal asks us not to wait for it. */
bool weft__runs_stream_stop(struct weft__runs_stream *s)
{
	uint64_t start = weft__runs_stream_now_ns();
	atomic_store(&s->progress_ns, start);
	atomic_store(&s->stops, true);
	while (!atomic_load(&s->is_ended)) {
		/* A signal that came earlier may have been meant for the program. */
		if (weft__runs_stream_now_ns() - start > PATIENCE_NS / 2 && is_interrupted()) {
			weft__runs_report(
				"interrupted; unwritten events stay in %s", weft__runs_shown(s->directory));
			return false;
		}
		sleep_ns(2000000);
	}
	return pthread_join(s->thread, NULL) == 0;
}

bool weft__runs_stream_is_complete(const struct weft__runs_stream *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i]->has_failed)
			return false;
	return true;
}

/* Updates which processes still run: that may have changed since their rings were found. */
static void note_running(struct weft__runs_stream *s, const struct weft__runs_rings *rings)
{
	for (size_t i = 0; i < rings->count; i++) {
		struct weft__ring_stream *r = weft__runs_stream_find(s, rings->list[i].name);
		if (r)
			r->ring.is_running = rings->list[i].is_running;
	}
}

bool weft__runs_stream_results(struct weft__runs_stream *s, const struct weft__runs_rings *rings,
	bool keep_all, struct weft__runs_saved **ret_list, size_t *ret_count, size_t *ret_left_out)
{
	struct weft__runs_saved *list = calloc(s->count + 1, sizeof(*list));
	size_t count = 0;
	if (!list)
		return false;
	if (rings)
		note_running(s, rings);
	*ret_left_out = rings ? weft__runs_stream_arrange(s, rings, keep_all) : 0;
	for (size_t i = 0; i < s->count; i++) {
		struct weft__ring_stream *r = s->list[i];
		if (r->file.count == 0)
			continue;
		r->result.files = r->file.count;
		r->result.bytes = r->file.total;
		r->result.unwritten = r->result.summary.events - r->written;
		list[count++] = (struct weft__runs_saved){.file = r->file.path,
			.path = r->path,
			.ring = &r->ring,
			.stream = r->has_pages ? NULL : &r->result};
	}
	*ret_list = list;
	*ret_count = count;
	return true;
}

/* ---- One process, or guests ---- */

void weft__runs_stream_wait(struct weft__runs_stream *s)
{
	static const int wanted[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	const struct timespec interval = {0, 20000000};
	sigset_t awaited;
	sigemptyset(&awaited);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		sigaddset(&awaited, wanted[i]);
	while (!atomic_load(&s->is_ended) && sigtimedwait(&awaited, NULL, &interval) < 0)
		continue;
}

static void block_signals(void)
{
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
}

struct weft__runs_stream *weft__runs_stream_start_guests(
	const struct weft__runs_guests_options *guests, const struct weft__runs_stream_options *options)
{
	struct weft__runs_stream *s = create(options);
	if (!s)
		return NULL;
	block_signals();
	s->guests = weft__runs_guests_create(guests);
	if (s->guests && start_thread(s))
		return s;
	weft__runs_stream_destroy(s);
	return NULL;
}

struct weft__runs_stream *weft__runs_stream_start_process(const char *path,
	const struct weft__runs_ring *ring, const struct weft__runs_stream_options *options)
{
	struct weft__runs_stream *s = create(options);
	if (!s)
		return NULL;
	block_signals();
	if (add_stream(s, ring, path) && start_thread(s))
		return s;
	weft__runs_stream_destroy(s);
	return NULL;
}
