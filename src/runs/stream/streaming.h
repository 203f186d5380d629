/* SPDX-License-Identifier: ISC
 *
 * The internals of streaming.
 *
 *     stream.c        the thread that serves all rings of a run
 *     stream_ring.c   the stream of one ring
 *     stream_limit.c  how much may be written
 *     stream_file.c   the file that is written
 *     stream_values.c the values of metrics and counters at its end
 */
#ifndef WEFT_RUNS_STREAMING_H
#define WEFT_RUNS_STREAMING_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include <weft/stream.h>

#include "runs/directory/rings.h"
#include "runs/guests/guests.h"
#include "runs/saving/values.h"
#include "runs/saving/wall_clock.h"
#include "runs/stream/stream.h"

struct weft__ring_stream {
	struct weft__runs_ring ring;
	char path[PATH_MAX + NAME_MAX + 1];
	struct weft_guest *guest;   /* of Xen, whose buffer it is; NULL: the ring is a file */
	struct weft_stream *stream; /* NULL: the ring is still being made, or the stream has ended */
	struct weft__stream_file file;
	uint64_t written;     /* events in files */
	uint64_t before;      /* events in files before the present one */
	uint64_t whole_bytes; /* size of the present file up to the end of its last whole piece */
	/* The error of the wall clock, in this file: how often it was noted, and when it is to be next,
	 * by weft__runs_stream_now_ns(); 0: never. */
	uint64_t clock_notes, clock_due_ns;
	struct weft__runs_wall_clock_note clock_note;
	bool has_pages;   /* of a guest, with the CTF of mirage-profile: saved at the end */
	bool has_ended;   /* no more events come, but a piece may be pending */
	bool begins_file; /* no piece of this file was put yet */
	bool ends_file;   /* the pending piece is the last of this file */
	bool is_done, is_stuck, has_failed;
	bool waits; /* too many streams: this one waits until another ends */
	struct weft__runs_values values;
	uint64_t values_due_ns; /* when they are looked for again */
	struct weft_text value_chunks;
	bool has_values; /* the stream has them, or they were taken for its end, if there are any */
	struct weft__runs_stream_result result; /* complete after the end */
};

struct weft__runs_stream {
	char directory[PATH_MAX]; /* ends in a slash; empty: there is only one ring, or guests */
	struct weft__runs_guests *guests; /* NULL: none */
	struct weft__runs_stream_options options;
	size_t piece_bytes;
	bool is_full;                    /* the limit is reached */
	struct weft__ring_stream **list; /* in the order in which they were found */
	size_t count;
	int notify; /* inotify descriptor of the directory; -1: none */
	pthread_t thread;
	atomic_bool stops;    /* set when the program has ended, or by a signal */
	atomic_bool is_ended; /* set by the thread */
	atomic_uint_least64_t progress_ns;
};

static inline uint64_t weft__runs_stream_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The size of a piece; and the most bytes that the next one can take: at least one packet, with the
 * header and names before it. */
size_t weft__runs_stream_piece_bytes(const struct weft__runs_stream_options *options);
size_t weft__runs_stream_most_bytes(const struct weft__runs_stream *s);

uint64_t weft__runs_stream_usual_limit(const struct weft__runs_stream_options *options);
bool weft__runs_stream_is_full(struct weft__runs_stream *s, const struct weft__ring_stream *r);

/* The stream of the ring of that name, or NULL. */
struct weft__ring_stream *weft__runs_stream_find(
	const struct weft__runs_stream *s, const char *name);

/* The name of a ring's stream. `before` is another ring of the run, NULL for the first. The caller
 * frees it; NULL if memory is short. */
char *weft__runs_stream_name(const struct weft__runs_stream *s, const struct weft__runs_ring *ring,
	const struct weft__runs_ring *before);

/* After the end: the stream of the first of the rings is listed first, and gets the output's name
 * if another program of its process has that; unless `keep_all`, short helpers' files are removed.
 * Returns their number. */
size_t weft__runs_stream_arrange(
	struct weft__runs_stream *s, const struct weft__runs_rings *rings, bool keep_all);

/* Writes what the ring has. True if there was something to do. */
bool weft__runs_ring_stream_serve(
	struct weft__runs_stream *s, struct weft__ring_stream *r, bool is_last);
/* Opens the memory in which the ring's process has its values, now and then, and at the end. */
void weft__runs_stream_values_look(struct weft__ring_stream *r, bool is_last);
/* Makes `value_chunks`, the last bytes of the stream. False: there are none, or they were made
 * before. */
bool weft__runs_stream_values_take(struct weft__ring_stream *r);
void weft__runs_stream_values_finish(struct weft__ring_stream *r);

/* The disk accepts no more bytes. */
void weft__runs_ring_stream_give_up(struct weft__runs_stream *s, struct weft__ring_stream *r);

#endif
