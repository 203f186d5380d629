/* SPDX-License-Identifier: ISC
 *
 * Messages and trace contexts that lead from one host to another: each is a cause and an effect.
 */
#ifndef WEFT_INPUT_MESSAGES_H
#define WEFT_INPUT_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/event.h>

/* One side: that of the cause, or of the effect. */
struct weft__input_side {
	uint64_t key;
	uint64_t time_ns; /* by the host's clock */
	uint32_t host;
	bool is_context; /* of a span that has a parent, not of a message */
	bool is_effect;
};

struct weft__input_sides {
	struct weft__input_side *list;
	size_t count, capacity;
};

/* A message of which both sides are known. */
struct weft__input_pair {
	uint64_t cause_ns, effect_ns; /* each by its own host's clock */
	uint32_t cause_host, effect_host;
	bool is_context;
};

/* Adds the event's sides, if it has any that other hosts may know. 0 or WEFT_ERROR_MEMORY. */
int weft__input_sides_add(
	struct weft__input_sides *sides, const struct weft_event *event, uint32_t host);

/* Matches the sides, which it sorts. What is not known for certain to be one message is left out.
 * The caller frees the list. 0 or WEFT_ERROR_MEMORY. */
int weft__input_sides_match(
	struct weft__input_sides *sides, struct weft__input_pair **ret_list, size_t *ret_count);

#endif
