/* SPDX-License-Identifier: ISC
 *
 * Which task of the trace stands for an object: a task, future or event loop of asyncio, a job of a
 * thread pool.
 *
 * An object that is recorded has an entry: an attribute with the task's id. When the object
 * is freed, so is its entry; if the task has not ended then, it is closed.
 *
 * Nothing here leaves an exception: what cannot be recorded is left out.
 */
#ifndef WEFT_PYTHON_ENTRY_H
#define WEFT_PYTHON_ENTRY_H

#include "python.h"

struct weft_python_entry {
	PyObject_HEAD uint64_t id;
	uint64_t stands_for; /* the task that holds what this one takes: the task itself or another */
	uint64_t waiter;     /* of a future: the task that first waited for it */
	/* For a task, the holders of a lock that it took; for a future, those of the lock that it
	 * is for. NULL: none. */
	PyObject *held;
	unsigned interrupts; /* weft_python_interrupts when it was created */
	bool has_label, has_ended;
};

/* asyncio.CancelledError; a gather() ends with it as with an error. */
extern PyObject *weft_python_cancelled_error;

/* A function of _hooks.py: " at crawl:12" for an exception that was raised there. */
extern PyObject *weft_python_location_of_error;

/* How often Ctrl-C has interrupted a loop. What is freed after that has not ended by itself. */
extern unsigned weft_python_interrupts;

bool weft_python_entries_init(void);

/* The category of all that is recorded of asyncio. */
struct weft_category *weft_python_asyncio(void);

/* The entry of an object, borrowed; NULL if it has none. */
struct weft_python_entry *weft_python_entry_find(PyObject *object);

/* Creates a task for an object that keeps its entry elsewhere. NULL: there is no memory. */
struct weft_python_entry *weft_python_entry_create(unsigned kind);

/* Creates a task for the object. NULL if attributes cannot be added to it. */
struct weft_python_entry *weft_python_entry_add(PyObject *object, unsigned kind);

/* `label` is a str or weft.Name; NULL, or an exception: none. It counts once. */
void weft_python_entry_label(struct weft_python_entry *entry, PyObject *label);

/* The task fails with this message, if it has not ended. */
void weft_python_entry_fail(struct weft_python_entry *entry, PyObject *message);

/* The task fails with this exception, if it has not ended. */
void weft_python_entry_fail_by(struct weft_python_entry *entry, PyObject *exception);

/* Ends the task if `future` is done; as the future has: with a value, an error, or cancelled. It is
 * the object itself, or one of concurrent.futures from which the object will get its value. */
void weft_python_entry_end(struct weft_python_entry *entry, PyObject *future);

#endif
