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

bool weft__format_ftrace_learn_switch(
	struct weft__ftrace_formats *formats, const char *bytes, size_t size)
{
	const struct format_text text = {bytes, bytes + size};
	return find_id(text, &formats->switch_id) && find_field(text, "common_type", &formats->type) &&
		   formats->type.size == 2 && find_field(text, "prev_comm", &formats->prev_name) &&
		   find_field(text, "prev_pid", &formats->prev_pid) && formats->prev_pid.size == 4 &&
		   find_field(text, "prev_state", &formats->prev_state) && formats->prev_state.size >= 4 &&
		   find_field(text, "next_comm", &formats->next_name) &&
		   find_field(text, "next_pid", &formats->next_pid) && formats->next_pid.size == 4;
}

bool weft__format_ftrace_learn_fork(
	struct weft__ftrace_formats *formats, const char *bytes, size_t size)
{
	const struct format_text text = {bytes, bytes + size};
	return find_id(text, &formats->fork_id) &&
		   find_field(text, "parent_pid", &formats->parent_pid) && formats->parent_pid.size == 4 &&
		   find_field(text, "child_pid", &formats->child_pid) && formats->child_pid.size == 4;
}
