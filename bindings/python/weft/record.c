/* SPDX-License-Identifier: ISC
 *
 * The recording functions of the module: each binds its arguments and calls the function of
 * weft_ffi.h that has its name.
 */
#include "record.h"

#include "objects.h"

#define SOURCES_MAX 1000

#define FUNCTION(name)            \
	static PyObject *call_##name( \
		PyObject *module, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
#define PASSED ((void)module, (struct weft_python_passed){arguments, count, keywords})

/* ---- Two tasks: the actor, and another ---- */

typedef void edge_function(
	struct weft_category *category, unsigned level, uint64_t task, uint64_t other);

static PyObject *record_edge(struct weft_python_passed passed,
	const struct weft_python_parameters *parameters, edge_function *record)
{
	PyObject *own[WEFT_PYTHON_OWN_MAX];
	struct weft_python_call call;
	uint64_t other;
	if (!weft_python_bind(parameters, passed, own, &call) || !weft_python_task(own[0], &other))
		return NULL;
	record(call.category, call.level, call.task, other);
	Py_RETURN_NONE;
}

#define EDGE(name, other)                                                            \
	FUNCTION(name)                                                                   \
	{                                                                                \
		static const struct weft_python_parameters parameters = {#name, {other}, 1}; \
		return record_edge(PASSED, &parameters, weft_ffi_##name);                    \
	}

EDGE(read, "source")
EDGE(read_later, "source")
EDGE(try_read, "source")
EDGE(resolve, "target")
EDGE(cancel, "target")
EDGE(close, "target")
EDGE(time_out, "target")
EDGE(become, "target")
EDGE(signal, "receiver")
EDGE(signal_only, "receiver")

/* Stores the ids of a tuple. */
static bool tasks_of(PyObject *tuple, uint64_t ids[SOURCES_MAX], unsigned *ret_count)
{
	Py_ssize_t count = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
	if (count < 0 || count > SOURCES_MAX) {
		PyErr_Format(PyExc_TypeError, "the sources of wait_any() are a tuple of at most %d tasks",
			SOURCES_MAX);
		return false;
	}
	for (Py_ssize_t i = 0; i < count; i++)
		if (!weft_python_task(PyTuple_GetItem(tuple, i), &ids[i]))
			return false;
	*ret_count = (unsigned)count;
	return true;
}

FUNCTION(wait_any)
{
	static const struct weft_python_parameters parameters = {"wait_any", {"sources"}, 1};
	PyObject *own[WEFT_PYTHON_OWN_MAX];
	struct weft_python_call call;
	uint64_t sources[SOURCES_MAX];
	unsigned number;
	if (!weft_python_bind(&parameters, PASSED, own, &call) || !tasks_of(own[0], sources, &number))
		return NULL;
	weft_ffi_wait_any(call.category, call.level, call.task, sources, number);
	Py_RETURN_NONE;
}

/* ---- One task, perhaps with a text ---- */

typedef void text_function(struct weft_category *category, unsigned level, uint64_t task,
	const char *text, size_t size, uint64_t *cache);

static PyObject *record_text(struct weft_python_passed passed,
	const struct weft_python_parameters *parameters, text_function *record)
{
	PyObject *own[WEFT_PYTHON_OWN_MAX];
	struct weft_python_call call;
	struct weft_python_text text;
	if (!weft_python_bind(parameters, passed, own, &call) || !weft_python_text_init(&text, own[0]))
		return NULL;
	record(call.category, call.level, call.task, text.bytes, text.size, text.cache);
	weft_python_text_finish(&text);
	Py_RETURN_NONE;
}

#define TEXT(name)                                                                    \
	FUNCTION(name)                                                                    \
	{                                                                                 \
		static const struct weft_python_parameters parameters = {#name, {"text"}, 1}; \
		return record_text(PASSED, &parameters, weft_ffi_##name);                     \
	}

TEXT(label)
TEXT(note)

FUNCTION(create)
{
	static const struct weft_python_parameters parameters = {"create", {"label", "kind"}, 0};
	PyObject *own[WEFT_PYTHON_OWN_MAX];
	struct weft_python_call call;
	struct weft_python_text text;
	unsigned kind = WEFT_KIND_TASK;
	if (!weft_python_bind(&parameters, PASSED, own, &call) ||
		(own[1] && !weft_python_number(own[1], "kind", UINT16_MAX, &kind)) ||
		!weft_python_text_init(&text, own[0]))
		return NULL;
	uint64_t id = weft_ffi_create(call.category, call.level, call.task, (uint16_t)kind);
	if (text.size)
		weft_ffi_label(call.category, call.level, id, text.bytes, text.size, text.cache);
	weft_python_text_finish(&text);
	return PyLong_FromUnsignedLongLong(id);
}

FUNCTION(fail)
{
	static const struct weft_python_parameters parameters = {"fail", {"target", "message"}, 1};
	PyObject *own[WEFT_PYTHON_OWN_MAX];
	struct weft_python_call call;
	struct weft_python_text text;
	uint64_t target;
	if (!weft_python_bind(&parameters, PASSED, own, &call) || !weft_python_task(own[0], &target) ||
		!weft_python_text_init(&text, own[1]))
		return NULL;
	weft_ffi_fail(call.category, call.level, call.task, target, text.bytes, text.size);
	weft_python_text_finish(&text);
	Py_RETURN_NONE;
}

FUNCTION(expect)
{
	static const struct weft_python_parameters parameters = {"expect", {NULL}, 0};
	PyObject *own[WEFT_PYTHON_OWN_MAX];
	struct weft_python_call call;
	if (!weft_python_bind(&parameters, PASSED, own, &call))
		return NULL;
	weft_ffi_expect(call.category, call.level, call.task);
	Py_RETURN_NONE;
}

/* ---- Names, with a number ---- */

static bool number_of(PyObject *object, int64_t *ret)
{
	long long number = PyLong_AsLongLong(object);
	if (number == -1 && PyErr_Occurred())
		return false;
	*ret = number;
	return true;
}

FUNCTION(tag)
{
	static const struct weft_python_parameters parameters = {"tag", {"text", "value"}, 1};
	PyObject *own[WEFT_PYTHON_OWN_MAX];
	struct weft_python_call call;
	struct weft_python_text text;
	int64_t value = 0;
	if (!weft_python_bind(&parameters, PASSED, own, &call) ||
		(own[1] && !number_of(own[1], &value)) || !weft_python_text_init_name(&text, own[0]))
		return NULL;
	if (own[1])
		weft_ffi_tag_value(
			call.category, call.level, call.task, text.bytes, text.size, text.cache, value);
	else
		weft_ffi_tag(call.category, call.level, call.task, text.bytes, text.size, text.cache);
	weft_python_text_finish(&text);
	Py_RETURN_NONE;
}

typedef void counter_function(struct weft_category *category, unsigned level, uint64_t task,
	const char *name, size_t size, uint64_t *cache, int64_t value);
typedef void real_counter_function(struct weft_category *category, unsigned level, uint64_t task,
	const char *name, size_t size, uint64_t *cache, double value);

static PyObject *record_counter(struct weft_python_passed passed,
	const struct weft_python_parameters *parameters, counter_function *record,
	real_counter_function *record_real)
{
	PyObject *own[WEFT_PYTHON_OWN_MAX];
	struct weft_python_call call;
	struct weft_python_text text;
	int64_t value = 1;
	if (!weft_python_bind(parameters, passed, own, &call))
		return NULL;
	bool is_real = own[1] && PyFloat_Check(own[1]);
	if ((own[1] && !is_real && !number_of(own[1], &value)) ||
		!weft_python_text_init_name(&text, own[0]))
		return NULL;
	if (is_real)
		record_real(call.category, call.level, call.task, text.bytes, text.size, text.cache,
			PyFloat_AsDouble(own[1]));
	else
		record(call.category, call.level, call.task, text.bytes, text.size, text.cache, value);
	weft_python_text_finish(&text);
	Py_RETURN_NONE;
}

FUNCTION(counter_add)
{
	static const struct weft_python_parameters parameters = {"counter_add", {"name", "change"}, 1};
	return record_counter(PASSED, &parameters, weft_ffi_counter_add, weft_ffi_counter_add_f64);
}

FUNCTION(counter_set)
{
	static const struct weft_python_parameters parameters = {"counter_set", {"name", "value"}, 2};
	return record_counter(PASSED, &parameters, weft_ffi_counter_set, weft_ffi_counter_set_f64);
}

FUNCTION(notef)
{
	static const struct weft_python_parameters parameters = {"notef", {"format", "values"}, 2};
	PyObject *own[WEFT_PYTHON_OWN_MAX];
	struct weft_python_call call;
	struct weft_python_text text;
	struct weft_python_values values;
	if (!weft_python_bind(&parameters, PASSED, own, &call))
		return NULL;
	if (!PyTuple_Check(own[1])) {
		PyErr_SetString(PyExc_TypeError, "the values of notef() are a tuple");
		return NULL;
	}
	if (!weft_ffi_is_enabled(call.category, call.level))
		Py_RETURN_NONE;
	if (!weft_python_text_init_name(&text, own[0]))
		return NULL;
	bool valid = weft_python_values_init(&values, own[1]);
	if (valid) {
		weft_ffi_notef(call.category, call.level, call.task, text.bytes, text.size, text.cache,
			values.count, values.values);
		weft_python_values_finish(&values);
	}
	weft_python_text_finish(&text);
	return valid ? Py_NewRef(Py_None) : NULL;
}

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
#define CALL "task=CURRENT, category=None, level=0)\n--\n\n"
#define RECORDS(name, parameters, meaning) \
	{#name, WEFT_PYTHON_FUNCTION(call_##name), METH_FASTCALL | METH_KEYWORDS, #name "(" parameters CALL meaning}

PyMethodDef weft_python_functions[] = {
	RECORDS(create, "label=None, kind=TASK, ", "`task` creates a task, whose id is returned; it is unique, also while nothing is recorded."),
	{"switch", call_switch, METH_O, "switch(task)\n--\n\nThe task runs on this thread from now on; NONE: the thread is idle."},
	{"enter", call_enter, METH_O, "enter(task)\n--\n\nThe task runs on this thread until leave()."},
	{"leave", call_leave, METH_NOARGS, "leave()\n--\n\nThe task runs again that ran before enter()."},
	RECORDS(read, "source, ", "`task` reads the value of `source`, and runs from now on, unless it is CURRENT."),
	RECORDS(read_later, "source, ", "`task` reads the value of `source`; it runs later."),
	RECORDS(try_read, "source, ", "`task` wants the value of `source`: from now on it waits."),
	RECORDS(wait_any, "sources, ", "`task` waits for any of a tuple of tasks: it goes on with the first one that is done."),
	RECORDS(resolve, "target, ", "`task` gives `target` its value: it ends."),
	RECORDS(fail, "target, message='', ", "`task` gives `target` an error: it ends."),
	RECORDS(cancel, "target, ", "`task` ends `target`, which is no longer wanted."),
	RECORDS(close, "target, ", "`task` ends `target`, whose other side has closed it."),
	RECORDS(time_out, "target, ", "`task` ends `target`, whose time is up."),
	RECORDS(become, "target, ", "`task` turns into `target`: from now on they are one."),
	RECORDS(signal, "receiver, ", "`task` wakes `receiver`, which runs at once."),
	RECORDS(signal_only, "receiver, ", "`task` wakes `receiver`, which runs later."),
	RECORDS(expect, "", "`task` should end: if it does not, that is an error."),
	RECORDS(label, "text, ", "The task's name; later labels are remarks."),
	RECORDS(note, "text, ", "A remark on the task."),
	RECORDS(notef, "format, values, ", "A note that the reader makes of a format like printf's and a tuple of up to 15 values."),
	RECORDS(tag, "text, value=None, ", "A word, perhaps with an integer."),
	RECORDS(counter_add, "name, change=1, ", "A counter changes by an integer or a float."),
	RECORDS(counter_set, "name, value, ", "A counter is set to an integer or a float."),
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
