/* SPDX-License-Identifier: ISC
 *
 * Each kind takes the operands that it needs from the event's words. An event with fewer words than
 * its kind needs is damaged.
 */
#include "format/weft/event.h"

#include <string.h>

#include "abi/name_abi.h"
#include "base/little_endian.h"

static const char SHORT_EVENT[] = "an event is too short for its kind";

/* The operands of an event that are not taken yet. */
struct operands {
	const uint8_t *at;
	unsigned left; /* words */
	bool failed;
	struct weft_slice text; /* of the event, if it lies in the stream; else NULL */
};

static uint64_t take_word(struct operands *c)
{
	uint64_t word;
	if (c->left == 0) {
		c->failed = true;
		return 0;
	}
	word = weft__load_u64(c->at);
	c->at += sizeof(word);
	c->left--;
	return word;
}

/* A length in bytes, then the bytes. */
static struct weft_slice take_text(struct operands *c)
{
	uint64_t size = take_word(c);
	struct weft_slice text = {(const char *)c->at, (size_t)size};
	if (size > (uint64_t)c->left * 8) {
		c->failed = true;
		return (struct weft_slice){"", 0};
	}
	c->at += (size + 7) / 8 * 8;
	c->left -= (unsigned)((size + 7) / 8);
	return text;
}

static struct weft_slice take_rest(struct operands *c)
{
	const struct weft_slice text = weft__format_event_rest(c->at, c->left);
	c->left = 0;
	return text;
}

/* The name with the id `small`; if that is 0, the text in the event itself. */
static struct weft_slice take_name(
	struct operands *c, const struct weft__buffer *buffer, unsigned small)
{
	struct weft_slice name;
	if (c->text.bytes)
		return c->text;
	if (small == 0)
		return take_rest(c);
	name = weft__format_buffer_name(buffer, small);
	if (!name.bytes) {
		c->failed = true;
		name = (struct weft_slice){"", 0};
	}
	return name;
}

/* Takes the event's text. A name of size 0 may get one later. */
static void take_event_name(
	struct operands *c, const struct weft__buffer *buffer, unsigned small, struct weft_event *event)
{
	event->text = take_name(c, buffer, small);
	event->name_id = event->text.size && !c->text.bytes ? (uint16_t)small : 0;
}

/* The same for a list of calls: a name of them is put into words. */
static struct weft_slice take_calls(
	struct operands *c, const struct weft__buffer *buffer, unsigned small)
{
	if (c->text.bytes || small == 0)
		return take_name(c, buffer, small);
	const struct weft_slice calls = weft__format_buffer_stack(buffer, small);
	c->failed |= !calls.bytes;
	return calls.bytes ? calls : (struct weft_slice){"", 0};
}

/* Cuts the first of several texts off `rest`; a NUL ends each of them but the last. */
static struct weft_slice split(struct weft_slice *rest)
{
	const char *end = rest->size ? memchr(rest->bytes, 0, rest->size) : NULL;
	struct weft_slice first = *rest;
	if (!end) {
		*rest = (struct weft_slice){"", 0};
		return first;
	}
	first.size = (size_t)(end - rest->bytes);
	rest->bytes = end + 1;
	rest->size -= first.size + 1;
	return first;
}

/* The text of the stream whose number is the next operand; its bytes are never NULL. */
static struct weft_slice take_long_text(struct operands *c, const struct weft__buffer *buffer)
{
	struct weft_slice text = weft__format_stream_text(buffer, take_word(c));
	if (text.bytes)
		return text;
	c->failed = true;
	return (struct weft_slice){"", 0};
}

static void take_value(
	struct operands *c, const struct weft__buffer *buffer, unsigned type, struct weft_field *field)
{
	uint64_t word;
	if (type == WEFT_ABI_VALUE_TEXT || type == WEFT_ABI_VALUE_LONG_TEXT) {
		field->type = WEFT_FIELD_TEXT;
		field->value.text = type == WEFT_ABI_VALUE_TEXT ? take_text(c) : take_long_text(c, buffer);
		return;
	}
	word = take_word(c);
	switch (type) {
	case WEFT_ABI_VALUE_I64:
		field->type = WEFT_FIELD_I64;
		field->value.i64 = (int64_t)word;
		break;
	case WEFT_ABI_VALUE_F64:
		field->type = WEFT_FIELD_F64;
		memcpy(&field->value.f64, &word, sizeof(word));
		break;
	case WEFT_ABI_VALUE_BOOL:
		field->type = WEFT_FIELD_BOOL;
		field->value.u64 = word != 0;
		break;
	default: /* also a pointer */
		field->type = WEFT_FIELD_U64;
		field->value.u64 = word;
		break;
	}
}

/* Takes the operands that mark, labelf and notef have in common: types, the name or format, and
 * values. */
static struct weft_slice take_values(struct operands *c, const struct weft__buffer *buffer,
	unsigned small, struct weft_field *fields, unsigned *ret_count)
{
	uint64_t types = take_word(c);
	unsigned count = types & 15;
	struct weft_slice name =
		small == 0 && !c->text.bytes ? take_text(c) : take_name(c, buffer, small);
	for (unsigned i = 0; i < count; i++) {
		fields[i].name = (struct weft_slice){"", 0};
		take_value(c, buffer, types >> (4 * i + 4) & 15, &fields[i]);
	}
	*ret_count = count;
	return name;
}

static void take_mark(struct operands *c, const struct weft__buffer *buffer, unsigned small,
	struct weft__event_scratch *scratch, struct weft_event *event)
{
	unsigned count;
	struct weft_slice shape = take_values(c, buffer, small, scratch->fields, &count);
	event->text = split(&shape);
	for (unsigned i = 0; i < count; i++)
		scratch->fields[i].name = split(&shape);
	event->fields = scratch->fields;
	event->field_count = count;
}

static void take_formatted(struct operands *c, const struct weft__buffer *buffer, unsigned small,
	struct weft__event_scratch *scratch, struct weft_event *event)
{
	unsigned count;
	struct weft_slice format = take_values(c, buffer, small, scratch->fields, &count);
	scratch->text.size = 0;
	weft__format_notef_format(&scratch->text, format, scratch->fields, count);
	event->text = (struct weft_slice){scratch->text.bytes, scratch->text.size};
}

static struct weft_slice digits(char (*ret_digits)[16], unsigned count, const uint64_t *words)
{
	for (unsigned i = 0; i < count * 16; i++)
		ret_digits[i / 16][i % 16] = "0123456789abcdef"[words[i / 16] >> (60 - i % 16 * 4) & 15];
	return (struct weft_slice){ret_digits[0], count * sizeof(ret_digits[0])};
}

static void add_field(
	struct weft_event *event, struct weft_field *fields, const char *name, struct weft_slice text)
{
	fields[event->field_count++] = (struct weft_field){
		.name = {name, strlen(name)}, .type = WEFT_FIELD_TEXT, .value.text = text};
}

/* A mark, as which earlier versions recorded contexts. */
static void take_context(struct operands *c, unsigned small, struct weft__event_scratch *scratch,
	struct weft_event *event)
{
	struct weft_field *fields = scratch->fields;
	const char *name = small & 1 ? "span context" : "trace context";
	const uint64_t high = take_word(c), low = take_word(c), span = take_word(c);
	const uint64_t trace[] = {high, low};
	event->type = WEFT_EVENT_MARK;
	event->text = (struct weft_slice){name, strlen(name)};
	event->fields = fields;
	add_field(event, fields, "trace_id", digits(&scratch->digits[0], 2, trace));
	add_field(event, fields, "span_id", digits(&scratch->digits[2], 1, &span));
	fields[event->field_count++] =
		(struct weft_field){.name = {"trace_flags", strlen("trace_flags")},
			.type = WEFT_FIELD_U64,
			.value.u64 = take_word(c)};
	if (!c->left)
		return;
	const uint64_t parent = take_word(c);
	add_field(event, fields, "parent_span_id", digits(&scratch->digits[3], 1, &parent));
	if (c->left)
		add_field(event, fields, "trace_state", take_rest(c));
}

/* A counter's change or new value, or its total. */
static void take_count(struct operands *c, const struct weft__buffer *buffer,
	const struct weft__record_words *w, struct weft_event *event)
{
	uint64_t bits = take_word(c);
	bool is_total = w->kind == WEFT_ABI_TOTAL || w->kind == WEFT_ABI_TOTAL_F64;
	event->type = is_total ? WEFT_EVENT_TOTAL : WEFT_EVENT_COUNTER;
	event->is_set =
		is_total || w->kind == WEFT_ABI_COUNTER_SET || w->kind == WEFT_ABI_COUNTER_SET_F64;
	event->is_real = w->kind == WEFT_ABI_TOTAL_F64 || w->kind == WEFT_ABI_COUNTER_F64 ||
					 w->kind == WEFT_ABI_COUNTER_SET_F64;
	if (event->is_real)
		memcpy(&event->real, &bits, sizeof(bits));
	else
		event->value = (int64_t)bits;
	take_event_name(c, buffer, w->small, event);
}

static void take_band(
	struct operands *c, const struct weft__buffer *buffer, unsigned small, struct weft_event *event)
{
	uint64_t band = take_word(c);
	event->band = (band & 0xff) == WEFT_BAND_GC ? WEFT_BAND_GC : WEFT_BAND_IDLE;
	event->flag = band >> 8 & 1;
	take_event_name(c, buffer, small, event);
}

/* Sets a task's kind and, if that has a name, the name and the category that may follow it. */
static void set_kind(const struct weft__buffer *buffer, unsigned kind, struct weft_event *event)
{
	static const char prefix[] = WEFT_ABI_KIND_PREFIX;
	event->kind = (uint16_t)kind;
	if (kind <= WEFT_ABI_KIND_NAMED)
		return;
	struct weft_slice name = weft__format_buffer_name(buffer, kind - WEFT_ABI_KIND_NAMED);
	if (!name.bytes || name.size <= sizeof(prefix) ||
		memcmp(name.bytes, prefix, sizeof(prefix)) != 0)
		return;
	struct weft_slice rest = {name.bytes + sizeof(prefix), name.size - sizeof(prefix)};
	event->kind_name = split(&rest);
	event->category = rest;
}

/* Sets a task's category, given the id of its name, unless the kind's name has one. */
static void set_category(const struct weft__buffer *buffer, uint64_t id, struct weft_event *event)
{
	struct weft_slice name = weft__format_buffer_name(buffer, id & 0xffff);
	if (name.bytes && !event->category.size)
		event->category = name;
}

static void take_alive(
	struct operands *c, const struct weft__buffer *buffer, unsigned small, struct weft_event *event)
{
	uint64_t age = take_word(c);
	set_kind(buffer, small, event);
	event->is_rundown = true;
	event->has_value = age != UINT64_MAX;
	event->value = age > INT64_MAX ? INT64_MAX : (int64_t)age;
	event->other = take_word(c);
	uint64_t names = take_word(c);
	take_event_name(c, buffer, (uint16_t)names, event);
	set_category(buffer, names >> 16, event);
}

/* The time of `at` on a clock that shows `now` at the time `now_ns`; saturating. */
static uint64_t moved(uint64_t at, uint64_t now, uint64_t now_ns)
{
	if (at < now)
		return now - at < now_ns ? now_ns - (now - at) : 0;
	return at - now < UINT64_MAX - now_ns ? now_ns + (at - now) : UINT64_MAX;
}

static void take_span(
	struct operands *c, const struct weft__buffer *buffer, unsigned small, struct weft_event *event)
{
	uint64_t track = take_word(c), begin = take_word(c), end = take_word(c);
	event->other = WEFT_TRACK_FIRST + WEFT_TRACK_LINES * (track & WEFT_ABI_TRACK_NUMBER);
	event->kind = track >> 48 & 0xff;
	event->kind_name = weft__format_buffer_name(buffer, track >> 32 & 0xffff);
	c->failed |= !event->kind_name.bytes;
	if (track & WEFT_ABI_TRACK_PAIR) {
		event->span_ticks[0] = take_word(c);
		uint64_t now_ns = weft__format_ticks_to_ns(&buffer->clock, event->span_ticks[0]),
				 now = take_word(c);
		event->begin_ns = moved(begin, now, now_ns);
		event->end_ns = moved(end, now, now_ns);
	} else {
		event->span_ticks[0] = begin;
		event->span_ticks[1] = end;
		event->begin_ns = weft__format_ticks_to_ns(&buffer->clock, begin);
		event->end_ns = weft__format_ticks_to_ns(&buffer->clock, end);
	}
	take_event_name(c, buffer, small, event);
}

/* The receiver is the event's task, the actor its source. */
static void take_signal(
	struct operands *c, unsigned small, weft_task_id *task, struct weft_event *event)
{
	event->other = event->task;
	event->task = take_word(c);
	event->flag = small & 1;
	if (event->flag)
		*task = event->task;
}

/* A guest of Xen receives in its own domain, whose number only its reader knows for sure. */
static weft_message_key complete_key(const struct weft__buffer *buffer, weft_message_key key)
{
	if (key >> 48 != WEFT_KEY_CHANNEL >> 48 || !buffer->about.guest)
		return key;
	return WEFT_KEY_CHANNEL | (uint64_t)(buffer->about.guest - 1) << 32 |
		   (key & WEFT_KEY_CHANNEL_PORT);
}

static bool take_operands(struct operands *c, const struct weft__buffer *buffer,
	const struct weft__record_words *w, weft_task_id *task, struct weft__event_scratch *scratch,
	struct weft_event *event)
{
	switch (w->kind) {
	case WEFT_ABI_CREATE:
		set_kind(buffer, w->small, event);
		event->other = take_word(c);
		if (c->left)
			set_category(buffer, take_word(c), event);
		return true;
	case WEFT_ABI_READ:
		event->flag = w->small & 1;
		event->other = take_word(c);
		if (!event->flag)
			*task = event->task;
		return true;
	case WEFT_ABI_TRY_READ:
	case WEFT_ABI_RESOLVE:
	case WEFT_ABI_CANCEL:
	case WEFT_ABI_CLOSE:
	case WEFT_ABI_TIME_OUT:
	case WEFT_ABI_WAIT_ANY:
	case WEFT_ABI_ACQUIRE:
	case WEFT_ABI_RELEASE:
	case WEFT_ABI_BECOME:
		event->other = take_word(c);
		return true;
	case WEFT_ABI_FAIL:
		event->other = take_word(c);
		take_event_name(c, buffer, w->small, event);
		return true;
	case WEFT_ABI_LABEL:
	case WEFT_ABI_NOTE:
	case WEFT_ABI_TAG:
	case WEFT_ABI_BEGIN:
		take_event_name(c, buffer, w->small, event);
		return true;
	case WEFT_ABI_STACK:
		event->text = take_calls(c, buffer, w->small);
		return true;
	case WEFT_ABI_SPAN:
		take_span(c, buffer, w->small, event);
		return true;
	case WEFT_ABI_TAG_VALUE:
		event->type = WEFT_EVENT_TAG;
		event->value = (int64_t)take_word(c);
		event->has_value = true;
		take_event_name(c, buffer, w->small, event);
		return true;
	case WEFT_ABI_COUNTER_SET:
	case WEFT_ABI_COUNTER:
	case WEFT_ABI_COUNTER_SET_F64:
	case WEFT_ABI_COUNTER_F64:
	case WEFT_ABI_TOTAL:
	case WEFT_ABI_TOTAL_F64:
		take_count(c, buffer, w, event);
		return true;
	case WEFT_ABI_MARK:
		take_mark(c, buffer, w->small, scratch, event);
		return true;
	case WEFT_ABI_CONTEXT:
		take_context(c, w->small, scratch, event);
		return true;
	case WEFT_ABI_LABELF:
	case WEFT_ABI_NOTEF:
		event->type = w->kind == WEFT_ABI_LABELF ? WEFT_EVENT_LABEL : WEFT_EVENT_NOTE;
		take_formatted(c, buffer, w->small, scratch, event);
		return true;
	case WEFT_ABI_BAND:
		take_band(c, buffer, w->small, event);
		return true;
	case WEFT_ABI_SWITCH:
		event->task = *task = take_word(c);
		if (c->text.bytes)
			event->text = c->text;
		return true;
	case WEFT_ABI_SIGNAL:
		take_signal(c, w->small, task, event);
		return true;
	case WEFT_ABI_GC:
	case WEFT_ABI_OFF_CPU:
		event->value = (int64_t)take_word(c);
		return true;
	case WEFT_ABI_SEND:
		event->key = take_word(c);
		return true;
	case WEFT_ABI_RECEIVE:
		event->key = complete_key(buffer, take_word(c));
		return true;
	case WEFT_ABI_EXPECT:
	case WEFT_ABI_END:
		return true;
	case WEFT_ABI_ALIVE:
		take_alive(c, buffer, w->small, event);
		return true;
	default:
		return false;
	}
}

const char *weft__format_event_decode(const struct weft__buffer *buffer,
	const struct weft__record_words *words, weft_task_id *task, struct weft__event_scratch *scratch,
	struct weft_event *event)
{
	struct operands c = {words->at + sizeof(uint64_t), words->count - 1, false, words->text};
	uint64_t now = *task;
	event->type = (uint8_t)words->kind;
	event->is_rundown = words->is_rundown;
	event->task = words->is_explicit ? take_word(&c) : now;
	if (!take_operands(&c, buffer, words, &now, scratch, event))
		return "an event of an unknown kind";
	if (c.failed)
		return SHORT_EVENT;
	*task = now;
	return NULL;
}
