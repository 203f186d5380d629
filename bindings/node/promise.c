/* SPDX-License-Identifier: ISC
 *
 * Whether a promise is pending, fulfilled or rejected. Node-API does not say, JavaScript cannot
 * ask, and a handler that was added to find out would make each rejection a handled one. V8 does
 * say it: node exports the functions of v8::Promise. A napi_value is a v8::Local, whose address is
 * the object that they expect. A test with three promises checks that at the start.
 */
#include <dlfcn.h>
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

napi_value weft_node_promise_reason(napi_value promise)
{
	return result_of(promise);
}

bool weft_node_is_rejected(const struct weft_node *node, napi_value promise)
{
	return node->knows_promises && weft_node_promise_state(promise) == WEFT_NODE_REJECTED;
}
