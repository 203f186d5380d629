/* SPDX-License-Identifier: ISC
 *
 * See levels.h. Sorted by their labels, a level stands right before all that are below it.
 */
#include "metrics/levels.h"

#include <stdlib.h>
#include <string.h>

static int compare_labels(const struct weft__runs_label *left, const struct weft__runs_label *right)
{
	int order = strcmp(left->key, right->key);
	return order ? order : strcmp(left->value, right->value);
}

static int by_labels(const void *left, const void *right)
{
	const struct weft__metrics_sample *l = left, *r = right;
	int order = strcmp(l->user ? l->user : "", r->user ? r->user : "");
	order = order ? order : strcmp(l->program, r->program);
	order = order ? order : (l->pid > r->pid) - (l->pid < r->pid);
	order = order ? order : strcmp(l->counter->name, r->counter->name);
	for (size_t i = 0; !order && i < l->counter->label_count && i < r->counter->label_count; i++)
		order = compare_labels(&l->counter->labels[i], &r->counter->labels[i]);
	return order ? order
				 : (l->counter->label_count > r->counter->label_count) -
					   (l->counter->label_count < r->counter->label_count);
}

static bool is_above(
	const struct weft__metrics_sample *level, const struct weft__metrics_sample *below)
{
	const struct weft__runs_counter *l = level->counter, *b = below->counter;
	if (strcmp(level->user ? level->user : "", below->user ? below->user : "") != 0 ||
		strcmp(level->program, below->program) != 0 || level->pid != below->pid ||
		strcmp(l->name, b->name) != 0 || l->type != b->type || l->label_count >= b->label_count ||
		l->histogram.cell_count != b->histogram.cell_count)
		return false;
	for (size_t i = 0; i < l->label_count; i++)
		if (compare_labels(&l->labels[i], &b->labels[i]) != 0)
			return false;
	return true;
}

static void take_histogram(
	struct weft__runs_histogram *from, const struct weft__runs_histogram *below, uint64_t *cells)
{
	for (uint32_t i = 0; i < from->cell_count; i++)
		cells[i] -= below->cells[i] < cells[i] ? below->cells[i] : cells[i];
	from->sum -= below->sum < from->sum ? below->sum : from->sum;
	from->count = 0;
	for (uint32_t i = 0; i < from->cell_count; i++)
		from->count += cells[i];
}

static bool is_nothing(const struct weft__runs_counter *counter)
{
	if (counter->type == WEFT__RUNS_HISTOGRAM)
		return !counter->histogram.count;
	return counter->is_real ? counter->real == 0 : !counter->integer;
}

#define NONE SIZE_MAX

struct link {
	size_t above; /* the level right above, or NONE */
	bool has_below;
};

static void find_links(const struct weft__metrics_levels *levels, struct link *links)
{
	for (size_t i = 0; i < levels->count; i++) {
		size_t above = i ? i - 1 : NONE;
		while (above != NONE && !is_above(&levels->samples[above], &levels->samples[i]))
			above = links[above].above;
		links[i] = (struct link){above, false};
		if (above != NONE)
			links[above].has_below = true;
	}
}

/* A level is taken from the one above it before anything is taken from itself. */
static void take_all(struct weft__metrics_levels *levels, const struct link *links)
{
	for (size_t i = 0; i < levels->count; i++) {
		if (links[i].above == NONE)
			continue;
		struct weft__runs_counter *from = &levels->counters[links[i].above];
		const struct weft__runs_counter *below = &levels->counters[i];
		from->integer = (int64_t)((uint64_t)from->integer - (uint64_t)below->integer);
		from->real -= below->real;
		if (from->histogram.cell_count)
			take_histogram(&from->histogram, &below->histogram,
				levels->cells + (from->histogram.cells - levels->cells));
	}
}

static void drop_empty(struct weft__metrics_levels *levels, const struct link *links)
{
	size_t count = 0;
	for (size_t i = 0; i < levels->count; i++)
		if (!links[i].has_below || !is_nothing(levels->samples[i].counter))
			levels->samples[count++] = levels->samples[i];
	levels->count = count;
}

/* Gives each sample a counter of its own, with cells of its own. */
static void copy_counters(struct weft__metrics_levels *levels)
{
	uint64_t *cells = levels->cells;
	for (size_t i = 0; i < levels->count; i++) {
		struct weft__runs_counter *copy = &levels->counters[i];
		*copy = *levels->samples[i].counter;
		levels->samples[i].counter = copy;
		if (!copy->histogram.cell_count)
			continue;
		memcpy(cells, copy->histogram.cells, copy->histogram.cell_count * sizeof(*cells));
		copy->histogram.cells = cells;
		cells += copy->histogram.cell_count;
	}
}

/* The samples that are not too deep. False without memory. */
static bool choose(struct weft__metrics_levels *levels, const struct weft__metrics_sample *samples,
	size_t count, size_t depth)
{
	size_t cell_count = 0;
	levels->samples = calloc(count + 1, sizeof(*levels->samples));
	for (size_t i = 0; levels->samples && i < count; i++)
		if (samples[i].counter->label_count <= depth) {
			levels->samples[levels->count++] = samples[i];
			cell_count += samples[i].counter->histogram.cell_count;
		}
	levels->counters = calloc(levels->count + 1, sizeof(*levels->counters));
	levels->cells = calloc(cell_count + 1, sizeof(*levels->cells));
	return levels->samples && levels->counters && levels->cells;
}

bool weft__metrics_levels_init(struct weft__metrics_levels *levels,
	const struct weft__metrics_sample *samples, size_t count, size_t depth)
{
	*levels = (struct weft__metrics_levels){0};
	if (!choose(levels, samples, count, depth))
		return false;
	struct link *links = calloc(levels->count + 1, sizeof(*links));
	if (!links)
		return false;
	qsort(levels->samples, levels->count, sizeof(*levels->samples), by_labels);
	copy_counters(levels);
	find_links(levels, links);
	take_all(levels, links);
	drop_empty(levels, links);
	free(links);
	return true;
}

void weft__metrics_levels_finish(struct weft__metrics_levels *levels)
{
	free(levels->counters);
	free(levels->samples);
	free(levels->cells);
	*levels = (struct weft__metrics_levels){0};
}
