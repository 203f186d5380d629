/* SPDX-License-Identifier: ISC
 *
 * A task's coroutine awaits another one, which awaits another one, and so on. The last one of this
 * chain yields a future. Its name and the line of the program say what the wait is for:
 *
 *     worker()  ─▶  Queue.get()  ─▶  future           "Queue.get at chat:33"
 *     line 33       of asyncio
 *
 * The text is made once for each such location.
 */
#include "wait.h"

#include <string.h>

#include "conditions.h"
#include "dropped.h"
#include "entry.h"
#include "locks.h"
#include "methods.h"
#include "objects.h"
#include "queues.h"
#include "results.h"

#define CHAIN_MAX   32
#define LOCATIONS   1024 /* a power of two */
#define SOURCES_MAX 1000

/* Seconds: a deadline that is further away is none. */
#define DELAY_MAX 1e9

struct weft_python_waits weft_python_waits;

/* One call of an awaiting coroutine. */
struct link {
	PyObject *coroutine, *code;
};

/* A location in the program; both codes are kept, so that no other code gets their addresses. */
static struct location {
	PyObject *inner, *outer; /* code */
	long line;
	PyObject *name; /* weft.Name */
} locations[LOCATIONS];

/* The attributes of coroutines, generators and asynchronous generators. */
enum attribute {
	AWAIT,
	CODE,
	FRAME,
	ATTRIBUTES
};
static PyObject *of_coroutine[ATTRIBUTES], *of_generator[ATTRIBUTES],
	*of_async_generator[ATTRIBUTES];
static PyObject *coroutine_name, *file_name, *qualified_name, *line_name, *locals_name, *delay_name,
	*children_name, *gather, *mode_name, *tasks_name, *short_name, *underscore, *self,
	*callbacks_name, *function_code, *first_line_name;

bool weft_python_is_future(PyObject *object)
{
	return PyObject_TypeCheck(object, (PyTypeObject *)(void *)weft_python_waits.future_type);
}

bool weft_python_waits_init(void)
{
	return weft_python_intern(&of_coroutine[AWAIT], "cr_await") &&
		   weft_python_intern(&of_coroutine[CODE], "cr_code") &&
		   weft_python_intern(&of_coroutine[FRAME], "cr_frame") &&
		   weft_python_intern(&of_generator[AWAIT], "gi_yieldfrom") &&
		   weft_python_intern(&of_generator[CODE], "gi_code") &&
		   weft_python_intern(&of_generator[FRAME], "gi_frame") &&
		   weft_python_intern(&of_async_generator[AWAIT], "ag_await") &&
		   weft_python_intern(&of_async_generator[CODE], "ag_code") &&
		   weft_python_intern(&of_async_generator[FRAME], "ag_frame") &&
		   weft_python_intern(&coroutine_name, "_coro") &&
		   weft_python_intern(&file_name, "co_filename") &&
		   weft_python_intern(&qualified_name, "co_qualname") &&
		   weft_python_intern(&line_name, "f_lineno") &&
		   weft_python_intern(&locals_name, "f_locals") &&
		   weft_python_intern(&delay_name, "delay") &&
		   weft_python_intern(&children_name, "_children") &&
		   weft_python_intern(&gather, "gather") && weft_python_intern(&mode_name, "return_when") &&
		   weft_python_intern(&tasks_name, "_tasks") &&
		   weft_python_intern(&short_name, "co_name") && weft_python_intern(&underscore, "_") &&
		   weft_python_intern(&self, "self") && weft_python_intern(&callbacks_name, "_callbacks") &&
		   weft_python_intern(&function_code, "__code__") &&
		   weft_python_intern(&first_line_name, "co_firstlineno");
}

/* ---- The chain of coroutines ---- */

/* NULL without an exception for an object that is neither a coroutine nor a generator. */
static PyObject *get(PyObject *object, enum attribute attribute)
{
	PyObject *type = (PyObject *)Py_TYPE(object);
	PyObject **names = type == weft_python_waits.coroutine_type         ? of_coroutine
					   : type == weft_python_waits.generator_type       ? of_generator
					   : type == weft_python_waits.async_generator_type ? of_async_generator
																		: NULL;
	return names ? PyObject_GetAttr(object, names[attribute]) : NULL;
}

static int find_generator(PyObject *object, void *ret)
{
	if ((PyObject *)Py_TYPE(object) != weft_python_waits.async_generator_type)
		return 0;
	*(PyObject **)ret = Py_NewRef(object);
	return 1;
}

/* The asynchronous generator of a step of it, which only the garbage collector is told; or the
 * object itself. Takes the reference, and returns one. */
static PyObject *generator_of(PyObject *object)
{
	PyTypeObject *type = object ? Py_TYPE(object) : NULL;
	PyObject *found = NULL;
	if (!object || ((PyObject *)type != weft_python_waits.send_type &&
					   (PyObject *)type != weft_python_waits.close_type))
		return object;
	traverseproc traverse = (traverseproc)PyType_GetSlot(type, Py_tp_traverse);
	if (traverse)
		traverse(object, find_generator, &found);
	Py_DECREF(object);
	return found;
}

/* Stores the chain from the task's coroutine on, with references; returns its length. */
static unsigned follow(PyObject *task, struct link chain[CHAIN_MAX])
{
	unsigned length = 0;
	PyObject *coroutine = PyObject_GetAttr(task, coroutine_name);
	while (coroutine && length < CHAIN_MAX) {
		PyObject *code = get(coroutine, CODE);
		if (!code)
			break;
		chain[length++] = (struct link){coroutine, code};
		coroutine = generator_of(get(coroutine, AWAIT));
	}
	Py_XDECREF(coroutine);
	return length;
}

static void release(struct link *chain, unsigned length)
{
	for (unsigned i = 0; i < length; i++) {
		Py_DECREF(chain[i].coroutine);
		Py_DECREF(chain[i].code);
	}
}

static bool is_of_asyncio(PyObject *code)
{
	PyObject *file = PyObject_GetAttr(code, file_name);
	bool is =
		file && PyUnicode_Tailmatch(file, weft_python_waits.folder, 0, PY_SSIZE_T_MAX, -1) > 0;
	Py_XDECREF(file);
	return is;
}

/* The innermost coroutine that is not asyncio's, or NULL. */
static const struct link *find_outer(const struct link *chain, unsigned length)
{
	while (length > 0 && is_of_asyncio(chain[length - 1].code))
		length--;
	return length > 0 ? &chain[length - 1] : NULL;
}

/* ---- Names of locations ---- */

static long line_of(PyObject *coroutine)
{
	PyObject *frame = get(coroutine, FRAME);
	PyObject *line = frame && frame != Py_None ? PyObject_GetAttr(frame, line_name) : NULL;
	long number = line ? PyLong_AsLong(line) : 0;
	Py_XDECREF(frame);
	Py_XDECREF(line);
	return number;
}

/* "what at file:line", or NULL. */
static PyObject *add_location(PyObject *what, PyObject *code, long line)
{
	PyObject *file = PyObject_GetAttr(code, file_name);
	const char *path = file ? PyUnicode_AsUTF8AndSize(file, NULL) : NULL;
	const char *slash = path ? strrchr(path, '/') : NULL;
	PyObject *text =
		path ? PyUnicode_FromFormat("%U at %s:%ld", what, slash ? slash + 1 : path, line) : NULL;
	Py_XDECREF(file);
	return text;
}

PyObject *weft_python_wait_add_beginning(PyObject *name, PyObject *code)
{
	PyObject *first = is_of_asyncio(code) ? NULL : PyObject_GetAttr(code, first_line_name);
	PyObject *text = first ? add_location(name, code, PyLong_AsLong(first)) : NULL;
	Py_XDECREF(first);
	weft_python_drop_error();
	return text;
}

/* The innermost coroutine, the file and the line; without these if only asyncio's own coroutines
 * wait. */
static PyObject *describe(PyObject *what, PyObject *outer, long line)
{
	PyObject *text = line ? add_location(what, outer, line) : Py_NewRef(what);
	PyObject *name = text ? weft_python_name_create(text) : NULL;
	Py_XDECREF(text);
	return name;
}

/* A borrowed weft.Name, or NULL. `what`: instead of the name of the inner code, if that is the
 * outer one. */
static PyObject *name_of(PyObject *inner, PyObject *outer, long line, PyObject *what)
{
	uintptr_t hash = ((uintptr_t)inner >> 4) * 31 + ((uintptr_t)outer >> 4) * 7 + (uintptr_t)line;
	struct location *location = &locations[hash & (LOCATIONS - 1)];
	if (location->inner == inner && location->outer == outer && location->line == line)
		return location->name;
	PyObject *own = what ? Py_NewRef(what) : PyObject_GetAttr(inner, qualified_name);
	PyObject *name = own ? describe(own, outer, line) : NULL;
	Py_XDECREF(own);
	if (!name)
		return NULL;
	struct location old = *location;
	*location = (struct location){Py_NewRef(inner), Py_NewRef(outer), line, name};
	Py_XDECREF(old.inner);
	Py_XDECREF(old.outer);
	Py_XDECREF(old.name);
	return name;
}

static bool is_private(PyObject *code)
{
	PyObject *name = PyObject_GetAttr(code, short_name);
	bool is = !name || PyUnicode_Tailmatch(name, underscore, 0, PY_SSIZE_T_MAX, -1) != 0;
	Py_XDECREF(name);
	weft_python_drop_error();
	return is;
}

/* The method of asyncio that the program called, as far as it has a public name. */
static const struct link *find_called(
	const struct link *chain, unsigned length, const struct link *outer)
{
	const struct link *inner = &chain[length - 1], *link = outer ? outer + 1 : chain;
	if (inner->code == weft_python_waits.cancel_and_wait)
		return inner; /* the second wait of a wait_for() */
	while (link < inner && is_private(link->code))
		link++;
	return link <= inner ? link : inner;
}

/* The label of the wait of the chain's last coroutine: a borrowed weft.Name, or NULL. */
static PyObject *label_of(const struct link *chain, unsigned length, bool is_gather)
{
	const struct link *outer = find_outer(chain, length);
	const struct link *called = find_called(chain, length, outer);
	long line = outer ? line_of(outer->coroutine) : 0;
	PyObject *code = outer ? outer->code : called->code;
	/* gather() is no coroutine: the coroutine that awaits it is the last one. */
	return is_gather ? name_of(gather, code, line, gather)
					 : name_of(called->code, code, line, NULL);
}

/* ---- Callbacks that say what a future waits for ---- */

/* The object in a closure, by its code. */
static PyObject *in_closure(PyObject *function)
{
	PyObject *code = PyObject_GetAttrString(function, "__code__");
	PyObject *key = code ? PyLong_FromVoidPtr(code) : NULL;
	PyObject *index = key ? PyDict_GetItemWithError(weft_python_waits.closures, key) : NULL;
	PyObject *cells = index ? PyObject_GetAttrString(function, "__closure__") : NULL;
	PyObject *cell = cells ? PySequence_GetItem(cells, PyLong_AsSsize_t(index)) : NULL;
	PyObject *value = cell ? PyObject_GetAttrString(cell, "cell_contents") : NULL;
	Py_XDECREF(code);
	Py_XDECREF(key);
	Py_XDECREF(cells);
	Py_XDECREF(cell);
	return value;
}

/* True for a callback that has what its own future waits for in its closure: one of
 * concurrent.futures, or the future that shield() protects. */
static bool has_source(PyObject *callback)
{
	PyObject *code = PyObject_GetAttr(callback, function_code);
	Py_XDECREF(code);
	return code &&
		   (code == weft_python_waits.check_cancel || code == weft_python_waits.leaves_inner);
}

/* The future for which a future waits that has this callback: a new reference, or NULL. `pair` is
 * the callback and its context. */
static PyObject *chained_by(PyObject *pair)
{
	PyObject *callback =
		PyTuple_Check(pair) && PyTuple_Size(pair) ? PyTuple_GetItem(pair, 0) : NULL;
	if (!callback || (PyObject *)Py_TYPE(callback) != weft_python_waits.function_type)
		return NULL;
	return has_source(callback) ? in_closure(callback) : NULL;
}

/* The entry of a future, of asyncio or concurrent.futures: a new reference, or NULL. */
static struct weft_python_entry *entry_of(PyObject *future)
{
	if (!weft_python_is_future(future))
		return weft_python_result_source(future);
	struct weft_python_entry *entry = weft_python_entry_find(future);
	return (struct weft_python_entry *)Py_XNewRef((PyObject *)entry);
}

/* The future waits for the job of a thread pool, for a task of another loop, or for what shield()
 * protects, if its callbacks say so. */
static void wait_for_chained(const struct weft_python_entry *entry, PyObject *future)
{
	PyObject *callbacks = PyObject_GetAttr(future, callbacks_name), *found = NULL;
	Py_ssize_t count = callbacks && PyList_Check(callbacks) ? PyList_Size(callbacks) : 0;
	for (Py_ssize_t i = 0; i < count && !found; i++)
		found = chained_by(PyList_GetItem(callbacks, i));
	struct weft_python_entry *source = found ? entry_of(found) : NULL;
	if (source)
		weft_ffi_try_read(weft_python_asyncio(), 0, entry->id, source->id);
	Py_XDECREF((PyObject *)source);
	Py_XDECREF(found);
	Py_XDECREF(callbacks);
	weft_python_drop_error();
}

/* ---- Futures that a future waits for ---- */

/* The futures that a future waits for, as a set, list or single future, with a reference. */
struct sources {
	PyObject *futures;
	bool any; /* the first one that is done ends the wait */
};

/* The task of a source, which gets an entry if it has none. */
static bool source_id(PyObject *source, PyObject *label, uint64_t *ret)
{
	if (!weft_python_is_future(source))
		return false;
	struct weft_python_entry *found = weft_python_entry_find(source);
	if (!found && (found = weft_python_entry_add(source, WEFT_KIND_PROMISE)) != NULL) {
		weft_python_entry_label(found, label);
		wait_for_chained(found, source);
	}
	if (found)
		*ret = found->id;
	return found != NULL;
}

static unsigned collect(PyObject *futures, PyObject *label, uint64_t ids[SOURCES_MAX])
{
	unsigned count = source_id(futures, label, &ids[0]);
	PyObject *source, *iterator = count ? NULL : PyObject_GetIter(futures);
	while (iterator && count < SOURCES_MAX && (source = PyIter_Next(iterator)) != NULL) {
		count += source_id(source, label, &ids[count]);
		Py_DECREF(source);
	}
	Py_XDECREF(iterator);
	return count;
}

static void wait_for(uint64_t task, PyObject *label, const struct sources *sources)
{
	uint64_t ids[SOURCES_MAX];
	unsigned count = collect(sources->futures, label, ids);
	if (sources->any)
		weft_ffi_wait_any(weft_python_asyncio(), 0, task, ids, count);
	for (unsigned i = 0; i < count && !sources->any; i++)
		weft_ffi_try_read(weft_python_asyncio(), 0, task, ids[i]);
}

static bool is_first_completed(PyObject *locals)
{
	PyObject *mode = PyObject_GetItem(locals, mode_name);
	bool is = mode && PyUnicode_Check(mode) &&
			  PyUnicode_CompareWithASCIIString(mode, "FIRST_COMPLETED") == 0;
	Py_XDECREF(mode);
	weft_python_drop_error();
	return is;
}

/* From the variable of a coroutine of asyncio that has the futures it waits for. */
static struct sources in_variable(const struct link *link)
{
	struct sources found = {NULL, false};
	PyObject *key = PyLong_FromVoidPtr(link->code);
	PyObject *name = key ? PyDict_GetItemWithError(weft_python_waits.locals, key) : NULL;
	PyObject *frame = name ? get(link->coroutine, FRAME) : NULL;
	PyObject *locals = frame && frame != Py_None ? PyObject_GetAttr(frame, locals_name) : NULL;
	PyObject *value = locals ? PyObject_GetItem(locals, name) : NULL;
	if (value) /* a task group's variable is the group */
		found.futures = PyObject_HasAttr(value, tasks_name) ? PyObject_GetAttr(value, tasks_name)
															: Py_NewRef(value);
	if (found.futures)
		found.any = is_first_completed(locals);
	Py_XDECREF(key);
	Py_XDECREF(frame);
	Py_XDECREF(locals);
	Py_XDECREF(value);
	return found;
}

static struct sources sources_of(PyObject *future, const struct link *chain, unsigned length)
{
	if ((PyObject *)Py_TYPE(future) == weft_python_waits.gather_type)
		return (struct sources){PyObject_GetAttr(future, children_name), false};
	return length ? in_variable(&chain[length - 1]) : (struct sources){NULL, false};
}

/* ---- Locks, conditions, queues ---- */

static enum weft_python_resource resource_of_code(PyObject *code)
{
	PyObject *key = PyLong_FromVoidPtr(code);
	PyObject *number = key ? PyDict_GetItemWithError(weft_python_waits.resources, key) : NULL;
	Py_XDECREF(key);
	return number ? (enum weft_python_resource)PyLong_AsLong(number) : WEFT_PYTHON_NO_RESOURCE;
}

bool weft_python_wait_takes(PyObject *code)
{
	enum weft_python_resource resource = code ? resource_of_code(code) : WEFT_PYTHON_NO_RESOURCE;
	return resource == WEFT_PYTHON_LOCK || resource == WEFT_PYTHON_QUEUE_GET;
}

/* The value of a coroutine's variable: a new reference, or NULL. */
static PyObject *variable_of(PyObject *coroutine, PyObject *name)
{
	PyObject *frame = get(coroutine, FRAME);
	PyObject *locals = frame && frame != Py_None ? PyObject_GetAttr(frame, locals_name) : NULL;
	PyObject *value = locals ? PyObject_GetItem(locals, name) : NULL;
	Py_XDECREF(frame);
	Py_XDECREF(locals);
	weft_python_drop_error();
	return value;
}

/* The entry of what the future of an object's method waits for, or NULL. */
static struct weft_python_entry *resource_entry(
	PyObject *object, enum weft_python_resource resource, struct weft_python_entry *future)
{
	switch (resource) {
	case WEFT_PYTHON_LOCK:
		return weft_python_lock_wait(future, object);
	case WEFT_PYTHON_CONDITION:
		return weft_python_condition_wait_for(object);
	case WEFT_PYTHON_QUEUE_GET:
		return weft_python_queue_wait(object, WEFT_PYTHON_GET, future->waiter);
	case WEFT_PYTHON_QUEUE_PUT:
		return weft_python_queue_wait(object, WEFT_PYTHON_PUT, future->waiter);
	case WEFT_PYTHON_QUEUE_JOIN:
		return weft_python_queue_wait(object, WEFT_PYTHON_JOIN, future->waiter);
	case WEFT_PYTHON_NO_RESOURCE:
		break;
	}
	return NULL;
}

/* The future waits for the lock, condition or queue whose method is the chain's last coroutine;
 * false: that is no such method.
 * Queue.join() waits for an event of the queue: then it is the last but one. */
static bool wait_for_resource(
	struct weft_python_entry *future, const struct link *chain, unsigned length)
{
	const struct link *link = &chain[length - 1];
	if (length > 1 && resource_of_code(link[-1].code) == WEFT_PYTHON_QUEUE_JOIN)
		link--;
	enum weft_python_resource resource = resource_of_code(link->code);
	if (resource == WEFT_PYTHON_NO_RESOURCE)
		return false;
	PyObject *object = variable_of(link->coroutine, self);
	const struct weft_python_entry *source =
		object ? resource_entry(object, resource, future) : NULL;
	if (source)
		weft_ffi_try_read(weft_python_asyncio(), 0, future->id, source->id);
	Py_XDECREF(object);
	return true;
}

/* ---- Timers ---- */

/* True for the future of asyncio.sleep(). */
static bool is_sleep(const struct link *chain, unsigned length)
{
	return length && chain[length - 1].code == weft_python_waits.sleep;
}

/* The sleep begins now: its deadline is that far away. */
static void note_deadline(const struct weft_python_entry *entry, PyObject *coroutine)
{
	static uint64_t cache;
	PyObject *delay = variable_of(coroutine, delay_name);
	const double seconds = delay ? PyFloat_AsDouble(delay) : -1;
	if (seconds >= 0 && seconds < DELAY_MAX)
		weft_ffi_tag_value(weft_python_asyncio(), 0, entry->id, WEFT_TAG_DEADLINE,
			sizeof(WEFT_TAG_DEADLINE) - 1, &cache, (int64_t)(seconds * 1e9));
	Py_XDECREF(delay);
	weft_python_drop_error();
}

/* ---- All ---- */

static uint64_t waiter_of(PyObject *task)
{
	const struct weft_python_entry *entry = weft_python_entry_find(task);
	return entry ? entry->stands_for : WEFT_TASK_NONE;
}

struct weft_python_entry *weft_python_wait_add(PyObject *task, PyObject *future)
{
	struct link chain[CHAIN_MAX];
	unsigned length = follow(task, chain);
	struct sources sources = sources_of(future, chain, length);
	if (sources.futures == future) /* wait_for() of Python 3.12 awaits its future itself */
		Py_CLEAR(sources.futures);
	bool is_gather = (PyObject *)Py_TYPE(future) == weft_python_waits.gather_type;
	const bool is_timer = is_sleep(chain, length);
	struct weft_python_entry *entry = weft_python_entry_add(future, sources.futures ? WEFT_KIND_JOIN
																	: is_timer ? WEFT_KIND_TIMER
																			   : WEFT_KIND_PROMISE);
	PyObject *label = entry && length ? label_of(chain, length, is_gather) : NULL;
	if (label)
		weft_python_entry_label(entry, label);
	if (entry)
		entry->waiter = waiter_of(task);
	if (entry && sources.futures)
		wait_for(entry->id, label, &sources);
	else if (entry && is_timer)
		note_deadline(entry, chain[length - 1].coroutine);
	else if (entry && length && !wait_for_resource(entry, chain, length))
		wait_for_chained(entry, future);
	Py_XDECREF(sources.futures);
	release(chain, length);
	weft_python_drop_error();
	return entry;
}

/* ---- Callbacks that end a future ---- */

static PyObject *in_partial(PyObject *partial)
{
	PyObject *function = PyObject_GetAttrString(partial, "func");
	PyObject *arguments = function == weft_python_waits.release_waiter
							  ? PyObject_GetAttrString(partial, "args")
							  : NULL;
	PyObject *value = arguments ? PySequence_GetItem(arguments, 0) : NULL;
	Py_XDECREF(function);
	Py_XDECREF(arguments);
	return value;
}

static PyObject *in_group(PyObject *method)
{
	PyObject *function = PyObject_GetAttrString(method, "__func__");
	PyObject *group = function && function == weft_python_waits.task_group_done
						  ? PyObject_GetAttrString(method, "__self__")
						  : NULL;
	PyObject *value = group ? PyObject_GetAttrString(group, "_on_completed_fut") : NULL;
	Py_XDECREF(function);
	Py_XDECREF(group);
	return value;
}

PyObject *weft_python_wait_ended_by(PyObject *callback)
{
	PyObject *type = (PyObject *)Py_TYPE(callback);
	PyObject *found = type == weft_python_waits.function_type && !has_source(callback)
						  ? in_closure(callback)
					  : type == weft_python_waits.partial_type ? in_partial(callback)
					  : type == weft_python_waits.method_type  ? in_group(callback)
															   : NULL;
	weft_python_drop_error();
	return found;
}
