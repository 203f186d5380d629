/* SPDX-License-Identifier: ISC
 *
 * Tells what a task waits for, in words and as futures: from its coroutine, which awaits another
 * one, and so on down to the future.
 */
#ifndef WEFT_PYTHON_WAIT_H
#define WEFT_PYTHON_WAIT_H

#include "python.h"

/* Objects of Python that the functions below need, from weft/asyncio.py; NULL until then. */
struct weft_python_waits {
	PyObject *coroutine_type, *generator_type, *function_type, *method_type, *partial_type;
	PyObject *async_generator_type;
	PyObject *send_type, *close_type; /* of what awaits a step of such a generator */
	PyObject *future_type, *gather_type;
	PyObject *folder;   /* str: where asyncio's files are, with a slash at the end */
	PyObject *closures; /* {code of a callback: index of the cell with the future that it ends, or
						 for which its own waits} */
	PyObject
		*locals; /* {code of a coroutine: name of the variable with the futures it waits for} */
	PyObject *resources;       /* {code of a coroutine: enum weft_python_resource} */
	PyObject *check_cancel;    /* the code of a callback of a future that waits for one of
								  concurrent.futures, which is in its closure */
	PyObject *leaves_inner;    /* the code of the callback of shield()'s own future; the protected
								  future is in its closure */
	PyObject *sleep;           /* the code of asyncio.sleep() */
	PyObject *cancel_and_wait; /* the code of asyncio.tasks._cancel_and_wait */
	PyObject *release_waiter;  /* asyncio.tasks._release_waiter */
	PyObject *task_group_done; /* asyncio.TaskGroup._on_task_done */
	PyObject *set_state; /* the code that copies the state of a future of concurrent.futures */
};
extern struct weft_python_waits weft_python_waits;

/* A method waits for this of its object; as numbered in weft/asyncio.py. */
enum weft_python_resource {
	WEFT_PYTHON_NO_RESOURCE = -1,
	WEFT_PYTHON_LOCK,
	WEFT_PYTHON_CONDITION,
	WEFT_PYTHON_QUEUE_GET,
	WEFT_PYTHON_QUEUE_PUT,
	WEFT_PYTHON_QUEUE_JOIN,
};

bool weft_python_waits_init(void);

/* True for a future or task of asyncio. */
bool weft_python_is_future(PyObject *object);

/* True if the code is that of a coroutine that takes a lock or an item of a queue. A task of it, as
 * wait_for() makes one, takes it for its creator. */
bool weft_python_wait_takes(PyObject *code);

/* "name at crawl:12", a new reference: where the code of a task's coroutine begins. NULL for
 * coroutines of asyncio. */
PyObject *weft_python_wait_add_beginning(PyObject *name, PyObject *code);

/* The task has begun to wait for this future, which has no entry yet: adds one. */
struct weft_python_entry *weft_python_wait_add(PyObject *task, PyObject *future);

/* The future that a callback of futures will end, perhaps; a new reference. For example the one
 * that gather() returned, if it is the callback of a task in it. */
PyObject *weft_python_wait_ended_by(PyObject *callback);

#endif
