/* SPDX-License-Identifier: ISC
 *
 * Locks of asyncio: a lock becomes a task of the trace when a task first waits for it. Until then
 * only its holder is remembered, so that locks for which nobody waits are no events.
 */
#ifndef WEFT_PYTHON_LOCKS_H
#define WEFT_PYTHON_LOCKS_H

#include "entry.h"

/* `type`: asyncio.Lock, or NULL. `label`: called with a lock, returns its label. */
bool weft_python_locks_init(PyObject *type, PyObject *label);

bool weft_python_is_lock(PyObject *object);

/* The entry of a lock for which a task begins to wait. NULL: it cannot be recorded. */
struct weft_python_entry *weft_python_lock_entry(PyObject *lock);

/* A function of the module: (lock, whether it is locked now). */
PyObject *weft_python_lock_changed(PyObject *module, PyObject *arguments);

#endif
