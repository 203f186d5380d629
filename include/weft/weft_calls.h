/* SPDX-License-Identifier: ISC
 *
 * The calls of weft.h that are in calls.def, from which tools/calls.py made this file.
 * weft.h includes it, and describes what all calls have in common.
 */
#ifndef WEFT_CALLS_H
#define WEFT_CALLS_H

#include <weft/weft.h>

/* clang-format off */

#ifdef WEFT_DISABLED

#define weft_read(source) WEFT__UNUSED(source)
#define weft_read_as(task, source) WEFT__UNUSED(task, source)
#define weft_read_later(source) WEFT__UNUSED(source)
#define weft_read_later_as(task, source) WEFT__UNUSED(task, source)
#define weft_try_read(source) WEFT__UNUSED(source)
#define weft_try_read_as(task, source) WEFT__UNUSED(task, source)
#define weft_resolve(target) WEFT__UNUSED(target)
#define weft_resolve_as(task, target) WEFT__UNUSED(task, target)
#define weft_cancel(target) WEFT__UNUSED(target)
#define weft_cancel_as(task, target) WEFT__UNUSED(task, target)
#define weft_close(target) WEFT__UNUSED(target)
#define weft_close_as(task, target) WEFT__UNUSED(task, target)
#define weft_time_out(target) WEFT__UNUSED(target)
#define weft_time_out_as(task, target) WEFT__UNUSED(task, target)
#define weft_acquire(resource) WEFT__UNUSED(resource)
#define weft_acquire_as(task, resource) WEFT__UNUSED(task, resource)
#define weft_release(resource) WEFT__UNUSED(resource)
#define weft_release_as(task, resource) WEFT__UNUSED(task, resource)
#define weft_become(target) WEFT__UNUSED(target)
#define weft_become_as(task, target) WEFT__UNUSED(task, target)
#define weft_signal(receiver) WEFT__UNUSED(receiver)
#define weft_signal_as(task, receiver) WEFT__UNUSED(task, receiver)
#define weft_signal_only(receiver) WEFT__UNUSED(receiver)
#define weft_signal_only_as(task, receiver) WEFT__UNUSED(task, receiver)
#define weft_send(key) WEFT__UNUSED(key)
#define weft_send_as(task, key) WEFT__UNUSED(task, key)
#define weft_receive(key) WEFT__UNUSED(key)
#define weft_receive_as(task, key) WEFT__UNUSED(task, key)
#define weft_expect() ((void)0)
#define weft_expect_as(task) WEFT__UNUSED(task)
#define weft_label(text) WEFT__UNUSED(text)
#define weft_label_as(task, text) WEFT__UNUSED(task, text)
#define weft_label_n(text, size) WEFT__UNUSED(text, size)
#define weft_label_n_as(task, text, size) WEFT__UNUSED(task, text, size)
#define weft_labelf(...) WEFT__UNUSED(__VA_ARGS__)
#define weft_labelf_as(task, ...) WEFT__UNUSED(task, __VA_ARGS__)
#define weft_note(text) WEFT__UNUSED(text)
#define weft_note_as(task, text) WEFT__UNUSED(task, text)
#define weft_note_n(text, size) WEFT__UNUSED(text, size)
#define weft_note_n_as(task, text, size) WEFT__UNUSED(task, text, size)
#define weft_notef(...) WEFT__UNUSED(__VA_ARGS__)
#define weft_notef_as(task, ...) WEFT__UNUSED(task, __VA_ARGS__)

#else

/* The number of the event that a call would record, for the level "count". */
enum {
	WEFT__EVENT_CREATE = 1,
	WEFT__EVENT_READ = 2,
	WEFT__EVENT_TRY_READ = 3,
	WEFT__EVENT_RESOLVE = 4,
	WEFT__EVENT_FAIL = 5,
	WEFT__EVENT_BECOME = 6,
	WEFT__EVENT_LABEL = 7,
	WEFT__EVENT_NOTE = 8,
	WEFT__EVENT_TAG = 9,
	WEFT__EVENT_MARK = 10,
	WEFT__EVENT_BAND = 11,
	WEFT__EVENT_COUNTER = 12,
	WEFT__EVENT_SWITCH = 13,
	WEFT__EVENT_SIGNAL = 14,
	WEFT__EVENT_GC = 15,
	WEFT__EVENT_EXPECT = 16,
	WEFT__EVENT_ALIVE = 17,
	WEFT__EVENT_CANCEL = 18,
	WEFT__EVENT_CLOSE = 19,
	WEFT__EVENT_TIME_OUT = 20,
	WEFT__EVENT_BEGIN = 21,
	WEFT__EVENT_END = 22,
	WEFT__EVENT_SPAN = 23,
	WEFT__EVENT_WAIT_ANY = 24,
	WEFT__EVENT_ACQUIRE = 25,
	WEFT__EVENT_RELEASE = 26,
	WEFT__EVENT_OFF_CPU = 27,
	WEFT__EVENT_SEND = 28,
	WEFT__EVENT_RECEIVE = 29,
	WEFT__EVENT_TOTAL = 30,
	WEFT__EVENT_STACK = 31,
};

#ifdef __cplusplus
extern "C" {
#endif

struct weft_value;

/* The task reads the value of `source`, which has ended. If the call names the task, that one runs
 * from now because a value usually wakes the task that waited for it. */
void weft_read(uint64_t source) WEFT__DIRECT;
void weft_read_as(uint64_t task, uint64_t source) WEFT__DIRECT;

/* The task reads the value of `source`, which has ended, and runs later. */
void weft_read_later(uint64_t source) WEFT__DIRECT;
void weft_read_later_as(uint64_t task, uint64_t source) WEFT__DIRECT;

/* The task wants the value of `source`, which has not ended: it begins to wait. */
void weft_try_read(uint64_t source) WEFT__DIRECT;
void weft_try_read_as(uint64_t task, uint64_t source) WEFT__DIRECT;

/* The task ends `target` with a value. */
void weft_resolve(uint64_t target) WEFT__DIRECT;
void weft_resolve_as(uint64_t task, uint64_t target) WEFT__DIRECT;

/* The task ends `target`, which is no longer wanted. That is a problem only if another task still
 * waits for it. A note on `target` can say why. */
void weft_cancel(uint64_t target) WEFT__DIRECT;
void weft_cancel_as(uint64_t task, uint64_t target) WEFT__DIRECT;

/* The task ends `target`, because its other side has closed it. */
void weft_close(uint64_t target) WEFT__DIRECT;
void weft_close_as(uint64_t task, uint64_t target) WEFT__DIRECT;

/* The task ends `target`, because its time is up. */
void weft_time_out(uint64_t target) WEFT__DIRECT;
void weft_time_out_as(uint64_t task, uint64_t target) WEFT__DIRECT;

/* The task takes `resource`, a task of kind lock, rwlock, semaphore, pool or queue. If it has to
 * wait, a try_read before says so: readers then show which task holds the resource. */
void weft_acquire(uint64_t resource) WEFT__DIRECT;
void weft_acquire_as(uint64_t task, uint64_t resource) WEFT__DIRECT;

/* The task gives `resource` back. */
void weft_release(uint64_t resource) WEFT__DIRECT;
void weft_release_as(uint64_t task, uint64_t resource) WEFT__DIRECT;

/* The task turns into `target`: from now on, events of either are events of both. */
void weft_become(uint64_t target) WEFT__DIRECT;
void weft_become_as(uint64_t task, uint64_t target) WEFT__DIRECT;

/* The task wakes `receiver`, which runs at once. */
void weft_signal(uint64_t receiver) WEFT__DIRECT;
void weft_signal_as(uint64_t task, uint64_t receiver) WEFT__DIRECT;

/* The task wakes `receiver`, which runs later. */
void weft_signal_only(uint64_t receiver) WEFT__DIRECT;
void weft_signal_only_as(uint64_t task, uint64_t receiver) WEFT__DIRECT;

/* The task sends a message to a task that it does not know: one behind a queue, or of another
 * process, on any host. `key` is any number on which both sides agree: a message's id, a hash of
 * names. Record it before the message can arrive, unless the key has WEFT_KEY_ONCE. */
void weft_send(uint64_t key) WEFT__DIRECT;
void weft_send_as(uint64_t task, uint64_t key) WEFT__DIRECT;

/* The task receives the latest message with this `key` that no receive has taken, and readers of
 * both traces show who sent it. Record it before the task runs, because it is why the task does. */
void weft_receive(uint64_t key) WEFT__DIRECT;
void weft_receive_as(uint64_t task, uint64_t key) WEFT__DIRECT;

/* The task should end. If it does not, readers show it as failed. */
void weft_expect(void) WEFT__DIRECT;
void weft_expect_as(uint64_t task) WEFT__DIRECT;

/* The name of the task; later labels are notes. */
#define weft_label(text) weft_label_as(WEFT_TASK_CURRENT, text)
#define weft_label_as(task, text) WEFT__WITH_TEXT(LABEL, weft__label, task, text)
void weft_label_n(const char *text, size_t size) WEFT__DIRECT;
void weft_label_n_as(uint64_t task, const char *text, size_t size) WEFT__DIRECT;
#define weft_labelf(...) WEFT__FORMATTED(LABEL, weft__labelf, WEFT_TASK_CURRENT, __VA_ARGS__)
#define weft_labelf_as(task, ...) WEFT__FORMATTED(LABEL, weft__labelf, task, __VA_ARGS__)

/* A free text for the task, at this time. */
#define weft_note(text) weft_note_as(WEFT_TASK_CURRENT, text)
#define weft_note_as(task, text) WEFT__WITH_TEXT(NOTE, weft__note, task, text)
void weft_note_n(const char *text, size_t size) WEFT__DIRECT;
void weft_note_n_as(uint64_t task, const char *text, size_t size) WEFT__DIRECT;
#define weft_notef(...) WEFT__FORMATTED(NOTE, weft__notef, WEFT_TASK_CURRENT, __VA_ARGS__)
#define weft_notef_as(task, ...) WEFT__FORMATTED(NOTE, weft__notef, task, __VA_ARGS__)

/* The macros call these functions; see weft_macros.h. */
void weft__label(uint64_t task, uint64_t *cache, const char *text) WEFT__DIRECT;
void weft__labelf(uint64_t task, uint64_t *cache, const char *format, unsigned count,
	const struct weft_value *values) WEFT__DIRECT;
void weft__note(uint64_t task, uint64_t *cache, const char *text) WEFT__DIRECT;
void weft__notef(uint64_t task, uint64_t *cache, const char *format, unsigned count,
	const struct weft_value *values) WEFT__DIRECT;

#ifdef __cplusplus
}
#endif

#ifndef WEFT__FUNCTIONS /* the recorder's own files define the functions */
#define weft_read(source) WEFT__WHEN(WEFT__IS_ON(READ), weft_read(source))
#define weft_read_as(task, source) WEFT__OR_RUNS(READ, weft_read_as(task, source), task)
#define weft_read_later(source) WEFT__WHEN(WEFT__IS_ON(READ), weft_read_later(source))
#define weft_read_later_as(task, source) WEFT__WHEN(WEFT__IS_ON(READ), weft_read_later_as(task, source))
#define weft_try_read(source) WEFT__WHEN(WEFT__IS_ON(TRY_READ), weft_try_read(source))
#define weft_try_read_as(task, source) WEFT__WHEN(WEFT__IS_ON(TRY_READ), weft_try_read_as(task, source))
#define weft_resolve(target) WEFT__WHEN(WEFT__IS_ON(RESOLVE), weft_resolve(target))
#define weft_resolve_as(task, target) WEFT__WHEN(WEFT__IS_ON(RESOLVE), weft_resolve_as(task, target))
#define weft_cancel(target) WEFT__WHEN(WEFT__IS_ON(CANCEL), weft_cancel(target))
#define weft_cancel_as(task, target) WEFT__WHEN(WEFT__IS_ON(CANCEL), weft_cancel_as(task, target))
#define weft_close(target) WEFT__WHEN(WEFT__IS_ON(CLOSE), weft_close(target))
#define weft_close_as(task, target) WEFT__WHEN(WEFT__IS_ON(CLOSE), weft_close_as(task, target))
#define weft_time_out(target) WEFT__WHEN(WEFT__IS_ON(TIME_OUT), weft_time_out(target))
#define weft_time_out_as(task, target) WEFT__WHEN(WEFT__IS_ON(TIME_OUT), weft_time_out_as(task, target))
#define weft_acquire(resource) WEFT__WHEN(WEFT__IS_ON(ACQUIRE), weft_acquire(resource))
#define weft_acquire_as(task, resource) WEFT__WHEN(WEFT__IS_ON(ACQUIRE), weft_acquire_as(task, resource))
#define weft_release(resource) WEFT__WHEN(WEFT__IS_ON(RELEASE), weft_release(resource))
#define weft_release_as(task, resource) WEFT__WHEN(WEFT__IS_ON(RELEASE), weft_release_as(task, resource))
#define weft_become(target) WEFT__WHEN(WEFT__IS_ON(BECOME), weft_become(target))
#define weft_become_as(task, target) WEFT__WHEN(WEFT__IS_ON(BECOME), weft_become_as(task, target))
#define weft_signal(receiver) WEFT__OR_RUNS(SIGNAL, weft_signal(receiver), receiver)
#define weft_signal_as(task, receiver) WEFT__OR_RUNS(SIGNAL, weft_signal_as(task, receiver), receiver)
#define weft_signal_only(receiver) WEFT__WHEN(WEFT__IS_ON(SIGNAL), weft_signal_only(receiver))
#define weft_signal_only_as(task, receiver) WEFT__WHEN(WEFT__IS_ON(SIGNAL), weft_signal_only_as(task, receiver))
#define weft_send(key) WEFT__WHEN(WEFT__IS_ON(SEND), weft_send(key))
#define weft_send_as(task, key) WEFT__WHEN(WEFT__IS_ON(SEND), weft_send_as(task, key))
#define weft_receive(key) WEFT__WHEN(WEFT__IS_ON(RECEIVE), weft_receive(key))
#define weft_receive_as(task, key) WEFT__WHEN(WEFT__IS_ON(RECEIVE), weft_receive_as(task, key))
#define weft_expect() WEFT__WHEN(WEFT__IS_ON(EXPECT), weft_expect())
#define weft_expect_as(task) WEFT__WHEN(WEFT__IS_ON(EXPECT), weft_expect_as(task))
#define weft_label_n(text, size) WEFT__WHEN(WEFT__IS_ON(LABEL), weft_label_n(text, size))
#define weft_label_n_as(task, text, size) WEFT__WHEN(WEFT__IS_ON(LABEL), weft_label_n_as(task, text, size))
#define weft_note_n(text, size) WEFT__WHEN(WEFT__IS_ON(NOTE), weft_note_n(text, size))
#define weft_note_n_as(task, text, size) WEFT__WHEN(WEFT__IS_ON(NOTE), weft_note_n_as(task, text, size))
#endif

#endif

#endif
