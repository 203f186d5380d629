/* SPDX-License-Identifier: ISC
 *
 * The format of weft's own buffers, of a running program, a dead one, or a saved one; and of
 * streams. A follower (weft/follow/follower.c) reads the events; this file describes the trace.
 */
#include "format/formats.h"

#include <stdlib.h>
#include <string.h>

#include "format/weft/buffer.h"
#include "format/weft/categories.h"
#include "format/weft/follow/follower.h"
#include "format/weft/follow/incoming.h"

struct weft_reader {
	struct weft__reader base;
	struct weft__follower *follower;
	struct weft__categories categories;
};

bool weft__format_buffer_probe(const uint8_t *bytes, size_t size)
{
	const size_t magic = sizeof(WEFT_ABI_MAGIC) - 1;
	return size >= magic && memcmp(bytes, WEFT_ABI_MAGIC, magic) == 0;
}

static void describe(struct weft_reader *r, struct weft_trace_description *description)
{
	const struct weft__buffer *buffer = weft__format_follower_buffer(r->follower);
	weft__format_categories_read(buffer, &r->categories, description);
	description->source = *buffer->source ? buffer->source : NULL;
}

static int open_reader(const struct weft__input *input, struct weft__reader **ret_reader)
{
	struct weft_reader *r = calloc(1, sizeof(*r));
	if (!r)
		return WEFT_ERROR_MEMORY;
	r->base.input = *input;
	int error = weft__format_follower_create_saved(input, &r->follower);
	if (error) {
		free(r);
		return error;
	}
	describe(r, input->description);
	*ret_reader = &r->base;
	return 0;
}

static void close_reader(struct weft__reader *reader)
{
	struct weft_reader *r = (struct weft_reader *)reader;
	weft__format_follower_destroy(r->follower);
	free(r);
}

static int next(struct weft__reader *reader, struct weft_event *ret_event)
{
	return weft__format_follower_take(((struct weft_reader *)reader)->follower, ret_event);
}

static int next_facts(struct weft__reader *reader, const struct weft__naming *naming,
	uint64_t before_ns, struct weft__fact *facts, uint32_t most, uint32_t *ret_count)
{
	return weft__format_follower_take_facts(
		((struct weft_reader *)reader)->follower, naming, before_ns, facts, most, ret_count);
}

static int seek(struct weft__reader *reader, uint64_t time_ns, bool *ret_follows_given)
{
	return weft__format_follower_seek(
		((struct weft_reader *)reader)->follower, time_ns, ret_follows_given);
}

static int weigh(struct weft__reader *reader, weft__format_weigh *take, void *context)
{
	return weft__format_follower_weigh(((struct weft_reader *)reader)->follower, take, context);
}

const struct weft__format weft__format_weft = {
	.name = "weft",
	.probe = weft__format_buffer_probe,
	.open = open_reader,
	.next = next,
	.next_facts = next_facts,
	.seek = seek,
	.weigh = weigh,
	.close = close_reader,
	.incoming = &weft__incoming_weft,
};
