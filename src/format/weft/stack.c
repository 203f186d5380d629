/* SPDX-License-Identifier: ISC
 *
 * The calls in which a task waits, as text: "say_hello (hello.c:12) ← main (hello.c:20)". Each list
 * of calls is a name, and is put into words once. A call that `weft record` has not looked up is
 * "server+0x4f10".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/parse.h>

#include "abi/name_abi.h"
#include "format/weft/buffer.h"

#define TEXT_BYTES 1024
#define ARROW      " \xe2\x86\x90 "
#define ELLIPSIS   "\xe2\x80\xa6"

enum {
	SHOWN = 1024, /* lists of calls that are kept as text; a program has tens */
	PROBES = 16,
};

/* A call that was looked up: a name "\1frame\0KEY\0TEXT". */
struct frame {
	struct weft_slice key, text;
};

struct weft__stacks {
	struct frame *frames; /* by key */
	size_t frame_count;
	bool has_looked; /* for frames */
	struct {
		unsigned id; /* 0: free */
		char *text;
	} shown[SHOWN];
};

struct weft__stacks *weft__format_stacks_create(void)
{
	return calloc(1, sizeof(struct weft__stacks));
}

void weft__format_stacks_destroy(struct weft__stacks *stacks)
{
	if (!stacks)
		return;
	for (size_t i = 0; i < SHOWN; i++)
		free(stacks->shown[i].text);
	free(stacks->frames);
	free(stacks);
}

static bool has_prefix(struct weft_slice name, const char *prefix, size_t size)
{
	return name.bytes && name.size >= size && memcmp(name.bytes, prefix, size) == 0;
}

/* ---- Calls that were looked up ---- */

static int compare(struct weft_slice left, struct weft_slice right)
{
	int order = memcmp(left.bytes, right.bytes, left.size < right.size ? left.size : right.size);
	return order ? order : (left.size > right.size) - (left.size < right.size);
}

static int by_key(const void *left, const void *right)
{
	const struct frame *l = left, *r = right;
	return compare(l->key, r->key);
}

static bool add_frame(struct weft__stacks *s, size_t *room, const struct frame *frame)
{
	if (s->frame_count == *room) {
		*room = *room ? 2 * *room : 64;
		struct frame *more = realloc(s->frames, *room * sizeof(*more));
		if (!more)
			return false;
		s->frames = more;
	}
	s->frames[s->frame_count++] = *frame;
	return true;
}

static void look_for_frames(const struct weft__buffer *b)
{
	struct weft__stacks *s = b->stacks;
	struct weft_slice name;
	struct frame frame;
	size_t room = 0;
	s->has_looked = true;
	for (uint64_t at = 0; weft__format_buffer_next_name(b, &at, &name);)
		if (weft__format_name_has_parts(name, WEFT_ABI_FRAME_PREFIX, WEFT_ABI_FRAME_PREFIX_BYTES,
				&frame.key, &frame.text) &&
			!add_frame(s, &room, &frame))
			break;
	if (s->frame_count)
		qsort(s->frames, s->frame_count, sizeof(*s->frames), by_key);
}

/* ---- Words ---- */

struct text {
	size_t size;
	char bytes[TEXT_BYTES];
};

/* False if it does not fit. */
static bool append(struct text *text, const char *bytes, size_t size)
{
	if (size > sizeof(text->bytes) - 1 - text->size)
		return false;
	memcpy(text->bytes + text->size, bytes, size);
	text->size += size;
	text->bytes[text->size] = '\0';
	return true;
}

static bool append_string(struct text *text, const char *string)
{
	return append(text, string, strlen(string));
}

/* "MODULE:ADDRESS" as "server+0x4f10". */
static bool append_address(const struct weft__buffer *b, struct text *text, struct weft_slice call)
{
	uint64_t module, address;
	char digits[24];
	const char *colon = memchr(call.bytes, ':', call.size);
	size_t size = colon ? (size_t)(colon - call.bytes) : 0;
	if (!colon || weft_parse_hexadecimal(call.bytes, size, &module) != WEFT_PARSE_OK ||
		weft_parse_hexadecimal(colon + 1, call.size - size - 1, &address) != WEFT_PARSE_OK)
		return append_string(text, "?");
	struct weft_slice file = weft__format_buffer_name(b, module & 0xffff);
	if (!has_prefix(file, WEFT_ABI_MODULE_PREFIX, WEFT_ABI_MODULE_PREFIX_BYTES))
		return append_string(text, "?");
	const char *end = memchr(
		file.bytes + WEFT_ABI_MODULE_PREFIX_BYTES, '\t', file.size - WEFT_ABI_MODULE_PREFIX_BYTES);
	end = end ? end : file.bytes + file.size;
	const char *name = end;
	while (name > file.bytes + WEFT_ABI_MODULE_PREFIX_BYTES && name[-1] != '/')
		name--;
	snprintf(digits, sizeof(digits), "+0x%" PRIx64, address);
	return append(text, name, (size_t)(end - name)) && append_string(text, digits);
}

static bool append_call(const struct weft__buffer *b, struct text *text, struct weft_slice call)
{
	const struct frame wanted = {.key = call};
	const struct weft__stacks *s = b->stacks;
	const struct frame *found =
		s->frame_count ? bsearch(&wanted, s->frames, s->frame_count, sizeof(wanted), by_key) : NULL;
	if (found)
		return append(text, found->text.bytes, found->text.size);
	return append_address(b, text, call);
}

/* `calls`: words with spaces between. The text ends with an ellipsis if not all of them are in it.
 */
static void put_into_words(const struct weft__buffer *b, struct weft_slice calls, struct text *text)
{
	const char *at = calls.bytes, *end = calls.bytes + calls.size;
	text->size = 0;
	text->bytes[0] = '\0';
	while (at < end) {
		const char *space = memchr(at, ' ', (size_t)(end - at)), *next = space ? space : end;
		const struct weft_slice call = {at, (size_t)(next - at)};
		const char *arrow = text->size ? ARROW : "";
		const size_t before = text->size;
		const bool is_rest = call.size == 1 && *at == '+';
		const bool fits = !is_rest && append_string(text, arrow) && append_call(b, text, call) &&
						  text->size + sizeof(ARROW ELLIPSIS) < sizeof(text->bytes);
		if (!fits) {
			text->size = before;
			append_string(text, arrow);
			append_string(text, ELLIPSIS);
			return;
		}
		at = space ? space + 1 : end;
	}
}

/* The text for the name of that id, or NULL. */
static const char *find_or_make(const struct weft__buffer *b, unsigned id, struct weft_slice calls)
{
	struct weft__stacks *s = b->stacks;
	struct text text;
	for (unsigned i = 0; i < PROBES; i++) {
		const size_t at = (id * 2654435761u + i) % SHOWN;
		if (s->shown[at].id == id)
			return s->shown[at].text;
		if (s->shown[at].id)
			continue;
		if (!s->has_looked)
			look_for_frames(b);
		put_into_words(b, calls, &text);
		char *copy = malloc(text.size + 1);
		if (copy)
			memcpy(copy, text.bytes, text.size + 1);
		s->shown[at].text = copy;
		s->shown[at].id = copy ? id : 0;
		return copy;
	}
	return NULL;
}

struct weft_slice weft__format_buffer_stack(const struct weft__buffer *b, unsigned id)
{
	struct weft_slice name = weft__format_buffer_name(b, id);
	if (!has_prefix(name, WEFT_ABI_STACK_PREFIX, WEFT_ABI_STACK_PREFIX_BYTES))
		return name; /* of a part of a trace, whose calls are words already */
	name.bytes += WEFT_ABI_STACK_PREFIX_BYTES;
	name.size -= WEFT_ABI_STACK_PREFIX_BYTES;
	const char *text = b->stacks ? find_or_make(b, id, name) : NULL;
	return text ? (struct weft_slice){text, strlen(text)} : (struct weft_slice){"", 0};
}
