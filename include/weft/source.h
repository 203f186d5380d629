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

#include <stddef.h>

#include <weft/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_source;

/* All bytes of the file at `path`, or of standard input if it is "-"; returns when they have all
 * arrived. WEFT_ERROR_SYSTEM leaves the reason in errno. */
int weft_source_open(const char *path, struct weft_source **ret_source);
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

#ifdef __cplusplus
}
#endif
#endif
