/* SPDX-License-Identifier: ISC
 *
 * Loops of asyncio: when they run and end, and when they are idle.
 */
#include "loops.h"

#include "dropped.h"
#include "entry.h"
#include "jobs.h"
#include "quiet.h"

_Thread_local struct weft_python_running *weft_python_running;

static PyObject *label_of_loop, *is_asleep, *original_selects, *selector_name, *cleanup_name,
	*loop_name, *get_map;

bool weft_python_is_recording(void)
{
	return weft_ffi_is_recording() && (!weft_python_running || !weft_python_running->cleanup);
}

struct weft_python_entry *weft_python_loop_entry(PyObject *loop)
{
	struct weft_python_entry *entry = weft_python_entry_find(loop);
	if (entry)
		return entry;
	entry = weft_python_entry_add(loop, WEFT_KIND_TASK);
	PyObject *label = entry ? weft_python_call_quietly(label_of_loop, NULL) : NULL;
	if (label)
		weft_python_entry_label(entry, label);
	Py_XDECREF(label);
	weft_python_drop_error();
	return entry;
}

uint64_t weft_python_loop_id(void)
{
	if (!weft_python_running->entry)
		weft_python_running->entry = weft_python_loop_entry(weft_python_running->loop);
	return weft_python_running->entry ? weft_python_running->entry->id : WEFT_TASK_NONE;
}

void weft_python_loop_runs(void)
{
	const struct weft_python_entry *cleanup = weft_python_running->cleanup;
	weft_ffi_switch(cleanup ? cleanup->id : weft_python_loop_id());
}

/* ---- Interrupts ---- */

/* The clean-up of a loop that Ctrl-C has interrupted: borrowed, or NULL. */
static struct weft_python_entry *find_cleanup(PyObject *loop)
{
	PyObject *dictionary = PyObject_GenericGetDict(loop, NULL);
	PyObject *found = dictionary ? PyDict_GetItemWithError(dictionary, cleanup_name) : NULL;
	Py_XDECREF(dictionary);
	weft_python_drop_error();
	return (struct weft_python_entry *)(void *)found;
}

bool weft_python_loop_is_recorded(PyObject *loop)
{
	return weft_python_is_recording() &&
		   (weft_python_running || !weft_python_interrupts || !find_cleanup(loop));
}

static void begin_cleanup(PyObject *loop)
{
	PyObject *dictionary = PyObject_GenericGetDict(loop, NULL);
	PyObject *label = PyUnicode_FromString("clean-up after Ctrl-C");
	weft_python_interrupts++;
	struct weft_python_entry *cleanup =
		dictionary ? weft_python_entry_create(WEFT_KIND_TASK) : NULL;
	if (cleanup && PyDict_SetItem(dictionary, cleanup_name, (PyObject *)cleanup) == 0) {
		weft_python_entry_label(cleanup, label);
		weft_python_running->cleanup = cleanup;
		weft_ffi_switch(cleanup->id);
	}
	Py_XDECREF((PyObject *)cleanup); /* the dictionary keeps it */
	Py_XDECREF(label);
	Py_XDECREF(dictionary);
}

/* Runner._on_sigint() cancels the main task, and the runner then all others. */
static PyObject *on_sigint(
	PyObject *runner, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
	PyObject *loop = PyObject_GetAttr(runner, loop_name);
	weft_python_drop_error();
	if (loop && weft_python_running && weft_python_running->loop == loop &&
		weft_python_is_recording())
		begin_cleanup(loop);
	weft_python_drop_error();
	Py_XDECREF(loop);
	return weft_python_forward(weft_python_on_sigint.original, runner, arguments, count, keywords);
}

/* ---- Running ---- */

static PyObject *run_forever(PyObject *loop, PyObject *nothing)
{
	struct weft_python_running mine = {.loop = loop, .cleanup = find_cleanup(loop)},
							   *before = weft_python_running;
	uint64_t task = weft_ffi_current();
	(void)nothing;
	mine.selector = PyObject_GetAttr(loop, selector_name);
	weft_python_drop_error();
	weft_python_running = &mine;
	if (weft_ffi_is_recording())
		weft_python_loop_runs();
	PyObject *result = PyObject_CallFunctionObjArgs(weft_python_run_forever.original, loop, NULL);
	if (!result && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) && !mine.cleanup)
		weft_python_interrupts++;
	weft_python_running = before;
	Py_XDECREF(mine.selector);
	weft_ffi_switch(task);
	return result;
}

static void end(struct weft_python_entry *entry)
{
	if (entry && !entry->has_ended) {
		weft_ffi_resolve(weft_python_asyncio(), 0, WEFT_TASK_CURRENT, entry->id);
		entry->has_ended = true;
	}
}

static PyObject *close_loop(PyObject *loop, PyObject *nothing)
{
	(void)nothing;
	end(find_cleanup(loop));
	end(weft_python_entry_find(loop));
	return PyObject_CallFunctionObjArgs(weft_python_close.original, loop, NULL);
}

/* False for a call that only looks whether something is ready. */
static bool may_wait(PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
	if (count != 1 || keywords || arguments[0] == Py_None)
		return true;
	double timeout = PyFloat_AsDouble(arguments[0]);
	if (PyErr_Occurred())
		weft_python_drop_error();
	return timeout > 0;
}

/* True if the loop waits without a limit and for no descriptor but its own pipe. */
static bool is_alone(PyObject *selector, PyObject *const *arguments, Py_ssize_t count)
{
	if (count != 1 || arguments[0] != Py_None)
		return false;
	PyObject *map = PyObject_CallMethodObjArgs(selector, get_map, NULL);
	Py_ssize_t descriptors = map ? PyObject_Size(map) : -1;
	Py_XDECREF(map);
	return descriptors == 0 || descriptors == 1;
}

static void note_asleep(bool is)
{
	static uint64_t cache;
	weft_ffi_tag_value(weft_python_asyncio(), 0, weft_python_loop_id(), WEFT_TAG_ASLEEP,
		sizeof(WEFT_TAG_ASLEEP) - 1, &cache, is);
	weft_python_running->is_asleep = is;
}

/* Says so in the trace if no timer, descriptor, thread or signal can wake the loop. */
static void look_for_sleep(PyObject *selector, PyObject *const *arguments, Py_ssize_t count)
{
	PyObject *asleep = NULL;
	if (is_alone(selector, arguments, count) && !weft_python_jobs_pending())
		asleep = weft_python_call_quietly(is_asleep, weft_python_running->loop);
	if (asleep && PyObject_IsTrue(asleep) == 1)
		note_asleep(true);
	Py_XDECREF(asleep);
	weft_python_drop_error();
}

/* The method that this one has replaced, borrowed. The selector may be of a class of the program.
 */
static PyObject *original_select(PyObject *selector)
{
	PyObject *type, *original, *found = NULL;
	Py_ssize_t position = 0;
	while (!found && PyDict_Next(original_selects, &position, &type, &original))
		if (PyObject_TypeCheck(selector, (PyTypeObject *)(void *)type))
			found = original;
	return found;
}

static PyObject *select_ready(
	PyObject *selector, PyObject *const *arguments, Py_ssize_t count, PyObject *keywords)
{
	static uint64_t cache;
	static const char reason[] = "select";
	PyObject *original = original_select(selector);
	bool is_idle = weft_python_running && weft_python_running->selector == selector &&
				   weft_ffi_is_recording() && may_wait(arguments, count, keywords);
	if (!original)
		return PyErr_Format(PyExc_TypeError, "%R has no select() of its own", Py_TYPE(selector));
	if (is_idle && weft_python_is_recording())
		look_for_sleep(selector, arguments, count);
	if (is_idle)
		weft_ffi_band_begin(WEFT_BAND_IDLE, reason, sizeof(reason) - 1, &cache);
	PyObject *result = count == 1 && !keywords
						   ? PyObject_CallFunctionObjArgs(original, selector, arguments[0], NULL)
						   : weft_python_forward(original, selector, arguments, count, keywords);
	if (is_idle)
		weft_ffi_band_end(WEFT_BAND_IDLE, reason, sizeof(reason) - 1, &cache);
	if (is_idle && weft_python_running->is_asleep && weft_python_is_recording())
		note_asleep(false);
	return result;
}

static void note_service(PyObject *loop)
{
	static uint64_t cache;
	struct weft_python_entry *entry =
		weft_python_loop_is_recorded(loop) ? weft_python_loop_entry(loop) : NULL;
	if (entry)
		weft_ffi_tag_value(weft_python_asyncio(), 0, entry->id, WEFT_TAG_LISTENS,
			sizeof(WEFT_TAG_LISTENS) - 1, &cache, 1);
}

/* A server begins to listen for connections. */
static PyObject *start_serving(PyObject *server, PyObject *nothing)
{
	(void)nothing;
	PyObject *loop = PyObject_GetAttr(server, loop_name);
	weft_python_drop_error();
	if (loop)
		note_service(loop);
	Py_XDECREF(loop);
	return PyObject_CallFunctionObjArgs(weft_python_start_serving.original, server, NULL);
}

bool weft_python_loops_init(PyObject *label, PyObject *asleep, PyObject *selects)
{
	label_of_loop = Py_NewRef(label);
	is_asleep = Py_NewRef(asleep);
	original_selects = Py_NewRef(selects);
	return weft_python_intern(&selector_name, "_selector") &&
		   weft_python_intern(&cleanup_name, "_weft_cleanup") &&
		   weft_python_intern(&loop_name, "_loop") && weft_python_intern(&get_map, "get_map");
}

struct weft_python_method weft_python_run_forever = {"BaseEventLoop",
	{"run_forever", run_forever, METH_NOARGS, "Run until stop() is called."}, NULL};
struct weft_python_method weft_python_close = {
	"BaseEventLoop", {"close", close_loop, METH_NOARGS, "Close the event loop."}, NULL};
struct weft_python_method weft_python_on_sigint = {"Runner",
	{"_on_sigint", WEFT_PYTHON_FUNCTION(on_sigint), METH_FASTCALL | METH_KEYWORDS, NULL}, NULL};
struct weft_python_method weft_python_start_serving = {
	"Server", {"_start_serving", start_serving, METH_NOARGS, NULL}, NULL};
PyMethodDef weft_python_select = {
	"select", WEFT_PYTHON_FUNCTION(select_ready), METH_FASTCALL | METH_KEYWORDS, NULL};
