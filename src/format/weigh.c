/* SPDX-License-Identifier: ISC
 *
 * Finds out where in time the bytes of a trace are, from the headers of its packets.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/export.h"
#include "base/ns.h"
#include "format/decoder.h"
#include "model/density.h"
#include "model/span.h"

struct packet {
	uint64_t start_ns, end_ns, bytes;
};

struct packets {
	struct packet *list;
	size_t count, room;
};

static int add_packet(void *context, uint64_t start_ns, uint64_t end_ns, uint64_t bytes)
{
	struct packets *packets = context;
	if (packets->count == packets->room) {
		const size_t room = weft__array_next_capacity(packets->room, packets->count + 1);
		int error = weft__array_resize(&packets->list, room, sizeof(*packets->list));
		if (error)
			return error;
		packets->room = room;
	}
	packets->list[packets->count++] = (struct packet){start_ns, end_ns, bytes};
	return 0;
}

/* Finds the times of the first and the last event. */
static int find_ends(struct weft_decoder *decoder, struct weft_density *density)
{
	struct weft_event event;
	bool is_alone;
	int status = weft_decoder_next(decoder, &event);
	density->start_ns = density->end_ns = status == WEFT_OK ? event.time_ns : 0;
	if (status == WEFT_OK)
		status = weft__format_decoder_seek(
			decoder, weft__ns_add(event.time_ns, WEFT__SPAN_NS), &is_alone);
	while (status == WEFT_OK) {
		density->end_ns = event.time_ns;
		status = weft_decoder_next(decoder, &event);
	}
	return status == WEFT_END ? 0 : status;
}

WEFT__EXPORT int weft_decoder_weigh(struct weft_decoder *decoder, struct weft_density *ret_density)
{
	struct weft_density density = {0};
	struct packets packets = {0};
	int error = weft__format_decoder_weigh(decoder, add_packet, &packets);
	if (!error)
		error = find_ends(decoder, &density);
	for (size_t i = 0; i < packets.count && !error; i++)
		weft__model_density_add(&density, packets.list[i].start_ns, packets.list[i].end_ns,
			(double)packets.list[i].bytes);
	free(packets.list);
	if (!error)
		*ret_density = density;
	return error;
}
