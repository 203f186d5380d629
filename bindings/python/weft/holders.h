/* SPDX-License-Identifier: ISC
 *
 * The tasks that hold a lock or semaphore, in the order in which they took it: an object in its
 * dictionary, which also has the lock's entry. Nothing here leaves an exception.
 */
#ifndef WEFT_PYTHON_HOLDERS_H
#define WEFT_PYTHON_HOLDERS_H

#include "entry.h"

struct weft_python_holders {
	PyObject_HEAD uint64_t *tasks; /* WEFT_TASK_NONE: the task is unknown */
	size_t count, room;
	bool are_unknown;                /* tasks release the lock for others */
	struct weft_python_entry *entry; /* the lock's; NULL: not yet */
	PyObject *label;                 /* str, or NULL */
	unsigned kind;
	size_t wanted; /* of a thread pool: jobs that have not ended */
};

bool weft_python_holders_init(void);

/* NULL if the lock was never taken since the program is recorded. Borrowed, as the following one.
 */
struct weft_python_holders *weft_python_holders_find(PyObject *lock);

/* Those of the lock that has this dictionary, created if there are none. NULL: there is no
 * memory. */
struct weft_python_holders *weft_python_holders_of(PyObject *dictionary, unsigned kind);

/* A new reference, or NULL: there is no memory. */
struct weft_python_holders *weft_python_holders_create(unsigned kind);

/* The entry of the lock, which is created if there is none, with its holders. NULL: it cannot be
 * recorded. */
struct weft_python_entry *weft_python_holders_entry(struct weft_python_holders *holders);

bool weft_python_holders_have(const struct weft_python_holders *holders, uint64_t task);

void weft_python_holders_add(struct weft_python_holders *holders, uint64_t task);

/* The task, which holds the lock, remembers it until it ends, unless it remembers another one. */
void weft_python_holders_keep(struct weft_python_holders *holders, struct weft_python_entry *task);

/* All holds are over, and no more are known from now on. */
void weft_python_holders_forget(struct weft_python_holders *holders);

/* Removes the task's latest hold; false: it has none. */
bool weft_python_holders_remove(struct weft_python_holders *holders, uint64_t task);

#endif
