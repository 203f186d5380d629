/* SPDX-License-Identifier: ISC
 *
 * Where a trace's bytes come from: a file, a pipe, standard input.
 *
 * A source owns its bytes; they stay until it is closed. Small files and everything that is not a
 * regular file are copied into memory; large files are mapped read-only, so that a trace may be
 * larger than memory. Whoever writes a file may go on writing: a copy is a snapshot, a mapping may
 * change under its readers.
 */
#ifndef WEFT_SOURCE_H
#define WEFT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <weft/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_source;

/* All bytes of the file at `path`, or of standard input if it is "-"; returns when they have all
 * arrived. WEFT_ERROR_SYSTEM leaves the reason in errno. */
int weft_source_open(const char *path, struct weft_source **ret_source);

/* The same with a limit for what has no size that one can see before: what a compressed file holds
 * and what comes from a pipe or a device. WEFT_ERROR_SIZE if there is more, before memory or disk
 * is taken for it. 0 stands for the limit of weft_source_open(): a compressed file may hold 64 MiB
 * and 64 times its own size, which is more than traces are compressed by, and a pipe 4 GiB. */
int weft_source_open_limited(const char *path, uint64_t max_bytes, struct weft_source **ret_source);

/* The same of an open file, from its current position on. The descriptor stays the caller's, and
 * may be closed when this returns. */
int weft_source_open_descriptor(int fd, uint64_t max_bytes, struct weft_source **ret_source);

void weft_source_close(struct weft_source *source);

const void *weft_source_bytes(const struct weft_source *source, size_t *ret_size);

/* Gives the memory of what was read back to the system, where the file itself can bring it again:
 * the bytes stay valid and the same. For loops over large files, now and then. */
void weft_source_forget(struct weft_source *source);

/* A mapped file that somebody shortens raises SIGBUS where its pages were. After this call, for
 * the whole process, such pages read as zeros instead, which a decoder reports as damage; a SIGBUS
 * elsewhere goes where it went before. For programs that own their process: a library leaves
 * signals alone. */
int weft_source_survive_truncation(void);

/* ---- Rings in a directory where others may create files ---- */

#define WEFT_RING_REASON_BYTES 160

struct weft_ring_check {
	bool is_ours;     /* the entry belongs to our effective user */
	bool has_process; /* the process of that number may be the one that made it */
	char reason[WEFT_RING_REASON_BYTES]; /* why it is refused, as "it is a FIFO, …" */
};

/* What weft_source_open_ring is to do, as bits. */
enum weft_ring_access {
	WEFT_RING_READ = 0,
	WEFT_RING_WRITE = 1,  /* for writing too, if that is allowed */
	WEFT_RING_SPARSE = 2, /* holes are allowed: for read(2), not for a mapping */
};

/* May `path`, which is named after the process `pid`, be a ring that we may read? It must be a
 * regular file, or a symbolic link of ours to one, and ours; for root also the file of that
 * process's user, or of any user if that process has ended. False with a reason. Nothing is opened,
 * so nothing blocks. */
bool weft_source_check_ring(const char *path, pid_t pid, struct weft_ring_check *ret_check);

/* Opens such a file. Symbolic links of others are not followed, and a FIFO is not waited for;
 * files with holes are refused, since reading holes of tmpfs through a mapping allocates memory. A
 * descriptor, or -1 with a reason. */
int weft_source_open_ring(
	const char *path, pid_t pid, unsigned access, struct weft_ring_check *ret_check);

#ifdef __cplusplus
}
#endif
#endif
