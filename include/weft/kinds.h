/* SPDX-License-Identifier: ISC
 *
 * Values that programs record and readers read: kinds of tasks, kinds of bands, and numbers that
 * stand for no task, the current task or an unknown age.
 */
#ifndef WEFT_KINDS_H
#define WEFT_KINDS_H

#include <stdint.h>

/* Instead of a task: idle in a switch, no edge in a read. The old tools wrote -1. */
#define WEFT_TASK_NONE UINT64_MAX

/* Pass this instead of a task's id to mean the thread's current task. */
#define WEFT_TASK_CURRENT (UINT64_MAX - 1)

/* Pass this instead of a task's age if it is unknown. */
#define WEFT_AGE_UNKNOWN UINT64_MAX

/* The tag of a timer's deadline. Its value is the time from the tag's event on, in ns. */
#define WEFT_TAG_DEADLINE "deadline"

/* Tags of a condition that was signalled while no task waited for it, written when a wait begins:
 * the id of the task that signalled, if it is known, and then how long ago that was, in ns. */
#define WEFT_TAG_SIGNALLED_BY     "last signalled by"
#define WEFT_TAG_SIGNALLED_BEFORE "ns before"

/* A tag of a condition, lock or thread, with any value, written when a wait for it begins that may
 * end without a thread of the process: it has a time-out, other processes use the object, or a
 * handler of a signal may give it. */
#define WEFT_TAG_LIMITED "wait may end"

/* A tag of a thread's task and of tasks that stand for descriptors: the thread waits in the epoll
 * instance of that number, from 1 on, whenever it waits for nothing else, and the descriptors are
 * in it. 0: no longer. */
#define WEFT_TAG_EPOLL "epoll"

/* A tag of an event loop's task. 1: it sleeps, and nothing that is left of the program can wake it,
 * neither a timer, a descriptor, another thread nor a handler of a signal. 0: it has woken. */
#define WEFT_TAG_ASLEEP "asleep"

/* A tag of the task of an event loop or of its first thread, with any value: the program listens
 * for connections. */
#define WEFT_TAG_LISTENS "listens"

/* A tag of a thread's task, with any value: its event loop has ended by itself, because nothing was
 * left to wait for. A task that still waits then waits for ever. */
#define WEFT_TAG_LOOP_ENDED "event loop ended"

/* A tag of a task, with any value: it may have ended before the time at which its end is. */
#define WEFT_TAG_ENDED_BEFORE "may have ended before"

/* A bit of keys that only one message has (weft_send): then its two sides belong together in either
 * order, if the send is recorded at most this long after the receive. */
#define WEFT_KEY_ONCE    (UINT64_C(1) << 63)
#define WEFT_KEY_ONCE_NS UINT64_C(1000000000)

/* Keys of the event channels of Xen, see weft_xen_channel(): the number of the domain that receives
 * is in bits 32 to 47, and its port below. Xen's own trace does not say the port. */
#define WEFT_KEY_CHANNEL      (UINT64_C(0x5845) << 48)
#define WEFT_KEY_CHANNEL_PORT UINT64_C(0xffffffff) /* mask; all bits set: any port */

enum weft_kind {
#define KIND(number, id, name) WEFT_KIND_##id = number,
#include <weft/kinds.def>
#undef KIND
};

/* Kinds of periods of a whole thread. */
enum weft_band {
	WEFT_BAND_IDLE,
	WEFT_BAND_GC,
};

#endif
