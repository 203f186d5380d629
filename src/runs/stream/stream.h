/* SPDX-License-Identifier: ISC
 *
 * `weft record --stream`: writes the events of a run's processes to disk while they run.
 *
 *     start, start_process or start_guests ─▶ (wait) ─▶ stop ─▶ results ─▶ destroy
 *
 * A thread does the work. If stop returns false, that thread hangs in a write and still uses the
 * stream: call no other function on it, and exit the process.
 */
#ifndef WEFT_RUNS_STREAM_H
#define WEFT_RUNS_STREAM_H

#include "runs/guests/guests.h"
#include "runs/saving/save.h"
#include "runs/stream/stream_file.h"

struct weft__runs_stream;

/* The smallest limit (`max_bytes`). */
#define WEFT__RUNS_LIMIT_MIN_BYTES ((uint64_t)8 << 20)

/* Starts to stream all processes that record into the run directory. NULL after a report. */
struct weft__runs_stream *weft__runs_stream_start(
	const char *directory, const struct weft__runs_stream_options *options);

/* Starts to stream one ring, which remains. Blocks all signals. NULL after a report. */
struct weft__runs_stream *weft__runs_stream_start_process(const char *path,
	const struct weft__runs_ring *ring, const struct weft__runs_stream_options *options);

/* Starts to stream the buffers of guests of Xen. Blocks all signals. NULL after a report. */
struct weft__runs_stream *weft__runs_stream_start_guests(
	const struct weft__runs_guests_options *guests,
	const struct weft__runs_stream_options *options);

/* Returns when the process or the guests have ended or a signal asks us to. */
void weft__runs_stream_wait(struct weft__runs_stream *stream);

/* Writes the rest. False after a report if a signal came while the disk did not respond. */
bool weft__runs_stream_stop(struct weft__runs_stream *stream);

/* The result for one ring. */
struct weft__runs_stream_result {
	struct weft_buffer_summary summary; /* at the end */
	uint64_t files, bytes;
	uint64_t unwritten; /* events for which the disk had no room */
	bool is_cut;        /* ended early at the limit */
};

/* After stop: names and removes files as weft__runs_save_all does, then lists the last file of each
 * ring that has one. `rings` are the present rings of the directory, the lead first; NULL for one
 * process. False if memory is short. The caller frees the list; its pointers are valid as long as
 * the stream. */
bool weft__runs_stream_results(struct weft__runs_stream *stream,
	const struct weft__runs_rings *rings, bool keep_all, struct weft__runs_saved **ret_list,
	size_t *ret_count, size_t *ret_left_out);

/* After stop: true if the files have every event that the rings did not lose. */
bool weft__runs_stream_is_complete(const struct weft__runs_stream *stream);

void weft__runs_stream_destroy(struct weft__runs_stream *stream);

#endif
