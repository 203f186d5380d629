/* SPDX-License-Identifier: ISC
 *
 * Rules over events: the moment at which something is wrong. Whoever follows a program feeds them
 * its events, and asks whether one has fired.
 *
 *     counter queue > 100                    a counter comes to be above, or below, a number
 *     tag timeout                            a tag whose text has this in it
 *     tag = 'connection lost'                a tag of exactly this text
 *     runs > 50ms                            a task has the thread for longer
 *     waits > 1s kind = bind label = query   a task of this kind, with this in its label, waits
 *                                            for longer
 *
 * A task waits from its try_read until it runs, reads or ends. Rules of time fire while it lasts.
 * weft-trigger(5) says the same at length. Nothing here does I/O; memory is in proportion to the
 * tasks that live, 2^20 at most: later ones are passed over.
 */
#ifndef WEFT_TRIGGER_H
#define WEFT_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/error.h>
#include <weft/event.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_triggers;

#define WEFT_TRIGGERS_MAX           64
#define WEFT_TRIGGER_RULE_MAX_BYTES 1024

/* Where a rule is wrong. */
struct weft_trigger_error {
	size_t offset;       /* bytes from its start */
	const char *message; /* static text: what was expected */
};

int weft_triggers_create(struct weft_triggers **ret_triggers);
void weft_triggers_destroy(struct weft_triggers *triggers);

/* 0; WEFT_ERROR_ARGUMENT and `ret_error`; WEFT_ERROR_LIMIT: there are too many; or
 * WEFT_ERROR_MEMORY. */
int weft_triggers_add(struct weft_triggers *triggers, const char *rule, size_t size,
	struct weft_trigger_error *ret_error);

/* The next event in the order of time. 0 or WEFT_ERROR_MEMORY. */
int weft_triggers_take(struct weft_triggers *triggers, const struct weft_event *event);

/* It is that late: nothing earlier will be taken. */
void weft_triggers_pass(struct weft_triggers *triggers, uint64_t now_ns);

/* How often any has fired since the last call, and the rule that did first; its text stays. */
uint64_t weft_triggers_fired(struct weft_triggers *triggers, struct weft_slice *ret_rule);

#ifdef __cplusplus
}
#endif
#endif
