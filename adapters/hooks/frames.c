/* SPDX-License-Identifier: ISC
 *
 * The code that Python executes on the calling thread, as its functions tell it.
 *
 * A new object may start Python's garbage collector, which calls functions of the program, and the
 * stack here is small. So the collector is off meanwhile; it runs when the next object is made.
 */
#include <dlfcn.h>
#include <string.h>

#define WEFT_CATEGORY always
#include "hooks/audit.h"
#include "hooks/python.h"

#define NAME_MAX_BYTES 63 /* of a thread */
#define FUNCTION_BYTES 48
#define FRAMES_MAX     64 /* of the library, on top of the program's */

/* Functions of Python, the same in all versions: objects are void pointers here. */
static void *(*attribute_of)(void *object, const char *name);
static void *(*value_of)(void *mapping, const char *name);
static const char *(*text_of)(void *object, ssize_t *ret_size);
static void *(*item_of)(void *tuple, ssize_t index);
static ssize_t (*size_of)(void *tuple);
static char *(*bytes_of)(void *bytes);
static void *(*own_frame)(void);
static void *(*caller_of)(void *frame);
static void *(*code_of)(void *frame);
static void *(*instructions_of)(void *code);
static int (*line_of)(void *frame), (*instruction_of)(void *frame);
static void *(*own_state)(void), *(*state_of_holder)(void), *(*error_set)(void);
static int (*stop_collector)(void), (*start_collector)(void);
static void (*clear_error)(void);
static void (*hold)(void *object), (*let_go)(void *object);

/* The number of the instruction that enters a `with` statement. */
static char before_with;

static bool find_functions(void)
{
	static const struct {
		const char *name;
		void *function;
	} wanted[] = {{"PyObject_GetAttrString", &attribute_of}, {"PyMapping_GetItemString", &value_of},
		{"PyUnicode_AsUTF8AndSize", &text_of}, {"PyTuple_GetItem", &item_of},
		{"PyTuple_Size", &size_of}, {"PyBytes_AsString", &bytes_of},
		{"PyEval_GetFrame", &own_frame}, {"PyFrame_GetBack", &caller_of},
		{"PyFrame_GetCode", &code_of}, {"PyCode_GetCode", &instructions_of},
		{"PyFrame_GetLineNumber", &line_of}, {"PyFrame_GetLasti", &instruction_of},
		{"PyGILState_GetThisThreadState", &own_state}, {"PyErr_Occurred", &error_set},
		{"PyGC_Disable", &stop_collector}, {"PyGC_Enable", &start_collector},
		{"PyErr_Clear", &clear_error}, {"Py_IncRef", &hold}, {"Py_DecRef", &let_go}};
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!weft__hooks_audit_find(RTLD_DEFAULT, wanted[i].name, wanted[i].function))
			return false;
	return weft__hooks_audit_find(RTLD_DEFAULT, "_PyThreadState_UncheckedGet", &state_of_holder) ||
		   weft__hooks_audit_find(
			   RTLD_DEFAULT, "PyThreadState_GetUnchecked", &state_of_holder); /* since 3.13 */
}

static bool find(void)
{
	static int found; /* 1: all is there; -1: it is not */
	const char *(*version)(void);
	if (!found) {
		const bool is_there = weft__hooks_audit_find(RTLD_DEFAULT, "Py_GetVersion", &version) &&
							  dlsym(RTLD_DEFAULT, "Py_Version") && find_functions();
		/* Later ones look at the address of the stack, and hooks have one of their own. */
		found = is_there && strncmp(version(), "3.14", 4) < 0 ? 1 : -1;
		before_with = is_there && strncmp(version(), "3.13", 4) == 0 ? 2 : 53;
	}
	return found > 0;
}

/* PyGILState_Check() would be true for all threads once there is a second interpreter. */
static bool has_lock(void)
{
	void *state = own_state();
	return state && state == state_of_holder();
}

/* If an error is set, it is the program's, and the functions that are called here might replace it.
 */
static bool may_look(void)
{
	return weft__hooks_python_is_followed() && find() && has_lock() && !error_set();
}

/* A new reference, or NULL. Lets go of `object`. */
static void *take(void *(*get)(void *, const char *), void *object, const char *name)
{
	void *value = object ? get(object, name) : NULL;
	if (object)
		let_go(object);
	return value;
}

/* As much of the value, which may be NULL, as has room, in whole letters. Lets go of it. */
static void append_name(struct weft__hooks_text *name, void *value, size_t most)
{
	const char *text = value ? text_of(value, NULL) : NULL;
	size_t size = text ? strlen(text) : 0;
	if (size > most)
		for (size = most; size > 0 && ((unsigned char)text[size] & 0xc0) == 0x80;)
			size--;
	weft__hooks_append_bytes(name, text ? text : "", size);
	if (value)
		let_go(value);
}

/* True if the frame executes a function of that name. */
static bool executes(void *frame, const char *name)
{
	void *own = take(attribute_of, code_of(frame), "co_name");
	const char *text = own ? text_of(own, NULL) : NULL;
	const bool is_it = text && strcmp(text, name) == 0;
	if (own)
		let_go(own);
	return is_it;
}

/* ---- Threads ---- */

/* A thread is made by the method `start` of a threading.Thread, which has a name: the variable
 * `self` of the function that Python executes then. */
bool weft__hooks_python_thread(struct weft__hooks_text *name)
{
	if (!may_look())
		return false;
	const int was_collecting = stop_collector();
	void *frame = own_frame(), *thread = NULL;
	if (frame && executes(frame, "start"))
		thread = take(value_of, attribute_of(frame, "f_locals"), "self");
	append_name(name, take(attribute_of, thread, "_name"), NAME_MAX_BYTES);
	clear_error();
	if (was_collecting)
		start_collector();
	return name->size > 0;
}

/* ---- Waits for locks ---- */

static bool is_of_library(void *frame)
{
	void *file = take(attribute_of, code_of(frame), "co_filename");
	const char *path = file ? text_of(file, NULL) : NULL;
	const bool is_it = path && (strncmp(path, "<frozen", 7) == 0 ||
								   (strstr(path, "/lib/python3.") && !strstr(path, "-packages/")));
	if (file)
		let_go(file);
	return is_it;
}

/* True if the frame is about to execute the body of a `with` statement. */
static bool enters_with(void *frame)
{
	const int at = instruction_of(frame);
	void *code = code_of(frame), *instructions = instructions_of(code);
	const bool is_it = at >= 0 && instructions && bytes_of(instructions)[at] == before_with;
	if (instructions)
		let_go(instructions);
	let_go(code);
	return is_it;
}

/* True if the function mentions that name of an attribute. */
static bool mentions(void *frame, const char *name)
{
	void *names = take(attribute_of, code_of(frame), "co_names");
	const ssize_t count = names ? size_of(names) : 0;
	bool is_it = false;
	for (ssize_t i = 0; i < count && !is_it; i++) {
		const char *text = text_of(item_of(names, i), NULL);
		is_it = text && strcmp(text, name) == 0;
	}
	if (names)
		let_go(names);
	return is_it;
}

/* Appends " at FILE:9". */
static void append_line(struct weft__hooks_text *name, void *frame)
{
	void *file = take(attribute_of, code_of(frame), "co_filename");
	const char *path = file ? text_of(file, NULL) : NULL, *slash = path ? strrchr(path, '/') : NULL;
	weft__hooks_append(name, " at ");
	if (path)
		weft__hooks_append(name, slash ? slash + 1 : path);
	if (file)
		let_go(file);
	weft__hooks_append(name, ":");
	weft__hooks_append_number(name, line_of(frame));
}

/* How the innermost function waits. */
static enum weft__hooks_python_wait find_way(void *frame, bool is_library)
{
	if (executes(frame, "_is_owned"))
		return WEFT__PYTHON_UNKNOWN;
	/* The end of the program waits for its threads. */
	if (executes(frame, "_wait_for_tstate_lock") ||
		(executes(frame, "_shutdown") && !enters_with(frame)))
		return WEFT__PYTHON_THREAD;
	if (executes(frame, "__enter__") || enters_with(frame))
		return WEFT__PYTHON_WITH;
	/* A queue in C has a lock, too, which those who wait for items take. */
	const bool is_plain = !is_library && mentions(frame, "acquire") && !mentions(frame, "get");
	return is_plain ? WEFT__PYTHON_ACQUIRE : WEFT__PYTHON_OTHER;
}

/* The innermost frame of the program, and the name of the library's method that it calls, or NULL:
 * new references. NULL: the library calls itself, as in a thread of a pool. */
static void *find_program(void **ret_method)
{
	void *frame = own_frame();
	*ret_method = NULL;
	if (frame)
		hold(frame);
	for (int i = 0; frame && is_of_library(frame) && i < FRAMES_MAX; i++) {
		void *caller = caller_of(frame),
			 *method = take(attribute_of, code_of(frame), "co_qualname");
		if (*ret_method)
			let_go(*ret_method);
		*ret_method = method;
		let_go(frame);
		frame = caller;
	}
	return frame;
}

static bool ends_with(void *text, const char *end)
{
	const char *it = text ? text_of(text, NULL) : NULL;
	size_t size = it ? strlen(it) : 0;
	return size >= strlen(end) && strcmp(it + size - strlen(end), end) == 0;
}

/* Lets go of the method. */
static void append_wait(
	struct weft__hooks_text *name, enum weft__hooks_python_wait way, void *frame, void *method)
{
	const bool is_lock = way == WEFT__PYTHON_WITH || way == WEFT__PYTHON_ACQUIRE;
	const bool is_own = !method || (is_lock && ends_with(method, "__enter__"));
	if (is_own) {
		weft__hooks_append(name, is_lock ? "lock" : "wait");
	} else {
		weft__hooks_append(name, is_lock ? "lock of " : "");
		hold(method);
		append_name(name, method, FUNCTION_BYTES);
	}
	append_line(name, frame);
	if (is_own) {
		weft__hooks_append(name, " in ");
		append_name(name, take(attribute_of, code_of(frame), "co_qualname"), FUNCTION_BYTES);
	}
	if (method)
		let_go(method);
}

static enum weft__hooks_python_wait look(struct weft__hooks_text *name)
{
	void *innermost = own_frame(), *method;
	if (!innermost)
		return WEFT__PYTHON_UNKNOWN;
	const enum weft__hooks_python_wait way = find_way(innermost, is_of_library(innermost));
	if (way == WEFT__PYTHON_UNKNOWN)
		return way;
	void *program = find_program(&method);
	if (!program) {
		let_go(method);
		method = take(attribute_of, code_of(innermost), "co_qualname");
	}
	append_wait(name, way, program ? program : innermost, method);
	if (program)
		let_go(program);
	return way;
}

enum weft__hooks_python_wait weft__hooks_python_waits(struct weft__hooks_text *name)
{
	if (!may_look())
		return WEFT__PYTHON_UNKNOWN;
	const int was_collecting = stop_collector();
	const enum weft__hooks_python_wait way = look(name);
	clear_error();
	if (was_collecting)
		start_collector();
	return way;
}
