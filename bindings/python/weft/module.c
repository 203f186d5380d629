/* SPDX-License-Identifier: ISC
 *
 * The extension module weft._weft: numbers, types and functions. The package weft adds to it
 * what is written in Python.
 */
#include "methods.h"
#include "objects.h"
#include "record.h"

static bool add_numbers(PyObject *module)
{
	static const struct {
		const char *name;
		long number;
	} numbers[] = {
#define KIND(number, id, name) {#id, number},
#include <weft/kinds.def>
#undef KIND
#define LEVEL(number, id, name) {"LEVEL_" #id, number},
#include <weft/levels.def>
#undef LEVEL
		{"BAND_IDLE", WEFT_BAND_IDLE},
		{"BAND_GC", WEFT_BAND_GC},
	};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (PyModule_AddIntConstant(module, numbers[i].name, numbers[i].number))
			return false;
	return true;
}

static bool add_id(PyObject *module, const char *name, uint64_t id)
{
	PyObject *number = PyLong_FromUnsignedLongLong(id);
	bool added = number && PyModule_AddObjectRef(module, name, number) == 0;
	Py_XDECREF(number);
	return added;
}

static PyMethodDef more_functions[] = {
	{"_hook", weft_python_hook, METH_O, "Replaces methods of asyncio; see weft.asyncio."},
	{"_hook_pools", weft_python_hook_pools, METH_O, "Replaces methods of thread pools."},
	{NULL, NULL, 0, NULL},
};

/* The module's state is libweft's, which a process has once, so there is one module in a process.
 */
static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "weft._weft",
	.m_doc = "Records what the tasks of a program do; see the package weft.",
	.m_size = -1,
	.m_methods = weft_python_of_tasks,
};

PyMODINIT_FUNC PyInit__weft(void);

PyMODINIT_FUNC PyInit__weft(void)
{
	PyObject *module = PyModule_Create(&definition);
	if (module && add_numbers(module) && add_id(module, "NONE", WEFT_TASK_NONE) &&
		add_id(module, "CURRENT", WEFT_TASK_CURRENT) && weft_python_objects_init(module) &&
		PyModule_AddFunctions(module, weft_python_of_texts) == 0 &&
		PyModule_AddFunctions(module, weft_python_of_threads) == 0 &&
		PyModule_AddFunctions(module, weft_python_of_metrics) == 0 &&
		PyModule_AddFunctions(module, weft_python_of_contexts) == 0 &&
		PyModule_AddFunctions(module, more_functions) == 0)
		return module;
	Py_XDECREF(module);
	return NULL;
}
