/* SPDX-License-Identifier: ISC
 *
 * One event in CTF. Each slot of events.def has one row here: its declaration in the metadata and
 * the code that writes its bytes, side by side, so that they cannot disagree.
 *
 * Field names begin with "_": readers remove it, and no key can clash with a keyword of CTF.
 */
#include "export/ctf.h"

#include <stdbool.h>
#include <string.h>

/* Babeltrace 2.0 reuses event objects, and shows an earlier event's text where a text is empty. So
 * an event with an empty text has a class of its own, with the same name and fields, whose number
 * has this bit. Empty text fields have a variant member of their own for the same reason. */
#define EMPTY_TEXT  0x80
#define EMPTY_FIELD (WEFT_FIELD_TEXT + 1) /* CTF has no bool: it is an unsigned number */

/* A counter's event with a floating-point number has a class with this bit, whose value is a
 * double.
 */
#define REAL 0x40

/* Events that create tasks have no number: the class with this bit has the name of their category,
 * and the class without it has no such field. */
#define WITH_CATEGORY REAL

typedef char types_leave_the_bits[WEFT_EVENT_TYPES <= REAL ? 1 : -1];

/* Appends text as a CTF string. */
static void put_text(struct weft__bytes *bytes, struct weft_slice text)
{
	while (text.size) {
		const char *nul = memchr(text.bytes, 0, text.size);
		size_t run = nul ? (size_t)(nul - text.bytes) : text.size;
		weft__bytes_put(bytes, text.bytes, run);
		if (nul)
			weft__bytes_put(bytes, "\xC0\x80", 2);
		text.bytes += run + (nul != NULL);
		text.size -= run + (nul != NULL);
	}
	weft__bytes_put_u8(bytes, 0);
}

static void put_task(struct weft__bytes *bytes, const struct weft_event *event)
{
	weft__bytes_put_u64(bytes, event->task);
}

static void put_other(struct weft__bytes *bytes, const struct weft_event *event)
{
	weft__bytes_put_u64(bytes, event->other);
}

static void put_kind(struct weft__bytes *bytes, const struct weft_event *event)
{
	weft__bytes_put_u16(bytes, event->kind);
}

static void put_band(struct weft__bytes *bytes, const struct weft_event *event)
{
	weft__bytes_put_u8(bytes, event->band);
}

static void put_flag(struct weft__bytes *bytes, const struct weft_event *event)
{
	weft__bytes_put_u8(bytes, event->flag);
}

static void put_event_text(struct weft__bytes *bytes, const struct weft_event *event)
{
	put_text(bytes, event->text);
}

static void put_value(struct weft__bytes *bytes, const struct weft_event *event)
{
	weft__bytes_put_u8(bytes, event->has_value);
	weft__bytes_put_u64(bytes, event->has_value ? (uint64_t)event->value : 0);
}

static void put_change(struct weft__bytes *bytes, const struct weft_event *event)
{
	weft__bytes_put_u8(bytes, event->is_set);
	weft__bytes_put_u64(bytes, (uint64_t)event->value); /* also the bits of `real` */
}

static void put_duration(struct weft__bytes *bytes, const struct weft_event *event)
{
	weft__bytes_put_u64(bytes, (uint64_t)event->value);
}

static void put_track(struct weft__bytes *bytes, const struct weft_event *event)
{
	put_text(bytes, event->kind_name);
}

static void put_category(struct weft__bytes *bytes, const struct weft_event *event)
{
	put_text(bytes, event->category);
}

static void put_begin(struct weft__bytes *bytes, const struct weft_event *event)
{
	weft__bytes_put_u64(bytes, event->begin_ns);
}

static void put_end(struct weft__bytes *bytes, const struct weft_event *event)
{
	weft__bytes_put_u64(bytes, event->end_ns);
}

static void put_field(struct weft__bytes *bytes, const struct weft_field *field)
{
	uint64_t bits;
	put_text(bytes, field->name);
	bool is_empty = field->type == WEFT_FIELD_TEXT && field->value.text.size == 0;
	uint8_t type = field->type == WEFT_FIELD_BOOL ? WEFT_FIELD_U64 : (uint8_t)field->type;
	weft__bytes_put_u8(bytes, is_empty ? EMPTY_FIELD : type);
	switch (field->type) {
	case WEFT_FIELD_I64:
		weft__bytes_put_u64(bytes, (uint64_t)field->value.i64);
		break;
	case WEFT_FIELD_U64:
	case WEFT_FIELD_BOOL:
		weft__bytes_put_u64(bytes, field->value.u64);
		break;
	case WEFT_FIELD_F64:
		memcpy(&bits, &field->value.f64, sizeof(bits));
		weft__bytes_put_u64(bytes, bits);
		break;
	case WEFT_FIELD_TEXT:
		put_text(bytes, field->value.text);
		break;
	}
}

static void put_fields(struct weft__bytes *bytes, const struct weft_event *event)
{
	weft__bytes_put_u32(bytes, event->field_count);
	for (uint32_t i = 0; i < event->field_count; i++)
		put_field(bytes, &event->fields[i]);
}

/* The struct is declared inline: babeltrace 2.0 does not find a variant's tag "_type" if the struct
 * has a name. */
#define FIELDS_BEFORE                                                            \
	"uint32 _fields_length;\n"                                                   \
	"\t\tstruct {\n"                                                             \
	"\t\t\tstring _name;\n"                                                      \
	"\t\t\tenum : uint8 { \"i64\" = 0, \"u64\" = 1, \"f64\" = 2, \"text\" = 3, " \
	"\"empty\" = 4 } _type;\n"                                                   \
	"\t\t\tvariant <_type> {\n"                                                  \
	"\t\t\t\tint64 i64;\n"                                                       \
	"\t\t\t\tuint64 u64;\n"                                                      \
	"\t\t\t\tfloat64 f64;\n"                                                     \
	"\t\t\t\tstring text;\n"                                                     \
	"\t\t\t\tstring empty;\n"                                                    \
	"\t\t\t} _value;\n"                                                          \
	"\t\t} _"

#define CHANGE "enum : uint8 { \"add\" = 0, \"value\" = 1 } _change;\n\t\t"

static const struct {
	const char *before, *after; /* around the field's key */
	void (*put)(struct weft__bytes *bytes, const struct weft_event *event);
} slots[] = {
	[WEFT_SLOT_TASK] = {"int64 _", ";", put_task},
	[WEFT_SLOT_OTHER] = {"int64 _", ";", put_other},
	[WEFT_SLOT_KIND] = {"task_kind _", ";", put_kind},
	[WEFT_SLOT_BAND] = {"band_kind _", ";", put_band},
	[WEFT_SLOT_FLAG] = {"uint8 _", ";", put_flag},
	[WEFT_SLOT_TEXT] = {"string _", ";", put_event_text},
	[WEFT_SLOT_VALUE] = {"uint8 _has_value;\n\t\tint64 _", ";", put_value},
	[WEFT_SLOT_CHANGE] = {CHANGE "int64 _", ";", put_change},
	[WEFT_SLOT_FIELDS] = {FIELDS_BEFORE, "[_fields_length];", put_fields},
	[WEFT_SLOT_REASON] = {"string _", ";", put_event_text},
	[WEFT_SLOT_DURATION] = {"int64 _", ";", put_duration},
	[WEFT_SLOT_TRACK] = {"string _", ";", put_track},
	[WEFT_SLOT_CLOCK] = {"span_clock _", ";", put_kind},
	[WEFT_SLOT_BEGIN] = {"uint64 _", ";", put_begin},
	[WEFT_SLOT_END] = {"uint64 _", ";", put_end},
	[WEFT_SLOT_MESSAGE] = {"uint64 _", ";", put_duration},
	[WEFT_SLOT_CATEGORY] = {"string _", ";", put_category},
};

static bool has(const struct weft_event_description *description,
	void (*put)(struct weft__bytes *bytes, const struct weft_event *event))
{
	for (size_t i = 0; description->fields[i].key; i++)
		if (slots[description->fields[i].slot].put == put)
			return true;
	return false;
}

void weft__export_ctf_put_event(
	struct weft__bytes *bytes, const struct weft_event *event, uint64_t time_ns)
{
	const struct weft_event_description *description = weft_event_describe(event->type);
	bool is_empty = event->text.size == 0 && has(description, put_event_text);
	bool has_category = event->category.size && has(description, put_category);
	weft__bytes_put_u8(bytes, event->type | (is_empty ? EMPTY_TEXT : 0) |
								  (event->is_real ? REAL : 0) | (has_category ? WITH_CATEGORY : 0));
	weft__bytes_put_u64(bytes, time_ns);
	for (size_t i = 0; description->fields[i].key; i++)
		if (description->fields[i].slot != WEFT_SLOT_CATEGORY || has_category)
			slots[description->fields[i].slot].put(bytes, event);
}

static void declare_class(
	struct weft__bytes *metadata, const struct weft_event_description *description, unsigned number)
{
	weft__bytes_print(metadata,
		"\nevent {\n\tname = \"%s\";\n\tid = %u;\n\tstream_id = 0;\n\tfields := struct {\n",
		description->name, number);
	for (size_t i = 0; description->fields[i].key; i++) {
		unsigned slot = description->fields[i].slot;
		bool is_real = slot == WEFT_SLOT_CHANGE && number & REAL;
		if (slot == WEFT_SLOT_CATEGORY && !(number & WITH_CATEGORY))
			continue;
		weft__bytes_print(metadata, "\t\t%s%s%s\n",
			is_real ? CHANGE "float64 _" : slots[slot].before, description->fields[i].key,
			slots[slot].after);
	}
	weft__bytes_print(metadata, "\t};\n};\n");
}

void weft__export_ctf_declare_event(struct weft__bytes *metadata, unsigned type)
{
	const struct weft_event_description *description = weft_event_describe(type);
	bool has_second = has(description, put_change) || has(description, put_category);
	unsigned last = has_second ? REAL : 0;
	for (unsigned real = 0; real <= last; real += REAL) {
		declare_class(metadata, description, type | real);
		if (has(description, put_event_text))
			declare_class(metadata, description, type | real | EMPTY_TEXT);
	}
}
