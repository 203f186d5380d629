/* SPDX-License-Identifier: ISC
 *
 * Python: makes it load the recorder of asyncio, and looks at the code that it executes.
 */
#ifndef WEFT_ADAPTERS_PYTHON_H
#define WEFT_ADAPTERS_PYTHON_H

#include "hooks/hooks.h"

/* Before main. Does nothing in other programs. */
void weft__hooks_python_begin(void);

/* True if this is Python, and the program has no audit hook of its own, to which ours would not be
 * hidden. */
bool weft__hooks_python_is_followed(void);

/* True if the address is in the code of Python itself. */
bool weft__hooks_python_has(const void *code);

/* ---- What Python executes (frames.c) ---- */

/* Appends the name of the thread that Python is about to make in the calling one. False: it has
 * none, or Python makes none. */
bool weft__hooks_python_thread(struct weft__hooks_text *name);

/* Where Python waits for a lock of its own: in the program, or in a method of the library. */
enum weft__hooks_python_wait {
	WEFT__PYTHON_UNKNOWN, /* it may not wait: a condition's lock is tried to see if it is held */
	WEFT__PYTHON_WITH,    /* in a statement that gives the lock back when it ends */
	WEFT__PYTHON_ACQUIRE, /* the program calls acquire() */
	WEFT__PYTHON_THREAD,  /* for the end of a thread, which has the lock until then */
	WEFT__PYTHON_OTHER,   /* in another method of the library */
};

/* Appends a name for the wait: "lock at FILE:9 in transfer", "Queue.get at FILE:30". Call it only
 * from Python, with its global lock. */
enum weft__hooks_python_wait weft__hooks_python_waits(struct weft__hooks_text *name);

#endif
