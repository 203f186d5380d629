/* SPDX-License-Identifier: ISC
 *
 * Whether a promise is pending, fulfilled or rejected. Node-API does not say, JavaScript cannot
 * ask, and a handler that was added to find out would make each rejection a handled one. V8 does
 * say it: node exports the functions of v8::Promise. A napi_value is a v8::Local, whose address is
 * the object that they expect. A test with three promises checks that at the start.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "node.h"

/* v8::Promise::PromiseState */
enum {
	PENDING = 0,
	FULFILLED = 1,
	REJECTED = 2
};

static int (*state_of)(napi_value promise);
static bool (*has_handler)(napi_value promise);
static napi_value (*result_of)(napi_value promise);

static bool find(void *ret_function, const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);
	memcpy(ret_function, &found, sizeof(found));
	return found != NULL;
}

bool weft_node_promises_begin(const napi_value promises[3])
{
	return find(&state_of, "_ZN2v87Promise5StateEv") &&
		   find(&has_handler, "_ZNK2v87Promise10HasHandlerEv") &&
		   find(&result_of, "_ZN2v87Promise6ResultEv") && state_of(promises[0]) == PENDING &&
		   state_of(promises[1]) == FULFILLED && state_of(promises[2]) == REJECTED &&
		   !has_handler(promises[0]) && has_handler(promises[2]);
}

enum weft_node_state weft_node_promise_state(napi_value promise)
{
	int state = state_of(promise);
	return state == PENDING     ? WEFT_NODE_PENDING
		   : state == FULFILLED ? WEFT_NODE_FULFILLED
		   : state == REJECTED  ? WEFT_NODE_REJECTED
								: WEFT_NODE_UNKNOWN;
}

bool weft_node_promise_has_handler(napi_value promise)
{
	return has_handler(promise);
}

size_t weft_node_promise_reason(
	napi_env env, napi_value promise, char ret_text[WEFT_NODE_TEXT_BYTES])
{
	return weft_node_describe(env, result_of(promise), ret_text);
}

/* The size of a text that is a property. */
static size_t property(
	napi_env env, napi_value object, const char *name, char *ret_text, size_t room)
{
	napi_value value;
	size_t size = 0;
	if (napi_get_named_property(env, object, name, &value) ||
		napi_get_value_string_utf8(env, value, ret_text, room, &size))
		size = 0;
	bool is_pending = false;
	if (napi_is_exception_pending(env, &is_pending) == napi_ok && is_pending)
		napi_get_and_clear_last_exception(env, &value);
	return size;
}

size_t weft_node_describe(napi_env env, napi_value error, char ret_text[WEFT_NODE_TEXT_BYTES])
{
	char name[64], message[WEFT_NODE_TEXT_BYTES / 2];
	napi_valuetype type;
	bool is_error = false;
	if (napi_is_error(env, error, &is_error) || !is_error) {
		size_t size = weft_node_text(env, error, ret_text);
		if (size || napi_typeof(env, error, &type))
			return size;
		static const char *const names[] = {"undefined", "null", "a boolean", "a number",
			"an empty text", "a symbol", "an object", "a function", "an external value",
			"a big integer"};
		return (size_t)snprintf(ret_text, WEFT_NODE_TEXT_BYTES, "%s",
			(size_t)type < sizeof(names) / sizeof(names[0]) ? names[type] : "a value");
	}
	size_t name_size = property(env, error, "name", name, sizeof(name));
	size_t size = property(env, error, "message", message, sizeof(message));
	return (size_t)snprintf(ret_text, WEFT_NODE_TEXT_BYTES, "%.*s%s%.*s", (int)name_size, name,
		name_size && size ? ": " : "", (int)size, message);
}
