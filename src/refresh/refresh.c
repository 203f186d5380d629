/* SPDX-License-Identifier: ISC
 *
 * See weft/refresh.h. The more expensive a model is, the longer the pause until the next one. While
 * events wait to be read, pauses are longer, so that the reader catches up. The cost may be
 * wall-clock time, so that a model seems expensive only because the machine was busy: the cheaper
 * of the last two counts.
 */
#include <weft/refresh.h>

#include <math.h>
#include <stdlib.h>

#include <weft/error.h>

#include "base/export.h"

static const double SHORTEST_MS = 80;        /* from one model to the next, at least */
static const double SHORTEST_PAUSE_MS = 100; /* while events wait */
static const double IDLE_MS =
	400; /* additional time while no events come and only the present time moves */
static const double SHARE = 4; /* the longest pause between models, as a multiple of their cost */
static const double CHEAP_MS = 100; /* up to this cost the pause is at most as long as the cost … */
static const double WANTED_MS = 100; /* … and shorter, if there are so many ms between two models */
static const double BUSIEST = 2;     /* but the cost is at most so many times the pause */

struct weft_refresh {
	struct weft_refresh_source source;
	struct weft_model_builder *builder;
	uint64_t events, shown_events; /* shown_events: those in the last model */
	uint64_t shown_now_ns;         /* the present time of the last model */
	double shown_ms;               /* of the last model */
	double cost_ms, former_ms;     /* of the last model, and of the one before it */
	bool has_ended, is_behind;     /* is_behind: events wait to be read */
};

WEFT__EXPORT int weft_refresh_create(
	const struct weft_refresh_source *source, struct weft_refresh **ret_refresh)
{
	struct weft_refresh *refresh = calloc(1, sizeof(*refresh));
	if (!refresh)
		return WEFT_ERROR_MEMORY;
	refresh->source = *source;
	refresh->shown_ms = -INFINITY;
	refresh->former_ms = INFINITY;
	int error = weft_model_builder_create(&refresh->builder);
	if (error)
		free(refresh);
	else
		*ret_refresh = refresh;
	return error;
}

WEFT__EXPORT void weft_refresh_destroy(struct weft_refresh *refresh)
{
	if (!refresh)
		return;
	weft_model_builder_destroy(refresh->builder);
	free(refresh);
}

WEFT__EXPORT int weft_refresh_read(struct weft_refresh *refresh, uint32_t most)
{
	const struct weft_refresh_source *source = &refresh->source;
	struct weft_event event;
	refresh->is_behind = false;
	for (uint32_t i = 0; i < most; i++) {
		int status = source->next(source->context, &event);
		if (status == WEFT_OK)
			status = weft_model_builder_add(
				refresh->builder, &event, source->diagnostics(source->context));
		refresh->has_ended = status == WEFT_END;
		if (status != WEFT_OK)
			return status;
		refresh->events += event.type != WEFT_EVENT_TOTAL;
	}
	refresh->is_behind = true;
	return WEFT_OK;
}

WEFT__EXPORT uint64_t weft_refresh_events(const struct weft_refresh *refresh)
{
	return refresh->events;
}

/* Ten models a second, as long as making them takes no more than two thirds of the time; the pause
 * then grows to be as long as the cost. */
static double pause_after_cheap(double cost_ms)
{
	double pause_ms = WANTED_MS - cost_ms, slower_ms = CHEAP_MS - BUSIEST * (CHEAP_MS - cost_ms);
	if (pause_ms < cost_ms / BUSIEST)
		pause_ms = cost_ms / BUSIEST;
	if (pause_ms < slower_ms)
		pause_ms = slower_ms;
	return pause_ms < cost_ms ? pause_ms : cost_ms;
}

static double pause_ms(const struct weft_refresh *refresh)
{
	bool was_cheaper = refresh->former_ms < refresh->cost_ms;
	double cost_ms = was_cheaper ? refresh->former_ms : refresh->cost_ms;
	double share = cost_ms / CHEAP_MS, least_ms = SHORTEST_MS - refresh->cost_ms;
	if (refresh->is_behind)
		least_ms = SHORTEST_PAUSE_MS;
	if (share > SHARE || refresh->is_behind)
		share = SHARE;
	if (isinf(refresh->former_ms) && !refresh->is_behind)
		share = 1; /* the first model is made from nothing, so the next one costs less */
	double pause_ms = share > 1 ? share * cost_ms : pause_after_cheap(cost_ms);
	return pause_ms > least_ms ? pause_ms : least_ms;
}

static uint64_t present(const struct weft_refresh *refresh)
{
	const struct weft_refresh_source *source = &refresh->source;
	return source->now_ns ? source->now_ns(source->context) : 0;
}

WEFT__EXPORT double weft_refresh_wait_ms(const struct weft_refresh *refresh, double now_ms)
{
	const struct weft_refresh_source *source = &refresh->source;
	if (refresh->events == 0 || (source->is_wanted && !source->is_wanted(source->context)))
		return INFINITY;
	bool is_idle = refresh->events == refresh->shown_events;
	if (is_idle && present(refresh) == refresh->shown_now_ns)
		return INFINITY;
	double wait_ms = refresh->shown_ms + pause_ms(refresh) + (is_idle ? IDLE_MS : 0) - now_ms;
	return wait_ms > 0 ? wait_ms : 0;
}

WEFT__EXPORT int weft_refresh_model(struct weft_refresh *refresh, struct weft_model **ret_model)
{
	const struct weft_refresh_source *source = &refresh->source;
	const struct weft_trace_description *about = source->describe(source->context);
	refresh->shown_events = refresh->events;
	if (refresh->has_ended)
		return weft_model_builder_finish(refresh->builder, about, ret_model);
	refresh->shown_now_ns = present(refresh);
	return weft_model_builder_snapshot(refresh->builder, about, refresh->shown_now_ns, ret_model);
}

WEFT__EXPORT void weft_refresh_shown(struct weft_refresh *refresh, double now_ms, double cost_ms)
{
	refresh->former_ms = isinf(refresh->shown_ms) ? INFINITY : refresh->cost_ms;
	refresh->shown_ms = now_ms;
	refresh->cost_ms = cost_ms;
}
