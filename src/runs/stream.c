/* SPDX-License-Identifier: ISC
 *
 * A separate thread drains the rings and writes the files, so that a disk that does not respond
 * delays neither the signals that are passed on to the program nor its end. The program never
 * waits: events that the ring cannot hold until the disk responds are lost, and counted.
 *
 * inotify reports new rings in the run directory. Each ring gives one stream, which is one file or
 * a series of files.
 */
#include "runs/stream.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <weft/stream.h>

#include "runs/message.h"
#include "runs/name.h"
#include "runs/rings.h"

/* Large enough for few system calls, small enough to stay in the processor's cache. */
#define PIECE_BYTES ((size_t)1 << 20)

/* The largest packet in a stream; a header and some names. */
#define PACKET_MAX_BYTES ((size_t)66 << 10)
#define FRONT_BYTES      ((size_t)6 << 10)

/* Kept free below the limit for the table of names and the last header. */
#define LIMIT_RESERVE_BYTES ((uint64_t)2 << 20)

/* The default limit. */
#define LIMIT_USUAL_BYTES ((uint64_t)16 << 30)

/* Pieces written from one ring before the next ring's turn. */
#define PIECES_MAX 64

static const uint64_t WAIT_NS = 20000000;
/* Between two attempts to write to a full disk. */
static const uint64_t RETRY_NS = 50000000;
/* After the program's end: how long a disk may accept no bytes before we give up. */
static const uint64_t PATIENCE_NS = 3000000000;

struct ring_stream {
	struct weft__runs_ring ring;
	char path[PATH_MAX + NAME_MAX + 1];
	struct weft_stream *stream; /* NULL: the ring is still being made, or the stream has ended */
	struct weft__stream_file file;
	uint64_t written;     /* events in files */
	uint64_t before;      /* events in files before the present one */
	uint64_t whole_bytes; /* size of the present file up to the end of its last whole piece */
	bool has_ended;       /* no more events come, but a piece may be pending */
	bool ends_file;       /* the pending piece is the last of this file */
	bool is_done, is_stuck, has_failed;
	bool waits; /* too many streams: this one waits until another ends */
	struct weft__runs_stream_result result; /* complete after the end */
};

struct weft__runs_stream {
	char directory[PATH_MAX]; /* ends in a slash; empty: there is only one ring */
	struct weft__runs_stream_options options;
	size_t piece_bytes;
	bool is_full;              /* the limit is reached */
	struct ring_stream **list; /* in the order in which they were found */
	size_t count;
	int notify; /* inotify descriptor of the directory; -1: none */
	pthread_t thread;
	atomic_bool stops;    /* set when the program has ended, or by a signal */
	atomic_bool is_ended; /* set by the thread */
	atomic_uint_least64_t progress_ns;
};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
	const struct timespec time = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
	nanosleep(&time, NULL);
}

/* ---- Rings ---- */

static struct ring_stream *find(const struct weft__runs_stream *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->list[i]->ring.name, name) == 0)
			return s->list[i];
	return NULL;
}

static char *name_of(const struct weft__runs_stream *s, const struct weft__runs_ring *ring)
{
	const struct weft__runs_ring *before = s->count ? &s->list[s->count - 1]->ring : NULL;
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

static bool add(struct weft__runs_stream *s, const struct weft__runs_ring *ring, const char *path)
{
	struct ring_stream **list = realloc(s->list, (s->count + 1) * sizeof(*list));
	if (!list)
		return false;
	s->list = list;
	struct ring_stream *r = calloc(1, sizeof(*r));
	char *name = r ? name_of(s, ring) : NULL;
	if (!name) {
		free(r);
		return false;
	}
	r->ring = *ring;
	snprintf(r->path, sizeof(r->path), "%s", path);
	weft__stream_file_init(&r->file, &s->options, name);
	list[s->count++] = r;
	return true;
}

/* Adds the rings that are new in the directory. */
static void discover(struct weft__runs_stream *s)
{
	struct weft__runs_rings rings;
	if (!s->directory[0] || !weft__runs_rings_find(s->directory, 1, &rings))
		return;
	for (size_t i = 0; i < rings.count; i++) {
		char path[PATH_MAX + NAME_MAX + 1];
		snprintf(path, sizeof(path), "%s%s", s->directory, rings.list[i].name);
		if (!rings.list[i].is_failure && !find(s, rings.list[i].name) &&
			!add(s, &rings.list[i], path))
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

/* ---- One ring ---- */

static void fail(struct ring_stream *r, const char *what, const char *reason)
{
	weft__runs_report("%s: %s", weft__runs_shown(what), reason);
	r->has_failed = r->is_done = true;
}

/* Files left by another user's child must not decide the exit status. */
static void fail_to_open(struct ring_stream *r, const char *reason)
{
	fail(r, r->path, reason);
	r->has_failed = r->ring.is_ours;
}

/* A ring without magic is still being made, or will never be complete; it is tried again. */
static bool open_ring(struct weft__runs_stream *s, struct ring_stream *r)
{
	struct weft_ring_check check;
	int fd = weft_source_open_ring(r->path, r->ring.pid, WEFT_RING_WRITE, &check);
	if (fd < 0) {
		fail_to_open(r, check.reason);
		return false;
	}
	int error = weft_stream_open_descriptor(fd, s->piece_bytes, &r->stream);
	int reason = errno;
	close(fd);
	errno = reason;
	if (error == 0)
		return true;
	r->waits = error == WEFT_ERROR_LIMIT;
	if (!r->waits && error != WEFT_ERROR_EMPTY && error != WEFT_ERROR_FORMAT)
		fail_to_open(r, error == WEFT_ERROR_SYSTEM ? strerror(errno) : weft_error_text(error));
	return false;
}

static bool begin_file(struct weft__runs_stream *s, struct ring_stream *r)
{
	bool is_first = r->file.count == 0;
	if (is_first && !s->options.rotate_bytes && strcmp(r->file.name, "-") != 0 &&
		!weft__runs_file_is_free(r->file.name)) {
		r->has_failed = r->is_done = true;
		return false;
	}
	if (!weft__stream_file_begin(&r->file)) {
		r->is_stuck = true;
		return false;
	}
	weft_stream_begin(r->stream);
	return true;
}

/* ---- The limit ---- */

/* The most bytes that the next piece can take: at least one packet, with the header and names
 * before it. */
static size_t most_bytes(const struct weft__runs_stream *s)
{
	return (s->piece_bytes > PACKET_MAX_BYTES ? s->piece_bytes : PACKET_MAX_BYTES) + FRONT_BYTES;
}

/* The directory of the first trace. */
static void directory_of_output(const char *output, char ret_directory[PATH_MAX])
{
	bool is_directory = weft__runs_is_directory(output);
	const char *slash = output ? strrchr(output, '/') : NULL;
	if (is_directory)
		snprintf(ret_directory, PATH_MAX, "%s", output ? output : ".");
	else
		snprintf(ret_directory, PATH_MAX, "%.*s", slash ? (int)(slash - output) + 1 : 1,
			slash ? output : ".");
}

/* A program that records at full speed fills any disk. So by default half of the free space remains
 * free. With --rotate BYTES:N the user has named the space that the files may take. */
static uint64_t usual_limit(const struct weft__runs_stream_options *options)
{
	char directory[PATH_MAX];
	struct statvfs status;
	uint64_t kept;
	if (options->keep) {
		bool is_huge = __builtin_mul_overflow(options->keep, options->rotate_bytes, &kept);
		return is_huge ? 0 : kept > LIMIT_USUAL_BYTES ? kept : LIMIT_USUAL_BYTES;
	}
	directory_of_output(options->output, directory);
	if (statvfs(directory, &status) != 0)
		return LIMIT_USUAL_BYTES;
	uint64_t half = (uint64_t)status.f_bavail * status.f_frsize / 2;
	if (half < WEFT__RUNS_LIMIT_MIN_BYTES)
		half = WEFT__RUNS_LIMIT_MIN_BYTES;
	return half < LIMIT_USUAL_BYTES ? half : LIMIT_USUAL_BYTES;
}

/* Disk usage of all files of the run, in bytes. */
static uint64_t disk_bytes(const struct weft__runs_stream *s)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < s->count; i++)
		bytes += weft__stream_file_disk_bytes(&s->list[i]->file);
	return bytes;
}

/* True if one more piece would exceed the limit. Then all streams of the run end, except one to
 * standard output without --max-size, because it fills no disk of ours. */
static bool is_full(struct weft__runs_stream *s, const struct ring_stream *r)
{
	if (strcmp(r->file.name, "-") == 0 && !s->options.has_max)
		return false;
	uint64_t most = s->options.max_bytes;
	char text[32];
	if (!most || s->is_full || disk_bytes(s) + most_bytes(s) + LIMIT_RESERVE_BYTES <= most)
		return s->is_full;
	s->is_full = true;
	weft__runs_report(
		"the stream has reached its limit of %s, so it lacks later events; --max-size sets the limit",
		weft__runs_size_text(most, text));
	return true;
}

/* Counts the piece that was written, and begins the next file if it is due. */
static bool go_on(struct weft__runs_stream *s, struct ring_stream *r)
{
	atomic_store(&s->progress_ns, now_ns());
	r->written = weft_stream_describe(r->stream)->events;
	r->whole_bytes = r->file.bytes;
	if (r->has_ended && (r->ends_file || !s->options.compress)) {
		r->is_done = true;
		return false;
	}
	bool is_due = r->has_ended ||
				  (r->written > r->before && weft__stream_file_is_full(&r->file, most_bytes(s)));
	if (s->options.compress && is_due && !r->ends_file && r->file.count) {
		r->ends_file = true;
		return weft__stream_file_end(&r->file);
	}
	if (r->file.count == 0 || is_due) {
		if (!begin_file(s, r))
			return false;
		r->ends_file = false;
		r->before = r->written;
		r->whole_bytes = 0;
	}
	return true;
}

/* Writes one piece. False if there is none now, or if it cannot be written. */
static bool step(struct weft__runs_stream *s, struct ring_stream *r)
{
	const void *bytes;
	size_t size;
	r->is_stuck = !weft__stream_file_flush(&r->file);
	if (r->is_stuck && weft__stream_file_is_broken(&r->file))
		fail(r, r->file.path, strerror(r->file.error));
	if (r->is_stuck || !go_on(s, r))
		return false;
	if (r->ends_file)
		return true;
	if (!r->result.is_cut && !r->has_ended && is_full(s, r)) {
		weft_stream_cut(r->stream);
		r->result.is_cut = true;
	}
	int status = weft_stream_next(r->stream, &bytes, &size);
	if (status == WEFT_OK && weft__stream_file_put(&r->file, bytes, size))
		return true;
	r->has_ended = status == WEFT_END;
	if (status != WEFT_END && status != WEFT_AGAIN)
		fail(r, r->file.name, weft_error_text(WEFT_ERROR_MEMORY));
	return status == WEFT_END;
}

static void close_ring(struct ring_stream *r)
{
	r->result.summary = *weft_stream_describe(r->stream);
	weft_stream_close(r->stream);
	r->stream = NULL;
}

/* True if there was something to do. */
static bool serve(struct weft__runs_stream *s, struct ring_stream *r, bool is_last)
{
	bool busy = false;
	if (s->is_full && !r->stream)
		r->is_done = r->result.is_cut = true;
	if (r->is_done || (!r->stream && !open_ring(s, r))) {
		/* After the program's end no ring is completed any more. */
		r->is_done = r->is_done || (is_last && !r->waits);
		return false;
	}
	if (is_last)
		weft_stream_stop(r->stream);
	for (int i = 0; i < PIECES_MAX && step(s, r); i++)
		busy = true;
	if (r->is_done) {
		if (!r->has_failed && !weft__stream_file_sync(&r->file))
			fail(r, r->file.path, strerror(r->file.error));
		close_ring(r);
	}
	return busy || r->is_done;
}

/* ---- The thread ---- */

static struct ring_stream *only_open(const struct weft__runs_stream *s)
{
	struct ring_stream *only = NULL;
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
	struct ring_stream *only = only_open(s);
	if (any(s, true))
		sleep_ns(RETRY_NS);
	else if (only)
		weft_stream_wait(only->stream, WAIT_NS);
	else
		wait_for_rings(s, *idle_ns);
	*idle_ns = 2 * *idle_ns < WAIT_NS ? 2 * *idle_ns : WAIT_NS;
}

/* Takes the remaining events from the stream, which counts them, without writing them. */
static void pass_over(struct ring_stream *r)
{
	const void *bytes;
	size_t size;
	while (r->stream && weft_stream_next(r->stream, &bytes, &size) == WEFT_OK)
		continue;
}

/* Records in the file how many events are missing at its end. This overwrites the last bytes,
 * because the disk has no room for more. */
static void store_unwritten(struct ring_stream *r)
{
	uint64_t given = weft_stream_describe(r->stream)->events;
	if (weft__stream_file_is_rewritable(&r->file) &&
		weft_stream_abandon(r->stream, r->file.fd, r->whole_bytes, given - r->written) == 0)
		r->file.bytes = r->whole_bytes;
	else
		weft__runs_report("cannot note in %s that its end is missing",
			weft__runs_shown(r->file.path ? r->file.path : r->file.name));
	weft__stream_file_sync(&r->file);
}

/* The disk accepts no more bytes. Events that were not written stay in the ring as long as it holds
 * them. */
static void give_up(struct weft__runs_stream *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct ring_stream *r = s->list[i];
		if (r->is_done)
			continue;
		fail(r, r->file.path ? r->file.path : r->file.name,
			r->file.error ? strerror(r->file.error) : "not written");
		pass_over(r);
		if (r->stream) {
			store_unwritten(r);
			close_ring(r);
		}
	}
}

static void *run(void *context)
{
	struct weft__runs_stream *s = context;
	uint64_t idle_ns = 1000000;
	for (;;) {
		/* Loaded first, so that the code below sees every ring that existed when it was set. */
		bool is_last = atomic_load(&s->stops), busy = false;
		if (directory_has_changed(s))
			busy = true;
		if (busy || is_last || s->notify < 0)
			discover(s);
		for (size_t i = 0; i < s->count; i++)
			busy |= serve(s, s->list[i], is_last);
		if ((is_last || !s->directory[0]) && !any(s, false))
			break;
		if (is_last && now_ns() - atomic_load(&s->progress_ns) > PATIENCE_NS) {
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

static size_t piece_bytes(const struct weft__runs_stream_options *options)
{
	uint64_t whole = options->rotate_bytes;
	if (options->max_bytes && (!whole || options->max_bytes < whole))
		whole = options->max_bytes;
	uint64_t part = whole / 8;
	return part && part < PIECE_BYTES ? (size_t)part : PIECE_BYTES;
}

void weft__runs_stream_destroy(struct weft__runs_stream *s)
{
	for (size_t i = 0; i < s->count; i++) {
		weft_stream_close(s->list[i]->stream);
		weft__stream_file_finish(&s->list[i]->file);
		free(s->list[i]);
	}
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
		s->options.max_bytes = usual_limit(options);
	s->piece_bytes = piece_bytes(&s->options);
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
	int error = pthread_create(&s->thread, NULL, run, s);
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
	uint64_t start = now_ns();
	atomic_store(&s->progress_ns, start);
	atomic_store(&s->stops, true);
	while (!atomic_load(&s->is_ended)) {
		/* A signal that came earlier may have been meant for the program. */
		if (now_ns() - start > PATIENCE_NS / 2 && is_interrupted()) {
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
		struct ring_stream *r = find(s, rings->list[i].name);
		if (r)
			r->ring.is_running = rings->list[i].is_running;
	}
}

bool weft__runs_stream_results(struct weft__runs_stream *s, const struct weft__runs_rings *rings,
	struct weft__runs_saved **ret_list, size_t *ret_count)
{
	struct weft__runs_saved *list = calloc(s->count + 1, sizeof(*list));
	size_t count = 0;
	if (!list)
		return false;
	if (rings)
		note_running(s, rings);
	for (size_t i = 0; i < s->count; i++) {
		struct ring_stream *r = s->list[i];
		if (r->file.count == 0)
			continue;
		r->result.files = r->file.count;
		r->result.bytes = r->file.total;
		r->result.unwritten = r->result.summary.events - r->written;
		list[count++] = (struct weft__runs_saved){
			.file = r->file.path, .path = r->path, .ring = &r->ring, .stream = &r->result};
	}
	*ret_list = list;
	*ret_count = count;
	return true;
}

/* ---- One process ---- */

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

struct weft__runs_stream *weft__runs_stream_start_process(const char *path,
	const struct weft__runs_ring *ring, const struct weft__runs_stream_options *options)
{
	struct weft__runs_stream *s = create(options);
	sigset_t all;
	if (!s)
		return NULL;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	if (add(s, ring, path) && start_thread(s))
		return s;
	weft__runs_stream_destroy(s);
	return NULL;
}
