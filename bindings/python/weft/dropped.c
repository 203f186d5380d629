/* SPDX-License-Identifier: ISC
 *
 * Handlers of signals run in the main thread, between two instructions of any code in Python. Their
 * errors are known by the traceback, which has a call of a handler. KeyboardInterrupt and
 * SystemExit come from outside in any case: a handler in C has no call there, and another thread
 * can raise them by PyThreadState_SetAsyncExc().
 */
#include "dropped.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "wait.h"

#define SIGNALS      65 /* one more than the last signal */
#define PARTIALS_MAX 8  /* functools.partial in functools.partial */

PyObject *weft_python_getsignal;

/* ---- Handlers ---- */

/* The function that runs if the handler is called: a new reference, or NULL. No code of the program
 * runs to find it. */
static PyObject *function_of(PyObject *handler)
{
	PyObject *found = Py_NewRef(handler);
	for (int i = 0; found && i < PARTIALS_MAX; i++) {
		PyObject *type = (PyObject *)Py_TYPE(found), *outer = found;
		if (type == weft_python_waits.function_type)
			return found;
		if (type == weft_python_waits.method_type)
			found = PyObject_GetAttrString(outer, "__func__");
		else if (type == weft_python_waits.partial_type)
			found = PyObject_GetAttrString(outer, "func");
		else
			found = PyObject_GetAttrString(type, "__call__");
		Py_DECREF(outer);
	}
	Py_XDECREF(found);
	return NULL;
}

static bool is_code_of(PyObject *code, PyObject *handler)
{
	PyObject *function = handler != Py_None ? function_of(handler) : NULL;
	PyObject *own = function ? PyObject_GetAttrString(function, "__code__") : NULL;
	bool is = own && own == code;
	Py_XDECREF(own);
	Py_XDECREF(function);
	return is;
}

static bool is_of_a_handler(PyObject *code)
{
	bool is = false;
	for (int number = 1; code && number < SIGNALS && !is; number++) {
		PyObject *handler = PyObject_CallFunction(weft_python_getsignal, "i", number);
		is = handler && is_code_of(code, handler);
		Py_XDECREF(handler);
	}
	return is;
}

/* The part of a traceback from the first call of a handler on: a new reference, or NULL. */
static PyObject *find_handler(PyObject *traceback)
{
	PyObject *rest = Py_XNewRef(traceback);
	while (rest && rest != Py_None) {
		PyObject *frame = PyObject_GetAttrString(rest, "tb_frame");
		PyObject *code = frame ? PyObject_GetAttrString(frame, "f_code") : NULL;
		bool is = is_of_a_handler(code);
		Py_XDECREF(frame);
		Py_XDECREF(code);
		if (is)
			return rest;
		PyObject *next = PyObject_GetAttrString(rest, "tb_next");
		Py_DECREF(rest);
		rest = next;
	}
	Py_XDECREF(rest);
	return NULL;
}

/* ---- Raising again ---- */

/* Called between two instructions of the main thread. */
static int raise_again(void *error)
{
	PyErr_SetObject((PyObject *)Py_TYPE((PyObject *)error), error);
	Py_DECREF((PyObject *)error);
	return -1;
}

static bool is_main_thread(void)
{
	return getpid() == (pid_t)syscall(SYS_gettid);
}

/* Without the frames of the hook. Pending calls are for the main thread, and there is room for few:
 * otherwise only the type is kept. */
static void pass_on(PyObject *error, PyObject *traceback)
{
	(void)PyException_SetTraceback(error, traceback ? traceback : Py_None);
	if (is_main_thread() && Py_AddPendingCall(raise_again, Py_NewRef(error)) == 0)
		return;
	if (is_main_thread())
		Py_DECREF(error); /* the reference of the call */
	(void)PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), (PyObject *)Py_TYPE(error));
}

void weft_python_drop_error(void)
{
	PyObject *type, *value, *traceback;
	if (!PyErr_Occurred())
		return;
	bool is_stop =
		PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) || PyErr_ExceptionMatches(PyExc_SystemExit);
	PyErr_Fetch(&type, &value, &traceback);
	PyErr_NormalizeException(&type, &value, &traceback);
	PyObject *handler = find_handler(traceback);
	if (value && (is_stop || handler))
		pass_on(value, handler);
	PyErr_Clear(); /* of the search */
	Py_XDECREF(handler);
	Py_XDECREF(type);
	Py_XDECREF(value);
	Py_XDECREF(traceback);
}
