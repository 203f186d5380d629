/* SPDX-License-Identifier: ISC
 *
 * The addon's begin and end on a thread, its arguments, names and kinds.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "node.h"

#define NAMES_MAX (1u << 17)

/* ---- Arguments ---- */

struct weft_node *weft_node_arguments(
	napi_env env, napi_callback_info info, napi_value *ret_arguments, size_t count)
{
	void *node = NULL;
	napi_get_cb_info(env, info, &count, ret_arguments, NULL, &node);
	return node;
}

uint64_t weft_node_task(napi_env env, napi_value value)
{
	int64_t task = 0;
	return napi_get_value_int64(env, value, &task) == napi_ok && task > 0 ? (uint64_t)task
																		  : WEFT_TASK_CURRENT;
}

uint32_t weft_node_number(napi_env env, napi_value value)
{
	uint32_t number = 0;
	return napi_get_value_uint32(env, value, &number) == napi_ok ? number : 0;
}

size_t weft_node_text(napi_env env, napi_value value, char ret_text[WEFT_NODE_TEXT_BYTES])
{
	size_t size = 0;
	return napi_get_value_string_utf8(env, value, ret_text, WEFT_NODE_TEXT_BYTES, &size) == napi_ok
			   ? size
			   : 0;
}

/* ---- Names and kinds ---- */

static bool make_room(struct weft_node *node)
{
	uint32_t room = node->name_room ? 2 * node->name_room : 64;
	if (node->name_count < node->name_room)
		return true;
	struct weft_node_name *names = realloc(node->names, room * sizeof(*names));
	if (!names)
		return false;
	node->names = names;
	node->name_room = room;
	return true;
}

/* name(text): a number for create(), from 1 on; 0 if memory ran out, or there are too many: names
 * are never freed, and a program may make code for ever. */
FUNCTION(name)
{
	napi_value a[1], result;
	char text[WEFT_NODE_TEXT_BYTES];
	struct weft_node *node = weft_node_arguments(env, info, a, 1);
	size_t size = weft_node_text(env, a[0], text);
	bool has_room = node->name_count < NAMES_MAX && make_room(node);
	char *copy = has_room ? strndup(text, size) : NULL;
	if (copy)
		node->names[node->name_count++] = (struct weft_node_name){0, copy, size};
	return napi_create_uint32(env, copy ? node->name_count : 0, &result) ? NULL : result;
}

void weft_node_give_name(struct weft_node *node, uint64_t task, uint32_t number)
{
	if (number == 0 || number > node->name_count)
		return;
	struct weft_node_name *name = &node->names[number - 1];
	weft_ffi_label(node->category, 0, task, name->text, name->size, &name->cache);
}

/* kind(text): a number for create(). */
FUNCTION(kind)
{
	napi_value a[1], result;
	char text[WEFT_NODE_TEXT_BYTES];
	weft_node_arguments(env, info, a, 1);
	size_t size = weft_node_text(env, a[0], text);
	return napi_create_uint32(env, weft_ffi_kind(text, size, NULL), &result) ? NULL : result;
}

/* timers(array): its first element is the number of the program's timers that are to fire. */
FUNCTION(timers)
{
	napi_value a[1];
	void *numbers = NULL;
	struct weft_node *node = weft_node_arguments(env, info, a, 1);
	napi_ref reference; /* never deleted: the numbers are read when the thread ends */
	if (napi_get_typedarray_info(env, a[0], NULL, NULL, &numbers, NULL, NULL) == napi_ok &&
		napi_create_reference(env, a[0], 1, &reference) == napi_ok)
		node->timers = numbers;
	return NULL;
}

const napi_property_descriptor weft_node_values[] = {
	{"name", NULL, name, NULL, NULL, NULL, napi_enumerable, NULL},
	{"kind", NULL, kind, NULL, NULL, NULL, napi_enumerable, NULL},
	{"timers", NULL, timers, NULL, NULL, NULL, napi_enumerable, NULL},
	{0},
};

/* ---- Begin and end ---- */

/* Runs when the event loop has ended by itself, not if the program calls exit or fails. So nothing
 * can go on any more, but for what timers would do that do not keep the loop alive. */
static void end_loop(void *data)
{
	const struct weft_node *node = data;
	bool is_main = getpid() == (pid_t)syscall(SYS_gettid);
	if (is_main && node->timers && *node->timers == 0)
		weft_ffi_tag_value(node->category, 0, node->thread, WEFT_TAG_LOOP_ENDED,
			sizeof(WEFT_TAG_LOOP_ENDED) - 1, NULL, 1);
}

static void finish(napi_env env, void *data, void *hint)
{
	struct weft_node *node = data;
	(void)env, (void)hint;
	for (uint32_t i = 0; i < node->name_count; i++)
		free(node->names[i].text);
	free(node->names);
	free(node);
}

static bool define(
	napi_env env, napi_value exports, struct weft_node *node, const napi_property_descriptor *list)
{
	for (; list->utf8name; list++) {
		napi_property_descriptor row = *list;
		row.data = node;
		if (napi_define_properties(env, exports, 1, &row))
			return false;
	}
	return true;
}

/* Without a task of the thread, as the adapters make one, the program's text runs in one of ours.
 */
static void begin_thread(struct weft_node *node)
{
	node->thread = weft_ffi_current();
	if (node->thread != WEFT_TASK_NONE)
		return;
	node->thread = weft_ffi_create(node->category, 0, WEFT_TASK_NONE, WEFT_KIND_THREAD);
	weft_ffi_label(node->category, 0, node->thread, "node", 4, NULL);
	weft_ffi_switch(node->thread);
}

NAPI_MODULE_INIT()
{
	static const char description[] = "promises, callbacks and requests of node";
	struct weft_node *node = calloc(1, sizeof(*node));
	if (!node || napi_set_instance_data(env, node, finish, NULL)) {
		free(node);
		return exports;
	}
	node->category = weft_ffi_category("node", 4, description, sizeof(description) - 1);
	if (!define(env, exports, node, weft_node_values) ||
		!define(env, exports, node, weft_node_calls) ||
		!define(env, exports, node, weft_node_events))
		return NULL;
	if (weft_ffi_is_recording()) {
		begin_thread(node);
		napi_add_env_cleanup_hook(env, end_loop, node);
	}
	return exports;
}
