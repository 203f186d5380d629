/* SPDX-License-Identifier: ISC
 *
 * The thread, snapshots and levels.
 */
#include "record.h"

/* ---- The thread ---- */

static PyObject *call_switch(PyObject *module, PyObject *task)
{
	uint64_t id;
	(void)module;
	if (!weft_python_task(task, &id))
		return NULL;
	weft_ffi_switch(id);
	Py_RETURN_NONE;
}

static PyObject *call_enter(PyObject *module, PyObject *task)
{
	uint64_t id;
	(void)module;
	if (!weft_python_task(task, &id))
		return NULL;
	weft_ffi_enter(id);
	Py_RETURN_NONE;
}

static PyObject *call_leave(PyObject *module, PyObject *nothing)
{
	(void)module, (void)nothing;
	weft_ffi_leave();
	Py_RETURN_NONE;
}

static PyObject *call_current(PyObject *module, PyObject *nothing)
{
	(void)module, (void)nothing;
	return PyLong_FromUnsignedLongLong(weft_ffi_current());
}

/* (kind, reason='') of a band. */
static PyObject *record_band(PyObject *arguments,
	void (*record)(unsigned kind, const char *reason, size_t size, uint64_t *cache))
{
	unsigned kind;
	PyObject *reason = NULL;
	struct weft_python_text text;
	if (!PyArg_ParseTuple(arguments, "I|O", &kind, &reason) ||
		!weft_python_text_init_name(&text, reason))
		return NULL;
	record(kind, text.bytes, text.size, text.cache);
	weft_python_text_finish(&text);
	Py_RETURN_NONE;
}

static PyObject *call_band_begin(PyObject *module, PyObject *arguments)
{
	(void)module;
	return record_band(arguments, weft_ffi_band_begin);
}

static PyObject *call_band_end(PyObject *module, PyObject *arguments)
{
	(void)module;
	return record_band(arguments, weft_ffi_band_end);
}

static PyObject *call_gc(PyObject *module, PyObject *duration)
{
	uint64_t duration_ns = PyLong_AsUnsignedLongLong(duration);
	(void)module;
	if (duration_ns == UINT64_MAX && PyErr_Occurred())
		return NULL;
	weft_ffi_gc(duration_ns);
	Py_RETURN_NONE;
}

static PyObject *call_moment_begin(PyObject *module, PyObject *nothing)
{
	(void)module, (void)nothing;
	weft_ffi_moment_begin();
	Py_RETURN_NONE;
}

static PyObject *call_moment_end(PyObject *module, PyObject *nothing)
{
	(void)module, (void)nothing;
	weft_ffi_moment_end();
	Py_RETURN_NONE;
}

/* ---- A text alone ---- */

static PyObject *pass_text(PyObject *object, void (*pass)(const char *text, size_t size))
{
	struct weft_python_text text;
	if (!weft_python_text_init(&text, object))
		return NULL;
	pass(object == Py_None ? NULL : text.bytes, text.size);
	weft_python_text_finish(&text);
	Py_RETURN_NONE;
}

static PyObject *call_thread_name(PyObject *module, PyObject *name)
{
	(void)module;
	return pass_text(name, weft_ffi_thread_name);
}

static PyObject *call_snapshot_request(PyObject *module, PyObject *reason)
{
	(void)module;
	return pass_text(reason, weft_ffi_snapshot_request);
}

static PyObject *call_trigger(PyObject *module, PyObject *rule)
{
	(void)module;
	return pass_text(rule, weft_ffi_trigger);
}

/* ---- Levels ---- */

static PyObject *call_is_recording(PyObject *module, PyObject *nothing)
{
	(void)module, (void)nothing;
	return PyBool_FromLong(weft_ffi_is_recording());
}

FUNCTION(is_enabled)
{
	static const struct weft_python_parameters parameters = {"is_enabled", {NULL}, 0};
	PyObject *own[WEFT_PYTHON_OWN_MAX];
	struct weft_python_call call;
	if (!weft_python_bind(&parameters, PASSED, own, &call))
		return NULL;
	return PyBool_FromLong(weft_ffi_is_enabled(call.category, call.level));
}

static PyObject *call_set_level(PyObject *module, PyObject *arguments)
{
	const char *pattern;
	Py_ssize_t size;
	unsigned level;
	(void)module;
	if (!PyArg_ParseTuple(arguments, "s#I", &pattern, &size, &level))
		return NULL;
	if (weft_ffi_set_level(pattern, (size_t)size, level) < 0) {
		PyErr_SetString(PyExc_ValueError,
			"set_level() has a pattern of at most 255 bytes and a level from 0 to 5");
		return NULL;
	}
	Py_RETURN_NONE;
}

/* clang-format off */
PyMethodDef weft_python_of_threads[] = {
	{"switch", call_switch, METH_O, "switch(task)\n--\n\nThe task runs on this thread from now on; NONE: the thread is idle."},
	{"enter", call_enter, METH_O, "enter(task)\n--\n\nThe task runs on this thread until leave()."},
	{"leave", call_leave, METH_NOARGS, "leave()\n--\n\nThe task runs again that ran before enter()."},
	{"current", call_current, METH_NOARGS, "current()\n--\n\nThe thread's current task; NONE if there is none or nothing is recorded."},
	{"band_begin", call_band_begin, METH_VARARGS, "band_begin(kind, reason='')\n--\n\nA band of this thread begins: BAND_IDLE or BAND_GC."},
	{"band_end", call_band_end, METH_VARARGS, "band_end(kind, reason='')\n--\n\nThe band ends."},
	{"gc", call_gc, METH_O, "gc(duration_ns)\n--\n\nA garbage collection of this length has just ended."},
	{"moment_begin", call_moment_begin, METH_NOARGS, "moment_begin()\n--\n\nThe next events have one time, until moment_end()."},
	{"moment_end", call_moment_end, METH_NOARGS, "moment_end()\n--\n\nEnds what moment_begin() began."},
	{"thread_name", call_thread_name, METH_O, "thread_name(name)\n--\n\nThis thread's name in the trace; None: the operating system's."},
	{"snapshot_request", call_snapshot_request, METH_O, "snapshot_request(reason)\n--\n\nAsks `weft record` for a copy of the trace up to now."},
	{"trigger", call_trigger, METH_O, "trigger(rule)\n--\n\nAsks `weft record` for a snapshot whenever the rule fires; see weft-trigger(5)."},
	{"is_recording", call_is_recording, METH_NOARGS, "is_recording()\n--\n\nTrue if calls currently record."},
	RECORDS(is_enabled, "", "True if calls of that category and level would be recorded."),
	{"set_level", call_set_level, METH_VARARGS, "set_level(pattern, level)\n--\n\nSets the level of all categories that match the pattern."},
	{NULL, NULL, 0, NULL},
};
/* clang-format on */
