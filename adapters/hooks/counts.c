/* SPDX-License-Identifier: ISC
 *
 * See counts.h. A handle that is not known yet is looked for aside, since that needs more stack.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define WEFT_CATEGORY always
#include "hooks/counts.h"

/* An older libweft lacks these (hooks/older.c). */
#pragma weak weft__metric_get_private
#pragma weak weft__metrics_prepare
#pragma weak weft__metrics_share

bool weft__hooks_counts_are_shared;
static uint64_t requests_done;

struct wanted {
	const struct weft_metric_type *type;
	const char *const *labels;
	unsigned pairs;
	weft_metric found;
};

static void find(void *of)
{
	struct wanted *it = of;
	if (weft__metric_get_private)
		it->found = weft__metric_get_private(it->type, it->labels, it->pairs);
}

weft_metric weft__hooks_metric(
	const struct weft_metric_type *type, const char *const *labels, unsigned pairs)
{
	struct wanted wanted = {type, labels, pairs, 0};
	int saved = errno;
	weft__hooks_aside(find, &wanted);
	errno = saved;
	return wanted.found;
}

/* ---- Sharing ---- */

static void share(void *unused)
{
	(void)unused;
	if (!weft__hooks_system_begin())
		return;
	if (weft__metrics_share)
		weft__metrics_share();
	weft__hooks_system_end();
}

WEFT__OWN_FRAME void weft__hooks_share_counts(uint64_t requests)
{
	if (__atomic_add_fetch(&requests_done, requests, __ATOMIC_RELAXED) < WEFT__HOOKS_ENOUGH ||
		__atomic_exchange_n(&weft__hooks_counts_are_shared, true, __ATOMIC_RELAXED))
		return;
	if (weft__hooks_thread.inside) {
		weft__hooks_aside(share, NULL);
		return;
	}
	int saved = weft__hooks_begin();
	weft__hooks_aside(share, NULL);
	weft__hooks_end(saved);
}

static void begin_child(void)
{
	weft__hooks_counts_are_shared = false;
	requests_done = 0;
}

__attribute__((constructor(104))) static void begin(void)
{
	if (!getenv("WEFT_ADAPTERS"))
		return;
	if (weft__metrics_prepare)
		weft__metrics_prepare();
	pthread_atfork(NULL, NULL, begin_child);
}

/* ---- Blocked time ---- */

WEFT_METRIC_DEFINE(blocked, .name = "weft_blocked_seconds", .type = WEFT_METRIC_COUNTER,
	.unit = "seconds", .scale = -9,
	.help = "Time for which threads were blocked in calls that the adapters record");

#define CALLS 32 /* a power of two; further ones count only in the whole metric */

static struct {
	const char *call;
	weft_metric metric; /* 0: it is being looked for */
} calls[CALLS];

/* "read" of "__read_chk", and "pread" of "pread64". */
static WEFT__OWN_FRAME weft_metric find_call(const char *call)
{
	char plain[32] = "";
	strncpy(plain, call + strspn(call, "_"), sizeof(plain) - 1);
	static const char *const suffixes[] = {"_chk", "64"};
	for (int i = 0; i < 2; i++) {
		char *suffix = strstr(plain, suffixes[i]);
		if (suffix)
			*suffix = '\0';
	}
	const char *labels[] = {"call", plain};
	return weft__hooks_metric(&blocked, labels, 1);
}

static weft_metric whole(void)
{
	static weft_metric metric;
	if (!__atomic_load_n(&metric, __ATOMIC_RELAXED))
		__atomic_store_n(&metric, weft__hooks_metric(&blocked, NULL, 0), __ATOMIC_RELAXED);
	return __atomic_load_n(&metric, __ATOMIC_RELAXED);
}

static weft_metric metric_of(const char *call)
{
	for (size_t i = 0; i < CALLS; i++) {
		const char *none = NULL, *is = __atomic_load_n(&calls[i].call, __ATOMIC_ACQUIRE);
		if (!is && __atomic_compare_exchange_n(
					   &calls[i].call, &none, call, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			__atomic_store_n(&calls[i].metric, find_call(call), __ATOMIC_RELEASE);
			is = call;
		}
		weft_metric metric = __atomic_load_n(&calls[i].metric, __ATOMIC_ACQUIRE);
		if (is == call || (!is && none == call))
			return metric ? metric : find_call(call);
	}
	return whole();
}

void weft__hooks_count_blocked(const char *call, uint64_t ns)
{
	weft_metric_add(metric_of(call), ns);
	weft__hooks_has_done(ns / WEFT__HOOKS_BLOCKED_NS);
}
