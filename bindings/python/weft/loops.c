/* SPDX-License-Identifier: ISC
 *
 * Loops of asyncio: when they run and end, and when they are idle.
 */
#include "loops.h"

#include "entry.h"

_Thread_local struct weft_python_running *weft_python_running;

static PyObject *label_of_loop, *original_selects, *selector_name;

struct weft_python_entry *weft_python_loop_entry(PyObject *loop)
{
	struct weft_python_entry *entry = weft_python_entry_find(loop);
	if (entry)
		return entry;
	entry = weft_python_entry_add(loop, WEFT_KIND_TASK);
	PyObject *label = entry ? PyObject_CallNoArgs(label_of_loop) : NULL;
	if (label)
		weft_python_entry_label(entry, label);
	Py_XDECREF(label);
	PyErr_Clear();
	return entry;
}

uint64_t weft_python_loop_id(void)
{
	if (!weft_python_running->entry)
		weft_python_running->entry = weft_python_loop_entry(weft_python_running->loop);
	return weft_python_running->entry ? weft_python_running->entry->id : WEFT_TASK_NONE;
}

static PyObject *run_forever(PyObject *loop, PyObject *nothing)
{
	struct weft_python_running mine = {.loop = loop}, *before = weft_python_running;
	uint64_t task = weft_ffi_current();
	(void)nothing;
	mine.selector = PyObject_GetAttr(loop, selector_name);
	PyErr_Clear();
	weft_python_running = &mine;
	if (weft_ffi_is_recording())
		weft_ffi_switch(weft_python_loop_id());
	PyObject *result = PyObject_CallFunctionObjArgs(weft_python_run_forever.original, loop, NULL);
	weft_python_running = before;
	Py_XDECREF(mine.selector);
	weft_ffi_switch(task);
	return result;
}

static PyObject *close_loop(PyObject *loop, PyObject *nothing)
{
	struct weft_python_entry *entry = weft_python_entry_find(loop);
	(void)nothing;
	if (entry && !entry->has_ended) {
		weft_ffi_resolve(weft_python_asyncio(), 0, WEFT_TASK_CURRENT, entry->id);
		entry->has_ended = true;
	}
	return PyObject_CallFunctionObjArgs(weft_python_close.original, loop, NULL);
}

/* False for a call that only looks whether something is ready. */
static bool may_wait(PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
	if (count != 1 || keywords || arguments[0] == Py_None)
		return true;
	double timeout = PyFloat_AsDouble(arguments[0]);
	if (PyErr_Occurred())
		PyErr_Clear();
	return timeout > 0;
}

static PyObject *select_ready(
	PyObject *selector, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
	static uint64_t cache;
	static const char reason[] = "select";
	PyObject *original = PyDict_GetItemWithError(original_selects, (PyObject *)Py_TYPE(selector));
	bool is_idle = weft_python_running && weft_python_running->selector == selector &&
				   weft_ffi_is_recording() && may_wait(arguments, count, keywords);
	if (!original)
		return PyErr_Format(PyExc_TypeError, "%R has no select() of its own", Py_TYPE(selector));
	if (is_idle)
		weft_ffi_band_begin(WEFT_BAND_IDLE, reason, sizeof(reason) - 1, &cache);
	PyObject *result = count == 1 && !keywords
						   ? PyObject_CallFunctionObjArgs(original, selector, arguments[0], NULL)
						   : weft_python_forward(original, selector, arguments, count, keywords);
	if (is_idle)
		weft_ffi_band_end(WEFT_BAND_IDLE, reason, sizeof(reason) - 1, &cache);
	return result;
}

bool weft_python_loops_init(PyObject *label, PyObject *selects)
{
	label_of_loop = Py_NewRef(label);
	original_selects = Py_NewRef(selects);
	return weft_python_intern(&selector_name, "_selector");
}

struct weft_python_method weft_python_run_forever = {"BaseEventLoop",
	{"run_forever", run_forever, METH_NOARGS, "Run until stop() is called."}, NULL};
struct weft_python_method weft_python_close = {
	"BaseEventLoop", {"close", close_loop, METH_NOARGS, "Close the event loop."}, NULL};
PyMethodDef weft_python_select = {
	"select", WEFT_PYTHON_FUNCTION(select_ready), METH_FASTCALL | METH_KEYWORDS, NULL};
