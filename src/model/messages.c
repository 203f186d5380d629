/* SPDX-License-Identifier: ISC
 *
 * A hash table with chains, whose elements are also a list in the order of time. It doubles up to
 * its limit.
 */
#include "model/messages.h"

#include <stdlib.h>

#include <weft/ends.h>
#include <weft/error.h>
#include <weft/event.h>
#include <weft/kinds.h>
#include <weft/model.h>

#define FIRST_ROOM 64u

void weft__model_messages_finish(struct weft__messages *s)
{
	free(s->list);
	free(s->first);
	*s = (struct weft__messages){0};
}

static uint32_t *chain_of(const struct weft__messages *s, weft_message_key key)
{
	return &s->first[weft__hash_u64(&s->hash, key) & (s->room - 1)];
}

/* The link that leads to the key's element, or to WEFT_NONE at the end of its chain. */
static uint32_t *find_message(const struct weft__messages *s, weft_message_key key)
{
	uint32_t *link = chain_of(s, key);
	while (*link != WEFT_NONE && s->list[*link].message.key != key)
		link = &s->list[*link].next;
	return link;
}

static void append(struct weft__messages *s, uint32_t i)
{
	s->list[i].older = s->newest;
	s->list[i].newer = WEFT_NONE;
	if (s->newest == WEFT_NONE)
		s->oldest = i;
	else
		s->list[s->newest].newer = i;
	s->newest = i;
}

static void unlink_from_time(struct weft__messages *s, uint32_t i)
{
	const struct weft__pending_message *it = &s->list[i];
	if (it->older == WEFT_NONE)
		s->oldest = it->newer;
	else
		s->list[it->older].newer = it->newer;
	if (it->newer == WEFT_NONE)
		s->newest = it->older;
	else
		s->list[it->newer].older = it->older;
}

/* Removes the element to which the link leads. */
static void drop(struct weft__messages *s, uint32_t *link)
{
	uint32_t i = *link;
	*link = s->list[i].next;
	unlink_from_time(s, i);
	s->list[i].next = s->unused;
	s->unused = i;
	s->count--;
}

static void empty(struct weft__messages *s)
{
	s->count = 0;
	s->unused = s->oldest = s->newest = WEFT_NONE;
	for (uint32_t i = s->room; i-- > 0;) {
		s->first[i] = WEFT_NONE;
		s->list[i].next = s->unused;
		s->unused = i;
	}
}

static void insert(struct weft__messages *s, const struct weft__message *message)
{
	uint32_t *link = chain_of(s, message->key), i = s->unused;
	s->unused = s->list[i].next;
	s->list[i] = (struct weft__pending_message){.message = *message, .next = *link};
	*link = i;
	append(s, i);
	s->count++;
}

/* Moves the elements, in the order of time, into a table with twice the room. */
static int grow(struct weft__messages *s)
{
	const struct weft__messages old = *s;
	struct weft__messages bigger = {.hash = weft__hash_key(), .handled = s->handled};
	bigger.room = old.room ? 2 * old.room : FIRST_ROOM;
	bigger.list = malloc(bigger.room * sizeof(*bigger.list));
	bigger.first = malloc(bigger.room * sizeof(*bigger.first));
	if (!bigger.list || !bigger.first) {
		weft__model_messages_finish(&bigger);
		return WEFT_ERROR_MEMORY;
	}
	empty(&bigger);
	for (uint32_t i = old.count ? old.oldest : WEFT_NONE; i != WEFT_NONE; i = old.list[i].newer)
		insert(&bigger, &old.list[i].message);
	weft__model_messages_finish(s);
	*s = bigger;
	return 0;
}

int weft__model_messages_add(struct weft__messages *s, const struct weft__message *message)
{
	uint32_t *link = s->count ? find_message(s, message->key) : NULL;
	if (link && *link != WEFT_NONE)
		drop(s, link);
	else if (s->count == WEFT__MESSAGES_MAX)
		drop(s, find_message(s, s->list[s->oldest].message.key));
	int error = s->count < s->room ? 0 : grow(s);
	if (!error)
		insert(s, message);
	return error;
}

bool weft__model_messages_take(
	struct weft__messages *s, weft_message_key key, struct weft__message *ret_message)
{
	uint32_t *link = s->count ? find_message(s, key) : NULL;
	if (!link || *link == WEFT_NONE)
		return false;
	*ret_message = s->list[*link].message;
	drop(s, link);
	return true;
}

bool weft__model_message_is_raise(weft_message_key key)
{
	return key >> 48 == WEFT_KEY_CHANNEL >> 48 &&
		   (key & WEFT_KEY_CHANNEL_PORT) == WEFT_KEY_CHANNEL_PORT;
}

bool weft__model_messages_take_other(
	struct weft__messages *s, const struct weft__message *message, struct weft__message *ret_other)
{
	struct weft__message raise;
	bool is_channel = message->is_received && message->key >> 48 == WEFT_KEY_CHANNEL >> 48;
	bool has_other = weft__model_messages_take(s, message->key, ret_other);
	bool has_raise =
		is_channel && weft__model_messages_take(s, message->key | WEFT_KEY_CHANNEL_PORT, &raise);
	s->handled += has_raise;
	if (has_raise && !has_other)
		*ret_other = raise;
	return has_other || has_raise;
}

/* After the receive: processes of one host record by one clock, but the sender may be interrupted
 * before it records; and the clocks of two hosts differ. */
bool weft__model_message_joins(
	const struct weft__message *first, const struct weft__message *second)
{
	if (first->is_received == second->is_received)
		return false;
	return second->is_received ||
		   ((first->key & WEFT_KEY_ONCE) && second->time_ns - first->time_ns <= WEFT_KEY_ONCE_NS);
}

bool weft__model_message_comes_first(
	const struct weft__message *first, const struct weft__message *second)
{
	return weft_key_is_stream(first->key) && !first->is_received && !second->is_received;
}

void weft__model_messages_move(struct weft__messages *s, const uint32_t *new_index)
{
	uint32_t i = s->count ? s->oldest : WEFT_NONE;
	while (i != WEFT_NONE) {
		struct weft__message *it = &s->list[i].message;
		uint32_t newer = s->list[i].newer, to = new_index[it->task];
		if (to == WEFT_NONE)
			drop(s, find_message(s, it->key));
		else
			it->task = to;
		i = newer;
	}
}
