/* SPDX-License-Identifier: ISC */
#include <stdlib.h>

#include "otlp/stream.h"

struct weft__otlp_who *weft__otlp_who_create(uint64_t span, uint32_t buffer)
{
	struct weft__otlp_who *who = calloc(1, sizeof(*who));
	if (who) {
		who->references = 1;
		who->span = span;
		who->buffer = buffer;
		who->task = WEFT_NONE;
	}
	return who;
}

struct weft__otlp_who *weft__otlp_who_hold(struct weft__otlp_who *who)
{
	who->references++;
	return who;
}

/* Without recursion: each of a long chain of creators may be the last one that refers to the next.
 */
void weft__otlp_who_release(struct weft__otlp_who *who)
{
	while (who && --who->references == 0) {
		struct weft__otlp_who *parent = who->parent;
		free(who);
		who = parent;
	}
}

static int compare(const void *left, const void *right)
{
	const struct weft__otlp_recent *a = left, *b = right;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->buffer > b->buffer) - (a->buffer < b->buffer);
}

void weft__otlp_recent_finish(struct weft_otlp_stream *s)
{
	for (uint32_t i = 0; i < s->recent_count; i++)
		weft__otlp_who_release(s->recent[i].who);
	free(s->recent);
	s->recent = NULL;
	s->recent_count = 0;
}

int weft__otlp_recent_replace(struct weft_otlp_stream *s, const uint32_t *new_index, uint32_t count)
{
	weft__otlp_recent_finish(s);
	s->recent = malloc((count + (size_t)1) * sizeof(*s->recent));
	if (!s->recent)
		return WEFT_ERROR_MEMORY;
	for (uint32_t task = 0; task < count; task++) {
		if (new_index[task] != WEFT_NONE || !s->live[task].is_written)
			continue;
		s->recent[s->recent_count++] = (struct weft__otlp_recent){s->identities.id[task],
			s->identities.buffer[task], weft__otlp_who_hold(s->live[task].who)};
	}
	qsort(s->recent, s->recent_count, sizeof(*s->recent), compare);
	return 0;
}

struct weft__otlp_who *weft__otlp_recent_find(
	const struct weft_otlp_stream *s, uint32_t buffer, weft_task_id id)
{
	const struct weft__otlp_recent key = {.id = id, .buffer = buffer};
	if (!s->recent_count)
		return NULL;
	const struct weft__otlp_recent *found =
		bsearch(&key, s->recent, s->recent_count, sizeof(key), compare);
	return found ? found->who : NULL;
}

uint64_t weft__otlp_stream_seed(const struct weft_otlp_stream *s, uint32_t buffer)
{
	return weft__otlp_seed(
		weft_trace_buffer_at(s->trace->buffers, s->trace->buffer_count, buffer), buffer);
}

static bool is_known(const struct weft_otlp_stream *s, const struct weft__otlp_who *who)
{
	return who->has_ended || who->has_context || who->epoch == s->epoch;
}

void weft__otlp_who_settle(const struct weft_otlp_stream *s, struct weft__otlp_who *who)
{
	struct weft__otlp_who *root = who;
	if (s->writer.options.folds) {
		weft__otlp_who_place(s, who);
		return;
	}
	while (!is_known(s, root) && root->parent)
		root = root->parent;
	if (!is_known(s, root)) {
		const struct weft_trace_buffer *of =
			weft_trace_buffer_at(s->trace->buffers, s->trace->buffer_count, root->buffer);
		root->trace = weft__otlp_trace_of(root->span, weft__otlp_stream_seed(s, root->buffer));
		root->flags = weft__otlp_is_random(of) ? 3 : 1;
		root->epoch = s->epoch;
	}
	for (; who != root; who = who->parent) {
		who->trace = root->trace;
		who->flags = root->flags;
		who->epoch = s->epoch;
	}
}
