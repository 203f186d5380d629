/* SPDX-License-Identifier: ISC
 *
 * Reads parts that grow by themselves. Until all have been read to their ends, only the one that
 * holds up the others is read, so that few events are kept in memory. If that one is at its end, so
 * are the others, nearly.
 */
#include "growing/growing.h"

/* The writer of a stream writes a mark every second, also while its program is idle. */
static const double QUIET_MS = 2000, QUIET_FIRST_MS = 1000; /* the latter before any event */

/* If a part grows after it was taken for complete, all of it is read again. So the wait is this
 * multiple of the time that reading took; other parts wait no longer than it would take. */
static const double QUIET_SHARE = 20;

static const double LOOK_MS = 500; /* from one look for growth of complete parts to the next */

/* A format that is only decoded when it is complete is kept in memory until then. */
#define KEPT_MAX_BYTES ((uint64_t)1 << 30)

static bool is_read_here(const struct weft__growing_part *part)
{
	return part->bytes.next && !part->is_complete;
}

static uint64_t mark_of(const struct weft__growing_part *part)
{
	return weft_decoder_mark(part->decoder);
}

static bool has_events(const struct weft_growing *g, const struct weft__growing_part *part)
{
	return g->count > 1 ? mark_of(part) > 0 : g->has_events;
}

static bool is_quiet(const struct weft_growing *g, const struct weft__growing_part *part)
{
	double quiet_ms = g->count > 1 || g->has_events ? QUIET_MS : QUIET_FIRST_MS;
	double read_ms = (g->count > 1 ? 1 : QUIET_SHARE) * g->read_ms;
	if (g->is_patient && has_events(g, part))
		return false;
	return g->system.now_ms() - part->fed_ms > (quiet_ms > read_ms ? quiet_ms : read_ms);
}

/* Alone, a part without bytes that wait for others may just go on later. */
static bool is_left(const struct weft_growing *g, const struct weft__growing_part *part)
{
	return (g->count > 1 || weft_decoder_is_pending(part->decoder)) && is_quiet(g, part);
}

/* Alone, a stream whose program has ended is complete. */
static bool has_ended(const struct weft_growing *g, const struct weft__growing_part *part)
{
	const struct weft_trace_description *about = weft_decoder_describe(part->decoder);
	const enum weft_ending ending =
		about->buffer_count == 1 ? about->buffers[0].ending : WEFT_ENDING_UNKNOWN;
	return g->count == 1 && ending != WEFT_ENDING_UNKNOWN && ending != WEFT_ENDING_RUNNING;
}

static int feed(
	struct weft_growing *g, struct weft__growing_part *part, const void *bytes, size_t size)
{
	const struct weft__growing_bytes *b = &part->bytes;
	part->size = b->size ? b->size(b->context) : part->size + size;
	part->fed_ms = g->system.now_ms();
	if (part->size > KEPT_MAX_BYTES && !has_events(g, part))
		return WEFT_ERROR_LIMIT;
	return weft_decoder_feed(part->decoder, bytes, size);
}

/* WEFT_OK if the part has grown or is complete now, WEFT_AGAIN, or an error. */
static int pull_part(struct weft_growing *g, struct weft__growing_part *part)
{
	const void *bytes;
	size_t size;
	int status = part->bytes.next(part->bytes.context, &bytes, &size);
	if (status == WEFT_OK)
		return feed(g, part, bytes, size);
	if (status == WEFT_END || (status == WEFT_ERROR_STATE && g->count == 1))
		return weft__growing_complete(g, part);
	if (status != WEFT_AGAIN)
		return status;
	if (!part->is_current && part->bytes.age_ms)
		part->fed_ms = g->system.now_ms() - part->bytes.age_ms(part->bytes.context);
	part->is_current = true;
	return is_left(g, part) || has_ended(g, part) ? weft__growing_complete(g, part) : WEFT_AGAIN;
}

static int pull_all(struct weft_growing *g)
{
	int result = WEFT_AGAIN;
	for (uint32_t i = 0; i < g->count; i++) {
		int status = is_read_here(&g->parts[i]) ? pull_part(g, &g->parts[i]) : WEFT_AGAIN;
		if (status < 0)
			return status;
		if (status == WEFT_OK)
			result = WEFT_OK;
	}
	return result;
}

/* Before the decoders begin, no part has a mark: then all are read at the same pace. */
static bool is_behind(const struct weft__growing_part *part, const struct weft__growing_part *other)
{
	uint64_t mark_ns = mark_of(part), other_ns = mark_of(other);
	return mark_ns != other_ns ? mark_ns < other_ns : part->size < other->size;
}

/* The part that holds up the others; NULL: all are complete. */
static struct weft__growing_part *find_holder(const struct weft_growing *g)
{
	struct weft__growing_part *holder = NULL;
	for (uint32_t i = 0; i < g->count; i++) {
		struct weft__growing_part *part = &g->parts[i];
		if (is_read_here(part) && (!holder || is_behind(part, holder)))
			holder = part;
	}
	return holder;
}

static bool find_current(struct weft_growing *g)
{
	for (uint32_t i = 0; i < g->count && !g->is_current; i++)
		if (is_read_here(&g->parts[i]) && !g->parts[i].is_current)
			return false;
	if (!g->is_current)
		g->read_ms = g->system.now_ms() - g->opened_ms;
	return g->is_current = true;
}

int weft__growing_pull(struct weft_growing *g)
{
	if (!g->system.now_ms)
		return WEFT_AGAIN; /* the caller feeds the parts */
	struct weft__growing_part *holder = find_current(g) ? NULL : find_holder(g);
	int status = holder ? pull_part(g, holder) : WEFT_AGAIN;
	if (status == WEFT_AGAIN)
		status = pull_all(g);
	(void)find_current(g);
	return status;
}

int weft__growing_look(struct weft_growing *g)
{
	const void *bytes;
	size_t size;
	if (g->count < 2 || !g->system.now_ms || g->system.now_ms() - g->looked_ms < LOOK_MS)
		return 0;
	g->looked_ms = g->system.now_ms();
	for (uint32_t i = 0; i < g->count; i++) {
		const struct weft__growing_part *part = &g->parts[i];
		if (!part->is_complete || !part->bytes.next)
			continue;
		int status = part->bytes.next(part->bytes.context, &bytes, &size);
		if (status == WEFT_OK || status == WEFT_ERROR_STATE)
			return WEFT_ERROR_STATE;
	}
	return 0;
}
