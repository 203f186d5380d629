/* SPDX-License-Identifier: ISC
 *
 * Messages of which only one side is known so far: the latest of each key. That is a send that no
 * receive has taken; or a receive whose send may still come, because its key is used only once. A
 * hostile trace may use keys without end, so the oldest is forgotten when there are
 * WEFT__MESSAGES_MAX.
 */
#ifndef WEFT_MODEL_MESSAGES_H
#define WEFT_MODEL_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/event.h>

#include "base/hash.h"

#define WEFT__MESSAGES_MAX 65536u

/* One side of a message. */
struct weft__message {
	weft_message_key key;
	uint64_t time_ns;
	uint32_t task; /* the sender, or the receiver */
	bool is_received;
};

struct weft__pending_message {
	struct weft__message message;
	uint32_t next;         /* with the same hash, or unused; or WEFT_NONE */
	uint32_t older, newer; /* in the order of time; or WEFT_NONE */
};

/* Zeroed: none. */
struct weft__messages {
	struct weft__pending_message *list;
	uint32_t *first; /* by hash; as many as there are elements */
	uint32_t room;   /* elements: a power of two, or 0 */
	uint32_t count;
	uint32_t unused, oldest, newest; /* or WEFT_NONE */
	struct weft__hash_key hash;
	uint64_t handled; /* raises that receives have taken so far */
};

void weft__model_messages_finish(struct weft__messages *messages);

/* Adds a message in place of the one with its key. 0 or WEFT_ERROR_MEMORY. */
int weft__model_messages_add(struct weft__messages *messages, const struct weft__message *message);

/* Removes the message with the key; false if there is none. */
bool weft__model_messages_take(
	struct weft__messages *messages, weft_message_key key, struct weft__message *ret_message);

/* The same for the other side of a message. A guest of Xen received it from an event channel: the
 * sender may be known of which Xen's own trace does not say the port. */
bool weft__model_messages_take_other(struct weft__messages *messages,
	const struct weft__message *message, struct weft__message *ret_other);

/* True if it is sent to any port of a domain of Xen. */
bool weft__model_message_is_raise(weft_message_key key);

/* True if the two sides, in this order, belong together. */
bool weft__model_message_joins(
	const struct weft__message *first, const struct weft__message *second);

/* True if the first of two sends, with one key, is the one that the next receive takes. */
bool weft__model_message_comes_first(
	const struct weft__message *first, const struct weft__message *second);

/* Renumbers the tasks, and forgets messages of tasks whose new number is WEFT_NONE. */
void weft__model_messages_move(struct weft__messages *messages, const uint32_t *new_index);

#endif
