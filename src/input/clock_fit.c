/* SPDX-License-Identifier: ISC
 *
 * See clock_fit.h. The polygon begins as a rectangle, and each bound cuts off a part of it. Drift
 * is in ns per s, time in s from the middle, so that numbers are of one size.
 */
#include "input/clock_fit.h"

#include <math.h>
#include <stdlib.h>

#include <weft/error.h>

#include "format/shift.h"

#define NS_PER_S 1e9

/* Contradictions are forgiven from 128 ns up to an hour. */
#define BEND_FIRST_NS UINT64_C(128)
#define BENDS         35

struct point {
	double offset, drift;
};

struct polygon {
	struct point *corners, *spare;
	size_t count, room;
};

/* By how much a line satisfies a bound. */
static double slack(struct point line, double at, double offset, bool is_most)
{
	double difference = line.offset + line.drift * at - offset;
	return is_most ? -difference : difference;
}

static int make_room(struct polygon *p, size_t room)
{
	if (room <= p->room)
		return WEFT_OK;
	struct point *corners = realloc(p->corners, 2 * room * sizeof(*corners));
	if (corners)
		p->corners = corners;
	struct point *spare = corners ? realloc(p->spare, 2 * room * sizeof(*spare)) : NULL;
	if (spare)
		p->spare = spare;
	if (!spare)
		return WEFT_ERROR_MEMORY;
	p->room = 2 * room;
	return WEFT_OK;
}

/* Keeps the part of the polygon on the allowed side of a line through it. */
static int cut(struct polygon *p, double at, double offset, bool is_most)
{
	size_t kept = 0;
	bool cuts = false;
	for (size_t i = 0; i < p->count; i++)
		cuts |= slack(p->corners[i], at, offset, is_most) < 0;
	int error = cuts ? make_room(p, p->count + 2) : WEFT_OK;
	if (!cuts || error)
		return error;
	for (size_t i = 0; i < p->count; i++) {
		const struct point here = p->corners[i], next = p->corners[(i + 1) % p->count];
		double own = slack(here, at, offset, is_most), other = slack(next, at, offset, is_most);
		if (own >= 0)
			p->spare[kept++] = here;
		if ((own < 0) != (other < 0)) {
			double part = own / (own - other);
			p->spare[kept++] = (struct point){here.offset + part * (next.offset - here.offset),
				here.drift + part * (next.drift - here.drift)};
		}
	}
	struct point *corners = p->corners;
	p->corners = p->spare;
	p->spare = corners;
	p->count = kept;
	return WEFT_OK;
}

/* Bounds in s from `middle`, and in ns from `base`. */
struct frame {
	const struct weft__clock_bound *bounds;
	size_t count;
	int64_t middle, base;
	double reach; /* no line that is needed lies farther from the base */
};

static double time_in(const struct frame *f, int64_t at_ns)
{
	return (double)weft__format_difference(at_ns, f->middle) / NS_PER_S;
}

static double offset_in(const struct frame *f, int64_t offset_ns)
{
	return (double)weft__format_difference(offset_ns, f->base);
}

/* All lines, or none if bounds that are looser by `bend` contradict each other. */
static int cut_all(struct polygon *p, const struct frame *f, double bend)
{
	const double reach = f->reach, drift = WEFT__CLOCK_DRIFT_MAX * NS_PER_S;
	int error = make_room(p, 4);
	if (error)
		return error;
	p->corners[0] = (struct point){-reach, -drift};
	p->corners[1] = (struct point){reach, -drift};
	p->corners[2] = (struct point){reach, drift};
	p->corners[3] = (struct point){-reach, drift};
	p->count = 4;
	for (size_t i = 0; i < f->count && p->count && !error; i++) {
		const struct weft__clock_bound *b = &f->bounds[i];
		double offset = offset_in(f, b->offset_ns) + (b->is_most ? bend : -bend);
		error = cut(p, time_in(f, b->at_ns), offset, b->is_most);
	}
	return error;
}

/* The centre of the polygon's area; of a tiny one, that of its corners. */
static struct point centre_of(const struct polygon *p)
{
	struct point corners = {0}, area = {0};
	const struct point origin = p->corners[0];
	double twice = 0;
	for (size_t i = 0; i < p->count; i++) {
		struct point a = p->corners[i], b = p->corners[(i + 1) % p->count];
		a = (struct point){a.offset - origin.offset, a.drift - origin.drift};
		b = (struct point){b.offset - origin.offset, b.drift - origin.drift};
		double cross = a.offset * b.drift - b.offset * a.drift;
		twice += cross;
		area.offset += (a.offset + b.offset) * cross;
		area.drift += (a.drift + b.drift) * cross;
		corners.offset += a.offset / (double)p->count;
		corners.drift += a.drift / (double)p->count;
	}
	if (fabs(twice) > 1e-6)
		corners = (struct point){area.offset / (3 * twice), area.drift / (3 * twice)};
	return (struct point){corners.offset + origin.offset, corners.drift + origin.drift};
}

/* The largest distance is at one of the ends. */
static double distance_at(const struct polygon *p, struct point line, double at)
{
	double most = 0;
	for (size_t i = 0; i < p->count; i++) {
		double other = p->corners[i].offset + p->corners[i].drift * at;
		most = fmax(most, fabs(other - line.offset - line.drift * at));
	}
	return most;
}

static int fit_both(
	struct polygon *p, struct frame *f, double from, double to, struct weft__clock_fit *ret)
{
	int error = cut_all(p, f, 0);
	for (unsigned i = 0; i < BENDS && !error && !p->count; i++) {
		ret->bend_ns = (double)(BEND_FIRST_NS << i);
		error = cut_all(p, f, ret->bend_ns);
	}
	if (error || !p->count) {
		ret->has_least = ret->has_most = false;
		return error;
	}
	const struct point line = centre_of(p);
	ret->offset_ns = line.offset + (double)f->base;
	ret->drift = line.drift / NS_PER_S;
	for (size_t i = 0; i < p->count; i++)
		ret->drift_error =
			fmax(ret->drift_error, fabs(p->corners[i].drift - line.drift) / NS_PER_S);
	/* A line is applied in whole ns. */
	ret->error_ns = fmax(distance_at(p, line, from), distance_at(p, line, to)) + ret->bend_ns + 1;
	return WEFT_OK;
}

/* Without drift: the nearest offset to 0 that satisfies all. */
static void fit_one_side(
	const struct weft__clock_bound *bounds, size_t count, struct weft__clock_fit *ret)
{
	for (size_t i = 0; i < count; i++) {
		double offset = (double)bounds[i].offset_ns;
		if (bounds[i].is_most ? offset < ret->offset_ns : offset > ret->offset_ns)
			ret->offset_ns = offset;
	}
}

static struct frame frame_of(const struct weft__clock_bound *bounds, size_t count, int64_t middle)
{
	struct frame f = {
		.bounds = bounds, .count = count, .middle = middle, .base = bounds[0].offset_ns};
	double farthest = 0, largest = 0;
	for (size_t i = 0; i < count; i++) {
		farthest = fmax(farthest, fabs(time_in(&f, bounds[i].at_ns)));
		largest = fmax(largest, fabs(offset_in(&f, bounds[i].offset_ns)));
	}
	f.reach = 2 * (largest + WEFT__CLOCK_DRIFT_MAX * NS_PER_S * farthest) + NS_PER_S;
	return f;
}

int weft__input_fit_clock(const struct weft__clock_bound *bounds, size_t count, int64_t from_ns,
	int64_t to_ns, struct weft__clock_fit *ret_fit)
{
	struct weft__clock_fit fit = {
		.at_ns = (int64_t)((uint64_t)from_ns + ((uint64_t)to_ns - (uint64_t)from_ns) / 2)};
	struct polygon polygon = {0};
	int error = WEFT_OK;
	for (size_t i = 0; i < count; i++) {
		fit.has_most |= bounds[i].is_most;
		fit.has_least |= !bounds[i].is_most;
	}
	if (fit.has_least && fit.has_most) {
		struct frame f = frame_of(bounds, count, fit.at_ns);
		error = fit_both(&polygon, &f, time_in(&f, from_ns), time_in(&f, to_ns), &fit);
	} else {
		fit_one_side(bounds, count, &fit);
	}
	free(polygon.corners);
	free(polygon.spare);
	if (!error)
		*ret_fit = fit;
	return error;
}
