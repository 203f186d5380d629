/* SPDX-License-Identifier: ISC
 *
 * Saves rings as files.
 */
#ifndef WEFT_RUNS_SAVE_H
#define WEFT_RUNS_SAVE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runs/directory/rings.h"

/* ---- Before the program runs ---- */

/* True if `file` can be written, and does not exist or holds an old trace. False after a report. */
bool weft__runs_file_is_free(const char *file);

/* True if traces can be saved in `output` (see runs/saving/name.h). Makes a directory that does not
 * exist, if the output ends in a slash. False after a report. */
bool weft__runs_can_save(const char *output);

/* For a ring that is recorded in `file` itself: removes an old file there and returns the absolute
 * path. False after a report. */
bool weft__runs_make_way(const char *file, char ret_path[PATH_MAX]);

/* ---- One ring ---- */

enum weft__runs_outcome {
	WEFT__RUNS_SAVED,
	WEFT__RUNS_NOT_SAVED,
	WEFT__RUNS_INTERRUPTED, /* by a signal, when saving had taken more than a second */
	WEFT__RUNS_SKIPPED,     /* it is not a ring */
	WEFT__RUNS_NEW,         /* its process is making it, or was killed meanwhile; not reported */
};

/* When the saving of rings that are saved together began. */
struct weft__runs_saving {
	int64_t since_s;  /* CLOCK_MONOTONIC */
	bool is_unsynced; /* the caller waits for the disk later: weft__runs_sync_all */
};

struct weft__runs_saving weft__runs_saving_begin(void);

/* True if a signal is pending that should end us, and saving has taken more than a second. */
bool weft__runs_saving_is_interrupted(const struct weft__runs_saving *saving);

/* Saves the ring at `path` as `file`, or to standard output if that is "-". An existing file is
 * replaced atomically, or stays if saving fails. Reports unless it is saved or new. */
enum weft__runs_outcome weft__runs_save(const struct weft__runs_saving *saving, const char *path,
	const struct weft__runs_ring *ring, const char *file);

/* Copies a ring that its process still records into. Free the copy with weft_watch_free. 0 or an
 * error code. */
int weft__runs_copy_running(int ring, void **ret_bytes, size_t *ret_size);

/* Saves a copy of a ring that is in memory, with the metrics in a file; -1: none. The copy's header
 * changes. False after a report. */
bool weft__runs_save_copy(void *bytes, size_t size, int metrics, const char *file);

/* The same into an empty file that is open, without a report: false with errno. */
bool weft__runs_write_copy(void *bytes, size_t size, int metrics, int fd);

/* ---- All rings of a run ---- */

struct weft__runs_stream_result;

struct weft__runs_saved {
	char *file; /* "-" for standard output */
	char *path; /* path of the ring, which still exists unless it was saved early */
	const struct weft__runs_ring *ring;
	const struct weft__runs_stream_result *stream; /* NULL: not streamed */
};

struct weft__runs_saves {
	struct weft__runs_rings rings;
	struct weft__runs_saved *list; /* the saved rings */
	size_t count;
	size_t new_count; /* rings that hold nothing yet */
	size_t left_out;  /* short helpers */
	bool has_failed;  /* a ring was not saved, and stays in the directory */
	bool is_interrupted;
};

/* Saves the rings in a run directory, that of the last program of the process `program` first;
 * unless `keep_all`, without the short helpers of runs/saving/left_out.h. The rings themselves
 * remain. False after a report; then the caller has nothing to finish. */
bool weft__runs_save_all(const char *directory, const char *output, pid_t program, bool keep_all,
	struct weft__runs_saves *ret_saves);
void weft__runs_saves_finish(struct weft__runs_saves *saves);

#endif
