/* SPDX-License-Identifier: ISC
 *
 * Makes statistics, and sorts their rows.
 */
#include <stdlib.h>

#include "base/export.h"
#include "base/options.h"
#include "model/idle.h"
#include "stats/maker.h"
#include "stats/stats.h"

#define STEP_ITEMS 65536 /* that a step measures: some milliseconds */

WEFT__EXPORT uint32_t weft_stats_unfinished(const struct weft_stats_row *row)
{
	return row->by_outcome[WEFT_OUTCOME_UNFINISHED] + row->by_outcome[WEFT_OUTCOME_NEVER_RESOLVED];
}

static uint64_t total_ns(const struct weft_stats_row *row)
{
	return weft__ns_add(weft__ns_add(row->running_ns, row->waiting_ns), row->delay_ns);
}

uint64_t weft__stats_value(const struct weft_stats_row *row, enum weft_stats_sort sort)
{
	const uint64_t values[WEFT_STATS_SORTS] = {
		[WEFT_STATS_SORT_TOTAL] = total_ns(row),
		[WEFT_STATS_SORT_COUNT] = row->count,
		[WEFT_STATS_SORT_FAILED] = row->by_outcome[WEFT_OUTCOME_FAILED],
		[WEFT_STATS_SORT_UNFINISHED] = weft_stats_unfinished(row),
		[WEFT_STATS_SORT_P50] = row->p50_ns,
		[WEFT_STATS_SORT_P90] = row->p90_ns,
		[WEFT_STATS_SORT_P99] = row->p99_ns,
		[WEFT_STATS_SORT_MAX] = row->max_ns,
		[WEFT_STATS_SORT_RUNNING] = row->running_ns,
		[WEFT_STATS_SORT_WAITING] = row->waiting_ns,
		[WEFT_STATS_SORT_DELAY] = row->delay_ns,
	};
	return values[sort];
}

/* qsort() takes no context, so each row carries the value to compare. */
struct sorted_row {
	uint64_t value, total;
	struct weft_stats_row row;
};

static int compare_rows(const void *left, const void *right)
{
	const struct sorted_row *l = left, *r = right;
	if (l->value != r->value)
		return l->value > r->value ? -1 : 1;
	if (l->total != r->total)
		return l->total > r->total ? -1 : 1;
	return l->row.key < r->row.key ? -1 : l->row.key > r->row.key;
}

static int sort_rows(struct weft__stats_making *m)
{
	struct sorted_row *sorted = malloc((m->row_count + (size_t)1) * sizeof(*sorted));
	if (!sorted)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < m->row_count; i++)
		sorted[i] = (struct sorted_row){
			weft__stats_value(&m->rows[i], m->sort), total_ns(&m->rows[i]), m->rows[i]};
	qsort(sorted, m->row_count, sizeof(*sorted), compare_rows);
	for (uint32_t i = 0; i < m->row_count; i++)
		m->rows[i] = sorted[i].row;
	free(sorted);
	return 0;
}

static uint64_t idle_ns(const struct weft__idle *idle, uint32_t count, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += weft__stats_overlap(idle[i].start, idle[i].end, from, to);
	return sum;
}

/* False if only a range was read, and no thread is known to run tasks. */
static bool is_idle_known(const struct weft_model *model)
{
	bool is_known = model->summary.read_start <= model->summary.start;
	for (uint32_t i = 0; i < model->thread_count && !is_known; i++)
		is_known = model->presences[i].start <= model->presences[i].end;
	return is_known;
}

/* Sets what does not depend on rows. */
static int describe_range(const struct weft__stats_making *m, struct weft_stats *stats)
{
	const struct weft_model_summary *summary = &m->model->summary;
	struct weft__idle *idle;
	uint32_t count;
	stats->story = m->story;
	stats->by = m->by;
	stats->options = (struct weft_stats_options){
		sizeof(stats->options), m->by, m->sort, m->from, m->to, m->hidden};
	stats->start_ns = m->from > summary->start ? m->from : summary->start;
	stats->end_ns = m->to < summary->end ? m->to : summary->end;
	if (stats->end_ns < stats->start_ns)
		stats->end_ns = stats->start_ns;
	int error = weft__model_idle(m->model, &idle, &count);
	if (error)
		return error;
	stats->idle_ns =
		is_idle_known(m->model) ? idle_ns(idle, count, stats->start_ns, stats->end_ns) : UINT64_MAX;
	free(idle);
	return 0;
}

static struct weft__stats_making making_of(
	const struct weft_story *story, const struct weft_stats_options *options)
{
	struct weft_stats_options settled = {0};
	if (options)
		WEFT__OPTIONS_COPY(&settled, options);
	bool reaches_end = !settled.end_ns || settled.end_ns >= story->model->summary.end;
	return (struct weft__stats_making){
		.story = story,
		.model = story->model,
		.by = settled.by < WEFT_STATS_BYS ? settled.by : WEFT_STATS_BY_LABEL,
		.sort = settled.sort < WEFT_STATS_SORTS ? settled.sort : WEFT_STATS_SORT_TOTAL,
		.hidden = settled.hidden,
		.from = settled.start_ns,
		.to = reaches_end ? UINT64_MAX : settled.end_ns,
	};
}

struct weft__stats_maker {
	struct weft__stats_making making;
	struct weft_stats *stats;
	unsigned done;     /* stages */
	uint32_t measured; /* items */
};

/* The rows are made of tasks, spans or waits. */
struct items {
	int (*list)(struct weft__stats_making *making);
	int (*measure)(struct weft__stats_making *making, uint32_t first, uint32_t last);
};

static struct items items_of(enum weft_stats_by by)
{
	if (by == WEFT_STATS_BY_SPAN)
		return (struct items){weft__stats_list_spans, weft__stats_measure_spans};
	if (by == WEFT_STATS_BY_STACK)
		return (struct items){weft__stats_list_waits, weft__stats_measure_waits};
	return (struct items){weft__stats_list_tasks, weft__stats_measure_tasks};
}

static int list(struct weft__stats_maker *maker)
{
	return items_of(maker->making.by).list(&maker->making);
}

static int group(struct weft__stats_maker *maker)
{
	return weft__stats_group(&maker->making);
}

static int measure(struct weft__stats_maker *maker)
{
	struct weft__stats_making *m = &maker->making;
	uint32_t first = maker->measured, left = m->item_count - first;
	uint32_t last = first + (left < STEP_ITEMS ? left : STEP_ITEMS);
	int error = items_of(m->by).measure(m, first, last);
	maker->measured = last;
	return !error && last < m->item_count ? WEFT_AGAIN : error;
}

static int finish(struct weft__stats_maker *maker)
{
	int error = sort_rows(&maker->making);
	return error ? error : describe_range(&maker->making, maker->stats);
}

/* Each returns WEFT_AGAIN if it goes on in the next step. */
static int (*const stages[])(struct weft__stats_maker *maker) = {list, group, measure, finish};

#define STAGES (sizeof(stages) / sizeof(stages[0]))

int weft__stats_maker_create(const struct weft_story *story,
	const struct weft_stats_options *options, struct weft__stats_maker **ret_maker)
{
	struct weft__stats_maker *maker = calloc(1, sizeof(*maker));
	if (maker)
		maker->stats = calloc(1, sizeof(*maker->stats));
	if (!maker || !maker->stats) {
		free(maker);
		return WEFT_ERROR_MEMORY;
	}
	maker->making = making_of(story, options);
	*ret_maker = maker;
	return 0;
}

int weft__stats_maker_step(struct weft__stats_maker *maker, struct weft_stats **ret_stats)
{
	struct weft__stats_making *m = &maker->making;
	int status = stages[maker->done](maker);
	maker->done += status == WEFT_OK;
	if (status || maker->done < STAGES)
		return status ? status : WEFT_AGAIN;
	maker->stats->rows = m->rows;
	maker->stats->row_count = m->row_count;
	maker->stats->members = m->members;
	m->rows = NULL;
	m->members = NULL;
	*ret_stats = maker->stats;
	maker->stats = NULL;
	return 0;
}

void weft__stats_maker_destroy(struct weft__stats_maker *maker)
{
	if (!maker)
		return;
	free(maker->making.items);
	free(maker->making.rows);
	free(maker->making.members);
	free(maker->making.row_of_thread);
	free(maker->stats);
	free(maker);
}

WEFT__EXPORT int weft_stats_create(const struct weft_story *story,
	const struct weft_stats_options *options, struct weft_stats **ret_stats)
{
	struct weft__stats_maker *maker = NULL;
	int status = weft__stats_maker_create(story, options, &maker);
	if (status)
		return status;
	do
		status = weft__stats_maker_step(maker, ret_stats);
	while (status == WEFT_AGAIN);
	weft__stats_maker_destroy(maker);
	return status;
}

WEFT__EXPORT void weft_stats_destroy(struct weft_stats *stats)
{
	if (!stats)
		return;
	free((void *)(uintptr_t)stats->rows);
	free((void *)(uintptr_t)stats->members);
	free(stats);
}
