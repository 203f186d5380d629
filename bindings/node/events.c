/* SPDX-License-Identifier: ISC
 *
 * Takes the records that events.js has written, and makes events of them.
 *
 *     words     where the first record is, where they end, how many ids were ever taken
 *     ids       of tasks to come, taken in turn
 *     records   what it is, a task, and another one or a number
 *
 * Its thread alone writes it.
 */
#include <weft/weft.h>

#include "node.h"

enum {
	FIRST = 0,
	END = 1,
	TAKEN = 2,
	IDS = 3,
	IDS_MAX = 64,
	RECORDS = IDS + IDS_MAX,
	RECORDS_MAX = 128,
	WORDS = 3,
	KIND = 16,
};

enum what {
	CREATE = 1, /* and KIND * kind */
	NAMED,
	WAITS,
	ACQUIRE,
	RELEASE,
	ENTER,
	LEAVE,
	SETTLE,
	RESOLVE,
	CANCEL,
	CLOSE,
	DEADLINE,
	TIME_OUT,
};

static uint64_t task_of(double value)
{
	return value > 0 ? (uint64_t)value : WEFT_TASK_CURRENT;
}

static void enter(struct weft_node *node, uint64_t task, uint64_t source)
{
	weft_ffi_enter(task);
	if (source != WEFT_TASK_CURRENT)
		weft_ffi_read(node->category, 0, WEFT_TASK_CURRENT, source);
}

static void deadline(struct weft_node *node, uint64_t task, double ms)
{
	static uint64_t cache;
	weft_ffi_tag_value(node->category, 0, task, WEFT_TAG_DEADLINE, sizeof(WEFT_TAG_DEADLINE) - 1,
		&cache, (int64_t)(ms > 0 ? ms < UINT32_MAX ? ms : UINT32_MAX : 0) * 1000000);
}

static void record(struct weft_node *node, const double *words)
{
	struct weft_category *category = node->category;
	const uint32_t head = (uint32_t)words[0];
	const uint64_t task = task_of(words[1]), other = task_of(words[2]);
	switch ((enum what)(head % KIND)) {
	case CREATE:
		weft_ffi_create_id(category, 0, other, task, (uint16_t)(head / KIND));
		break;
	case NAMED:
		weft_node_give_name(node, task, (uint32_t)words[2]);
		break;
	case WAITS:
		weft_ffi_try_read(category, 0, task, other);
		break;
	case ACQUIRE:
		weft_ffi_acquire(category, 0, task, other);
		break;
	case RELEASE:
		weft_ffi_release(category, 0, task, other);
		break;
	case ENTER:
		enter(node, task, other);
		break;
	case LEAVE:
		weft_ffi_leave();
		break;
	case SETTLE:
	case RESOLVE:
		weft_ffi_resolve(category, 0, WEFT_TASK_CURRENT, task);
		break;
	case CANCEL:
		weft_ffi_cancel(category, 0, other, task);
		break;
	case CLOSE:
		weft_ffi_close(category, 0, WEFT_TASK_CURRENT, task);
		break;
	case DEADLINE:
		deadline(node, task, words[2]);
		break;
	case TIME_OUT:
		weft_ffi_time_out(category, 0, other, task);
		break;
	}
}

static void give_ids(struct weft_node *node)
{
	const uint64_t until = (uint64_t)node->shared[TAKEN] + IDS_MAX;
	for (; node->given < until; node->given++)
		node->shared[IDS + node->given % IDS_MAX] = (double)weft__create_unseen();
}

static bool is_rejected(const struct weft_node *node, napi_env env, napi_value value)
{
	bool is_promise = false;
	return napi_is_promise(env, value, &is_promise) == napi_ok && is_promise &&
		   weft_node_is_rejected(node, value);
}

/* run(promise): takes the records up to the end, or to SETTLE if that promise was rejected, which
 * is left to fail(). FIRST is then where it has stopped. */
FUNCTION(run)
{
	napi_value a[1];
	struct weft_node *node = weft_node_arguments(env, info, a, 1);
	double *shared = node->shared;
	if (!shared)
		return NULL;
	uint32_t at = (uint32_t)shared[FIRST];
	const uint32_t end = (uint32_t)shared[END];
	while (at < end && !(shared[at] == SETTLE && is_rejected(node, env, a[0]))) {
		record(node, &shared[at]);
		at += WORDS;
	}
	shared[FIRST] = at;
	give_ids(node);
	return NULL;
}

/* share(array): of doubles, which the thread never frees. */
FUNCTION(share)
{
	napi_value a[1];
	void *shared = NULL;
	size_t length = 0;
	struct weft_node *node = weft_node_arguments(env, info, a, 1);
	napi_ref reference;
	if (napi_get_typedarray_info(env, a[0], NULL, &length, &shared, NULL, NULL) == napi_ok &&
		length == RECORDS + RECORDS_MAX * WORDS &&
		napi_create_reference(env, a[0], 1, &reference) == napi_ok)
		node->shared = shared;
	return NULL;
}

const napi_property_descriptor weft_node_events[] = {
	{"run", NULL, run, NULL, NULL, NULL, napi_enumerable, NULL},
	{"share", NULL, share, NULL, NULL, NULL, napi_enumerable, NULL},
	{0},
};
