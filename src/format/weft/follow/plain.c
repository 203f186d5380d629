/* SPDX-License-Identifier: ISC
 *
 * The short way from a packet's words to facts, for plain events: those whose tasks, word and name
 * are all that their fact needs. The others, the damaged ones, those after another record and the
 * first one with a name go through struct weft_event (weft/event.c, model/facts.c), which has the
 * meaning of all events: a plain event gets the same fact there.
 *
 * One function, made for each row of events.def: so an event costs one jump and loads.
 */
#include "format/weft/follow/follower.h"

#include "abi/name_abi.h"
#include "format/weft/follow/followed.h"
#include "model/load.h"

/* Its arguments that are constants leave no trace in the code. */
#define INLINED __attribute__((always_inline)) static inline

#define BIT(slot) (1u << WEFT_SLOT_##slot)

enum {
	VALUES = BIT(CHANGE) | BIT(DURATION) | BIT(MESSAGE),
	/* A tag has no value: one that has is of another kind. */
	PLAIN = BIT(TASK) | BIT(OTHER) | BIT(TEXT) | BIT(VALUE) | VALUES,
};

/* The packet that is read, and the tables. */
struct plain {
	const struct weft__buffer *buffer;
	const struct weft__naming *naming;
	uint64_t offset; /* of the packet in the input */
	uint32_t thread;
	weft_task_id task; /* the thread's current one */
};

/* Finds the string of an event's text: its own, or that of a name which another event had. */
static inline bool find_text(const struct plain *c, const unsigned type, unsigned name,
	const uint8_t *at, unsigned words, uint32_t *ret_string)
{
	struct weft__texts *texts = c->naming->texts;
	if ((type == WEFT_EVENT_NOTE || type == WEFT_EVENT_TAG) && c->naming->is_summary)
		return name == 0 || weft__format_buffer_name(c->buffer, name).bytes;
	if (name == 0) {
		const struct weft_slice text = weft__format_event_rest(at, words);
		return weft__strings_intern(&texts->strings, text.bytes, text.size, ret_string) == 0;
	}
	if (!texts->by_name || !texts->by_name[name])
		return false;
	*ret_string = texts->by_name[name] - 1;
	return true;
}

static inline bool identify(const struct plain *c, weft_task_id id, uint32_t *ret_task)
{
	return id == WEFT_TASK_NONE ||
		   weft__model_identify(c->naming->identities, 0, id, ret_task) == 0;
}

/* An event's operands. */
struct plain_words {
	weft_task_id task, other;
	weft_task_id now; /* the thread's current task behind the event */
	uint64_t word;
	const uint8_t *rest; /* the words that follow */
	unsigned rest_count;
	bool flag;
};

/* Reads the operands: the actor, if it is named, and a word, if events of this type have one. False
 * if they are not there. */
INLINED bool read_words(const struct plain *c, const struct weft__record_words *w,
	const bool has_word, struct plain_words *o)
{
	const unsigned count = 1u + w->is_explicit + has_word;
	const uint8_t *at = w->at + sizeof(uint64_t);
	if (w->count < count)
		return false;
	const weft_task_id actor = w->is_explicit ? weft__load_u64(at) : c->task;
	o->rest = w->at + count * sizeof(uint64_t);
	o->rest_count = w->count - count;
	o->word = has_word ? weft__load_u64(o->rest - sizeof(uint64_t)) : 0;
	o->task = actor;
	o->other = o->word;
	o->now = c->task;
	o->flag = false;
	return true;
}

/* Finds out which tasks the event names. False if it is not plain. */
INLINED bool find_tasks(const struct plain *c, const unsigned type, const unsigned slots,
	unsigned small, struct plain_words *o)
{
	switch (type) {
	case WEFT_EVENT_CREATE: /* without a named kind and a category */
		return small <= WEFT_ABI_KIND_NAMED && !o->rest_count;
	case WEFT_EVENT_READ:
		o->flag = small & 1;
		o->now = o->flag ? o->now : o->task;
		return true;
	case WEFT_EVENT_SWITCH:
		o->now = o->task = o->word;
		return true;
	case WEFT_EVENT_SIGNAL:
		o->flag = small & 1;
		o->other = o->task;
		o->task = o->word;
		o->now = o->flag ? o->task : o->now;
		return true;
	case WEFT_EVENT_BEGIN:
	case WEFT_EVENT_END: /* of a task, not of the thread */
		return o->task != WEFT_TASK_NONE;
	case WEFT_EVENT_RECEIVE: /* the key is complete */
		return !c->buffer->about.guest;
	case WEFT_EVENT_STACK: /* its name is none of a text */
		return false;
	default:
		return !(slots & ~(unsigned)PLAIN);
	}
}

/* Makes the fact of an event whose type, and so its slots, are known when this is compiled. False
 * if it is not plain: nothing has changed but the tables, in which its long way finds the same. */
INLINED bool take_as(struct plain *c, const unsigned type, const unsigned slots,
	const struct weft__record_words *w, uint32_t offset, uint64_t ns, struct weft__fact *fact)
{
	const bool has_word = slots & (BIT(OTHER) | VALUES) || type == WEFT_EVENT_SWITCH;
	struct plain_words o;
	uint32_t text = WEFT_NONE;
	if (!read_words(c, w, has_word, &o) || !find_tasks(c, type, slots, w->small, &o))
		return false;
	if (slots & BIT(TEXT) && !find_text(c, type, w->small, o.rest, o.rest_count, &text))
		return false;
	*fact = (struct weft__fact){
		.time_ns = ns,
		.offset = c->offset + offset,
		.value = slots & VALUES ? (int64_t)o.word : 0,
		.task = WEFT_NONE,
		.other = WEFT_NONE,
		.text = text,
		.thread = c->thread,
		.kind = (uint16_t)(type == WEFT_EVENT_CREATE ? w->small : 0),
		.type = (uint8_t)type,
		.flag = o.flag,
		.is_set = w->kind == WEFT_ABI_COUNTER_SET,
	};
	if (slots & BIT(TASK) && !identify(c, o.task, &fact->task))
		return false;
	if (slots & BIT(OTHER) && !identify(c, o.other, &fact->other))
		return false;
	if (weft__model_is_of_life(type) && weft__model_follow_life(c->naming->identities, fact) != 0)
		return false;
	c->task = o.now;
	return true;
}

static inline bool take(struct plain *c, const struct weft__record_words *w, uint32_t offset,
	uint64_t ns, struct weft__fact *fact)
{
	switch (w->kind == WEFT_ABI_COUNTER_SET ? WEFT_ABI_COUNTER : w->kind) {
#define FIELD(slot, key) | BIT(slot)
#define EVENT(number, id, name, fields) \
	case number:                        \
		return take_as(c, number, 0u fields, w, offset, ns, fact);
#include <weft/events.def>
#undef EVENT
#undef FIELD
	default:
		return false;
	}
}

/* Where the next event begins in the first packet, whose event was given, or is still to be given.
 * False if that is not plain, or if a packet has to be copied first. */
static bool find_next(const struct weft__follower *f, struct weft__cursor *ret_cursor)
{
	if (!f->queue.count)
		return false;
	const struct weft__followed *p = weft__format_first_followed(f);
	*ret_cursor = p->cursor;
	if (f->has_given)
		return true;
	if (!p->has_event || p->words.is_rundown || p->words.has_text)
		return false;
	weft__format_cursor_back(ret_cursor, &p->words);
	return true;
}

/* The first packet has given events, the last of them at `ns`. */
static void pass(struct weft__follower *f, const struct plain *c, const struct weft__cursor *cursor,
	uint64_t ns, uint64_t ticks, uint32_t count)
{
	struct weft__followed *p = weft__format_first_followed(f);
	p->cursor = *cursor;
	p->next_ns = f->queue.entries[0].time_ns = f->given_ns = ns;
	p->next_ticks = ticks;
	p->task = c->task;
	p->has_event = f->has_given = true;
	p->account.events += count;
	f->threads.events[p->thread] += count;
	c->naming->identities->has_begun = true;
}

/* Gives the next events of the first packet, as long as they are the next ones of all. */
static uint32_t give_run(struct weft__follower *f, const struct weft__naming *naming,
	uint64_t before_ns, struct weft__fact *facts, uint32_t most)
{
	struct weft__cursor cursor;
	if (!find_next(f, &cursor))
		return 0;
	const struct weft__followed *p = weft__format_first_followed(f);
	const uint64_t before = weft__format_follower_before(f);
	struct plain c = {&f->buffer, naming, p->offset, p->thread, p->task};
	uint64_t ns = weft__format_follower_earliest(f, p), ticks = p->next_ticks;
	struct weft__record_words w;
	uint32_t count = 0;
	before_ns = before < before_ns ? before : before_ns;
	while (count < most) {
		const uint32_t offset = cursor.offset;
		if (!weft__format_cursor_next_event(&cursor, &w))
			break;
		const uint64_t time = weft__format_ticks_to_ns(&f->buffer.clock, w.ticks);
		if (time < ns || time >= before_ns || !take(&c, &w, offset, time, &facts[count])) {
			weft__format_cursor_back(&cursor, &w);
			break;
		}
		ns = time;
		ticks = w.ticks;
		count++;
	}
	if (count)
		pass(f, &c, &cursor, ns, ticks, count);
	return count;
}

int weft__format_follower_take_facts(struct weft__follower *f, const struct weft__naming *naming,
	uint64_t before_ns, struct weft__fact *facts, uint32_t most, uint32_t *ret_count)
{
	uint32_t count = 0;
	int error = 0;
	while (!error) {
		count += give_run(f, naming, before_ns, facts + count, most - count);
		if (count == most || !f->has_given)
			break;
		error = weft__format_follower_pass_given(f);
	}
	*ret_count = count;
	return error;
}
