/* SPDX-License-Identifier: ISC
 *
 * Triggers: rules over events that find the time at which something goes wrong. The process that
 * follows a program passes its events, and asks whether a rule has fired.
 *
 *     counter queue > 100                    a counter rises above, or falls below, a number
 *     tag timeout                            a tag whose text contains this
 *     tag = 'connection lost'                a tag with exactly this text
 *     runs > 50ms                            a task occupies a thread for longer
 *     waits > 1s kind = bind label = query   a task of this kind, with this in its label, waits
 *                                            for longer
 *
 * A task waits from its try_read or wait_any until it is woken, reads or ends. The rules `runs` and
 * `waits` fire as soon as the limit is passed. weft-trigger(5) explains the rules. Nothing here
 * does I/O. Memory is in proportion to the living tasks; beyond 2^20 of them, new ones are ignored.
 */
#ifndef WEFT_TRIGGER_H
#define WEFT_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/error.h>
#include <weft/event.h>
#include <weft/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_triggers;

#define WEFT_TRIGGERS_MAX           64
#define WEFT_TRIGGER_RULE_MAX_BYTES 1024

/* The error in a rule. */
struct weft_trigger_error {
	size_t offset;       /* bytes from the rule's start */
	const char *message; /* static text: what was expected */
};

int weft_triggers_create(struct weft_triggers **ret_triggers);
void weft_triggers_destroy(struct weft_triggers *triggers);

/* Adds a rule. 0; WEFT_ERROR_ARGUMENT and `ret_error`; WEFT_ERROR_LIMIT if there are too many
 * rules; or WEFT_ERROR_MEMORY. */
int weft_triggers_add(struct weft_triggers *triggers, const char *rule, size_t size,
	struct weft_trigger_error *ret_error);

/* Takes the next event in the order of time. 0 or WEFT_ERROR_MEMORY. */
int weft_triggers_take(struct weft_triggers *triggers, const struct weft_event *event);

/* Says that time has passed: no event before `now_ns` will follow. */
void weft_triggers_pass(struct weft_triggers *triggers, uint64_t now_ns);

/* How often rules have fired since the last call, and the first rule that did; its text stays
 * valid. */
uint64_t weft_triggers_fired(struct weft_triggers *triggers, struct weft_slice *ret_rule);

/* When that first rule fired, because of which task, and what it found; for a snapshot. Only after
 * weft_triggers_fired has returned more than 0. */
const struct weft_trace_alert *weft_triggers_alert(const struct weft_triggers *triggers);

#ifdef __cplusplus
}
#endif
#endif
