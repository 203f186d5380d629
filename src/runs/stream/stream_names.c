/* SPDX-License-Identifier: ISC
 *
 * The names of a run's streams after its end. Which program the started process becomes last is not
 * known while the first one is written into FILE.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runs/message.h"
#include "runs/saving/left_out.h"
#include "runs/saving/name.h"
#include "runs/stream/streaming.h"

/* A stream of several files has numbers in their names, and was long. */
static bool is_one_file(const struct weft__ring_stream *r)
{
	return r->file.count == 1 && r->file.path && !weft__runs_is_stdout(r->file.name);
}

static bool is_helper(const struct weft__ring_stream *r, const struct weft__ring_stream *lead)
{
	return r != lead && !r->has_failed && is_one_file(r) &&
		   weft__runs_is_helper(r->path, &r->ring, r->ring.pid == lead->ring.pid);
}

static size_t remove_helpers(struct weft__runs_stream *s, const struct weft__ring_stream *lead,
	const struct weft__ring_stream *kept)
{
	size_t removed = 0;
	for (size_t i = 0; i < s->count; i++) {
		struct weft__ring_stream *r = s->list[i];
		if (r == kept || !is_helper(r, lead))
			continue;
		unlink(r->file.path);
		r->file.count = 0;
		removed++;
	}
	return removed;
}

/* Renames the file itself: a link to it stays. `shown`: the new name, or that of such a link. */
static bool rename_file(struct weft__ring_stream *r, const char *to, const char *shown)
{
	char from[PATH_MAX], *copy = strdup(shown);
	if (!copy || !realpath(r->file.path, from) || rename(from, to) != 0) {
		free(copy);
		return false;
	}
	free(r->file.path);
	r->file.path = copy;
	return true;
}

/* Gives the lead the name of the first stream, which is replaced if it is one of a helper, else
 * gets another name. If that fails, all stays as it is. */
static bool give_file(struct weft__runs_stream *s, struct weft__ring_stream *first,
	struct weft__ring_stream *lead, bool replaces)
{
	char file[PATH_MAX];
	char *name = strdup(first->file.path);
	char *beside = weft__runs_stream_name(s, &first->ring, &lead->ring);
	bool good =
		name && beside && realpath(name, file) && (replaces || rename_file(first, beside, beside));
	if (good && !rename_file(lead, file, name)) {
		const int reason = errno;
		if (!replaces)
			rename_file(first, file, name);
		errno = reason;
		good = false;
	}
	if (!good)
		weft__runs_report("%s cannot become %s: %s", weft__runs_shown(lead->file.path),
			weft__runs_shown(first->file.path), strerror(errno));
	else if (replaces)
		first->file.count = 0;
	free(name);
	free(beside);
	return good;
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
	size_t removed = 0;
	if (!lead || s->guests || weft__runs_is_directory(s->options.output))
		return 0;
	struct weft__ring_stream *first = s->list[0];
	const bool has_name = first != lead && first->ring.pid == lead->ring.pid &&
						  is_one_file(first) && is_one_file(lead) && !s->options.rotate_bytes;
	if (has_name) {
		const bool replaces = !keep_all && is_helper(first, lead);
		removed += give_file(s, first, lead, replaces) && replaces;
	}
	if (!keep_all)
		removed += remove_helpers(s, lead, has_name ? first : NULL);
	put_first(s, lead);
	return removed;
}
