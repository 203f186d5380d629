/* SPDX-License-Identifier: ISC
 *
 * Watching a running program: copies of what it has recorded until now, and its own requests for
 * them.
 *
 *     weft_watch_open → listen, requests → copy → answer → … → weft_watch_close
 *
 * The buffer is mapped for writing too, but only these words of its header are written: until when
 * somebody listens, what was answered, until when the past is held, that a rundown is wanted. One
 * watcher answers requests; copies can be made by any number. A watcher that is killed leaves
 * nothing behind that does not end by itself within seconds.
 *
 * A watch belongs to one thread at a time.
 */
#ifndef WEFT_WATCH_H
#define WEFT_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/error.h>
#include <weft/event.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_watch;

/* No hold is longer. */
#define WEFT_WATCH_HOLD_MAX_NS 1000000000u

/* `path` as for weft_follow_open, but it must be writable; the errors are the same. */
int weft_watch_open(const char *path, struct weft_watch **ret_watch);
/* The same of an open file, which stays the caller's and may be closed then. */
int weft_watch_open_descriptor(int fd, struct weft_watch **ret_watch);

/* Ends what listen and hold began. */
void weft_watch_close(struct weft_watch *watch);

/* For so long from now a request of the program's keeps its past from being overwritten, for at
 * most WEFT_WATCH_HOLD_MAX_NS. To be renewed in time; 0: from now on nobody listens. */
void weft_watch_listen(struct weft_watch *watch, uint64_t lease_ns);

/* Requests since the last that was answered; of the newest, the reason, which stays valid while the
 * watch is open. */
uint32_t weft_watch_requests(const struct weft_watch *watch, struct weft_slice *ret_reason);

/* The requests up to now are done with, and their hold ends. Answers how many they were: perhaps
 * more than weft_watch_requests said before. */
uint32_t weft_watch_answer(struct weft_watch *watch);

/* Nothing of the past is overwritten for so long, WEFT_WATCH_HOLD_MAX_NS at most; what the program
 * has no room for meanwhile is lost, and counted as held. 0: from now on it may be. */
void weft_watch_hold(struct weft_watch *watch, uint64_t ns);

/* A copy of the buffer as by weft_buffer_copy, to be given back with weft_watch_free. 0,
 * WEFT_ERROR_MEMORY, or an error of weft_buffer_copy. */
int weft_watch_copy(const struct weft_watch *watch, void **ret_bytes, size_t *ret_size);
void weft_watch_free(void *bytes, size_t size);

/* Asks the program's runtimes to write again which tasks are alive. */
void weft_watch_ask_rundown(struct weft_watch *watch);

/* The text of the program's rule of that number, from 0 on; false if there is none. */
bool weft_watch_rule(const struct weft_watch *watch, uint32_t number, struct weft_slice *ret_rule);

#ifdef __cplusplus
}
#endif
#endif
