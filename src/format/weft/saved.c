/* SPDX-License-Identifier: ISC
 *
 * A follower of content that is complete: a saved buffer, a stream, or the present content of a
 * running program's buffer. Its low-water mark is UINT64_MAX from the beginning, so it holds no
 * event back. Unlike a follower of a running program, it finds the gaps between packets, and
 * repairs damaged times.
 */
#include <stdlib.h>

#include "format/order.h"
#include "format/weft/follow/followed.h"
#include "format/weft/tables.h"

/* Replaces a packet's damaged time by `time_ns`, and reports the damage. */
static void hold(struct weft__follower *f, struct weft__queue_entry *entry, uint64_t time_ns)
{
	struct weft__followed *p = &f->followed[entry->followed];
	entry->time_ns = p->next_ns = time_ns;
	weft__format_follower_report(
		f, p, offsetof(struct weft_abi_packet, opened_ticks), WEFT__SPAN_MESSAGE);
}

/* Repairs the times at which packets begin: the trace is the period of WEFT__SPAN_NS in which most
 * packets begin. A time outside of it is damaged, and becomes the period's first or last time. */
static int hold_packets(struct weft__follower *f)
{
	struct weft__order order = {0};
	size_t first, last;
	int error = 0;
	for (uint32_t i = 0; i < f->queue.count && !error; i++)
		error =
			weft__format_order_add(&order, (struct weft__position){f->queue.entries[i].time_ns, i});
	if (!error)
		error = weft__format_order_sort(&order);
	if (!error) {
		weft__format_order_find_span(&order, &first, &last);
		f->last_ns = weft__ns_add(order.list[first].time_ns, WEFT__SPAN_NS);
		for (size_t i = 0; i < order.count; i++)
			if (i < first || i > last)
				hold(f, &f->queue.entries[order.list[i].offset],
					order.list[i < first ? first : last].time_ns);
		weft__format_queue_settle(&f->queue);
	}
	weft__format_order_finish(&order);
	return error;
}

/* Finds the period of the trace: f->last_ns is its latest possible time. Damaged times may lie
 * centuries outside of it. */
static int find_span(struct weft__follower *f)
{
	uint64_t first = UINT64_MAX, last = 0;
	for (uint32_t i = 0; i < f->queue.count; i++) {
		uint64_t time_ns = f->queue.entries[i].time_ns;
		first = time_ns < first ? time_ns : first;
		last = time_ns > last ? time_ns : last;
	}
	if (last > first && last - first > WEFT__SPAN_NS)
		return hold_packets(f);
	f->last_ns = weft__ns_add(first, WEFT__SPAN_NS);
	return 0;
}

static int init(struct weft__follower *f, const struct weft__input *input)
{
	int error = weft__format_buffer_init_any(&f->buffer, input);
	if (!error)
		error = weft__format_follower_name(f);
	if (!error)
		error = weft__format_follower_init(f);
	if (!error)
		error = weft__format_buffer_read_code(&f->buffer);
	if (!error)
		error = weft__format_tables_read(&f->buffer);
	if (error)
		return error;
	weft__format_gaps_init(
		&f->gaps, f->buffer.stream, weft__format_buffer_piece(&f->buffer), f->description);
	error = weft__format_gaps_take_list(&f->gaps, &f->buffer, &f->threads, f->description);
	if (!error)
		error = weft__format_follower_finish(f);
	f->buffer.forget = NULL; /* it is the input's */
	return error ? error : find_span(f);
}

int weft__format_follower_create_saved(
	const struct weft__input *input, struct weft__follower **ret_follower)
{
	struct weft__follower *f = calloc(1, sizeof(*f));
	if (!f)
		return WEFT_ERROR_MEMORY;
	f->diagnostics = input->diagnostics;
	f->description = input->description;
	f->is_saved = true;
	f->is_stable = input->is_stable;
	int error = init(f, input);
	if (error)
		weft__format_follower_destroy(f);
	else
		*ret_follower = f;
	return error;
}
