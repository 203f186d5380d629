/* SPDX-License-Identifier: ISC
 *
 * The parts of `weft record`: a private place for the rings, the program that fills them, their way
 * into files, and what is said about it.
 *
 * A ring is the file that one process records into; it lives in memory (tmpfs) until it is saved.
 */
#ifndef WEFT_APPS_RECORD_H
#define WEFT_APPS_RECORD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <weft/source.h>

enum {
	RECORD_FAILED = 125, /* weft record itself failed */
	RECORD_NOT_EXECUTABLE = 126,
	RECORD_NOT_FOUND = 127,
	RECORD_SIGNALLED = 128, /* plus the signal's number */
};

struct record_ring;
struct record_snapshot_options;
struct record_watcher;
struct weft_buffer_summary;

/* ---- record.c ---- */

/* Saves what the processes of a run left in its directory, says so, and removes it. `program` is
 * the run's first process, and `program_name` what it was started as, to be named if it recorded
 * nothing; NULL: then nothing is said. True if nothing is lost. */
bool record_save_run(
	const char *output, const char *directory, pid_t program, const char *program_name);

/* Somebody who looks on while a program is recorded. */
struct record_watcher {
	/* Every RECORD_LOOK_NS, while the program runs and its rings are in that directory. */
	void (*look)(void *context, const char *directory);
	/* The program has ended, and nothing is saved or removed yet. */
	void (*ended)(void *context);
	/* A ring's trace, which is gone from the directory soon. */
	void (*saved)(void *context, const char *ring, const char *file);
	void *context;
};

/* As `weft record -o OUTPUT --size BYTES` (NULL and 0: what that does without) would. Answers the
 * status to exit with. */
int record_watched(
	char **program, const char *output, uint64_t size_bytes, const struct record_watcher *watcher);

/* Where a ring's trace goes, the run's first or another; to be freed. */
char *record_name_file(const char *output, const struct record_ring *ring, bool is_first);

/* The same, but not where something is already, unless `output` says so. `before`: the ring that
 * was named before this one; NULL for the first. NULL without memory. */
char *record_name_trace(
	const char *output, const struct record_ring *ring, const struct record_ring *before);

/* Is the ring's own name what its file is to be called? `output` may be NULL. */
bool record_output_is_directory(const char *output);

/* As "16 MiB". */
const char *record_size_text(uint64_t bytes, char text[32]);

/* The least that --max-size can be. */
#define RECORD_LIMIT_MIN_BYTES ((uint64_t)8 << 20)

/* ---- record_expire.c ---- */

/* A file in a directory that somebody found left behind; its age is since when. */
#define RECORD_MARK "orphaned"

/* Removes what was left 7 days ago. */
void record_expire(void);

/* ---- record_recover.c ---- */

/* Answers an exit status. */
int record_recover(const char *output);

/* ---- record_place.c ---- */

/* Makes a directory that only we can use, in memory; its name ends in a slash. All rings in it may
 * take `total_bytes` together, 0: as much as there is. False after a message. */
bool record_place_make(uint64_t total_bytes, char ret_directory[PATH_MAX]);

/* The directories that were made so and are still there, each with a slash at its end. */
struct record_places {
	char (*list)[PATH_MAX];
	size_t count;
	bool has_failed; /* without memory */
};

/* False after a message; without a run directory there are none. */
bool record_places_find(struct record_places *ret_places);
void record_places_finish(struct record_places *places);

bool record_place_is_there(const char *directory);
/* Is the `weft record` that made it still there? */
bool record_place_is_attended(const char *directory);
/* Takes its role, until we end; false if it is still there. */
bool record_place_attend(const char *directory);

/* What a process left in the directory. */
struct record_ring {
	char name[NAME_MAX + 1]; /* PROG-PID.weft; or PROG-PID.failed, a link to why there is none */
	int stem_size;           /* of the name without that suffix */
	pid_t pid;
	unsigned program; /* a process that becomes one program after the other has PROG-PID.2, … */
	bool is_failure;
	bool is_ours;    /* and not of another user, as in root's directories */
	bool is_link;    /* to where it is, see --in-place: there is nothing to be saved */
	bool is_running; /* the process has not ended, nor has its trace */
};

/* An entry that is called like a ring and cannot be one; nothing has opened it. */
struct record_refused {
	char name[NAME_MAX + 1];
	char reason[WEFT_RING_REASON_BYTES];
};

#define RECORD_REFUSED_SHOWN 8

struct record_rings {
	/* Ours before other users', the program's own first, then as the processes were started. */
	struct record_ring *list;
	size_t count, capacity;
	struct record_refused refused[RECORD_REFUSED_SHOWN]; /* the first of them */
	size_t refused_count;
	size_t others_count; /* in the list, of other users */
};

/* False after a message. */
bool record_rings_find(const char *directory, pid_t program, struct record_rings *ret_rings);
void record_rings_finish(struct record_rings *rings);
/* Notes one more entry that cannot be a ring. */
void record_rings_refuse(struct record_rings *rings, const char *name, const char *reason);

/* Removes the files of the list and all entries that cannot be rings, or `all` entries; then the
 * directory, if it is empty. */
void record_place_remove(const char *directory, const struct record_rings *rings, bool all);

/* ---- record_run.c ---- */

struct record_program {
	char **argv;
	const char *directory; /* for the rings */
	uint64_t size_bytes;   /* of each; 0: as libweft sees fit */
	const char *in_place;  /* the file or directory for the rings; NULL: they are saved later */
	bool stdout_is_ours;   /* the trace goes there; the program's own output to standard error */
	const struct record_watcher *watcher; /* NULL: nobody looks on */
};

/* Runs the program to its end, passing on the signals that we get, and answers requests for
 * snapshots, whose `program` it fills. Answers the status to exit with;
 * a program that could not be started (after a message) leaves a `ret_pid` of 0. */
int record_run(const struct record_program *program, struct record_snapshot_options *snapshots,
	pid_t *ret_pid);

/* ---- record_save.c ---- */

/* Can FILE be written, and does it hold nothing but an old trace, if anything? False after a
 * message. */
bool record_file_is_free(const char *file);

/* Where a program with another working directory finds it, if it is not there yet; what is there is
 * removed if it is a file. False after a message. */
bool record_make_way(const char *file, char ret_path[PATH_MAX]);

/* Where the link leads to; NULL, errno saying why. The caller frees it. */
char *record_follow_link(const char *link);

/* To be called before the first of several rings is saved. */
void record_saving_begins(void);

/* Has a signal come that ends us, and has saving taken more than a second? */
bool record_saving_is_interrupted(void);

enum record_outcome {
	RECORD_SAVED,
	RECORD_NOT_SAVED,
	RECORD_INTERRUPTED, /* by a signal, after saving took more than a second */
	RECORD_SKIPPED,     /* it is no ring */
};

/* Saves the ring at `path` as `file`, or to standard output if that is "-". What exists at `file`
 * is replaced at once, or stays if that fails. All but RECORD_SAVED after a message. */
enum record_outcome record_save(const char *path, const struct record_ring *ring, const char *file);

/* The same of a copy of one. */
bool record_save_copy(const void *bytes, size_t size, const char *file);

/* ---- record_report.c ---- */

/* What was saved, for a person. */
struct record_saved {
	char *file; /* "-" for standard output */
	char *path; /* of the ring, which is still there */
	const struct record_ring *ring;
	const struct weft_buffer_summary *stream; /* NULL: the ring's copy; nothing below counts */
	uint64_t stream_files, stream_bytes;
	bool is_cut;        /* at --max-size */
	uint64_t unwritten; /* events that the disk did not take */
};

void record_report(const struct record_saved *saved, size_t count);
void record_report_nothing(const char *program);
/* What the ring at `path` says of processes that could not make one. */
void record_report_refused(const char *path, pid_t pid);
/* What processes left in place of a ring, or beside it, if not all could be recorded. */
void record_report_failures(const char *directory, const struct record_rings *rings);
/* Entries that are skipped, a line each. */
void record_report_skipped(const char *directory, const struct record_rings *rings);

/* A path in a message: as it is, or in quotes and escaped where it could be misread. Static
 * storage, for up to four paths a message. */
const char *record_shown(const char *path);

#endif
