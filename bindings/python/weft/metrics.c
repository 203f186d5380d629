/* SPDX-License-Identifier: ISC
 *
 * Functions for metrics (weft/metrics.h), whose handles are numbers; weft/metrics.py makes classes
 * of them.
 */
#include <weft/metrics.h>

#include "record.h"

/* The labels of a tuple of keys and values. False with an exception. */
static bool take_labels(PyObject *tuple, const char *ret_labels[2 * WEFT_METRIC_PAIRS_MAX])
{
	const Py_ssize_t count = PyTuple_Size(tuple);
	if (count > 2 * WEFT_METRIC_PAIRS_MAX) {
		PyErr_Format(PyExc_ValueError, "a metric has at most %d labels", WEFT_METRIC_PAIRS_MAX);
		return false;
	}
	for (Py_ssize_t i = 0; i < count; i++)
		if (!(ret_labels[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i), NULL)))
			return false;
	return true;
}

/* _metric_get(name, type, unit, scale, first_exponent, last_exponent, billable, help, labels) */
static PyObject *call_get(PyObject *module, PyObject *arguments)
{
	const char *labels[2 * WEFT_METRIC_PAIRS_MAX];
	struct weft_metric_type type = {0};
	PyObject *tuple;
	int kind, scale, first, last, billable;
	(void)module;
	if (!PyArg_ParseTuple(arguments, "sisiiiisO!", &type.name, &kind, &type.unit, &scale, &first,
			&last, &billable, &type.help, &PyTuple_Type, &tuple) ||
		!take_labels(tuple, labels))
		return NULL;
	if (scale < INT8_MIN || scale > INT8_MAX || first < 0 || last < 0 || first > 63 || last > 63)
		return PyErr_Format(PyExc_ValueError, "scale or exponents are out of range");
	type.type = (enum weft_metric_kind)kind;
	type.scale = (int8_t)scale;
	type.first_exponent = (uint8_t)first;
	type.last_exponent = (uint8_t)last;
	type.is_billable = billable;
	weft_metric metric = weft_metric_get(&type, labels, (unsigned)(PyTuple_Size(tuple) / 2));
	return PyLong_FromUnsignedLongLong(metric);
}

static bool take_number(PyObject *number, uint64_t *ret)
{
	*ret = PyLong_AsUnsignedLongLong(number);
	return !PyErr_Occurred();
}

static bool take_signed(PyObject *number, int64_t *ret)
{
	*ret = PyLong_AsLongLong(number);
	return !PyErr_Occurred();
}

static bool has_two(Py_ssize_t count)
{
	if (count != 2)
		PyErr_SetString(PyExc_TypeError, "a metric and a number are wanted");
	return count == 2;
}

typedef void count_function(weft_metric metric, uint64_t number);
typedef void change_function(weft_metric metric, int64_t number);

static PyObject *count(PyObject *const *arguments, Py_ssize_t size, count_function *function)
{
	uint64_t metric, number;
	if (!has_two(size) || !take_number(arguments[0], &metric) ||
		!take_number(arguments[1], &number))
		return NULL;
	function(metric, number);
	Py_RETURN_NONE;
}

static PyObject *change(PyObject *const *arguments, Py_ssize_t size, change_function *function)
{
	uint64_t metric;
	int64_t number;
	if (!has_two(size) || !take_number(arguments[0], &metric) ||
		!take_signed(arguments[1], &number))
		return NULL;
	function(metric, number);
	Py_RETURN_NONE;
}

static PyObject *call_add(PyObject *module, PyObject *const *arguments, Py_ssize_t size)
{
	(void)module;
	return count(arguments, size, weft_metric_add);
}

static PyObject *call_record(PyObject *module, PyObject *const *arguments, Py_ssize_t size)
{
	(void)module;
	return count(arguments, size, weft_metric_record);
}

static PyObject *call_exemplar(PyObject *module, PyObject *const *arguments, Py_ssize_t size)
{
	(void)module;
	return count(arguments, size, weft_metric_exemplar);
}

static PyObject *call_change(PyObject *module, PyObject *const *arguments, Py_ssize_t size)
{
	(void)module;
	return change(arguments, size, weft_metric_change);
}

static PyObject *call_set(PyObject *module, PyObject *const *arguments, Py_ssize_t size)
{
	(void)module;
	return change(arguments, size, weft_metric_set);
}

/* (value, sum), or None. */
static PyObject *call_read(PyObject *module, PyObject *handle)
{
	struct weft_metric_value value;
	uint64_t metric;
	(void)module;
	if (!take_number(handle, &metric))
		return NULL;
	if (!weft_metric_read(metric, &value))
		Py_RETURN_NONE;
	return Py_BuildValue("LK", (long long)value.value, (unsigned long long)value.sum);
}

static PyObject *call_child(PyObject *module, PyObject *arguments)
{
	unsigned long long parent;
	const char *key, *value;
	(void)module;
	if (!PyArg_ParseTuple(arguments, "Kss", &parent, &key, &value))
		return NULL;
	return PyLong_FromUnsignedLongLong(weft_metric_child(parent, key, value));
}

static PyObject *call_end(PyObject *module, PyObject *handle)
{
	uint64_t metric;
	(void)module;
	if (!take_number(handle, &metric))
		return NULL;
	weft_metric_end(metric);
	Py_RETURN_NONE;
}

static PyObject *call_reserve(PyObject *module, PyObject *number)
{
	uint64_t children;
	(void)module;
	if (!take_number(number, &children))
		return NULL;
	int error = children <= UINT32_MAX ? weft_metrics_reserve((uint32_t)children) : -1;
	if (error)
		return PyErr_Format(
			PyExc_ValueError, "there is room for children already, or %S are too many", number);
	Py_RETURN_NONE;
}

PyMethodDef weft_python_of_metrics[] = {
	{"_metric_get", call_get, METH_VARARGS, "The handle of a metric with labels."},
	{"_metric_add", WEFT_PYTHON_FUNCTION(call_add), METH_FASTCALL, "Adds to a counter."},
	{"_metric_record", WEFT_PYTHON_FUNCTION(call_record), METH_FASTCALL,
		"Counts a value in a histogram."},
	{"_metric_exemplar", WEFT_PYTHON_FUNCTION(call_exemplar), METH_FASTCALL,
		"Points out a value of a metric."},
	{"_metric_change", WEFT_PYTHON_FUNCTION(call_change), METH_FASTCALL, "Changes a gauge."},
	{"_metric_set", WEFT_PYTHON_FUNCTION(call_set), METH_FASTCALL, "Sets a gauge."},
	{"_metric_read", call_read, METH_O, "The value and sum of a metric, or None."},
	{"_metric_child", call_child, METH_VARARGS, "The handle of a new child."},
	{"_metric_end", call_end, METH_O, "Ends a child."},
	{"metrics_reserve", call_reserve, METH_O,
		"Makes room for so many children of metrics; see weft.Counter.child()."},
	{NULL, NULL, 0, NULL},
};
