/* SPDX-License-Identifier: ISC
 *
 * Binds arguments to parameters, and converts them. A recording call takes less time than a generic
 * parser of Python would, so the common types are tested first and nothing is allocated for them.
 */
#include "arguments.h"

#include "objects.h"

static const char *const common[] = {"task", "category", "level"};
#define COMMON (sizeof(common) / sizeof(*common))

static unsigned count_own(const struct weft_python_parameters *parameters)
{
	unsigned count = 0;
	while (parameters->own[count])
		count++;
	return count;
}

static const char *name_of(
	const struct weft_python_parameters *parameters, unsigned own, unsigned i)
{
	return i < own ? parameters->own[i] : common[i - own];
}

/* Stores the arguments that were passed by name. */
static bool bind_keywords(const struct weft_python_parameters *parameters, unsigned own,
	struct weft_python_passed passed, PyObject **values)
{
	Py_ssize_t keywords = passed.keywords ? PyTuple_Size(passed.keywords) : 0;
	for (Py_ssize_t k = 0; k < keywords; k++) {
		PyObject *name = PyTuple_GetItem(passed.keywords, k);
		unsigned i = 0;
		while (i < own + COMMON &&
			   PyUnicode_CompareWithASCIIString(name, name_of(parameters, own, i)) != 0)
			i++;
		if (i == own + COMMON || values[i]) {
			PyErr_Format(PyExc_TypeError, "%s() %s %R", parameters->function,
				i == own + COMMON ? "has no parameter" : "got two values for", name);
			return false;
		}
		values[i] = passed.arguments[passed.count + k];
	}
	return true;
}

static bool convert_call(PyObject *const *values, struct weft_python_call *ret)
{
	struct weft_python_call call = {.task = WEFT_TASK_CURRENT};
	if (values[0] && !weft_python_task(values[0], &call.task))
		return false;
	if (values[1] && !weft_python_category(values[1], &call.category))
		return false;
	if (!weft_python_number(values[2], "level", WEFT_LEVEL_MAX, &call.level))
		return false;
	*ret = call;
	return true;
}

bool weft_python_bind(const struct weft_python_parameters *parameters,
	struct weft_python_passed passed, PyObject *ret_own[WEFT_PYTHON_OWN_MAX],
	struct weft_python_call *ret_call)
{
	PyObject *values[WEFT_PYTHON_OWN_MAX + COMMON] = {NULL};
	unsigned own = count_own(parameters);
	if (passed.count > (Py_ssize_t)(own + COMMON)) {
		PyErr_Format(PyExc_TypeError, "%s() takes at most %u arguments, got %zd",
			parameters->function, own + (unsigned)COMMON, passed.count);
		return false;
	}
	for (Py_ssize_t i = 0; i < passed.count; i++)
		values[i] = passed.arguments[i];
	if (!bind_keywords(parameters, own, passed, values))
		return false;
	for (unsigned i = 0; i < parameters->required; i++) {
		if (!values[i]) {
			PyErr_Format(PyExc_TypeError, "%s() needs an argument for %s", parameters->function,
				parameters->own[i]);
			return false;
		}
	}
	for (unsigned i = 0; i < own; i++)
		ret_own[i] = values[i];
	return convert_call(values + own, ret_call);
}

bool weft_python_task(PyObject *object, uint64_t *ret)
{
	uint64_t id = PyLong_AsUnsignedLongLong(object);
	if (id == UINT64_MAX && PyErr_Occurred())
		return false;
	*ret = id;
	return true;
}

bool weft_python_number(PyObject *object, const char *what, unsigned max, unsigned *ret)
{
	unsigned long number = object ? PyLong_AsUnsignedLong(object) : 0;
	if (PyErr_Occurred())
		return false;
	if (number > max) {
		PyErr_Format(PyExc_ValueError, "%s is %lu, but at most %u", what, number, max);
		return false;
	}
	*ret = (unsigned)number;
	return true;
}

/* A str that has no UTF-8, for example of a file name with other bytes, gets question marks. */
static bool replace_surrogates(struct weft_python_text *text, PyObject *object)
{
	char *bytes;
	Py_ssize_t size;
	PyErr_Clear();
	text->owner = PyUnicode_AsEncodedString(object, "utf-8", "replace");
	if (!text->owner || PyBytes_AsStringAndSize(text->owner, &bytes, &size)) {
		Py_CLEAR(text->owner);
		return false;
	}
	text->bytes = bytes;
	text->size = (size_t)size;
	return true;
}

bool weft_python_text_init(struct weft_python_text *text, PyObject *object)
{
	Py_ssize_t size;
	*text = (struct weft_python_text){.bytes = ""};
	if (!object || object == Py_None || weft_python_name_text(object, text))
		return true;
	if (!PyUnicode_Check(object)) {
		PyErr_Format(PyExc_TypeError, "a text is a str or a weft.Name, not %R", Py_TYPE(object));
		return false;
	}
	text->bytes = PyUnicode_AsUTF8AndSize(object, &size);
	text->size = (size_t)size;
	return text->bytes || replace_surrogates(text, object);
}

bool weft_python_text_init_name(struct weft_python_text *text, PyObject *object)
{
	PyObject *name = object && PyUnicode_Check(object) ? weft_python_name_of(object) : NULL;
	if (PyErr_Occurred())
		PyErr_Clear(); /* without a cache, then */
	return weft_python_text_init(text, name ? name : object);
}

void weft_python_text_finish(struct weft_python_text *text)
{
	Py_CLEAR(text->owner);
}

static void set_text(struct weft_value *value, const struct weft_python_text *text)
{
	value->type = WEFT_VALUE_TEXT;
	value->size = text->size < UINT32_MAX ? (uint32_t)text->size : UINT32_MAX;
	value->is.text = text->bytes;
}

/* An integer of 64 bits, with or without a sign; false without an exception if it is larger. */
static bool set_integer(struct weft_value *value, PyObject *object)
{
	int overflow;
	value->type = WEFT_VALUE_I64;
	value->is.i64 = PyLong_AsLongLongAndOverflow(object, &overflow);
	if (overflow > 0) {
		value->type = WEFT_VALUE_U64;
		value->is.u64 = PyLong_AsUnsignedLongLong(object);
		if (!PyErr_Occurred())
			return true;
		PyErr_Clear();
	}
	return overflow == 0;
}

static bool set_value(struct weft_value *value, PyObject *object, PyObject **ret_owner)
{
	struct weft_python_text text;
	if (PyFloat_Check(object)) {
		value->type = WEFT_VALUE_F64;
		value->is.f64 = PyFloat_AsDouble(object);
		return true;
	}
	if (PyBool_Check(object)) {
		value->type = WEFT_VALUE_BOOL;
		value->is.u64 = object == Py_True;
		return true;
	}
	if (PyLong_Check(object) && set_integer(value, object))
		return true;
	PyObject *shown = PyUnicode_Check(object) ? Py_NewRef(object) : PyObject_Str(object);
	if (!shown || !weft_python_text_init(&text, shown)) {
		Py_XDECREF(shown);
		return false;
	}
	if (text.owner) {
		Py_DECREF(shown);
		shown = text.owner;
	}
	set_text(value, &text);
	*ret_owner = shown;
	return true;
}

bool weft_python_values_init(struct weft_python_values *values, PyObject *tuple)
{
	Py_ssize_t count = PyTuple_Size(tuple);
	values->count = 0;
	if (count > WEFT_PYTHON_VALUES_MAX) {
		PyErr_Format(PyExc_ValueError, "at most %d values, got %zd", WEFT_PYTHON_VALUES_MAX, count);
		return false;
	}
	for (Py_ssize_t i = 0; i < count; i++) {
		values->owners[i] = NULL;
		if (!set_value(&values->values[i], PyTuple_GetItem(tuple, i), &values->owners[i])) {
			weft_python_values_finish(values);
			return false;
		}
		values->count++;
	}
	return count >= 0;
}

void weft_python_values_finish(struct weft_python_values *values)
{
	for (unsigned i = 0; i < values->count; i++)
		Py_CLEAR(values->owners[i]);
	values->count = 0;
}
