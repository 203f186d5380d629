/* SPDX-License-Identifier: ISC
 *
 * Python: has it load what records asyncio, and looks at what it executes.
 */
#ifndef WEFT_ADAPTERS_PYTHON_H
#define WEFT_ADAPTERS_PYTHON_H

#include "hooks/hooks.h"

/* Before main. Does nothing in other programs. */
void weft__hooks_python_begin(void);

/* True if this is Python, and the program has no audit hook of its own, to which ours would not be
 * hidden. */
bool weft__hooks_python_is_followed(void);

/* True if that is in the code of Python itself. */
bool weft__hooks_python_has(const void *code);

/* ---- What Python executes (frames.c) ---- */

/* Appends the name of the thread that Python is about to make in the calling one. False: it has
 * none, or Python makes none. */
bool weft__hooks_python_thread(struct weft__hooks_text *name);

/* Where Python waits for a lock of its own: in the program, or in a method of the library. */
enum weft__hooks_python_wait {
	WEFT__PYTHON_UNKNOWN, /* it may not wait at all: it asks who has a condition's lock */
	WEFT__PYTHON_WITH,    /* in a statement that gives the lock back when it ends */
	WEFT__PYTHON_ACQUIRE, /* the program calls acquire() */
	WEFT__PYTHON_THREAD,  /* for the end of a thread, which has the lock until then */
	WEFT__PYTHON_OTHER,   /* for whatever the library uses locks for */
};

/* Appends a name for that: "lock at FILE:9 in transfer", "Queue.get at FILE:30". Only if the
 * caller is Python, and has its global lock. */
enum weft__hooks_python_wait weft__hooks_python_waits(struct weft__hooks_text *name);

#endif
