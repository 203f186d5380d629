/* SPDX-License-Identifier: ISC
 *
 * Queues of asyncio. A task that gets waits for items, which others put; one that puts waits for
 * room, which others make; and one that joins waits for the tasks that have got items and not yet
 * said that they are done.
 *
 * A program may keep a pool in a queue, as of connections: a task gets one, and puts it back. Then
 * a task that gets waits for those that have one.
 */
#ifndef WEFT_PYTHON_QUEUES_H
#define WEFT_PYTHON_QUEUES_H

#include "entry.h"
#include "methods.h"

/* Objects of Python, from weft/asyncio.py. */
struct weft_python_queues {
	PyObject *type;  /* NULL: queues are not recorded */
	PyObject *label; /* called with a new queue, returns labels of its items, room, … */
};
extern struct weft_python_queues weft_python_queues;

/* How a task waits for a queue. */
enum weft_python_queue_wait {
	WEFT_PYTHON_GET,
	WEFT_PYTHON_PUT,
	WEFT_PYTHON_JOIN,
};

extern struct weft_python_method weft_python_get_nowait;

bool weft_python_queues_init(void);

/* The entry of what a task waits for that begins to wait for a queue. NULL: it cannot be recorded.
 */
struct weft_python_entry *weft_python_queue_wait(
	PyObject *queue, enum weft_python_queue_wait wait, uint64_t waiter);

#endif
