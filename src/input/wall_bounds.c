/* SPDX-License-Identifier: ISC */
#include "input/wall_bounds.h"

#include <math.h>

/* No line is needed that lies farther off, which is 146 years. */
#define ERROR_MAX_NS 0x1p62

/* The kernel lets an error grow by so much until the time service has a new one. */
#define GROWTH 0.0005

static double distance(const struct weft__wall_note *a, const struct weft__wall_note *b)
{
	return fabs((double)weft__format_difference((int64_t)a->wall_ns, (int64_t)b->wall_ns));
}

static const struct weft__wall_note *find_nearest(
	const struct weft__input_host *placed, const struct weft__wall_note *note)
{
	const struct weft__shared_readings *readings = &placed->readings;
	const struct weft__wall_note *nearest = &readings->wall_notes[0];
	for (uint32_t i = 1; i < readings->wall_note_count; i++)
		if (distance(&readings->wall_notes[i], note) < distance(nearest, note))
			nearest = &readings->wall_notes[i];
	return nearest;
}

/* Saturates. */
static int64_t add(int64_t offset, double error)
{
	const double sum = (double)offset + error;
	if (!(fabs(sum) < ERROR_MAX_NS) || !(fabs(error) < ERROR_MAX_NS))
		return error < 0 ? INT64_MIN / 2 : INT64_MAX / 2;
	return offset + (int64_t)(error < 0 ? floor(error) : ceil(error));
}

size_t weft__input_wall_bounds(const struct weft__input_host *host,
	const struct weft__input_host *placed, struct weft__clock_bound *ret_list)
{
	size_t count = 0;
	for (uint32_t i = 0; placed->readings.wall_note_count && i < host->readings.wall_note_count;
		 i++) {
		const struct weft__wall_note *own = &host->readings.wall_notes[i];
		const struct weft__wall_note *other = find_nearest(placed, own);
		/* The other host's clock when its wall clock showed what this one's did. */
		const uint64_t other_ns =
			weft__format_shift(&placed->shift, other->own_ns + (own->wall_ns - other->wall_ns));
		const int64_t offset =
			weft__format_difference((int64_t)(other_ns - own->own_ns), host->shift.offset_ns);
		const double error =
			(double)own->error_ns + (double)other->error_ns + GROWTH * distance(own, other);
		ret_list[count++] =
			(struct weft__clock_bound){(int64_t)own->own_ns, add(offset, -error), false};
		ret_list[count++] =
			(struct weft__clock_bound){(int64_t)own->own_ns, add(offset, error), true};
	}
	return count;
}
