/* SPDX-License-Identifier: ISC
 *
 * The kernel's texts have a line for each field:
 *
 *     field:char prev_comm[16];	offset:8;	size:16;	signed:0;
 */
#include <string.h>

#include "format/ftrace/page.h"

/* A field may not lie beyond this, so that sums do not overflow. */
#define OFFSET_MAX (1u << 20)

struct format_text {
	const char *at, *end;
};

static bool skip_to(struct format_text *text, const char *word)
{
	const size_t size = strlen(word);
	for (; (size_t)(text->end - text->at) >= size; text->at++)
		if (memcmp(text->at, word, size) == 0) {
			text->at += size;
			return true;
		}
	return false;
}

static bool read_number(struct format_text *text, uint32_t *ret_number)
{
	uint32_t number = 0;
	const char *start = text->at;
	for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++)
		if ((number = number * 10 + (uint32_t)(*text->at - '0')) > OFFSET_MAX)
			return false;
	*ret_number = number;
	return text->at > start;
}

/* True if the declaration "char prev_comm[16]" is of that name. */
static bool declares(const char *at, const char *end, const char *name)
{
	const size_t size = strlen(name);
	const char *bracket = memchr(at, '[', (size_t)(end - at));
	end = bracket ? bracket : end;
	return (size_t)(end - at) > size && memcmp(end - size, name, size) == 0 &&
		   (end[-(ptrdiff_t)size - 1] == ' ' || end[-(ptrdiff_t)size - 1] == '*');
}

static bool find_field(
	struct format_text text, const char *name, struct weft__ftrace_field *ret_field)
{
	while (skip_to(&text, "field:")) {
		const char *start = text.at;
		const char *end = memchr(start, ';', (size_t)(text.end - start));
		if (!end || !declares(start, end, name))
			continue;
		text.at = end;
		return skip_to(&text, "offset:") && read_number(&text, &ret_field->offset) &&
			   skip_to(&text, "size:") && read_number(&text, &ret_field->size) &&
			   ret_field->size > 0;
	}
	return false;
}

static bool find_id(struct format_text text, uint32_t *ret_id)
{
	return skip_to(&text, "ID: ") && read_number(&text, ret_id);
}

bool weft__format_ftrace_learn_page(
	struct weft__ftrace_formats *formats, const char *bytes, size_t size)
{
	const struct format_text text = {bytes, bytes + size};
	return find_field(text, "timestamp", &formats->time) && formats->time.size == 8 &&
		   find_field(text, "commit", &formats->commit) && formats->commit.size == 8 &&
		   find_field(text, "data", &formats->data) && formats->data.offset >= 16 &&
		   formats->time.offset + 8 <= formats->data.offset &&
		   formats->commit.offset + 8 <= formats->data.offset;
}

/* The fields in the order in which page.c reads them. A size of 0 stands for any. */
static const struct {
	const char *name;
	struct {
		const char *name;
		uint32_t size;
	} fields[WEFT__FTRACE_FIELDS_MAX];
} kinds[] = {
	[WEFT__FTRACE_SWITCH] = {"sched_switch",
		{{"prev_pid", 4}, {"next_pid", 4}, {"prev_state", 0}, {"prev_comm", 0}, {"next_comm", 0}}},
	[WEFT__FTRACE_FORK] = {"sched_process_fork", {{"parent_pid", 4}, {"child_pid", 4}}},
	[WEFT__FTRACE_WAKING] = {"sched_waking", {{"pid", 4}, {"comm", 0}}},
	[WEFT__FTRACE_WAKEUP] = {"sched_wakeup", {{"pid", 4}, {"comm", 0}}},
	[WEFT__FTRACE_BORN] = {"sched_wakeup_new", {{"pid", 4}, {"comm", 0}}},
	[WEFT__FTRACE_CALL] = {"sys_enter", {{"id", 0}}},
	[WEFT__FTRACE_RETURN] = {"sys_exit", {{"id", 0}}},
};

/* "name: sched_switch" */
static bool has_name(struct format_text text, const char *name)
{
	const size_t size = strlen(name);
	return skip_to(&text, "name: ") && (size_t)(text.end - text.at) > size &&
		   memcmp(text.at, name, size) == 0 && text.at[size] == '\n';
}

static bool learn_common(struct weft__ftrace_formats *formats, struct format_text text)
{
	return find_field(text, "common_type", &formats->type) && formats->type.size == 2 &&
		   find_field(text, "common_flags", &formats->flags) && formats->flags.size == 1 &&
		   find_field(text, "common_pid", &formats->actor) && formats->actor.size == 4;
}

bool weft__format_ftrace_learn_event(
	struct weft__ftrace_formats *formats, const char *bytes, size_t size)
{
	const struct format_text text = {bytes, bytes + size};
	size_t k = 0;
	while (k < WEFT__FTRACE_KINDS && !has_name(text, kinds[k].name))
		k++;
	if (k == WEFT__FTRACE_KINDS || !learn_common(formats, text))
		return false;
	formats->events[k].is_known = false;
	struct weft__ftrace_field *fields = formats->events[k].fields;
	for (size_t i = 0; i < WEFT__FTRACE_FIELDS_MAX && kinds[k].fields[i].name; i++)
		if (!find_field(text, kinds[k].fields[i].name, &fields[i]) ||
			(kinds[k].fields[i].size ? fields[i].size != kinds[k].fields[i].size
									 : fields[i].size < 4))
			return false;
	formats->events[k].is_known = find_id(text, &formats->events[k].id);
	return formats->events[k].is_known;
}
