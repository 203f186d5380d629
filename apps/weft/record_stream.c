/* SPDX-License-Identifier: ISC
 *
 * A thread of its own takes what the rings hold and writes it; so a disk that does not answer keeps
 * neither the program's signals nor its end waiting. The program never waits: what its ring cannot
 * hold until the disk answers again is lost, and counted.
 *
 * Rings are found by their names in the run's directory, which the kernel says when it changes. One
 * ring, one stream, one file or series of files.
 */
#include "record_stream.h"

#include "cli.h"
#include "rings.h"

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

/* So much at once: few system calls, and still in the processor's cache when it is written. */
#define PIECE_BYTES ((size_t)1 << 20)

/* A packet in a stream; a header, and some names. */
#define PACKET_MAX_BYTES ((size_t)66 << 10)
#define FRONT_BYTES      ((size_t)6 << 10)

/* Left of the limit for what may come with the last piece: the table of names, and a last header.
 */
#define LIMIT_RESERVE_BYTES ((uint64_t)2 << 20)

/* Unless told. */
#define LIMIT_USUAL_BYTES ((uint64_t)16 << 30)

/* Pieces of one ring before others have their turn. */
#define PIECES_MAX 64

static const uint64_t WAIT_NS = 20000000;
/* Till a disk without room is tried again. */
static const uint64_t RETRY_NS = 50000000;
/* After the program's end a disk has so long to take anything more. */
static const uint64_t PATIENCE_NS = 3000000000;

struct ring_stream {
	struct record_ring ring;
	char path[PATH_MAX + NAME_MAX + 1];
	struct weft_stream *stream; /* NULL: not complete yet, or ended */
	struct stream_file file;
	struct weft_buffer_summary summary; /* as of the end */
	uint64_t written;                   /* events in files */
	uint64_t before;                    /* those that are in files before this one */
	uint64_t whole_bytes;               /* of the present file: those events, and no half piece */
	bool has_ended;                     /* nothing more comes; what is pending may still be */
	bool ends_file;                     /* what is pending is the last of this file */
	bool is_done, is_stuck, has_failed;
	bool waits;  /* for others to end: there are too many */
	bool is_cut; /* at the limit */
};

struct record_stream {
	char directory[PATH_MAX]; /* ends in a slash; empty: one ring is all */
	struct stream_options options;
	size_t piece_bytes;
	bool is_full;              /* the limit is reached */
	struct ring_stream **list; /* as they were found */
	size_t count;
	int notify; /* inotify of the directory, -1: none */
	pthread_t thread;
	atomic_bool stops;    /* the program has ended, or nothing more is wanted */
	atomic_bool is_ended; /* the thread has */
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

static struct ring_stream *find(const struct record_stream *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->list[i]->ring.name, name) == 0)
			return s->list[i];
	return NULL;
}

static char *name_of(const struct record_stream *s, const struct record_ring *ring)
{
	const struct record_ring *before = s->count ? &s->list[s->count - 1]->ring : NULL;
	char *name = record_name_trace(s->options.output, ring, before), *compressed;
	bool by_itself = record_output_is_directory(s->options.output) || before;
	size_t length = name ? strlen(name) : 0;
	if (!name || !s->options.compress || !by_itself ||
		(length > 4 && strcmp(name + length - 4, ".zst") == 0))
		return name;
	if (asprintf(&compressed, "%s.zst", name) < 0)
		compressed = NULL;
	free(name);
	return compressed;
}

static bool add(struct record_stream *s, const struct record_ring *ring, const char *path)
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
	stream_file_init(&r->file, &s->options, name);
	list[s->count++] = r;
	return true;
}

/* Rings that are not complete yet are tried again. */
static void discover(struct record_stream *s)
{
	struct record_rings rings;
	if (!s->directory[0] || !record_rings_find(s->directory, 1, &rings))
		return;
	for (size_t i = 0; i < rings.count; i++) {
		char path[PATH_MAX + NAME_MAX + 1];
		snprintf(path, sizeof(path), "%s%s", s->directory, rings.list[i].name);
		if (!rings.list[i].is_failure && !find(s, rings.list[i].name) &&
			!add(s, &rings.list[i], path))
			cli_error("%s", strerror(ENOMEM));
	}
	record_rings_finish(&rings);
}

static bool directory_has_changed(struct record_stream *s)
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
	cli_error("%s: %s", record_shown(what), reason);
	r->has_failed = r->is_done = true;
}

/* A child of another user must not decide our exit status by what it leaves. */
static void fail_to_open(struct ring_stream *r, const char *reason)
{
	fail(r, r->path, reason);
	r->has_failed = r->ring.is_ours;
}

/* A ring that is still being made has no magic; one that will never have it stays as it is. */
static bool open_ring(struct record_stream *s, struct ring_stream *r)
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

static bool begin_file(struct record_stream *s, struct ring_stream *r)
{
	bool is_first = r->file.count == 0;
	if (is_first && !s->options.rotate_bytes && strcmp(r->file.name, "-") != 0 &&
		!record_file_is_free(r->file.name)) {
		r->has_failed = r->is_done = true;
		return false;
	}
	if (!stream_file_begin(&r->file)) {
		r->is_stuck = true;
		return false;
	}
	weft_stream_begin(r->stream);
	return true;
}

/* ---- The limit ---- */

/* What the next piece may take: a packet at least, and what comes before packets. */
static size_t most_bytes(const struct record_stream *s)
{
	return (s->piece_bytes > PACKET_MAX_BYTES ? s->piece_bytes : PACKET_MAX_BYTES) + FRONT_BYTES;
}

/* Where the first trace goes. */
static void directory_of_output(const char *output, char ret_directory[PATH_MAX])
{
	bool is_directory = record_output_is_directory(output);
	const char *slash = output ? strrchr(output, '/') : NULL;
	if (is_directory)
		snprintf(ret_directory, PATH_MAX, "%s", output ? output : ".");
	else
		snprintf(ret_directory, PATH_MAX, "%.*s", slash ? (int)(slash - output) + 1 : 1,
			slash ? output : ".");
}

/* A program may fill any disk by recording as fast as it can. Unless told otherwise there stays
 * half of what is free; files that are rotated, the oldest being removed, are told. */
static uint64_t usual_limit(const struct stream_options *options)
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
	if (half < RECORD_LIMIT_MIN_BYTES)
		half = RECORD_LIMIT_MIN_BYTES;
	return half < LIMIT_USUAL_BYTES ? half : LIMIT_USUAL_BYTES;
}

/* What the run has on disk. */
static uint64_t disk_bytes(const struct record_stream *s)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < s->count; i++)
		bytes += stream_file_disk_bytes(&s->list[i]->file);
	return bytes;
}

/* Would one more piece pass the limit? Once it would, all streams of the run end, but for one to
 * standard output, whose reader knows what it keeps. */
static bool is_full(struct record_stream *s, const struct ring_stream *r)
{
	if (strcmp(r->file.name, "-") == 0 && !s->options.has_max)
		return false;
	uint64_t most = s->options.max_bytes;
	char text[32];
	if (!most || s->is_full || disk_bytes(s) + most_bytes(s) + LIMIT_RESERVE_BYTES <= most)
		return s->is_full;
	s->is_full = true;
	cli_error("the stream has reached its limit of %s: what is recorded from now on is not in it; "
			  "--max-size says how much may be written",
		record_size_text(most, text));
	return true;
}

/* What was pending is in the file. */
static bool go_on(struct record_stream *s, struct ring_stream *r)
{
	atomic_store(&s->progress_ns, now_ns());
	r->written = weft_stream_describe(r->stream)->events;
	r->whole_bytes = r->file.bytes;
	if (r->has_ended && (r->ends_file || !s->options.compress)) {
		r->is_done = true;
		return false;
	}
	bool is_due =
		r->has_ended || (r->written > r->before && stream_file_is_full(&r->file, most_bytes(s)));
	if (s->options.compress && is_due && !r->ends_file && r->file.count) {
		r->ends_file = true;
		return stream_file_end(&r->file);
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

/* One step with what it has now. False: there is nothing to do, or it can't be done. */
static bool step(struct record_stream *s, struct ring_stream *r)
{
	const void *bytes;
	size_t size;
	r->is_stuck = !stream_file_flush(&r->file);
	if (r->is_stuck && stream_file_is_broken(&r->file))
		fail(r, r->file.path, strerror(r->file.error));
	if (r->is_stuck || !go_on(s, r))
		return false;
	if (r->ends_file)
		return true;
	if (!r->is_cut && !r->has_ended && is_full(s, r)) {
		weft_stream_cut(r->stream);
		r->is_cut = true;
	}
	int status = weft_stream_next(r->stream, &bytes, &size);
	if (status == WEFT_OK && stream_file_put(&r->file, bytes, size))
		return true;
	r->has_ended = status == WEFT_END;
	if (status != WEFT_END && status != WEFT_AGAIN)
		fail(r, r->file.name, weft_error_text(WEFT_ERROR_MEMORY));
	return status == WEFT_END;
}

static void close_ring(struct ring_stream *r)
{
	r->summary = *weft_stream_describe(r->stream);
	weft_stream_close(r->stream);
	r->stream = NULL;
}

/* True if it had anything to do. */
static bool serve(struct record_stream *s, struct ring_stream *r, bool is_last)
{
	bool busy = false;
	if (s->is_full && !r->stream)
		r->is_done = r->is_cut = true;
	if (r->is_done || (!r->stream && !open_ring(s, r))) {
		/* When all is over nobody completes a ring any more. */
		r->is_done = r->is_done || (is_last && !r->waits);
		return false;
	}
	if (is_last)
		weft_stream_stop(r->stream);
	for (int i = 0; i < PIECES_MAX && step(s, r); i++)
		busy = true;
	if (r->is_done) {
		if (!r->has_failed && !stream_file_sync(&r->file))
			fail(r, r->file.path, strerror(r->file.error));
		close_ring(r);
	}
	return busy || r->is_done;
}

/* ---- The thread ---- */

static struct ring_stream *only_open(const struct record_stream *s)
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

static bool any(const struct record_stream *s, bool stuck)
{
	for (size_t i = 0; i < s->count; i++)
		if (!s->list[i]->is_done && (!stuck || s->list[i]->is_stuck))
			return true;
	return false;
}

/* Until a ring may have come, or so long. */
static void wait_for_rings(const struct record_stream *s, uint64_t ns)
{
	struct pollfd descriptor = {.fd = s->notify, .events = POLLIN};
	const struct timespec time = {0, (long)ns};
	ppoll(&descriptor, 1, &time, NULL);
}

static void wait(const struct record_stream *s, uint64_t *idle_ns)
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

/* What can't be written is counted. */
static void pass_over(struct ring_stream *r)
{
	const void *bytes;
	size_t size;
	while (r->stream && weft_stream_next(r->stream, &bytes, &size) == WEFT_OK)
		continue;
}

/* The file tells what it misses, though there is no room for another byte. */
static void tell_unwritten(struct ring_stream *r)
{
	uint64_t given = weft_stream_describe(r->stream)->events;
	if (stream_file_is_rewritable(&r->file) &&
		weft_stream_abandon(r->stream, r->file.fd, r->whole_bytes, given - r->written) == 0)
		r->file.bytes = r->whole_bytes;
	else
		cli_error("%s cannot say that its end is missing",
			record_shown(r->file.path ? r->file.path : r->file.name));
	stream_file_sync(&r->file);
}

/* The disk takes nothing any more: what is not written stays in the ring, as far as that holds it.
 */
static void give_up(struct record_stream *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct ring_stream *r = s->list[i];
		if (r->is_done)
			continue;
		fail(r, r->file.path ? r->file.path : r->file.name,
			r->file.error ? strerror(r->file.error) : "not written");
		pass_over(r);
		if (r->stream) {
			tell_unwritten(r);
			close_ring(r);
		}
	}
}

static void *run(void *context)
{
	struct record_stream *s = context;
	uint64_t idle_ns = 1000000;
	for (;;) {
		/* Asked first: what was there when all ended is seen after this. */
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

static size_t piece_bytes(const struct stream_options *options)
{
	uint64_t whole = options->rotate_bytes;
	if (options->max_bytes && (!whole || options->max_bytes < whole))
		whole = options->max_bytes;
	uint64_t part = whole / 8;
	return part && part < PIECE_BYTES ? (size_t)part : PIECE_BYTES;
}

static void destroy(struct record_stream *s)
{
	for (size_t i = 0; i < s->count; i++) {
		weft_stream_close(s->list[i]->stream);
		stream_file_finish(&s->list[i]->file);
		free(s->list[i]);
	}
	if (s->notify >= 0)
		close(s->notify);
	free(s->list);
	free(s);
}

static struct record_stream *create(const struct stream_options *options)
{
	struct record_stream *s = calloc(1, sizeof(*s));
	if (!s || weft_source_survive_truncation() != 0) {
		free(s);
		cli_error("%s", strerror(ENOMEM));
		return NULL;
	}
	s->options = *options;
	if (!options->has_max)
		s->options.max_bytes = usual_limit(options);
	s->piece_bytes = piece_bytes(&s->options);
	s->notify = -1;
	return s;
}

/* Signals are for the thread that waits for them. */
static bool start_thread(struct record_stream *s)
{
	sigset_t all, before;
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGSEGV);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&s->thread, NULL, run, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error)
		cli_error("no thread: %s", strerror(error));
	return !error;
}

struct record_stream *record_stream_start(
	const char *directory, const struct stream_options *options)
{
	struct record_stream *s = create(options);
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
	destroy(s);
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

/* False: it hangs in a write, and somebody does not want to wait for that. */
static bool stop(struct record_stream *s)
{
	uint64_t start = now_ns();
	atomic_store(&s->progress_ns, start);
	atomic_store(&s->stops, true);
	while (!atomic_load(&s->is_ended)) {
		/* In the first moments a signal may have been meant for the program. */
		if (now_ns() - start > PATIENCE_NS / 2 && is_interrupted()) {
			cli_error("interrupted; what is not written stays in %s", record_shown(s->directory));
			return false;
		}
		sleep_ns(2000000);
	}
	return pthread_join(s->thread, NULL) == 0;
}

static bool is_good(const struct record_stream *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->list[i]->has_failed)
			return false;
	return true;
}

static void report(const struct record_stream *s)
{
	struct record_saved *saved = calloc(s->count + 1, sizeof(*saved));
	size_t count = 0;
	for (size_t i = 0; saved && i < s->count; i++) {
		const struct ring_stream *r = s->list[i];
		if (r->file.count == 0)
			continue;
		saved[count++] = (struct record_saved){
			.file = r->file.path,
			.path = s->list[i]->path,
			.ring = &r->ring,
			.stream = &r->summary,
			.stream_files = r->file.count,
			.stream_bytes = r->file.total,
			.unwritten = r->summary.events - r->written,
			.is_cut = r->is_cut,
		};
	}
	if (count)
		record_report(saved, count);
	free(saved);
}

/* Which processes run on was not known when their rings were found. */
static void note_running(struct record_stream *s, const struct record_rings *rings)
{
	for (size_t i = 0; i < rings->count; i++) {
		struct ring_stream *r = find(s, rings->list[i].name);
		if (r)
			r->ring.is_running = rings->list[i].is_running;
	}
}

/* Who did not record, and why. */
static void report_failures(const struct record_stream *s, const struct record_rings *rings)
{
	record_report_failures(s->directory, rings);
	record_report_skipped(s->directory, rings);
	for (size_t i = 0; i < s->count; i++)
		record_report_refused(s->list[i]->path, s->list[i]->ring.pid);
}

bool record_stream_finish(struct record_stream *s, pid_t program, const char *program_name)
{
	struct record_rings rings;
	if (!stop(s))
		return false; /* the thread has what there is */
	bool good = is_good(s);
	if (!record_rings_find(s->directory, program, &rings)) {
		destroy(s);
		return false;
	}
	note_running(s, &rings);
	report_failures(s, &rings);
	report(s);
	if (rings.count == 0 && program_name)
		record_report_nothing(program_name);
	if (good)
		record_place_remove(s->directory, &rings, false);
	else
		cli_error("what is not written stays in %s; `weft record --recover` saves it",
			record_shown(s->directory));
	record_rings_finish(&rings);
	destroy(s);
	return good;
}

/* ---- A process that is there already ---- */

static void wait_for_end(struct record_stream *s)
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

int record_stream_process(
	const char *path, const struct record_ring *ring, const struct stream_options *options)
{
	struct record_stream *s = create(options);
	sigset_t all;
	if (!s)
		return RECORD_FAILED;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	if (!add(s, ring, path) || !start_thread(s)) {
		destroy(s);
		return RECORD_FAILED;
	}
	wait_for_end(s);
	if (!stop(s))
		return RECORD_FAILED;
	bool good = is_good(s);
	report(s);
	destroy(s);
	return good ? CLI_DONE : RECORD_FAILED;
}
