/* SPDX-License-Identifier: ISC
 *
 * Events with texts or lists, and what is known of promises. The others are in events.c.
 */
#include "node.h"

FUNCTION(recording)
{
	napi_value result;
	(void)info;
	return napi_get_boolean(env, weft_ffi_is_recording(), &result) ? NULL : result;
}

static napi_value id_of(napi_env env, uint64_t task)
{
	napi_value result;
	return napi_create_int64(env, (int64_t)task, &result) ? NULL : result;
}

/* The current task, or 0 if it is the thread's own. */
FUNCTION(current)
{
	const struct weft_node *node = weft_node_arguments(env, info, NULL, 0);
	uint64_t task = weft_ffi_current();
	return id_of(env, task == node->thread || task == WEFT_TASK_NONE ? 0 : task);
}

/* ---- Texts ---- */

/* label(task, text) */
FUNCTION(label)
{
	napi_value a[2];
	char text[WEFT_NODE_TEXT_BYTES];
	const struct weft_node *node = weft_node_arguments(env, info, a, 2);
	size_t size = weft_node_text(env, a[1], text);
	weft_ffi_label(node->category, 0, weft_node_task(env, a[0]), text, size, NULL);
	return NULL;
}

/* context(task, traceparent, tracestate): makes the task a span below that of the header, or the
 * root of a new trace if the header is ''. Returns the task's own traceparent; '' if the header is
 * not valid. */
FUNCTION(context)
{
	napi_value a[3], result;
	char text[WEFT_NODE_TEXT_BYTES], state[WEFT_NODE_TEXT_BYTES], own_text[WEFT_CONTEXT_TEXT] = "";
	struct weft_context parent = {0}, own;
	const struct weft_node *node = weft_node_arguments(env, info, a, 3);
	size_t size = weft_node_text(env, a[1], text), own_size = 0;
	if (size == 0 || weft_context_parse(text, size, &parent)) {
		parent.state_size = (uint32_t)weft_node_text(env, a[2], state);
		parent.state = state;
		weft_ffi_context_start(node->category, 0, weft_node_task(env, a[0]), &parent, &own);
		own_size = weft_context_print(&own, own_text);
	}
	return napi_create_string_utf8(env, own_text, own_size, &result) ? NULL : result;
}

#define SOURCES_MAX 1000

/* waitsForAny(task, sources) */
FUNCTION(waits_for_any)
{
	napi_value a[2], source;
	uint64_t sources[SOURCES_MAX];
	uint32_t count = 0;
	const struct weft_node *node = weft_node_arguments(env, info, a, 2);
	if (napi_get_array_length(env, a[1], &count))
		return NULL;
	count = count < SOURCES_MAX ? count : SOURCES_MAX;
	for (uint32_t i = 0; i < count; i++)
		sources[i] = napi_get_element(env, a[1], i, &source) ? 0 : weft_node_task(env, source);
	weft_ffi_wait_any(node->category, 0, weft_node_task(env, a[0]), sources, count);
	return NULL;
}

/* fail(task, text) */
FUNCTION(fail)
{
	napi_value a[2];
	char text[WEFT_NODE_TEXT_BYTES];
	const struct weft_node *node = weft_node_arguments(env, info, a, 2);
	size_t size = weft_node_text(env, a[1], text);
	weft_ffi_fail(node->category, 0, WEFT_TASK_CURRENT, weft_node_task(env, a[0]), text, size);
	return NULL;
}

/* ---- Promises ---- */

/* state(promise): enum weft_node_state */
FUNCTION(state)
{
	napi_value a[1], result;
	const struct weft_node *node = weft_node_arguments(env, info, a, 1);
	enum weft_node_state state =
		node->knows_promises ? weft_node_promise_state(a[0]) : WEFT_NODE_UNKNOWN;
	return napi_create_uint32(env, state, &result) ? NULL : result;
}

/* True if the promise was rejected and nobody wants its value. */
FUNCTION(unhandled)
{
	napi_value a[1], result;
	const struct weft_node *node = weft_node_arguments(env, info, a, 1);
	bool is_it = weft_node_is_rejected(node, a[0]) && !weft_node_promise_has_handler(a[0]);
	return napi_get_boolean(env, is_it, &result) ? NULL : result;
}

/* reason(promise): of one that was rejected. */
FUNCTION(reason)
{
	napi_value a[1];
	weft_node_arguments(env, info, a, 1);
	return weft_node_promise_reason(a[0]);
}

/* knows(pending, fulfilled, rejected) */
FUNCTION(knows)
{
	napi_value a[3], result;
	struct weft_node *node = weft_node_arguments(env, info, a, 3);
	node->knows_promises = weft_node_promises_begin(a);
	return napi_get_boolean(env, node->knows_promises, &result) ? NULL : result;
}

#define ROW(name, function)                                           \
	{                                                                 \
		name, NULL, function, NULL, NULL, NULL, napi_enumerable, NULL \
	}

const napi_property_descriptor weft_node_calls[] = {
	ROW("recording", recording),
	ROW("current", current),
	ROW("label", label),
	ROW("context", context),
	ROW("waitsForAny", waits_for_any),
	ROW("fail", fail),
	ROW("state", state),
	ROW("unhandled", unhandled),
	ROW("reason", reason),
	ROW("knows", knows),
	{0},
};
