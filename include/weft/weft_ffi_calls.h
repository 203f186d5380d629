/* SPDX-License-Identifier: ISC
 *
 * The calls of weft_ffi.h that are in calls.def, from which tools/calls.py made this file.
 * weft_ffi.h includes it, and describes what all calls have in common.
 */
#ifndef WEFT_FFI_CALLS_H
#define WEFT_FFI_CALLS_H

#include <weft/weft_ffi.h>

/* clang-format off */

#ifdef __cplusplus
extern "C" {
#endif

struct weft_category;
struct weft_value;

/* `task` reads the value of `source`, which has ended. If the call names `task`, that one runs from
 * now because a value usually wakes the task that waited for it. */
void weft_ffi_read(struct weft_category *category, unsigned level, uint64_t task, uint64_t source);

/* `task` reads the value of `source`, which has ended, and runs later. */
void weft_ffi_read_later(struct weft_category *category, unsigned level, uint64_t task,
	uint64_t source);

/* `task` wants the value of `source`, which has not ended: it begins to wait. */
void weft_ffi_try_read(struct weft_category *category, unsigned level, uint64_t task,
	uint64_t source);

/* `task` ends `target` with a value. */
void weft_ffi_resolve(struct weft_category *category, unsigned level, uint64_t task,
	uint64_t target);

/* `task` ends `target`, which is no longer wanted. That is a problem only if another task still
 * waits for it. A note on `target` can say why. */
void weft_ffi_cancel(struct weft_category *category, unsigned level, uint64_t task,
	uint64_t target);

/* `task` ends `target`, because its other side has closed it. */
void weft_ffi_close(struct weft_category *category, unsigned level, uint64_t task, uint64_t target);

/* `task` ends `target`, because its time is up. */
void weft_ffi_time_out(struct weft_category *category, unsigned level, uint64_t task,
	uint64_t target);

/* `task` takes `resource`, a task of kind lock, rwlock, semaphore, pool or queue. If it has to
 * wait, a try_read before says so: readers then show which task holds the resource. */
void weft_ffi_acquire(struct weft_category *category, unsigned level, uint64_t task,
	uint64_t resource);

/* `task` gives `resource` back. */
void weft_ffi_release(struct weft_category *category, unsigned level, uint64_t task,
	uint64_t resource);

/* `task` turns into `target`: from now on, events of either are events of both. */
void weft_ffi_become(struct weft_category *category, unsigned level, uint64_t task,
	uint64_t target);

/* `task` wakes `receiver`, which runs at once. */
void weft_ffi_signal(struct weft_category *category, unsigned level, uint64_t task,
	uint64_t receiver);

/* `task` wakes `receiver`, which runs later. */
void weft_ffi_signal_only(struct weft_category *category, unsigned level, uint64_t task,
	uint64_t receiver);

/* `task` sends a message to a task that it does not know: one behind a queue, or of another
 * process, on any host. `key` is any number on which both sides agree: a message's id, a hash of
 * names. Record it before the message can arrive, unless the key has WEFT_KEY_ONCE. */
void weft_ffi_send(struct weft_category *category, unsigned level, uint64_t task, uint64_t key);

/* `task` receives the latest message with this `key` that no receive has taken, and readers of both
 * traces show who sent it. Record it before the task runs, because it is why the task does. */
void weft_ffi_receive(struct weft_category *category, unsigned level, uint64_t task, uint64_t key);

/* `task` should end. If it does not, readers show it as failed. */
void weft_ffi_expect(struct weft_category *category, unsigned level, uint64_t task);

/* The name of `task`; later labels are notes. */
void weft_ffi_label(struct weft_category *category, unsigned level, uint64_t task, const char *text,
	size_t size, uint64_t *cache);

/* The same, made by the reader of a format like printf's and up to 15 values. */
void weft_ffi_labelf(struct weft_category *category, unsigned level, uint64_t task,
	const char *format, size_t size, uint64_t *cache, unsigned count,
	const struct weft_value *values);

/* A free text for `task`, at this time. */
void weft_ffi_note(struct weft_category *category, unsigned level, uint64_t task, const char *text,
	size_t size, uint64_t *cache);

/* The same, made by the reader of a format like printf's and up to 15 values. */
void weft_ffi_notef(struct weft_category *category, unsigned level, uint64_t task,
	const char *format, size_t size, uint64_t *cache, unsigned count,
	const struct weft_value *values);

#ifdef __cplusplus
}
#endif

#endif
