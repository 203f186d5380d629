/* SPDX-License-Identifier: ISC
 *
 * Watching a running program: making snapshots of its buffer, and serving the snapshots that it
 * requests itself.
 *
 *     weft_watch_open → listen, requests → copy → answer → … → weft_watch_close
 *
 * The buffer is mapped for writing, but only these words of its header are written: how long the
 * watcher listens, which requests were answered, until when the past is held, that a rundown is
 * wanted, how the record of an ended process ended, and the threads' limits, if the program is to
 * stop recording. Samples are written behind the buffer. One watcher answers requests; any number
 * may make copies. What a killed watcher leaves behind expires within seconds.
 *
 * A watch belongs to one thread at a time.
 */
#ifndef WEFT_WATCH_H
#define WEFT_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/buffer.h>
#include <weft/error.h>
#include <weft/event.h>
#include <weft/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_watch;

/* The longest hold. */
#define WEFT_WATCH_HOLD_MAX_NS 1000000000u

/* `path` as for weft_follow_open, but the file must be writable. The errors are the same. */
int weft_watch_open(const char *path, struct weft_watch **ret_watch);
/* The same of an open file, which stays the caller's and may be closed then. */
int weft_watch_open_descriptor(int fd, struct weft_watch **ret_watch);

/* Ends listening and holding. */
void weft_watch_close(struct weft_watch *watch);

/* Announces for `lease_ns` that a watcher listens; renew it in time. While it lasts, a request of
 * the program keeps its past from being overwritten, for at most WEFT_WATCH_HOLD_MAX_NS. 0: stop
 * listening. */
void weft_watch_listen(struct weft_watch *watch, uint64_t lease_ns);

/* The number of requests since the last answer, and the newest one's reason, which stays valid
 * while the watch is open. */
uint32_t weft_watch_requests(const struct weft_watch *watch, struct weft_slice *ret_reason);

/* Marks all requests so far as answered, and ends their hold. Returns their number, which may be
 * more than weft_watch_requests returned before. */
uint32_t weft_watch_answer(struct weft_watch *watch);

/* Keeps the past from being overwritten for that time, at most WEFT_WATCH_HOLD_MAX_NS. Events that
 * find no room meanwhile are lost, and counted as held. 0: end the hold. */
void weft_watch_hold(struct weft_watch *watch, uint64_t ns);

/* If the process has ended, stores in the buffer that its record ended now, unless the program has
 * stored its end itself, and the process's wait status, unless `wait_status` is 0 (see trace.h).
 * True if the process has ended. */
bool weft_watch_note_end(struct weft_watch *watch, uint32_t wait_status);

/* Copies the buffer with weft_buffer_copy, and stores in the copy that its record ended now, while
 * the program was running, unless it has ended. Free the copy with weft_watch_free. 0,
 * WEFT_ERROR_MEMORY, or an error of weft_buffer_copy. */
int weft_watch_copy(const struct weft_watch *watch, void **ret_bytes, size_t *ret_size);
void weft_watch_free(void *bytes, size_t size);

/* Adds the alert because of which it was made to a copy, as weft_buffer_add_alert does; it becomes
 * larger. 0, WEFT_ERROR_MEMORY or an error of that function: then the copy has no alert. */
int weft_watch_add_alert(void **bytes, size_t *size, const struct weft_trace_alert *alert);

/* Adds samples of what the program's threads ran to tables behind the buffer, for all its readers.
 * `sampling` has all functions so far, but only new samples. Only one process may do that. Does
 * nothing if the file had no such tables when it was opened: see weft_buffer_make_sample_room.
 * Returns how many samples were left out because they are from before the program began to record:
 * these are the first ones. */
uint32_t weft_watch_add_samples(
	const struct weft_watch *watch, const struct weft_buffer_sampling *sampling);

/* Asks the program's runtimes for a rundown: events that say which tasks are alive. */
void weft_watch_ask_rundown(struct weft_watch *watch);

/* Asks the program to stop recording at its next event, as weft_stop() does. True if it has stopped
 * or ended. Repeat the call until then: a thread that claimed memory meanwhile may have missed it.
 */
bool weft_watch_ask_stop(struct weft_watch *watch);

/* The text of the program's rule with that number, counted from 0; false if there is none. */
bool weft_watch_rule(const struct weft_watch *watch, uint32_t number, struct weft_slice *ret_rule);

#ifdef __cplusplus
}
#endif
#endif
