/* SPDX-License-Identifier: ISC
 *
 * See watched.h. A growth is that since the newest slot that is old enough, or since the first one
 * while none is.
 */
#include "agent/watched.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/labels.h"
#include "base/array.h"
#include "metrics/value.h"

#define GROUPS_MAX   10000
#define SERIES_MAX   100000
#define LEAST_NS     UINT64_C(500000000) /* growth in less than that says nothing */
#define NS_IN_SECOND 1e9

int weft__agent_watched_init(struct weft__agent_watched *w)
{
	*w = (struct weft__agent_watched){0};
	int error = weft__strings_init(&w->programs);
	if (!error && weft__strings_init(&w->groups)) {
		weft__strings_finish(&w->programs);
		error = WEFT_ERROR_MEMORY;
	}
	return error;
}

void weft__agent_watched_finish(struct weft__agent_watched *w)
{
	weft__strings_finish(&w->programs);
	weft__strings_finish(&w->groups);
	free(w->list);
	free(w->values);
}

/* ---- Which series ---- */

static bool is_text(struct weft_slice slice, const char *text)
{
	return strlen(text) == slice.size && memcmp(text, slice.bytes, slice.size) == 0;
}

/* How the labels of a series fit a selector. */
struct match {
	bool fits;
	uint32_t depth;
	char group[256]; /* cut, if longer */
};

static void match_labels(const struct weft__metric_rule *rule,
	const struct weft__metric_selector *selector, const struct weft__agent_key *key,
	struct match *ret)
{
	const bool is_program = is_text(rule->by, "program"), is_user = is_text(rule->by, "user");
	const char *at = key->labels;
	char name[256], value[256];
	unsigned filters = 0;
	bool has_group = !rule->by.size || is_program || is_user;
	*ret = (struct match){.depth = 0};
	if (rule->by.size && has_group)
		snprintf(ret->group, sizeof(ret->group), "%s", is_program ? key->program : key->user);
	while (weft__agent_labels_next(&at, name, value)) {
		ret->depth++;
		for (unsigned i = 0; i < selector->filter_count; i++)
			filters += is_text(selector->filters[i].key, name) &&
					   is_text(selector->filters[i].value, value);
		if (has_group || !is_text(rule->by, name))
			continue;
		has_group = true;
		memcpy(ret->group, value, sizeof(value));
	}
	ret->fits = has_group && filters == selector->filter_count;
}

/* True if this series counts: those of a program with the fewest labels in the group do. */
static bool is_widest(struct weft__agent_watched *w, const struct weft__agent_watched_series *it)
{
	for (size_t i = 0; i < w->count; i++) {
		struct weft__agent_watched_series *other = &w->list[i];
		if (other->program != it->program || other->side != it->side || other->group != it->group)
			continue;
		if (other->depth < it->depth)
			return false;
		if (other->depth > it->depth)
			other->group = WEFT__AGENT_NONE;
	}
	return true;
}

static int make_room(struct weft__agent_watched *w)
{
	const struct weft__column list = {&w->list, sizeof(*w->list)};
	return weft__columns_reserve(&list, 1, &w->capacity, w->count + 1);
}

static double value_of(const struct weft__agent_series *series)
{
	if (weft__agent_series_is_billed(series->type))
		return (double)series->total;
	return series->is_live ? series->now : NAN;
}

/* The earlier values of a new series: 0, if it was that since a look; else it is not known to have
 * grown. */
static void fill_past(const struct weft__agent_watched *w, const struct weft__agent_series *series,
	struct weft__agent_watched_series *it)
{
	for (unsigned i = 0; i < WEFT__AGENT_SLOTS; i++) {
		bool was_zero = w->slots[i].ns && series->base >= w->slots[i].unix_s;
		it->past[i] = was_zero && weft__agent_series_is_billed(series->type) ? 0 : value_of(series);
	}
}

static int add(struct weft__agent_watched *w, const struct weft__agent_all_series *all,
	uint32_t number, unsigned side, const struct match *match)
{
	const struct weft__agent_key key = weft__agent_series_key(all, number);
	char program[256];
	struct weft__agent_watched_series it = {.series = number, .side = side, .depth = match->depth};
	const struct weft__agent_watched_series *last = w->count ? &w->list[w->count - 1] : NULL;
	if (last && last->series == number && last->side == side)
		return 0; /* memory was short then */
	int size = snprintf(program, sizeof(program), "%s %s", key.user, key.program);
	size_t length = (size_t)size < sizeof(program) ? (size_t)size : sizeof(program) - 1;
	if (weft__strings_intern(&w->programs, program, length, &it.program) ||
		weft__strings_intern(&w->groups, match->group, strlen(match->group), &it.group) ||
		make_room(w))
		return WEFT_ERROR_MEMORY;
	if (!is_widest(w, &it))
		return 0;
	fill_past(w, &all->list[number], &it);
	w->list[w->count++] = it;
	return 0;
}

static int bind_series(struct weft__agent_watched *w, const struct weft__metric_rule *rule,
	const struct weft__agent_all_series *all, uint32_t number)
{
	const struct weft__agent_key key = weft__agent_series_key(all, number);
	const struct weft__agent_series *series = &all->list[number];
	const bool is_cell = !isnan(series->bound);
	const unsigned sides = rule->function == WEFT__METRIC_RATIO ? 2 : 1;
	int error = 0;
	for (unsigned side = 0; side < sides && !error; side++) {
		struct match match;
		if (!is_text(rule->of[side].name, key.metric))
			continue;
		if (series->type == WEFT__AGENT_TYPE_HISTOGRAM && !is_cell)
			continue; /* the sum of the values */
		const bool is_right = rule->function == WEFT__METRIC_QUANTILE ? is_cell
							  : rule->function == WEFT__METRIC_VALUE  ? !is_cell
																	  : true;
		w->is_mistaken |= !is_right;
		match_labels(rule, &rule->of[side], &key, &match);
		if (is_right && match.fits && w->count < SERIES_MAX && w->groups.count < GROUPS_MAX)
			error = add(w, all, number, side, &match);
	}
	return error;
}

/* ---- Values ---- */

struct sums {
	double of[2];
	bool has[2];
};

static double scaled(const struct weft__agent_all_series *all,
	const struct weft__agent_series *series, double number)
{
	const struct weft__runs_counter counter = {
		.unit = weft__strings_bytes(&all->texts, series->unit), .scale = series->scale};
	return weft__unit_scaled(number, weft__metrics_base_unit(&counter).scale);
}

/* The slot since which growth is measured; WEFT__AGENT_SLOTS: none. */
static unsigned slot_before(
	const struct weft__agent_watched *w, const struct weft__metric_rule *rule, uint64_t now_ns)
{
	unsigned newest = WEFT__AGENT_SLOTS, oldest = WEFT__AGENT_SLOTS;
	for (unsigned i = 0; i < WEFT__AGENT_SLOTS; i++) {
		const uint64_t ns = w->slots[i].ns;
		if (!ns)
			continue;
		if (oldest == WEFT__AGENT_SLOTS || ns < w->slots[oldest].ns)
			oldest = i;
		if (now_ns - ns >= rule->over_ns &&
			(newest == WEFT__AGENT_SLOTS || ns > w->slots[newest].ns))
			newest = i;
	}
	unsigned slot = newest < WEFT__AGENT_SLOTS ? newest : oldest;
	return slot < WEFT__AGENT_SLOTS && now_ns - w->slots[slot].ns >= LEAST_NS ? slot
																			  : WEFT__AGENT_SLOTS;
}

static void sum_up(const struct weft__agent_watched *w, const struct weft__metric_rule *rule,
	const struct weft__agent_all_series *all, unsigned slot, struct sums *sums)
{
	for (size_t i = 0; i < w->count; i++) {
		const struct weft__agent_watched_series *it = &w->list[i];
		const struct weft__agent_series *series = &all->list[it->series];
		const bool is_cell = !isnan(series->bound);
		if (it->group == WEFT__AGENT_NONE)
			continue;
		double value = value_of(series);
		if (rule->function != WEFT__METRIC_VALUE)
			value = slot < WEFT__AGENT_SLOTS ? fmax(0, value - it->past[slot]) : NAN;
		if (isnan(value))
			continue;
		sums[it->group].of[it->side] += is_cell ? value : scaled(all, series, value);
		sums[it->group].has[it->side] = true;
	}
}

static double combine(const struct weft__agent_watched *w, const struct weft__metric_rule *rule,
	const struct sums *sums, unsigned slot, uint64_t now_ns)
{
	if (!sums->has[0])
		return NAN;
	if (rule->function == WEFT__METRIC_RATE)
		return sums->of[0] * NS_IN_SECOND / (double)(now_ns - w->slots[slot].ns);
	if (rule->function != WEFT__METRIC_RATIO)
		return sums->of[0];
	/* Where the other one did not grow, the ratio is beyond all limits; unless neither did. */
	if (sums->of[1] > 0)
		return sums->of[0] / sums->of[1];
	return sums->of[0] > 0 ? INFINITY : NAN;
}

/* ---- Quantiles ---- */

struct cell {
	uint32_t group;
	double bound, count;
};

static int by_group_and_bound(const void *left, const void *right)
{
	const struct cell *l = left, *r = right;
	if (l->group != r->group)
		return l->group < r->group ? -1 : 1;
	return l->bound < r->bound ? -1 : l->bound > r->bound;
}

/* The bound of the cell in which the value of that rank lies, of sorted cells of one group. */
static double quantile_of(const struct cell *cells, size_t count, double part)
{
	double all = 0, below = 0;
	for (size_t i = 0; i < count; i++)
		all += cells[i].count;
	for (size_t i = 0; i < count && all > 0; i++) {
		below += cells[i].count;
		if (below >= part * all)
			return cells[i].bound;
	}
	return NAN;
}

static int find_quantiles(struct weft__agent_watched *w, const struct weft__metric_rule *rule,
	const struct weft__agent_all_series *all, unsigned slot)
{
	size_t count = 0;
	struct cell *cells = malloc((w->count + 1) * sizeof(*cells));
	if (!cells)
		return WEFT_ERROR_MEMORY;
	for (size_t i = 0; i < w->count && slot < WEFT__AGENT_SLOTS; i++) {
		const struct weft__agent_watched_series *it = &w->list[i];
		const struct weft__agent_series *series = &all->list[it->series];
		if (it->group != WEFT__AGENT_NONE)
			cells[count++] = (struct cell){it->group, scaled(all, series, series->bound),
				fmax(0, value_of(series) - it->past[slot])};
	}
	if (count)
		qsort(cells, count, sizeof(*cells), by_group_and_bound);
	for (size_t first = 0, next; first < count; first = next) {
		for (next = first; next < count && cells[next].group == cells[first].group; next++)
			;
		w->values[cells[first].group] = quantile_of(cells + first, next - first, rule->part);
	}
	free(cells);
	return 0;
}

/* ---- Looking ---- */

static void keep(struct weft__agent_watched *w, const struct weft__metric_rule *rule,
	const struct weft__agent_all_series *all, uint64_t now_ns, int64_t now)
{
	unsigned oldest = 0, newest = 0;
	for (unsigned i = 1; i < WEFT__AGENT_SLOTS; i++) {
		oldest = w->slots[i].ns < w->slots[oldest].ns ? i : oldest;
		newest = w->slots[i].ns > w->slots[newest].ns ? i : newest;
	}
	if (rule->function == WEFT__METRIC_VALUE ||
		(w->slots[newest].ns &&
			now_ns - w->slots[newest].ns < rule->over_ns / (WEFT__AGENT_SLOTS - 1)))
		return;
	w->slots[oldest].ns = now_ns;
	w->slots[oldest].unix_s = now;
	for (size_t i = 0; i < w->count; i++)
		w->list[i].past[oldest] = value_of(&all->list[w->list[i].series]);
}

static int reserve_values(struct weft__agent_watched *w)
{
	double *values = realloc(w->values, (w->groups.count + (size_t)1) * sizeof(*values));
	if (!values)
		return WEFT_ERROR_MEMORY;
	w->values = values;
	w->value_count = w->groups.count;
	for (size_t i = 0; i < w->value_count; i++)
		values[i] = NAN;
	return 0;
}

int weft__agent_watched_look(struct weft__agent_watched *w, const struct weft__metric_rule *rule,
	const struct weft__agent_all_series *all, uint64_t now_ns, int64_t now)
{
	int error = 0;
	while (w->bound < all->keys.count && !error) {
		error = bind_series(w, rule, all, w->bound);
		w->bound += !error;
	}
	if (!error)
		error = reserve_values(w);
	if (error)
		return error;
	const unsigned slot = slot_before(w, rule, now_ns);
	if (rule->function == WEFT__METRIC_QUANTILE) {
		error = find_quantiles(w, rule, all, slot);
	} else {
		struct sums *sums = calloc(w->value_count + 1, sizeof(*sums));
		if (!sums)
			return WEFT_ERROR_MEMORY;
		sum_up(w, rule, all, slot, sums);
		for (size_t i = 0; i < w->value_count; i++)
			w->values[i] = combine(w, rule, &sums[i], slot, now_ns);
		free(sums);
	}
	keep(w, rule, all, now_ns, now);
	return error;
}
