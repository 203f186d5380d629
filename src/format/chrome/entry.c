/* SPDX-License-Identifier: ISC
 *
 * Keys that are unknown are passed over: programs add their own.
 */
#include "model/slice.h"
#include "format/chrome/entry.h"

#include <string.h>

#include <weft/error.h>

#include "base/array.h"
#include "format/chrome/number.h"

/* More than the texts of the object themselves take, for names that are put together. */
#define JOINED_BYTES 65536u

struct weft_slice weft__format_chrome_text(
	struct weft__chrome_texts *texts, const struct weft__json_value *value)
{
	if (!value->has_escapes || texts->capacity - texts->used < value->text.size)
		return value->text;
	char *out = texts->bytes + texts->used;
	const size_t size = weft__format_json_unescape(value->text, out);
	texts->used += size;
	return (struct weft_slice){out, size};
}

struct weft_slice weft__format_chrome_join(struct weft__chrome_texts *texts,
	struct weft_slice first, const char *between, struct weft_slice second)
{
	const size_t middle = strlen(between), room = texts->capacity - texts->used;
	if (first.size > room || middle > room - first.size || second.size > room - first.size - middle)
		return first;
	char *out = texts->bytes + texts->used;
	memcpy(out, first.bytes, first.size);
	memcpy(out + first.size, between, middle);
	memcpy(out + first.size + middle, second.bytes, second.size);
	texts->used += first.size + middle + second.size;
	return (struct weft_slice){out, first.size + middle + second.size};
}

static bool is_scalar(const struct weft__json_value *value)
{
	return value->type == WEFT__JSON_STRING || value->type == WEFT__JSON_NUMBER;
}

static void set_id(struct weft__chrome_texts *texts, const struct weft__json_value *value,
	enum weft__chrome_id_type type, struct weft__chrome_entry *entry)
{
	if (!is_scalar(value))
		return;
	entry->id = weft__format_chrome_text(texts, value);
	entry->id_type = (uint8_t)type;
}

static void read_id2(struct weft__chrome_texts *texts, const struct weft__json_value *value,
	struct weft__chrome_entry *entry)
{
	struct weft__json_value id;
	if (weft__format_json_find(value, "local", &id))
		set_id(texts, &id, WEFT__CHROME_ID_OF_PROCESS, entry);
	else if (weft__format_json_find(value, "global", &id))
		set_id(texts, &id, WEFT__CHROME_ID_GLOBAL, entry);
}

static void set_text(
	struct weft__chrome_texts *texts, const struct weft__json_value *value, struct weft_slice *text)
{
	if (is_scalar(value))
		*text = weft__format_chrome_text(texts, value);
}

static void set_who(struct weft__chrome_texts *texts, const struct weft__json_value *value,
	struct weft__chrome_who *who)
{
	uint64_t number;
	set_text(texts, value, &who->text);
	who->is_name = value->type == WEFT__JSON_STRING && !weft__format_chrome_id(who->text, &number);
}

/* Times are numbers; some programs write them as strings. */
static bool read_time(const struct weft__json_value *value, int64_t *ret_ns)
{
	return is_scalar(value) && weft__format_chrome_time(value->text, ret_ns);
}

/* Keys of one or two bytes, which most are. */
static bool read_short(struct weft__chrome_texts *texts, struct weft_slice key,
	const struct weft__json_value *value, struct weft__chrome_entry *entry)
{
	if (weft__slice_is(key, "ph")) {
		if (value->type == WEFT__JSON_STRING && value->text.size == 1)
			entry->phase = value->text.bytes[0];
	} else if (weft__slice_is(key, "ts")) {
		entry->has_time = read_time(value, &entry->time_ns);
	} else if (weft__slice_is(key, "id")) {
		set_id(texts, value, WEFT__CHROME_ID_OF_PROCESS, entry);
	} else {
		return false;
	}
	return true;
}

static void read_member(struct weft__chrome_texts *texts, struct weft_slice key,
	const struct weft__json_value *value, struct weft__chrome_entry *entry)
{
	const struct {
		const char *key;
		struct weft_slice *text;
	} members[] = {{"name", &entry->name}, {"cat", &entry->category}, {"scope", &entry->scope},
		{"bind_id", &entry->bind_id}};
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (weft__slice_is(key, members[i].key)) {
			set_text(texts, value, members[i].text);
			return;
		}
	if (weft__slice_is(key, "pid"))
		set_who(texts, value, &entry->pid);
	else if (weft__slice_is(key, "tid"))
		set_who(texts, value, &entry->tid);
	else if (weft__slice_is(key, "dur"))
		entry->has_duration = read_time(value, &entry->duration_ns);
	else if (weft__slice_is(key, "args") && value->type == WEFT__JSON_OBJECT)
		entry->args = *value;
	else if (weft__slice_is(key, "weft") && value->type == WEFT__JSON_OBJECT)
		entry->weft = *value;
	else if (weft__slice_is(key, "id2"))
		read_id2(texts, value, entry);
	else if (weft__slice_is(key, "flow_in"))
		entry->flows_in = value->type == WEFT__JSON_TRUE;
	else if (weft__slice_is(key, "flow_out"))
		entry->flows_out = value->type == WEFT__JSON_TRUE;
}

static int make_room(struct weft__chrome_texts *texts, size_t size)
{
	const size_t wanted = 2 * size + JOINED_BYTES;
	texts->used = 0;
	if (texts->capacity >= wanted)
		return 0;
	int error = weft__array_resize(&texts->bytes, wanted, 1);
	if (!error)
		texts->capacity = wanted;
	return error;
}

int weft__format_chrome_read(struct weft__chrome_texts *texts,
	const struct weft__json_value *object, struct weft__chrome_entry *ret_entry)
{
	struct weft__json_value key, value;
	size_t at = 0;
	int error = make_room(texts, object->text.size);
	if (error)
		return error;
	const struct weft_slice none = {"", 0};
	*ret_entry = (struct weft__chrome_entry){.name = none,
		.category = none,
		.id = none,
		.scope = none,
		.bind_id = none,
		.pid.text = none,
		.tid.text = none};
	while (weft__format_json_next_member(object, &at, &key, &value))
		if (!read_short(texts, key.text, &value, ret_entry))
			read_member(texts, key.text, &value, ret_entry);
	return 0;
}
