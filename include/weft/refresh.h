/* SPDX-License-Identifier: ISC
 *
 * Refreshes the view of a growing trace: takes new events, and says when it is worth the cost to
 * make another model of the events so far. Each event is decoded and added once.
 *
 *     create → read … AGAIN → wait_ms → model → (show it) → shown → read … → END → model → destroy
 *
 * The caller waits and draws; nothing here does I/O or reads a clock. A refresh belongs to one
 * thread at a time. Times `now_ms` are of any clock of the caller.
 */
#ifndef WEFT_REFRESH_H
#define WEFT_REFRESH_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/diagnostic.h>
#include <weft/event.h>
#include <weft/model.h>
#include <weft/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_refresh;

/* The source of events: a decoder that is being fed, or a follower. */
struct weft_refresh_source {
	/* Returns WEFT_OK and an event, WEFT_AGAIN, WEFT_END or an error, like weft_decoder_next and
	 * weft_follow_next. */
	int (*next)(void *context, struct weft_event *ret_event);
	const struct weft_trace_description *(*describe)(void *context);
	struct weft_diagnostics *(*diagnostics)(void *context);
	/* The trace's present time, in ns; 0: the time of the last event. NULL: always 0. */
	uint64_t (*now_ns)(void *context);
	/* False: no model is due for now, but events are read. NULL: always true. */
	bool (*is_wanted)(const void *context);
	void *context;
};

/* The source's context must outlive the refresh. */
int weft_refresh_create(
	const struct weft_refresh_source *source, struct weft_refresh **ret_refresh);
void weft_refresh_destroy(struct weft_refresh *refresh);

/* Takes at most `most` events. WEFT_OK: there may be more; WEFT_AGAIN: none now; WEFT_END, also for
 * later calls; or an error. */
int weft_refresh_read(struct weft_refresh *refresh, uint32_t most);

/* The number of events that were taken. */
uint64_t weft_refresh_events(const struct weft_refresh *refresh);

/* Milliseconds until a model is due. 0: now; INFINITY: not until events come, the present time
 * moves, or the source wants one. Models take only a share of the time, so that the rest is left
 * for reading and for the user.
 */
double weft_refresh_wait_ms(const struct weft_refresh *refresh, double now_ms);

/* Makes a model of the events so far; after WEFT_END the last one, with the rules for the end of a
 * trace. It is the caller's. 0 or an error. */
int weft_refresh_model(struct weft_refresh *refresh, struct weft_model **ret_model);

/* Reports that the last model was made and shown, which took `cost_ms` together: of processor time,
 * where it is known. */
void weft_refresh_shown(struct weft_refresh *refresh, double now_ms, double cost_ms);

#ifdef __cplusplus
}
#endif
#endif
