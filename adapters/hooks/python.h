/* SPDX-License-Identifier: ISC
 *
 * Python: has it load what records asyncio, and tells the names of its threads.
 */
#ifndef WEFT_ADAPTERS_PYTHON_H
#define WEFT_ADAPTERS_PYTHON_H

#include "hooks/hooks.h"

/* Before main. Does nothing in other programs. */
void weft__hooks_python_begin(void);

/* Appends the name of the thread that Python is about to make in the calling one. False: it has
 * none, or Python makes none. */
bool weft__hooks_python_thread(struct weft__hooks_text *name);

#endif
