/* SPDX-License-Identifier: ISC
 *
 * Handlers of signals run in the main thread, between two instructions of any code in Python. Those
 * that raise do it to end the program, by KeyboardInterrupt or sys.exit().
 */
#include "arguments.h"

#include "dropped.h"

/* Called between two instructions of the main thread. */
static int raise_again(void *error)
{
	PyErr_SetObject((PyObject *)Py_TYPE((PyObject *)error), error);
	Py_DECREF((PyObject *)error);
	return -1;
}

static bool is_of_a_handler(void)
{
	return PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) ||
		   PyErr_ExceptionMatches(PyExc_SystemExit);
}

void weft_python_drop_error(void)
{
	PyObject *type, *value, *traceback;
	if (!PyErr_Occurred())
		return;
	if (!is_of_a_handler()) {
		PyErr_Clear();
		return;
	}
	PyErr_Fetch(&type, &value, &traceback);
	PyErr_NormalizeException(&type, &value, &traceback);
	/* The list of such calls is short. If it is full, Ctrl-C at least comes again. */
	if (value && Py_AddPendingCall(raise_again, value) != 0) {
		Py_DECREF(value);
		PyErr_SetInterrupt();
	}
	Py_XDECREF(type);
	Py_XDECREF(traceback);
}
