/* SPDX-License-Identifier: ISC
 *
 * See hosts.h. Hosts are placed one after the other: next is the one that has most messages with
 * those that are placed. Its line satisfies all of them, so no effect comes before its cause,
 * whichever hosts both are of.
 */
#include "input/hosts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/duration.h>
#include <weft/error.h>

#include "base/export.h"
#include "base/number.h"
#include "input/clock_fit.h"
#include "input/messages.h"
#include "input/wall_bounds.h"

/* A connection may have the ports of an earlier one, a minute later at the earliest. Messages that
 * are so far from most of the others are not taken for pairs. */
#define STRAY_NS 30e9

/* No clock is moved by more, which is 146 years: a damaged file may have any times. */
#define MOVED_MAX_NS 0x1p62

struct alignment {
	struct weft__input_host *hosts;
	uint32_t count;
	struct weft__input_pair *pairs;
	size_t pair_count;
	bool uses_walls; /* the errors of wall clocks */
};

/* ---- Wall clocks ---- */

/* The axis is the first host's CLOCK_MONOTONIC; it begins when the first of all hosts was booted.
 */
static void place_by_wall_clocks(struct weft__input_host *hosts, uint32_t count)
{
	int64_t first = hosts[0].readings.offset_ns;
	for (uint32_t i = 1; i < count; i++)
		if (hosts[i].readings.offset_ns < first)
			first = hosts[i].readings.offset_ns;
	for (uint32_t i = 0; i < count; i++)
		hosts[i].shift = (struct weft__shift){
			.offset_ns = weft__format_difference(hosts[i].readings.offset_ns, first),
			.alignment = i ? WEFT_ALIGNMENT_NONE : WEFT_ALIGNMENT_SAME};
}

/* ---- Messages ---- */

static int collect(struct weft__input_host *hosts, const struct weft__input_part *part,
	struct weft__input_sides *sides)
{
	struct weft__input_host *host = &hosts[part->host];
	struct weft_event event;
	int status;
	while ((status = weft_decoder_next(part->decoder, &event)) == WEFT_OK) {
		if (event.time_ns < host->first_ns)
			host->first_ns = event.time_ns;
		if (event.time_ns > host->last_ns)
			host->last_ns = event.time_ns;
		int error = weft__input_sides_add(sides, &event, part->host);
		if (error)
			return error;
	}
	return status == WEFT_ERROR_MEMORY ? status : 0; /* damage is reported when it is read again */
}

static bool leads_to(const struct weft__input_pair *pair, uint32_t host)
{
	return pair->effect_host == host;
}

/* True if the other host has a place. */
static bool is_usable(const struct alignment *a, const struct weft__input_pair *pair, uint32_t host)
{
	if (leads_to(pair, host))
		return a->hosts[pair->cause_host].is_placed;
	return pair->cause_host == host && a->hosts[pair->effect_host].is_placed;
}

/* The pair as a bound of what the wall clock of `host` lacks. */
static struct weft__clock_bound bound_of(
	const struct alignment *a, const struct weft__input_pair *pair, uint32_t host)
{
	const struct weft__input_host *hosts = a->hosts;
	bool to = leads_to(pair, host);
	uint64_t own_ns = to ? pair->effect_ns : pair->cause_ns;
	uint64_t other_ns = weft__format_shift(&hosts[to ? pair->cause_host : pair->effect_host].shift,
		to ? pair->cause_ns : pair->effect_ns);
	return (struct weft__clock_bound){(int64_t)own_ns,
		weft__format_difference((int64_t)(other_ns - own_ns), hosts[host].shift.offset_ns), !to};
}

static int by_offset(const void *left, const void *right)
{
	const struct weft__clock_bound *l = left, *r = right;
	if (l->is_most != r->is_most)
		return l->is_most ? 1 : -1;
	return l->offset_ns < r->offset_ns ? -1 : l->offset_ns > r->offset_ns;
}

/* Keeps those of `count` bounds of one direction, in order, that are near the middle one. */
static size_t keep_near(struct weft__clock_bound *list, size_t count, double most)
{
	const int64_t middle = count ? list[count / 2].offset_ns : 0;
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (fabs((double)list[i].offset_ns - (double)middle) <= most)
			list[kept++] = list[i];
	return kept;
}

static size_t leave_out_strays(
	struct weft__clock_bound *list, size_t count, const struct weft__input_host *host)
{
	const double far = STRAY_NS + WEFT__CLOCK_DRIFT_MAX * (double)(host->last_ns - host->first_ns);
	size_t least = 0;
	if (count)
		qsort(list, count, sizeof(*list), by_offset);
	while (least < count && !list[least].is_most)
		least++;
	size_t kept = keep_near(list, least, far), most = count - least;
	memmove(list + kept, list + least, most * sizeof(*list));
	return kept + keep_near(list + kept, most, far);
}

/* The bounds of a host by those that are placed; with their number in its description. */
static size_t find_bounds(
	const struct alignment *a, uint32_t host, bool has_contexts, struct weft__clock_bound *ret_list)
{
	size_t count = 0;
	for (size_t i = 0; i < a->pair_count; i++)
		if (is_usable(a, &a->pairs[i], host) && (has_contexts || !a->pairs[i].is_context))
			ret_list[count++] = bound_of(a, &a->pairs[i], host);
	return leave_out_strays(ret_list, count, &a->hosts[host]);
}

/* The hosts by which this one is placed may be placed wrongly, and this one with them. `by_wall` is
 * one of them, or NULL. */
static void inherit(
	const struct alignment *a, uint32_t host, const struct weft__input_host *by_wall)
{
	struct weft__shift *shift = &a->hosts[host].shift;
	uint64_t most = by_wall ? by_wall->shift.error_ns : 0;
	for (size_t i = 0; i < a->pair_count; i++) {
		const struct weft__input_pair *pair = &a->pairs[i];
		if (!is_usable(a, pair, host))
			continue;
		const struct weft__shift *other =
			&a->hosts[leads_to(pair, host) ? pair->cause_host : pair->effect_host].shift;
		if (other->error_ns > most)
			most = other->error_ns;
		if (other->alignment > shift->alignment)
			shift->alignment = other->alignment;
	}
	shift->error_ns += most;
}

static void apply(const struct alignment *a, uint32_t number, const struct weft__clock_fit *fit,
	size_t pairs, const struct weft__input_host *by_wall)
{
	struct weft__input_host *host = &a->hosts[number];
	struct weft_input_host *about = &host->about;
	int64_t offset_ns;
	about->pairs = pairs;
	if (!(fabs(fit->offset_ns) < MOVED_MAX_NS) || !(fit->error_ns < MOVED_MAX_NS) ||
		__builtin_add_overflow(host->shift.offset_ns, (int64_t)rint(fit->offset_ns), &offset_ns))
		return;
	about->moved_ns = (int64_t)rint(fit->offset_ns);
	about->drift = fit->drift;
	about->drift_error = fit->drift_error;
	about->bend_ns = (uint64_t)fit->bend_ns;
	about->may_be_more = fit->has_least;
	host->shift.offset_ns = offset_ns;
	host->shift.from_ns = (uint64_t)fit->at_ns;
	host->shift.drift = fit->drift;
	if (fit->has_least && fit->has_most) {
		host->shift.alignment = WEFT_ALIGNMENT_BOUNDED;
		host->shift.error_ns = (uint64_t)ceil(fit->error_ns);
	} else if (fit->has_least || fit->has_most) {
		host->shift.alignment = WEFT_ALIGNMENT_ONE_SIDED;
	}
	about->has_wall_error = by_wall;
	inherit(a, number, by_wall);
}

/* The host that is placed best, if its wall clock's error is known; NULL: none is. */
static const struct weft__input_host *find_wall(const struct alignment *a)
{
	const struct weft__input_host *best = NULL;
	for (uint32_t i = 0; i < a->count && a->uses_walls; i++) {
		const struct weft__input_host *host = &a->hosts[i];
		if (host->is_placed && host->shift.alignment <= WEFT_ALIGNMENT_BOUNDED &&
			host->readings.wall_note_count &&
			(!best || host->shift.error_ns < best->shift.error_ns))
			best = host;
	}
	return best;
}

/* Adds bounds by wall clocks to `count` bounds by pairs, which are too few. True if that bounds the
 * clock from both sides; where it contradicts the pairs, these are right. */
static bool fit_walls(const struct alignment *a, uint32_t number, struct weft__clock_bound *list,
	size_t count, const struct weft__input_host *by_wall, struct weft__clock_fit *fit,
	int *ret_error)
{
	const struct weft__input_host *host = &a->hosts[number];
	struct weft__clock_fit with = {0};
	const size_t more = weft__input_wall_bounds(host, by_wall, list + count);
	if (!more)
		return false;
	*ret_error = weft__input_fit_clock(
		list, count + more, (int64_t)host->first_ns, (int64_t)host->last_ns, &with);
	if (*ret_error || !with.has_least || !with.has_most || (count && with.bend_ns > 0))
		return false;
	*fit = with;
	return true;
}

/* Contexts are recorded by programs, so messages are trusted more if they contradict. */
static int fit_pairs(const struct alignment *a, uint32_t number, struct weft__clock_bound *list,
	size_t *ret_count, struct weft__clock_fit *ret_fit)
{
	const struct weft__input_host *host = &a->hosts[number];
	const int64_t from = (int64_t)host->first_ns, to = (int64_t)host->last_ns;
	struct weft__clock_fit without = {0};
	*ret_count = find_bounds(a, number, true, list);
	int error = weft__input_fit_clock(list, *ret_count, from, to, ret_fit);
	if (error || !(ret_fit->bend_ns > 0))
		return error;
	const size_t fewer = find_bounds(a, number, false, list);
	error = weft__input_fit_clock(list, fewer, from, to, &without);
	if (!error && without.has_least && without.has_most && without.bend_ns < ret_fit->bend_ns) {
		*ret_fit = without;
		*ret_count = fewer;
	}
	return error;
}

static int place(const struct alignment *a, uint32_t number)
{
	struct weft__input_host *host = &a->hosts[number];
	const struct weft__input_host *by_wall = find_wall(a);
	struct weft__clock_bound *list =
		malloc((a->pair_count + 2 * (size_t)WEFT__SHARED_WALL_NOTES) * sizeof(*list));
	struct weft__clock_fit fit = {0};
	size_t count;
	if (!list)
		return WEFT_ERROR_MEMORY;
	int error = fit_pairs(a, number, list, &count, &fit);
	if (error || (fit.has_least && fit.has_most) || !by_wall ||
		!fit_walls(a, number, list, count, by_wall, &fit, &error))
		by_wall = NULL;
	free(list);
	if (!error && (count || by_wall))
		apply(a, number, &fit, count, by_wall);
	host->is_placed = !error;
	return error;
}

/* The host without a place that has most messages with those that have one; of several without any,
 * one whose wall clock's error is known. */
static uint32_t choose_next(const struct alignment *a)
{
	uint32_t chosen = UINT32_MAX;
	size_t most = 0;
	for (uint32_t i = 0; i < a->count; i++) {
		size_t pairs = 0;
		for (size_t k = 0; k < a->pair_count && !a->hosts[i].is_placed; k++)
			pairs += is_usable(a, &a->pairs[k], i);
		pairs = 2 * pairs + (a->hosts[i].readings.wall_note_count > 0);
		if (!a->hosts[i].is_placed && (chosen == UINT32_MAX || pairs > most)) {
			chosen = i;
			most = pairs;
		}
	}
	return chosen;
}

static int align(struct alignment *a)
{
	int error = 0;
	a->hosts[0].is_placed = true;
	for (uint32_t i = 1; i < a->count && !error; i++)
		error = place(a, choose_next(a));
	return error;
}

int weft__input_align(struct weft__input_host *hosts, uint32_t count,
	const struct weft__input_part *parts, size_t part_count, bool aligns)
{
	struct alignment a = {.hosts = hosts, .count = count, .uses_walls = aligns};
	struct weft__input_sides sides = {0};
	int error = 0;
	place_by_wall_clocks(hosts, count);
	for (uint32_t i = 0; i < count; i++)
		hosts[i].first_ns = UINT64_MAX;
	for (size_t i = 0; i < part_count && aligns && !error; i++)
		error = collect(hosts, &parts[i], &sides);
	for (uint32_t i = 0; i < count; i++)
		if (hosts[i].first_ns > hosts[i].last_ns)
			hosts[i].first_ns = hosts[i].last_ns = 0;
	if (!error)
		error = weft__input_sides_match(&sides, &a.pairs, &a.pair_count);
	free(sides.list);
	if (!error)
		error = align(&a);
	for (uint32_t i = 0; i < count; i++) {
		hosts[i].about.is_aligned = aligns;
		hosts[i].about.alignment = hosts[i].shift.alignment;
		hosts[i].about.error_ns = hosts[i].shift.error_ns;
	}
	free(a.pairs);
	return error;
}

/* ---- In words ---- */

static void format_moved(int64_t ns, char text[40])
{
	char length[32];
	weft_format_duration(ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns, 3, length);
	snprintf(text, 40, "%c%s", ns < 0 ? '-' : '+', length);
}

/* "212 pairs" */
static void format_source(const struct weft_input_host *host, char *text, size_t size)
{
	static const char wall[] = "the errors of both wall clocks that NTP knew";
	if (!host->has_wall_error)
		snprintf(text, size, "%" PRIu64 " pairs", host->pairs);
	else if (host->pairs)
		snprintf(text, size, "%" PRIu64 " pairs and %s", host->pairs, wall);
	else
		snprintf(text, size, "%s", wall);
}

WEFT__EXPORT size_t weft_input_explain_host(
	const struct weft_input_host *host, char *text, size_t size)
{
	char drift[WEFT__NUMBER_BYTES], drift_error[WEFT__NUMBER_BYTES];
	char moved[40], error[32], bend[32], more[128] = "", source[80];
	int length = 0;
	format_moved(host->moved_ns, moved);
	weft_format_duration(host->error_ns, 3, error);
	weft_format_duration(host->bend_ns, 3, bend);
	format_source(host, source, sizeof(source));
	if (host->bend_ns)
		snprintf(more, sizeof(more),
			"; the clocks did not run evenly: %s contradict each other by up to %s",
			host->has_wall_error ? "bounds" : "pairs", bend);
	switch (host->alignment) {
	case WEFT_ALIGNMENT_SAME:
		length = snprintf(text, size, "%s", "its clock is that of the trace");
		break;
	case WEFT_ALIGNMENT_BOUNDED:
		length = snprintf(text, size,
			"moved by %s \302\261 %s, drift %s%s \302\261 %s ppm, from %s%s", moved, error,
			host->drift < 0 ? "+" : "", weft__number_fixed(-host->drift * 1e6, 1, drift),
			weft__number_fixed(host->drift_error * 1e6, 1, drift_error), source, more);
		break;
	case WEFT_ALIGNMENT_ONE_SIDED:
		length = snprintf(text, size,
			"moved by %s or %s: %" PRIu64 " pairs bound its clock from this side only",
			host->moved_ns ? moved : "0", host->may_be_more ? "more" : "less", host->pairs);
		break;
	case WEFT_ALIGNMENT_NONE:
		length = snprintf(text, size, "%s: times are by each host's own wall clock",
			!host->is_aligned ? "not aligned"
			: host->pairs
				? "its messages contradict each other, or lead to hosts that nothing aligns"
				: "no message from or to other hosts is in the traces, so nothing aligns "
				  "its clock");
		break;
	}
	return length > 0 ? (size_t)length : 0;
}
