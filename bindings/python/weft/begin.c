/* SPDX-License-Identifier: ISC
 *
 * Begins in a Python that nobody told of weft, for the adapters of `weft record`. Its program must
 * see nothing of this: sys.path and sys.modules stay as they are, no function for tracing or
 * profiling is called for our code, and an error ends here.
 */
#include "begin.h"

#include <stdio.h>
#include <string.h>

#include "dropped.h"
#include "quiet.h"

/* _hooks.py (embed.py). */
extern const char weft_python_text[];

static PyObject *globals; /* of that text, once it records; NULL */

/* __import__ of the program may be a function of its own. */
static PyObject *make_builtins(void)
{
	PyObject *builtins = PyDict_Copy(PyEval_GetBuiltins());
	PyObject *importlib = PyDict_GetItemString(PyImport_GetModuleDict(), "_frozen_importlib");
	PyObject *import = importlib ? PyObject_GetAttrString(importlib, "__import__") : NULL;
	if (!builtins || !import || PyDict_SetItemString(builtins, "__import__", import))
		Py_CLEAR(builtins);
	Py_XDECREF(import);
	return builtins;
}

/* The variables of _hooks.py, after it has run; NULL and an exception. */
static PyObject *run_text(void)
{
	PyObject *code = Py_CompileString(weft_python_text, "weft/_hooks.py", Py_file_input);
	PyObject *variables = code ? PyDict_New() : NULL,
			 *builtins = variables ? make_builtins() : NULL,
			 *name = builtins ? PyUnicode_FromString("weft._hooks") : NULL, *none = NULL;
	if (name && !PyDict_SetItemString(variables, "__builtins__", builtins) &&
		!PyDict_SetItemString(variables, "__name__", name))
		none = PyEval_EvalCode(code, variables, variables);
	if (!none)
		Py_CLEAR(variables);
	Py_XDECREF(none);
	Py_XDECREF(name);
	Py_XDECREF(builtins);
	Py_XDECREF(code);
	return variables;
}

static void write_error(char *ret_error, size_t size)
{
	PyObject *type, *value, *traceback;
	PyErr_Fetch(&type, &value, &traceback);
	PyObject *text = value ? PyObject_Str(value) : NULL;
	PyObject *bytes = text ? PyUnicode_AsUTF8String(text) : NULL;
	PyErr_Clear();
	snprintf(ret_error, size, "%s", bytes ? PyBytes_AsString(bytes) : "its error has no text");
	Py_XDECREF(bytes);
	Py_XDECREF(text);
	PyErr_Restore(type, value, traceback);
	weft_python_drop_error();
}

static void record_pools(void)
{
	PyObject *function = PyDict_GetItemString(globals, "record_pools");
	PyObject *none = function ? PyObject_CallNoArgs(function) : NULL;
	Py_XDECREF(none);
	weft_python_drop_error();
}

static bool record(void)
{
	PyObject *module = PyInit__weft(), *variables = module ? run_text() : NULL;
	PyObject *function = variables ? PyDict_GetItemString(variables, "record") : NULL;
	PyObject *is_new = function ? PyObject_CallFunctionObjArgs(function, module, NULL) : NULL;
	bool is_good = is_new != NULL;
	if (is_new == Py_True)
		globals = Py_NewRef(variables);
	Py_XDECREF(is_new);
	Py_XDECREF(variables);
	Py_XDECREF(module);
	return is_good;
}

bool weft_python_begin(char *ret_error, size_t size)
{
	PyThreadState *thread = weft_python_quiet_begin();
	bool is_good = record();
	if (!is_good)
		write_error(ret_error, size);
	else if (globals && PyDict_GetItemString(PyImport_GetModuleDict(), "concurrent.futures.thread"))
		record_pools();
	weft_python_quiet_end(thread);
	return is_good;
}

/* The program is about to import it: so it is imported here, and the program gets that. If it
 * fails, the program's own attempt says so. */
void weft_python_begin_pools(void)
{
	PyObject *module =
		globals ? PyImport_ImportModuleLevel("concurrent.futures.thread", NULL, NULL, NULL, 0)
				: NULL;
	if (module) {
		PyThreadState *thread = weft_python_quiet_begin();
		record_pools();
		weft_python_quiet_end(thread);
	}
	Py_XDECREF(module);
	weft_python_drop_error();
}
