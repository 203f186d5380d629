/* SPDX-License-Identifier: ISC
 *
 * The addon for node: the calls of weft_ffi.h that its JavaScript needs, and what V8 knows of a
 * promise. It needs only Node-API, so one file serves all versions of node.
 */
#ifndef WEFT_NODE_NODE_H
#define WEFT_NODE_NODE_H

#include <node_api.h>
#include <stdbool.h>
#include <stdint.h>

#include <weft/context.h>
#include <weft/weft_ffi.h>

/* A label that many tasks have. */
struct weft_node_name {
	uint64_t cache;
	char *text;
	size_t size;
};

/* One for each thread of JavaScript. */
struct weft_node {
	struct weft_category *category;
	struct weft_node_name *names;
	uint32_t name_count, name_room;
	uint64_t thread; /* the task that runs while no callback does */
	const int32_t *timers;
	double *shared; /* with JavaScript (events.c) */
	uint64_t given; /* ids */
	bool knows_promises;
};

#define WEFT_NODE_TEXT_BYTES 1024

/* ---- Arguments ---- */

/* Stores up to `count` arguments; those that were not passed are undefined. */
struct weft_node *weft_node_arguments(
	napi_env env, napi_callback_info info, napi_value *ret_arguments, size_t count);

/* A task; what is no positive number is the current one. */
uint64_t weft_node_task(napi_env env, napi_value value);
uint32_t weft_node_number(napi_env env, napi_value value);

/* The size of a string that is copied, and cut at WEFT_NODE_TEXT_BYTES; 0 for other values. */
size_t weft_node_text(napi_env env, napi_value value, char ret_text[WEFT_NODE_TEXT_BYTES]);

/* A label by its number of name(); 0: none. */
void weft_node_give_name(struct weft_node *node, uint64_t task, uint32_t number);

/* ---- Promises (promise.c) ---- */

enum weft_node_state {
	WEFT_NODE_UNKNOWN,
	WEFT_NODE_PENDING,
	WEFT_NODE_FULFILLED,
	WEFT_NODE_REJECTED,
};

/* True if the functions of V8 are there, and say the truth about these promises: one is pending,
 * one fulfilled, and one rejected, which has a handler. */
bool weft_node_promises_begin(const napi_value promises[3]);

enum weft_node_state weft_node_promise_state(napi_value promise);
bool weft_node_promise_has_handler(napi_value promise);

/* False also if that is not known. */
bool weft_node_is_rejected(const struct weft_node *node, napi_value promise);

/* With what a promise was rejected. */
napi_value weft_node_promise_reason(napi_value promise);

/* ---- Functions for JavaScript ---- */

#define FUNCTION(name) static napi_value name(napi_env env, napi_callback_info info)

/* The list ends with a row without a name. */
extern const napi_property_descriptor weft_node_calls[], weft_node_events[], weft_node_values[];

#endif
