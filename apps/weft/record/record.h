/* SPDX-License-Identifier: ISC
 *
 * The parts of `weft record`: running the program, recovering orphaned runs, and the final
 * messages. src/runs/ does the work.
 */
#ifndef WEFT_APPS_RECORD_H
#define WEFT_APPS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "adapters.h"
#include "ran.h"
#include "runs/attach/attach.h"
#include "runs/saving/save.h"
#include "runs/saving/snapshots.h"
#include "runs/stream/stream.h"

enum {
	RECORD_FAILED = 125, /* weft record itself failed */
	RECORD_NOT_EXECUTABLE = 126,
	RECORD_NOT_FOUND = 127,
	RECORD_SIGNALLED = 128, /* plus the signal's number */
};

/* ---- record.c ---- */

/* Callbacks of `weft run` while a program is recorded. */
struct record_watcher {
	/* Called every WEFT__RUNS_LOOK_NS while the program runs; its rings are in `directory`. */
	void (*look)(void *context, const char *directory);
	/* The program has ended, and nothing is saved or removed yet. */
	void (*ended)(void *context);
	/* The ring was saved as `file`, and will be removed. */
	void (*saved)(void *context, const char *ring, const char *file);
	void *context;
};

/* Records as `weft record -a ADAPTERS -o OUTPUT --size BYTES` does; NULL and 0 stand for its
 * defaults. `command` is for messages. Returns the exit status. */
int record_watched(const char *command, char **program, const char *adapters, const char *output,
	uint64_t size_bytes, const struct record_watcher *watcher);

/* ---- finish.c ---- */

/* A run whose program has ended. */
struct record_end {
	const char *directory, *output;
	pid_t program;    /* its first process; 0: it could not be started */
	const char *name; /* the program's name for the message if it recorded nothing; may be NULL */
	int status;       /* the program's exit status */
	uint64_t size_bytes;  /* size of each ring; 0: libweft's default */
	const char *in_place; /* the file or directory for the rings; NULL: `directory` */
	bool has_adapters;    /* the program got adapters */
	bool require;         /* a process that recorded nothing, or a loss, is a failure */
	bool keep_all;        /* also the traces of short helpers */
	const struct record_watcher *watcher; /* may be NULL */
	struct weft__runs_early *early;       /* what was saved meanwhile; may be NULL */
	struct record_ran *ran;               /* what the processes ran; may be NULL */
};

/* Saves the rings of the run. If all were saved, removes the run directory. True if all were saved
 * and, with `require`, they have all events of all processes. */
bool record_save_run(const struct record_end *end);

/* Ends the stream of the run. If the files have every event that the rings did not lose, removes
 * the run directory. True in that case, and with `require` if also the rings lost none. */
bool record_finish_stream(struct weft__runs_stream *stream, const struct record_end *end);

/* Streams one process until it ends or a signal comes. */
bool record_stream_process(const char *path, const struct weft__runs_ring *ring,
	const struct weft__runs_stream_options *options);

/* Streams guests of Xen until they end or a signal comes. */
bool record_stream_guests(const struct weft__runs_guests_options *guests,
	const struct weft__runs_stream_options *options);

/* ---- streaming.c ---- */

#define RECORD_SIZE_MIN_BYTES 65536

/* Parses the size of a buffer or a file. False after a message. */
bool record_parse_size(
	const char *command, const char *option, const char *text, uint64_t *ret_bytes);

/* Takes --rotate ('R'), --max-size ('m') or --zstd. False after a message. */
bool record_streaming_take(
	const char *command, int option, const char *text, struct weft__runs_stream_options *options);

/* Checks that they fit each other and the output. CLI_DONE, or after a message CLI_USAGE. */
int record_streaming_check(const char *command, struct weft__runs_stream_options *options);

/* ---- recover.c ---- */

/* Saves and removes orphaned runs. With `run`, which is the PID or program of one of its processes,
 * a run directory or a ring in it, only those that it names. Returns the exit status. */
int record_recover(const char *run, const char *output);

/* ---- program.c ---- */

struct record_program {
	char **argv;
	pid_t attached;        /* the process that records already; 0: `argv` is to be run */
	const char *directory; /* for the rings */
	uint64_t size_bytes;   /* size of each ring; 0: libweft's default */
	const char *in_place;  /* the file or directory for the rings; NULL: they are saved later */
	bool waits;            /* for other processes of the run, when the program has ended */
	bool stdout_is_ours;   /* it gets the trace; the program writes to standard error instead */
	struct record_adapters adapters;
	const struct record_watcher *watcher; /* may be NULL */
	unsigned samples_hz;                  /* 0: no samples of what its threads run */
	struct weft__runs_sampler *sampler;   /* of these samples; NULL: none */
	struct record_ran **ran;              /* gets the sampling, if there is any */
};

/* Runs the program to its end, passes on the signals that we get, and answers requests for
 * snapshots; sets the `program` of `snapshots`. Returns the exit status. If the program could not
 * be started, a message was printed and `ret_pid` is 0. */
int record_run(const struct record_program *program, struct weft__runs_snapshot_options *snapshots,
	pid_t *ret_pid);

/* Becomes the program, whose buffers nobody has to save. Returns an exit status after an error. */
int record_become(const struct record_program *program);

/* ---- refused.c ---- */

/* Prints a message if a filter of system calls has ended the process, with the call if that is
 * known. `since`: when the process began; `status`: of waitpid. */
void record_report_refused(const char *program, pid_t process, time_t since, int status);

/* ---- attached.c ---- */

/* Makes the linked process `pid` record; `size_bytes` 0: libweft's default. `ret_directory` is the
 * run directory that it has made, `ret_pid` its number in its own PID namespace. False after a
 * message. From now on the signals that end us are blocked. */
bool record_attach(pid_t pid, uint64_t size_bytes, char ret_directory[PATH_MAX], pid_t *ret_pid);

/* Waits until that process ends or a signal comes. Then the caller saves the rings and calls
 * weft__runs_detached_finish. */
struct weft__runs_detached *record_attached(struct weft__runs_snapshot_options *snapshots);

/* Returns when no process records into the directory any more, or when a signal comes. */
void record_await_others(const char *directory, struct weft__runs_snapshots *snapshots);

/* ---- report.c ---- */

/* Prints which files were saved, how many programs were left out as short helpers, and two commands
 * that show the files: all of `directory`, unless that is NULL. */
void record_report(
	const struct weft__runs_saved *saved, size_t count, size_t left_out, const char *directory);
/* Counts what the saved files have together, and what they lack. */
struct record_sum {
	uint64_t events, lost;
	bool is_cut; /* a stream ended early at its limit */
};
struct record_sum record_sum_up(const struct weft__runs_saved *saved, size_t count);

/* ---- unseen.c ---- */

/* Prints what the adapters could not record. Returns how many parts are certainly missing. */
size_t record_report_unseen(const struct weft__runs_saved *saved, size_t count);

/* ---- nothing.c ---- */

#define RECORD_HINDRANCE_BYTES (PATH_MAX + 512)

struct weft__runs_executable;

/* Writes why nothing can be recorded of an ELF file that can be read, and what to do. False if
 * something can: it is linked with libweft, or adapters can be loaded into it. */
bool record_hindrance(const struct weft__runs_executable *it, char text[RECORD_HINDRANCE_BYTES]);

/* Prints why a program recorded nothing, as far as its file tells. */
void record_report_nothing(const char *program, bool has_adapters);

/* ---- missing.c ---- */

/* Prints the processes and entries of the directory that were not recorded, or not completely, and
 * what to do. Returns the number of such processes. */
size_t record_report_missing(const struct record_end *end, const struct weft__runs_rings *rings);

#endif
