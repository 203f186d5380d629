/* SPDX-License-Identifier: ISC
 *
 * Labels, notes, tags, counters.
 */
#include "record.h"

/* ---- Texts ---- */

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
typedef void real_function(struct weft_category *category, unsigned level, uint64_t task,
	const char *name, size_t size, uint64_t *cache, double value);

/* A float is recorded as such. */
static PyObject *record_counter(struct weft_python_passed passed,
	const struct weft_python_parameters *parameters, counter_function *record,
	real_function *record_real)
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

/* Also while nothing is recorded. */
static PyObject *call_counter_read(PyObject *module, PyObject *name)
{
	struct weft_python_text text;
	(void)module;
	if (!weft_python_text_init_name(&text, name))
		return NULL;
	int64_t value = weft_ffi_counter_read(text.bytes, text.size);
	weft_python_text_finish(&text);
	return PyLong_FromLongLong(value);
}

/* ---- Formats ---- */

typedef void format_function(struct weft_category *category, unsigned level, uint64_t task,
	const char *format, size_t size, uint64_t *cache, unsigned count,
	const struct weft_value *values);

static bool record_values(
	const struct weft_python_call *call, PyObject *format, PyObject *tuple, format_function *record)
{
	struct weft_python_text text;
	struct weft_python_values values;
	if (!weft_python_text_init_name(&text, format))
		return false;
	bool valid = weft_python_values_init(&values, tuple);
	if (valid) {
		record(call->category, call->level, call->task, text.bytes, text.size, text.cache,
			values.count, values.values);
		weft_python_values_finish(&values);
	}
	weft_python_text_finish(&text);
	return valid;
}

static PyObject *record_format(struct weft_python_passed passed,
	const struct weft_python_parameters *parameters, format_function *record)
{
	PyObject *own[WEFT_PYTHON_OWN_MAX];
	struct weft_python_call call;
	if (!weft_python_bind(parameters, passed, own, &call))
		return NULL;
	if (!PyTuple_Check(own[1]))
		return PyErr_Format(
			PyExc_TypeError, "the values of %s() are a tuple", parameters->function);
	if (weft_ffi_is_enabled(call.category, call.level) &&
		!record_values(&call, own[0], own[1], record))
		return NULL;
	Py_RETURN_NONE;
}

#define WEFT__TEXT(name, event, meaning)                                              \
	FUNCTION(name)                                                                    \
	{                                                                                 \
		static const struct weft_python_parameters parameters = {#name, {"text"}, 1}; \
		return record_text(PASSED, &parameters, weft_ffi_##name);                     \
	}                                                                                 \
	FUNCTION(name##f)                                                                 \
	{                                                                                 \
		static const struct weft_python_parameters parameters = {                     \
			#name "f", {"format", "values"}, 2};                                      \
		return record_format(PASSED, &parameters, weft_ffi_##name##f);                \
	}

#include <weft/calls.def>

/* clang-format off */
PyMethodDef weft_python_of_texts[] = {
#define WEFT__TEXT(name, event, meaning) \
	RECORDS(name, "text, ", meaning), \
	RECORDS(name##f, "format, values, ", meaning " The reader makes it of a format like printf's and a tuple of up to 15 values."),
#include <weft/calls.def>
	RECORDS(tag, "text, value=None, ", "A word, perhaps with an integer."),
	RECORDS(counter_add, "name, change=1, ", "A counter changes by an integer or a float."),
	RECORDS(counter_set, "name, value, ", "A counter is set to an integer or a float."),
	{"counter_read", call_counter_read, METH_O, "counter_read(name)\n--\n\nThe value that this process's counter of that name has, rounded towards 0; 0 if there is none."},
	{NULL, NULL, 0, NULL},
};
/* clang-format on */
