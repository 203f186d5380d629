/* SPDX-License-Identifier: ISC
 *
 * Functions for trace contexts (weft/context.h), which are texts here; weft/contexts.py remembers
 * them.
 */
#include <weft/context.h>

#include "record.h"

/* None and an empty text are no context. */
static bool take_context(PyObject *object, struct weft_context *ret_context)
{
	struct weft_python_text text;
	*ret_context = (struct weft_context){0};
	if (!weft_python_text_init(&text, object))
		return false;
	const bool good = !text.size || weft_context_parse(text.bytes, text.size, ret_context);
	weft_python_text_finish(&text);
	if (!good)
		PyErr_SetString(PyExc_ValueError, "a context is a traceparent of W3C Trace Context");
	return good;
}

static PyObject *text_of(const struct weft_context *context)
{
	char text[WEFT_CONTEXT_TEXT];
	const size_t size = weft_context_print(context, text);
	return PyUnicode_FromStringAndSize(text, (Py_ssize_t)size);
}

FUNCTION(_context_start)
{
	static const struct weft_python_parameters parameters = {"_context_start", {"parent"}, 0};
	PyObject *own[WEFT_PYTHON_OWN_MAX];
	struct weft_python_call call;
	struct weft_context parent, context;
	if (!weft_python_bind(&parameters, PASSED, own, &call) || !take_context(own[0], &parent))
		return NULL;
	weft_ffi_context_start(call.category, call.level, call.task, &parent, &context);
	return text_of(&context);
}

FUNCTION(_context_begin)
{
	static const struct weft_python_parameters parameters = {"_context_begin", {"parent"}, 0};
	PyObject *own[WEFT_PYTHON_OWN_MAX];
	struct weft_python_call call;
	struct weft_context parent, context;
	if (!weft_python_bind(&parameters, PASSED, own, &call) || !take_context(own[0], &parent))
		return NULL;
	weft_ffi_context_begin(call.category, call.level, &parent, &context);
	return text_of(&context);
}

static PyObject *call_is_context(PyObject *module, PyObject *object)
{
	struct weft_context context;
	(void)module;
	if (take_context(object, &context))
		return PyBool_FromLong(context.span != 0);
	if (!PyErr_ExceptionMatches(PyExc_ValueError))
		return NULL;
	PyErr_Clear();
	Py_RETURN_FALSE;
}

/* Also for code in C that the program calls. While nothing is recorded, coroutines are no tasks,
 * and their thread would have the context of another one. */
static PyObject *call_context_set(PyObject *module, PyObject *object)
{
	struct weft_context context;
	(void)module;
	if (!take_context(object, &context))
		return NULL;
	if (weft_ffi_is_recording())
		weft_context_set(&context);
	Py_RETURN_NONE;
}

PyMethodDef weft_python_of_contexts[] = {
	RECORDS(_context_start, "parent='', ", "The task is a span; returns its context."),
	RECORDS(_context_begin, "parent='', ", "So is the span that it began last."),
	{"_is_context", call_is_context, METH_O, "True for a valid traceparent."},
	{"_context_set", call_context_set, METH_O,
		"The current task works for a context, or for none."},
	{NULL, NULL, 0, NULL},
};
