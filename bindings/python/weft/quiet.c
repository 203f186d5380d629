/* SPDX-License-Identifier: ISC
 *
 * See quiet.h. Python has functions for this from 3.11 on, which are not in the stable ABI.
 */
#include "quiet.h"

#include <dlfcn.h>
#include <string.h>

typedef void change(PyThreadState *thread);

/* Looked for once; NULL: this Python has none. */
static change *find(const char *name, void **known)
{
	if (!*known)
		*known = dlsym(RTLD_DEFAULT, name);
	change *found;
	memcpy(&found, known, sizeof(found));
	return found;
}

static change *find_enter(void)
{
	static void *known;
	return find("PyThreadState_EnterTracing", &known);
}

static change *find_leave(void)
{
	static void *known;
	return find("PyThreadState_LeaveTracing", &known);
}

PyThreadState *weft_python_quiet_begin(void)
{
	PyThreadState *thread = PyThreadState_Get();
	if (find_enter() && find_leave())
		find_enter()(thread);
	return thread;
}

void weft_python_quiet_end(PyThreadState *thread)
{
	if (find_enter() && find_leave())
		find_leave()(thread);
}

PyObject *weft_python_call_quietly(PyObject *function, PyObject *argument)
{
	PyThreadState *thread = weft_python_quiet_begin();
	PyObject *result = PyObject_CallFunctionObjArgs(function, argument, NULL);
	weft_python_quiet_end(thread);
	return result;
}
