/* SPDX-License-Identifier: ISC
 *
 * The names of a run's streams after its end. Which program the started process becomes last is not
 * known while the first one is written into FILE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runs/saving/left_out.h"
#include "runs/saving/name.h"
#include "runs/stream/streaming.h"

/* A stream of several files has numbers in their names, and was long. */
static bool is_one_file(const struct weft__ring_stream *r)
{
	return r->file.count == 1 && r->file.path && !weft__runs_is_stdout(r->file.name);
}

static void remove_file(struct weft__ring_stream *r)
{
	unlink(r->file.path);
	r->file.count = 0;
}

static size_t remove_helpers(struct weft__runs_stream *s, const struct weft__ring_stream *lead)
{
	size_t removed = 0;
	for (size_t i = 0; i < s->count; i++) {
		struct weft__ring_stream *r = s->list[i];
		if (r == lead || r->has_failed || !is_one_file(r) ||
			!weft__runs_is_helper(r->path, &r->ring, r->ring.pid == lead->ring.pid))
			continue;
		remove_file(r);
		removed++;
	}
	return removed;
}

static bool rename_file(struct weft__ring_stream *r, const char *name)
{
	char *copy = strdup(name);
	if (!copy || rename(r->file.path, copy) != 0) {
		free(copy);
		return false;
	}
	free(r->file.path);
	r->file.path = copy;
	return true;
}

/* Gives the lead the name of the first stream, which gets another one if it is still there. */
static void give_file(
	struct weft__runs_stream *s, struct weft__ring_stream *first, struct weft__ring_stream *lead)
{
	char *file = strdup(first->file.path);
	char *beside = weft__runs_stream_name(s, &first->ring, &lead->ring);
	if (file && beside && (first->file.count == 0 || rename_file(first, beside)))
		rename_file(lead, file);
	free(file);
	free(beside);
}

static void put_first(struct weft__runs_stream *s, struct weft__ring_stream *lead)
{
	size_t at = 0;
	while (s->list[at] != lead)
		at++;
	memmove(&s->list[1], &s->list[0], at * sizeof(*s->list));
	s->list[0] = lead;
}

size_t weft__runs_stream_arrange(
	struct weft__runs_stream *s, const struct weft__runs_rings *rings, bool keep_all)
{
	struct weft__ring_stream *lead =
		rings->count ? weft__runs_stream_find(s, rings->list[0].name) : NULL;
	if (!lead || s->guests || weft__runs_is_directory(s->options.output))
		return 0;
	struct weft__ring_stream *first = s->list[0];
	const bool had_file = is_one_file(first) && is_one_file(lead) && !s->options.rotate_bytes;
	const size_t removed = keep_all ? 0 : remove_helpers(s, lead);
	if (had_file && first != lead && first->ring.pid == lead->ring.pid)
		give_file(s, first, lead);
	put_first(s, lead);
	return removed;
}
