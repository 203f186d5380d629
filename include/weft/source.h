/* SPDX-License-Identifier: ISC
 *
 * The bytes of a trace: read from a file, a pipe or standard input.
 *
 * A source owns its bytes; they stay valid until it is closed. Small files, and everything that is
 * not a regular file, are copied into memory. Large files are mapped read-only, so that a trace may
 * be larger than memory. Another process may go on writing to the file: a copy does not change, a
 * mapping may.
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

/* The default limit for the content of a compressed file: this many bytes plus this many times the
 * file's own size. */
#define WEFT_SOURCE_EXPANDED_BYTES ((uint64_t)64 << 20)
#define WEFT_SOURCE_EXPANDED_RATIO 64

struct weft_source;

/* Reads all bytes of the file at `path`, or of standard input if it is "-"; returns when the last
 * has arrived. More than 64 MiB from a pipe or a device are put into a file without a name in
 * $TMPDIR or /var/tmp, and mapped. WEFT_ERROR_SYSTEM leaves the reason in errno. */
int weft_source_open(const char *path, struct weft_source **ret_source);

/* The same with a limit for input whose size is not known beforehand: compressed files, pipes and
 * devices. WEFT_ERROR_SIZE if there is more, before memory or disk space is used for it. 0: the
 * limit of weft_source_open(), which is 64 MiB plus 64 times its own size for a compressed file
 * (more than traces compress by), and 4 GiB for a pipe. */
int weft_source_open_limited(const char *path, uint64_t max_bytes, struct weft_source **ret_source);

#define WEFT_SOURCE_CHECKED_BYTES ((uint64_t)64 << 20)

/* The same for a pipe or a device that may be endless, such as /dev/zero: after that many bytes
 * `may_be` is asked whether they may be the beginning of what the caller can read, and
 * WEFT_ERROR_FORMAT returned if not. `may_be` may be NULL. */
int weft_source_open_checked(const char *path, uint64_t max_bytes,
	bool (*may_be)(const void *bytes, size_t size), struct weft_source **ret_source);

/* The same for an open file, from its current position on. The descriptor stays the caller's, and
 * may be closed when this returns. */
int weft_source_open_descriptor(int fd, uint64_t max_bytes, struct weft_source **ret_source);

void weft_source_close(struct weft_source *source);

const void *weft_source_bytes(const struct weft_source *source, size_t *ret_size);

/* Returns memory to the system that the file itself can refill: the bytes stay valid and unchanged.
 * Call it now and then in loops over large files. */
void weft_source_forget(struct weft_source *source);

/* ---- Files that grow ---- */

struct weft_source_growth;

/* Opens a regular file to which another process may append, such as a stream. Each byte is read
 * once. A compressed file is unpacked as it comes. 0, WEFT_ERROR_FORMAT if it is not a regular
 * file, or an error of weft_source_open(). */
int weft_source_growth_open(const char *path, struct weft_source_growth **ret_growth);
void weft_source_growth_close(struct weft_source_growth *growth);

/* WEFT_OK and the next bytes, valid until the next call; WEFT_AGAIN: there are no more now;
 * WEFT_END: the file became shorter, or there is another one at its path; or an error. */
int weft_source_growth_next(
	struct weft_source_growth *growth, const void **ret_bytes, size_t *ret_size);

/* The size of the file as far as it was read. */
uint64_t weft_source_growth_size(const struct weft_source_growth *growth);

/* ---- */

/* If another process shortens a mapped file, reading the missing pages raises SIGBUS. After this
 * call, in the whole process, such pages read as zeros instead, which a decoder reports as damage;
 * any other SIGBUS goes to the handler that was set before. For programs only: a library should not
 * install signal handlers. */
int weft_source_survive_truncation(void);

/* ---- Rings in a directory where others may create files ---- */

#define WEFT_RING_REASON_BYTES 160

struct weft_ring_check {
	bool is_ours;                        /* the directory entry belongs to our effective user */
	bool has_process;                    /* the process `pid` lives and may have made the file */
	char reason[WEFT_RING_REASON_BYTES]; /* why it is refused: "it is a FIFO, …" */
};

/* How weft_source_open_ring opens the file, as bits. */
enum weft_ring_access {
	WEFT_RING_READ = 0,
	WEFT_RING_WRITE = 1,  /* for writing too, if permitted */
	WEFT_RING_SPARSE = 2, /* files with holes are allowed: for read(2), not for a mapping */
};

/* Checks whether `path`, which is named after the process `pid`, may be a ring that we can trust
 * and read. It must be a regular file, or a symbolic link of ours to one, and belong to us; root
 * also accepts a file of that process's user, or of any user if the process has ended. False with a
 * reason. Nothing is opened, so nothing blocks. */
bool weft_source_check_ring(const char *path, pid_t pid, struct weft_ring_check *ret_check);

/* Checks and opens such a file. Symbolic links of other users are not followed, and opening a FIFO
 * does not block. Files with holes are refused, since reading a hole of tmpfs through a mapping
 * allocates memory. A descriptor, or -1 with a reason. */
int weft_source_open_ring(
	const char *path, pid_t pid, unsigned access, struct weft_ring_check *ret_check);

#ifdef __cplusplus
}
#endif
#endif
