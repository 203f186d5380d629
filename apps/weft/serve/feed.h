/* SPDX-License-Identifier: ISC
 *
 * The bytes of one trace that grows: a ring's stream, or a file to which another process appends.
 */
#ifndef WEFT_APPS_SERVE_FEED_H
#define WEFT_APPS_SERVE_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct serve_feed;
struct serve_trace;

enum serve_feed_files {
	SERVE_FEED_LIVING, /* of files, only Xen's own traces, while some process writes them */
	SERVE_FEED_ALL,    /* any file; it ends when it has not grown for a few seconds */
};

/* NULL if it is not such a trace, no longer exists, or memory is short. */
struct serve_feed *serve_feed_open(const struct serve_trace *trace, enum serve_feed_files files);
void serve_feed_close(struct serve_feed *feed);

/* WEFT_OK and the next bytes, valid until the next call; WEFT_AGAIN; WEFT_END or an error. */
int serve_feed_next(struct serve_feed *feed, const void **ret_bytes, size_t *ret_size);

/* Waits until there may be bytes, at most so long. */
void serve_feed_wait(struct serve_feed *feed, uint64_t ns);

/* Makes `next` return what there is now, and then WEFT_END, though the program goes on. */
void serve_feed_stop(struct serve_feed *feed);

/* Bytes that its readers skip, for a time in which there are no others; 0 if they would not skip
 * them here. */
size_t serve_feed_silence(const struct serve_feed *feed, const void **ret_bytes);

#endif
