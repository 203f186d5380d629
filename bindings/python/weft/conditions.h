/* SPDX-License-Identifier: ISC
 *
 * Conditions and events of asyncio, and what a queue has of them: tasks wait until another task
 * signals. Each becomes a task of the trace when a task first waits for it. Until then only the
 * last signal is remembered.
 */
#ifndef WEFT_PYTHON_CONDITIONS_H
#define WEFT_PYTHON_CONDITIONS_H

#include "entry.h"
#include "methods.h"

/* Objects of Python, from weft/asyncio.py; NULL: they are not recorded. */
struct weft_python_conditions {
	PyObject *condition_type, *event_type;
	PyObject *label; /* called with a new object, returns its label */
};
extern struct weft_python_conditions weft_python_conditions;

/* A condition, in the dictionary of its object. */
struct weft_python_condition {
	PyObject_HEAD struct weft_python_entry *entry; /* NULL: no task has waited for it yet */
	PyObject *label;                               /* str, or NULL */
	unsigned kind;
	bool has_signal; /* a signal that no task waited for, since the last wait */
	uint64_t signaller, signalled_ns;
};

extern struct weft_python_method weft_python_notify;

/* Adds attributes to the types. */
bool weft_python_conditions_init(void);

/* A new reference, or NULL. `label` is a str or NULL. */
struct weft_python_condition *weft_python_condition_create(unsigned kind, PyObject *label);

/* A task signals it now. `has_waiters`: tasks wait for it. */
void weft_python_condition_signal(struct weft_python_condition *condition, bool has_waiters);

/* A task begins to wait for it. NULL: it cannot be recorded. */
struct weft_python_entry *weft_python_condition_wait(struct weft_python_condition *condition);

/* As the former, for an asyncio.Condition or Event. */
struct weft_python_entry *weft_python_condition_wait_for(PyObject *object);

/* True if the object's attribute of that name is a container that is not empty. */
bool weft_python_has_any(PyObject *object, PyObject *name);

#endif
