/* SPDX-License-Identifier: ISC
 *
 * The events of a guest of Xen with mirage-profile. Its pages are CTF that says only what they hold
 * now. So they are copied and decoded again whenever they have changed, and the events after the
 * last given one are given. What the guest overwrites in between is missing, and not counted.
 */
#include <stdlib.h>
#include <string.h>

#include <weft/guest.h>

#include "follow/growing.h"
#include "growing/growing.h"

static const uint64_t LOOK_NS = 200000000;

struct pages {
	struct weft_guest *guest;
	struct weft_decoder *decoder; /* of the copy */
	char *copy;
	size_t size;
	uint64_t latest_ns; /* of the last event that was given */
	uint64_t at_latest; /* number of events at that time */
	uint64_t same;      /* of those, the ones that this copy has given again */
	bool has_any, has_read, has_ended;
};

/* True if the event came after the last copy. */
static bool is_new(struct pages *p, uint64_t time_ns)
{
	bool is_same = p->has_any && time_ns == p->latest_ns;
	if (p->has_any && time_ns < p->latest_ns)
		return false;
	if (is_same && ++p->same <= p->at_latest)
		return false;
	p->at_latest = is_same ? p->at_latest + 1 : 1;
	p->same = p->at_latest;
	p->latest_ns = time_ns;
	return p->has_any = true;
}

/* Replaces the decoder by one of the copy. Pages that are being written may be damaged at their
 * end: the next copy has them whole. */
static int decode(struct pages *p)
{
	weft_decoder_destroy(p->decoder);
	p->decoder = NULL;
	p->same = 0;
	int error = weft_decoder_create(&p->decoder);
	if (!error)
		error = weft_decoder_feed_borrowed(p->decoder, p->copy, p->size);
	if (!error && weft_decoder_finish(p->decoder) == 0)
		p->has_read = false;
	return error;
}

/* Copies the pages if they have changed. WEFT_OK if there may be events, WEFT_AGAIN, WEFT_END or an
 * error. */
static int look(struct pages *p)
{
	const void *bytes;
	/* Asked before the copy, which then has all that the guest recorded before its end. */
	p->has_ended = p->has_ended || weft_guest_look(p->guest) != WEFT_GUEST_OPEN;
	weft_guest_bytes(p->guest, &bytes, &p->size);
	if (memcmp(p->copy, bytes, p->size) == 0)
		return p->has_ended ? WEFT_END : WEFT_AGAIN;
	memcpy(p->copy, bytes, p->size);
	return decode(p);
}

static int next(void *context, struct weft_event *ret_event)
{
	struct pages *p = context;
	int status = p->has_read ? look(p) : WEFT_OK;
	while (status == WEFT_OK && !p->has_read) {
		int found = weft_decoder_next(p->decoder, ret_event);
		p->has_read = found != WEFT_OK;
		if (found == WEFT_OK && is_new(p, ret_event->time_ns))
			return WEFT_OK;
	}
	return status == WEFT_OK ? WEFT_AGAIN : status;
}

static const struct weft_trace_description *describe(void *context)
{
	const struct pages *p = context;
	return weft_decoder_describe(p->decoder);
}

static struct weft_diagnostics *diagnostics(void *context)
{
	const struct pages *p = context;
	return weft_decoder_diagnostics(p->decoder);
}

static uint64_t mark(const void *context)
{
	(void)context;
	return 0;
}

static int wait_for_pages(struct weft_growing *growing, uint64_t timeout_ns)
{
	(void)growing;
	return weft__follow_sleep(timeout_ns, LOOK_NS);
}

static void close_pages(void *context)
{
	struct pages *p = context;
	weft_decoder_destroy(p->decoder);
	free(p->copy);
	free(p);
}

int weft__follow_grow_pages(struct weft_growing *growing, struct weft_guest *guest)
{
	const void *bytes;
	struct pages *p = calloc(1, sizeof(*p));
	if (!p)
		return WEFT_ERROR_MEMORY;
	growing->events = (struct weft__growing_events){
		{next, describe, diagnostics, NULL, NULL, p}, mark, close_pages};
	growing->system.wait = wait_for_pages;
	growing->is_program = true;
	p->guest = guest;
	p->has_read = true;
	weft_guest_bytes(guest, &bytes, &p->size);
	p->copy = calloc(1, p->size);
	return p->copy ? weft_decoder_create(&p->decoder) : WEFT_ERROR_MEMORY;
}
