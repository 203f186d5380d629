/* SPDX-License-Identifier: ISC
 *
 * Arguments of Python calls as weft_ffi.h wants them.
 *
 * Each recording function has parameters of its own, and then three that all have: task, category
 * and level, by position or by name.
 */
#ifndef WEFT_PYTHON_ARGUMENTS_H
#define WEFT_PYTHON_ARGUMENTS_H

#include "python.h"

#define WEFT_PYTHON_OWN_MAX    4
#define WEFT_PYTHON_VALUES_MAX 15

/* A call by METH_FASTCALL | METH_KEYWORDS: `count` positional arguments, then one for each keyword.
 */
struct weft_python_passed {
	PyObject *const *arguments;
	Py_ssize_t count;
	PyObject *keywords; /* a tuple of str, or NULL */
};

/* The parameters of a function. */
struct weft_python_parameters {
	const char *function;
	const char *own[WEFT_PYTHON_OWN_MAX + 1]; /* ends with NULL */
	unsigned required;                        /* the first of `own`, this many */
};

/* The parameters that all recording functions have. */
struct weft_python_call {
	uint64_t task;
	struct weft_category *category;
	unsigned level;
};

/* Stores the own arguments, NULL for one that was not passed. False: an exception is set. */
bool weft_python_bind(const struct weft_python_parameters *parameters,
	struct weft_python_passed passed, PyObject *ret_own[WEFT_PYTHON_OWN_MAX],
	struct weft_python_call *ret_call);

/* A task's id. */
bool weft_python_task(PyObject *object, uint64_t *ret);

/* A number from 0 to `max`; NULL as object is 0. */
bool weft_python_number(PyObject *object, const char *what, unsigned max, unsigned *ret);

/* A str or a weft.Name in UTF-8. The bytes are valid until weft_python_text_finish(). */
struct weft_python_text {
	const char *bytes;
	size_t size;
	uint64_t *cache;
	PyObject *owner;
};

/* NULL and None are an empty text. */
bool weft_python_text_init(struct weft_python_text *text, PyObject *object);

/* For texts that are the same in many calls, such as a counter's name: those of the first 4,096
 * have a cache. */
bool weft_python_text_init_name(struct weft_python_text *text, PyObject *object);
void weft_python_text_finish(struct weft_python_text *text);

/* The values of a mark or of a note with a format. */
struct weft_python_values {
	unsigned count;
	struct weft_value values[WEFT_PYTHON_VALUES_MAX];
	PyObject *owners[WEFT_PYTHON_VALUES_MAX];
};

/* `tuple` has int, float and str objects; others are shown by str(). */
bool weft_python_values_init(struct weft_python_values *values, PyObject *tuple);
void weft_python_values_finish(struct weft_python_values *values);

#endif
