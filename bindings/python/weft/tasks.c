/* SPDX-License-Identifier: ISC
 *
 * Tasks: edges between two of them, their ends, operations.
 */
#include "record.h"

#define SOURCES_MAX 1000

/* ---- The calls of calls.def ---- */

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

#define WEFT__EDGE(name, other, event, small, runs, text)                             \
	FUNCTION(name)                                                                    \
	{                                                                                 \
		static const struct weft_python_parameters parameters = {#name, {#other}, 1}; \
		return record_edge(PASSED, &parameters, weft_ffi_##name);                     \
	}

static PyObject *record_message(struct weft_python_passed passed,
	const struct weft_python_parameters *parameters, edge_function *record)
{
	PyObject *own[WEFT_PYTHON_OWN_MAX];
	struct weft_python_call call;
	if (!weft_python_bind(parameters, passed, own, &call))
		return NULL;
	uint64_t key = PyLong_AsUnsignedLongLongMask(own[0]);
	if (PyErr_Occurred())
		return NULL;
	record(call.category, call.level, call.task, key);
	Py_RETURN_NONE;
}

#define WEFT__MESSAGE(name, event, text)                                             \
	FUNCTION(name)                                                                   \
	{                                                                                \
		static const struct weft_python_parameters parameters = {#name, {"key"}, 1}; \
		return record_message(PASSED, &parameters, weft_ffi_##name);                 \
	}

#define WEFT__STATEMENT(name, event, text)                                          \
	FUNCTION(name)                                                                  \
	{                                                                               \
		static const struct weft_python_parameters parameters = {#name, {NULL}, 0}; \
		PyObject *own[WEFT_PYTHON_OWN_MAX];                                         \
		struct weft_python_call call;                                               \
		if (!weft_python_bind(&parameters, PASSED, own, &call))                     \
			return NULL;                                                            \
		weft_ffi_##name(call.category, call.level, call.task);                      \
		Py_RETURN_NONE;                                                             \
	}

#include <weft/calls.def>

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

/* ---- One task ---- */

/* Stores the kind that a number or a name says; `object` may be NULL. */
static bool kind_of(PyObject *object, unsigned *ret_kind)
{
	struct weft_python_text name;
	if (!object)
		return true;
	if (PyLong_Check(object))
		return weft_python_number(object, "kind", UINT16_MAX, ret_kind);
	if (!weft_python_text_init(&name, object))
		return false;
	*ret_kind = weft_ffi_kind(name.bytes, name.size, name.cache);
	weft_python_text_finish(&name);
	return true;
}

FUNCTION(create)
{
	static const struct weft_python_parameters parameters = {"create", {"label", "kind"}, 0};
	PyObject *own[WEFT_PYTHON_OWN_MAX];
	struct weft_python_call call;
	struct weft_python_text text;
	unsigned kind = WEFT_KIND_TASK;
	if (!weft_python_bind(&parameters, PASSED, own, &call) || !kind_of(own[1], &kind) ||
		!weft_python_text_init(&text, own[0]))
		return NULL;
	uint64_t id = weft_ffi_create(call.category, call.level, call.task, (uint16_t)kind);
	if (text.size)
		weft_ffi_label(call.category, call.level, id, text.bytes, text.size, text.cache);
	weft_python_text_finish(&text);
	return PyLong_FromUnsignedLongLong(id);
}

typedef void failure_function(struct weft_category *category, unsigned level, uint64_t task,
	uint64_t target, const char *message, size_t size);

static PyObject *record_failure(struct weft_python_passed passed,
	const struct weft_python_parameters *parameters, failure_function *record)
{
	PyObject *own[WEFT_PYTHON_OWN_MAX];
	struct weft_python_call call;
	struct weft_python_text text;
	uint64_t target;
	if (!weft_python_bind(parameters, passed, own, &call) || !weft_python_task(own[0], &target) ||
		!weft_python_text_init(&text, own[1]))
		return NULL;
	record(call.category, call.level, call.task, target, text.bytes, text.size);
	weft_python_text_finish(&text);
	Py_RETURN_NONE;
}

FUNCTION(fail)
{
	static const struct weft_python_parameters parameters = {"fail", {"target", "message"}, 1};
	return record_failure(PASSED, &parameters, weft_ffi_fail);
}

/* ---- Spans ---- */

FUNCTION(begin)
{
	static const struct weft_python_parameters parameters = {"begin", {"name"}, 1};
	PyObject *own[WEFT_PYTHON_OWN_MAX];
	struct weft_python_call call;
	struct weft_python_text text;
	if (!weft_python_bind(&parameters, PASSED, own, &call) ||
		!weft_python_text_init_name(&text, own[0]))
		return NULL;
	bool begun =
		weft_ffi_begin(call.category, call.level, call.task, text.bytes, text.size, text.cache);
	weft_python_text_finish(&text);
	return PyBool_FromLong(begun);
}

FUNCTION(end)
{
	static const struct weft_python_parameters parameters = {"end", {NULL}, 0};
	PyObject *own[WEFT_PYTHON_OWN_MAX];
	struct weft_python_call call;
	if (!weft_python_bind(&parameters, PASSED, own, &call))
		return NULL;
	weft_ffi_end(call.task);
	Py_RETURN_NONE;
}

/* Stores a time in ns; false: an exception is set. */
static bool time_of(PyObject *object, uint64_t *ret_ns)
{
	*ret_ns = PyLong_AsUnsignedLongLong(object);
	return *ret_ns != UINT64_MAX || !PyErr_Occurred();
}

FUNCTION(given_span)
{
	static const struct weft_python_parameters parameters = {
		"given_span", {"track", "name", "begin", "end"}, 4};
	PyObject *own[WEFT_PYTHON_OWN_MAX];
	struct weft_python_call call;
	struct weft_python_text track, name;
	struct weft_given_span span = {.clock = WEFT_CLOCK_MONOTONIC};
	if (!weft_python_bind(&parameters, PASSED, own, &call) || !time_of(own[2], &span.begin) ||
		!time_of(own[3], &span.end) || !weft_python_text_init_name(&track, own[0]))
		return NULL;
	bool is_good = weft_python_text_init_name(&name, own[1]);
	if (is_good) {
		span.track = track.bytes;
		span.track_size = track.size;
		span.track_cache = track.cache;
		span.name = name.bytes;
		span.name_size = name.size;
		span.name_cache = name.cache;
		weft_ffi_span(call.category, call.level, &span);
		weft_python_text_finish(&name);
	}
	weft_python_text_finish(&track);
	return is_good ? Py_NewRef(Py_None) : NULL;
}

/* ---- Operations ---- */

FUNCTION(operation_begin)
{
	static const struct weft_python_parameters parameters = {"operation_begin", {"label"}, 1};
	PyObject *own[WEFT_PYTHON_OWN_MAX];
	struct weft_python_call call;
	struct weft_python_text text;
	if (!weft_python_bind(&parameters, PASSED, own, &call) || !weft_python_text_init(&text, own[0]))
		return NULL;
	uint64_t id = weft_ffi_operation_begin(
		call.category, call.level, call.task, text.bytes, text.size, text.cache);
	weft_python_text_finish(&text);
	return PyLong_FromUnsignedLongLong(id);
}

/* The task of these calls is the one that waits for the operation. */
static void operation_end(
	struct weft_category *category, unsigned level, uint64_t task, uint64_t operation)
{
	weft_ffi_operation_end(category, level, operation, task);
}

static void operation_cancel(
	struct weft_category *category, unsigned level, uint64_t task, uint64_t operation)
{
	weft_ffi_operation_cancel(category, level, operation, task);
}

static void operation_fail(struct weft_category *category, unsigned level, uint64_t task,
	uint64_t operation, const char *message, size_t size)
{
	weft_ffi_operation_fail(category, level, operation, task, message, size);
}

FUNCTION(operation_end)
{
	static const struct weft_python_parameters parameters = {"operation_end", {"operation"}, 1};
	return record_edge(PASSED, &parameters, operation_end);
}

FUNCTION(operation_cancel)
{
	static const struct weft_python_parameters parameters = {"operation_cancel", {"operation"}, 1};
	return record_edge(PASSED, &parameters, operation_cancel);
}

FUNCTION(operation_fail)
{
	static const struct weft_python_parameters parameters = {
		"operation_fail", {"operation", "message"}, 1};
	return record_failure(PASSED, &parameters, operation_fail);
}

/* clang-format off */
PyMethodDef weft_python_of_tasks[] = {
	RECORDS(create, "label=None, kind=TASK, ", "`task` creates a task, whose id is returned; it is unique, also while nothing is recorded. `kind` is TASK, WAIT, ... or a name of your own, such as 'job'."),
#define WEFT__EDGE(name, other, event, small, runs, text) RECORDS(name, #other ", ", text),
#define WEFT__MESSAGE(name, event, text) RECORDS(name, "key, ", text),
#define WEFT__STATEMENT(name, event, text) RECORDS(name, "", text),
#include <weft/calls.def>
	RECORDS(wait_any, "sources, ", "`task` waits for any of a tuple of tasks: it goes on with the first one that is done."),
	RECORDS(fail, "target, message='', ", "`task` gives `target` an error: it ends."),
	RECORDS(begin, "name, ", "Begins a span of the task; True if it is recorded: then end() has to follow. See weft.span."),
	RECORDS(end, "", "Ends the task's span that began last; `category` and `level` have no effect."),
	RECORDS(given_span, "track, name, begin, end, ", "A span on a track, by time.monotonic_ns(); `task` has no effect."),
	RECORDS(operation_begin, "label, ", "A new task, whose id is returned, for an asynchronous operation that `task` waits for."),
	RECORDS(operation_end, "operation, ", "The operation has a value, which `task` reads and runs; NONE: no task waits any more."),
	RECORDS(operation_cancel, "operation, ", "The operation is cancelled, and `task` runs."),
	RECORDS(operation_fail, "operation, message='', ", "The operation fails, and `task` runs."),
	{NULL, NULL, 0, NULL},
};
/* clang-format on */
