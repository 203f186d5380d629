/* SPDX-License-Identifier: ISC
 *
 * Statistics of random traces, compared with a second, slow way to compute them from the model.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <weft/stats.h>

#include "loaded.h"

#define TASKS   40
#define THREADS 3
#define ROUNDS  60

static uint64_t seed;

static uint32_t pick(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

static void make_named_task(struct made *made, uint64_t id)
{
	static const uint16_t kinds[] = {WEFT_KIND_TASK, WEFT_KIND_BIND, WEFT_KIND_WAIT};
	static const char *const words[] = {"port-%u", "%u ports", "disk"};
	char label[16];
	make_create(made, pick(3) ? WEFT_TASK_NONE : 1 + pick(TASKS), id, kinds[pick(3)]);
	snprintf(label, sizeof(label), words[pick(3)], pick(200));
	if (pick(4))
		make_label(made, id, label);
}

static void make_end_of_task(struct made *made, uint64_t id)
{
	static const uint8_t types[] = {WEFT_EVENT_RESOLVE, WEFT_EVENT_RESOLVE, WEFT_EVENT_FAIL,
		WEFT_EVENT_CANCEL, WEFT_EVENT_CLOSE, WEFT_EVENT_TIME_OUT, WEFT_EVENT_EXPECT};
	uint8_t type = types[pick(sizeof(types))];
	make(made, (struct weft_event){.type = type,
				   .task = type == WEFT_EVENT_EXPECT ? id : WEFT_TASK_NONE,
				   .other = id,
				   .text = {"E", 1}});
}

static void make_count(struct made *made)
{
	static const char *const names[] = {"whole", "real"};
	uint32_t which = pick(2);
	struct weft_event event = {.type = WEFT_EVENT_COUNTER,
		.task = WEFT_TASK_NONE,
		.value = (int64_t)pick(2000) - 1000,
		.is_set = pick(2) == 0,
		.text = {names[which], strlen(names[which])}};
	if (which == 1 && pick(3) == 0) {
		event.is_real = true;
		event.real = event.is_set ? pick(100) / 8.0 : pick(100) / 8.0 - 6;
	}
	make(made, event);
}

static void make_step(struct made *made, uint64_t *next)
{
	uint64_t id = 1 + pick(TASKS);
	made->thread = pick(THREADS);
	made->time += pick(2) ? pick(60) * (pick(20) ? 1 : 100000) : 0;
	switch (pick(10)) {
	case 0:
	case 1: /* some are created, or named, once more */
		make_named_task(made, pick(8) || *next == 1 ? (*next)++ : 1 + pick((uint32_t)*next - 1));
		break;
	case 8:
		make_begin_span(made, id, pick(2) ? "parse" : pick(2) ? "part 1" : "part 22");
		break;
	case 9:
		make_end_span(made, id);
		break;
	case 2:
		make_end_of_task(made, id);
		break;
	case 3:
	case 4:
		make_switch(made, id);
		break;
	case 5:
		make_switch(made, WEFT_TASK_NONE);
		break;
	case 6:
		make_signal(made, 1 + pick(TASKS), id, false);
		break;
	default:
		make_count(made);
	}
}

static struct loaded random_trace(uint64_t from)
{
	struct made made = make_begin();
	uint64_t next = 1;
	seed = from;
	made.time = 100;
	for (unsigned i = 0; i < 150; i++)
		make_step(&made, &next);
	return make_end(&made);
}

static struct weft_stats *measure(const struct loaded *loaded, enum weft_stats_by by,
	enum weft_stats_sort sort, uint64_t from, uint64_t to)
{
	const struct weft_stats_options options = {
		.by = by, .sort = sort, .start_ns = from, .end_ns = to};
	struct weft_stats *stats;
	assert_int_equal(weft_stats_create(&loaded->story, &options, &stats), 0);
	return stats;
}

/* ---- What a row should be ---- */

/* A range of time, and whether it has all that follows. */
struct range {
	uint64_t from, to;
	bool reaches_end;
};

static struct range range_of(const struct loaded *loaded, uint64_t from, uint64_t to)
{
	bool reaches_end = to == 0 || to >= loaded->model->summary.end;
	return (struct range){from, reaches_end ? UINT64_MAX : to, reaches_end};
}

static uint64_t overlap(uint64_t start, uint64_t end, struct range r)
{
	uint64_t sum = 0;
	start = start < r.from ? r.from : start;
	end = end > r.to ? r.to : end;
	if (start < end)
		sum = end - start;
	return sum;
}

/* Any digits are one '#'. */
static void fold_digits(struct weft_slice text, char *ret_name)
{
	size_t used = 0;
	for (size_t i = 0; i < text.size; i++) {
		bool is_digit = text.bytes[i] >= '0' && text.bytes[i] <= '9';
		if (!is_digit || used == 0 || ret_name[used - 1] != '#')
			ret_name[used++] = is_digit ? '#' : text.bytes[i];
	}
	ret_name[used] = '\0';
}

/* The name of the row that a task should be in, and a number that tells apart rows of one name. */
static uint32_t row_name(const struct loaded *l, enum weft_stats_by by, uint32_t task, char *name)
{
	const struct weft_tasks *tasks = &l->model->tasks;
	name[0] = '\0';
	if (by == WEFT_STATS_BY_KIND) {
		const char *kind = weft_model_kind_name(l->model, tasks->kind[task]);
		snprintf(name, 256, "%s", kind ? kind : "?");
	} else if (by == WEFT_STATS_BY_LABEL) {
		fold_digits(weft_model_string(l->model, tasks->label[task]), name);
		return tasks->kind[task];
	} else if (by == WEFT_STATS_BY_PARENT && l->layout->parent[task] != WEFT_NONE) {
		uint32_t parent = l->layout->parent[task];
		fold_digits(weft_model_string(l->model, tasks->label[parent]), name);
		return tasks->kind[parent];
	}
	return WEFT_NONE;
}

struct expected {
	uint32_t count, ended, by_outcome[WEFT_OUTCOMES];
	uint64_t lives[TASKS * 4];
	uint64_t lifetime, running, spent;
};

static int compare_numbers(const void *left, const void *right)
{
	const uint64_t *l = left, *r = right;
	return *l < *r ? -1 : *l > *r;
}

static uint64_t start_of(const struct loaded *l, uint32_t task)
{
	return l->layout->start[task];
}

static void expect_task(
	const struct loaded *l, struct range r, uint32_t task, struct expected *expected)
{
	const struct weft_model *m = l->model;
	uint64_t start = start_of(l, task), end = m->tasks.end[task];
	bool is_over = m->tasks.flags[task] & WEFT_TASK_RESOLVED;
	if (start >= r.to || end < r.from)
		return;
	bool ended = is_over && (r.reaches_end || end < r.to);
	expected->count++;
	expected->by_outcome[ended || (r.reaches_end && !is_over) ? m->tasks.outcome[task]
															  : WEFT_OUTCOME_UNFINISHED]++;
	if (ended) {
		expected->lives[expected->ended++] = end - start;
		expected->lifetime += end - start;
	}
	for (uint32_t i = m->tasks.first_activation[task]; i < m->tasks.end_activation[task]; i++)
		expected->running += overlap(m->activations.start[i], m->activations.end[i], r);
	/* Every ns of a life is running, waiting or delay. A task on several threads is counted on
	 * each. */
	for (uint64_t at = start; at < end;) {
		uint64_t next = end;
		bool runs = false;
		for (uint32_t i = m->tasks.first_activation[task]; i < m->tasks.end_activation[task]; i++) {
			uint64_t s = m->activations.start[i], e = m->activations.end[i];
			runs = runs || (s <= at && at < e);
			next = s > at && s < next ? s : next;
			next = e > at && e < next ? e : next;
		}
		expected->spent += runs ? 0 : overlap(at, next, r);
		at = next;
	}
}

static uint64_t percentile(const struct expected *expected, uint32_t percent)
{
	return expected->ended ? expected->lives[(expected->ended - 1) * percent / 100] : 0;
}

static void check_row(
	const struct weft_stats *stats, const struct weft_stats_row *row, struct expected *expected)
{
	assert_int_equal(row->count, expected->count);
	assert_int_equal(row->ended, expected->ended);
	for (unsigned i = 0; i < WEFT_OUTCOMES; i++)
		assert_int_equal(row->by_outcome[i], expected->by_outcome[i]);
	qsort(expected->lives, expected->ended, sizeof(*expected->lives), compare_numbers);
	for (uint32_t i = 0; i < row->ended; i++) {
		const struct weft_stats_member *member = &stats->members[row->first + i];
		assert_int_equal(member->end - member->start, expected->lives[i]);
	}
	assert_int_equal(row->lifetime_ns, expected->lifetime);
	assert_int_equal(row->p50_ns, percentile(expected, 50));
	assert_int_equal(row->p90_ns, percentile(expected, 90));
	assert_int_equal(row->p99_ns, percentile(expected, 99));
	assert_int_equal(row->max_ns, percentile(expected, 100));
	assert_int_equal(row->running_ns, expected->running);
	assert_int_equal(row->waiting_ns + row->delay_ns, expected->spent);
	assert_true(row->max_delay_ns <= row->delay_ns);
	assert_int_equal(row->most_delayed != WEFT_NONE, row->delay_ns > 0);
}

/* Returns how many of its tasks are in the row. */
static uint32_t check_members(const struct loaded *l, enum weft_stats_by by, struct range r,
	const struct weft_stats *stats, const struct weft_stats_row *row)
{
	struct expected expected = {0};
	char name[256], other[256];
	uint32_t apart = row_name(l, by, row->example, name);
	weft_stats_format_name(stats, row, other, sizeof(other));
	assert_string_equal(other, name);
	for (uint32_t task = 0; task < l->model->tasks.count; task++)
		if (row_name(l, by, task, other) == apart && strcmp(other, name) == 0) {
			expect_task(l, r, task, &expected);
			if (by == WEFT_STATS_BY_LABEL)
				assert_ptr_equal(weft_stats_find_alike(stats, task), row);
		}
	check_row(stats, row, &expected);
	return expected.count;
}

static uint32_t alive_in(const struct loaded *l, struct range r)
{
	uint32_t count = 0;
	for (uint32_t task = 0; task < l->model->tasks.count; task++) {
		struct expected expected = {0};
		expect_task(l, r, task, &expected);
		count += expected.count;
	}
	return count;
}

/* A random range: all of the trace, a part, or one with the time of an event as an end. */
static void pick_range(const struct loaded *l, uint64_t *ret_from, uint64_t *ret_to)
{
	const struct weft_model *m = l->model;
	uint64_t length = m->summary.end - m->summary.start + 2;
	uint64_t a = m->summary.start + pick((uint32_t)length);
	uint64_t b =
		pick(2) ? m->tasks.end[pick(m->tasks.count)] : m->tasks.start[pick(m->tasks.count)];
	*ret_from = pick(3) ? (a < b ? a : b) : 0;
	*ret_to = pick(3) ? (a < b ? b : a) : 0;
}

static void rows_are_as_computed_slowly(void **state)
{
	static const enum weft_stats_by groupings[] = {
		WEFT_STATS_BY_LABEL, WEFT_STATS_BY_KIND, WEFT_STATS_BY_PARENT};
	(void)state;
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		struct loaded loaded = random_trace(round);
		uint64_t from, to;
		pick_range(&loaded, &from, &to);
		struct range r = range_of(&loaded, from, to);
		for (size_t by = 0; by < sizeof(groupings) / sizeof(*groupings); by++) {
			struct weft_stats *stats =
				measure(&loaded, groupings[by], WEFT_STATS_SORT_TOTAL, from, to);
			uint32_t count = 0;
			for (uint32_t i = 0; i < stats->row_count; i++)
				count += check_members(&loaded, groupings[by], r, stats, &stats->rows[i]);
			assert_int_equal(count, alive_in(&loaded, r));
			weft_stats_destroy(stats);
		}
		loaded_finish(&loaded);
	}
}

/* ---- Spans ---- */

/* The spans of a name in a range, and how long their tasks ran in them. */
struct expected_spans {
	uint32_t count, ended;
	uint64_t lifetime, max, running, waiting;
};

static bool has_name(const struct loaded *l, const struct weft_span *span, const char *name)
{
	char folded[64];
	fold_digits(weft_model_string(l->model, span->name), folded);
	return strcmp(folded, name) == 0;
}

static void expect_span(const struct loaded *l, struct range r, uint32_t task,
	const struct weft_span *span, struct expected_spans *expected)
{
	const struct weft_model *m = l->model;
	uint64_t ran = 0, length = overlap(span->start, span->end, r);
	if (span->start >= r.to || span->end < r.from)
		return;
	bool ended = !span->is_open && (r.reaches_end || span->end < r.to);
	uint64_t life = ended ? span->end - span->start : 0;
	const struct range inside = {
		span->start > r.from ? span->start : r.from, span->end < r.to ? span->end : r.to, false};
	for (uint32_t i = m->tasks.first_activation[task]; i < m->tasks.end_activation[task]; i++)
		ran += overlap(m->activations.start[i], m->activations.end[i], inside);
	expected->count++;
	expected->ended += ended;
	expected->lifetime += life;
	expected->max = life > expected->max ? life : expected->max;
	expected->running += ran;
	expected->waiting += length > ran ? length - ran : 0;
}

static void check_span_row(
	const struct loaded *l, struct range r, const struct weft_stats *stats, uint32_t row)
{
	const struct weft_stats_row *got = &stats->rows[row];
	struct expected_spans expected = {0};
	char name[64];
	weft_stats_format_name(stats, got, name, sizeof(name));
	for (uint32_t task = 0; task < l->model->tasks.count; task++)
		for (uint32_t i = 0; i < weft_model_span_count(l->model, task); i++) {
			struct weft_span span = weft_model_span(l->model, task, i);
			if (has_name(l, &span, name))
				expect_span(l, r, task, &span, &expected);
		}
	assert_int_equal(got->count, expected.count);
	assert_int_equal(got->ended, expected.ended);
	assert_int_equal(weft_stats_unfinished(got), expected.count - expected.ended);
	assert_int_equal(got->lifetime_ns, expected.lifetime);
	assert_int_equal(got->max_ns, expected.max);
	assert_int_equal(got->running_ns, expected.running);
	assert_int_equal(got->waiting_ns, expected.waiting);
}

/* As often as not, a range ends with a span. */
static void pick_range_of_spans(const struct loaded *l, uint64_t *ret_from, uint64_t *ret_to)
{
	uint32_t task = pick(l->model->tasks.count);
	pick_range(l, ret_from, ret_to);
	if (pick(2) && weft_model_span_count(l->model, task)) {
		struct weft_span span = weft_model_span(l->model, task, 0);
		*ret_to = span.end >= *ret_from ? span.end : *ret_to;
	}
}

static void spans_are_as_computed_slowly(void **state)
{
	uint32_t compared = 0;
	(void)state;
	for (uint64_t round = 1; round <= 4 * ROUNDS; round++) {
		struct loaded loaded = random_trace(round);
		uint64_t from, to;
		pick_range_of_spans(&loaded, &from, &to);
		struct weft_stats *stats =
			measure(&loaded, WEFT_STATS_BY_SPAN, WEFT_STATS_SORT_TOTAL, from, to);
		for (uint32_t i = 0; i < stats->row_count; i++, compared++)
			check_span_row(&loaded, range_of(&loaded, from, to), stats, i);
		weft_stats_destroy(stats);
		loaded_finish(&loaded);
	}
	assert_true(compared > ROUNDS);
}

/* ---- The order of rows ---- */

static uint64_t total_of(const struct weft_stats_row *row)
{
	return row->running_ns + row->waiting_ns + row->delay_ns;
}

static uint64_t column_of(const struct weft_stats_row *row, enum weft_stats_sort sort)
{
	switch (sort) {
	case WEFT_STATS_SORT_COUNT:
		return row->count;
	case WEFT_STATS_SORT_FAILED:
		return row->by_outcome[WEFT_OUTCOME_FAILED];
	case WEFT_STATS_SORT_UNFINISHED:
		return row->by_outcome[WEFT_OUTCOME_UNFINISHED] +
			   row->by_outcome[WEFT_OUTCOME_NEVER_RESOLVED];
	case WEFT_STATS_SORT_P50:
		return row->p50_ns;
	case WEFT_STATS_SORT_P90:
		return row->p90_ns;
	case WEFT_STATS_SORT_P99:
		return row->p99_ns;
	case WEFT_STATS_SORT_MAX:
		return row->max_ns;
	case WEFT_STATS_SORT_RUNNING:
		return row->running_ns;
	case WEFT_STATS_SORT_WAITING:
		return row->waiting_ns;
	case WEFT_STATS_SORT_DELAY:
		return row->delay_ns;
	case WEFT_STATS_SORT_TOTAL:
	case WEFT_STATS_SORTS:
		break;
	}
	return total_of(row);
}

/* By the column, then by time in all, then by key. */
static bool is_before(
	const struct weft_stats_row *a, const struct weft_stats_row *b, enum weft_stats_sort sort)
{
	if (column_of(a, sort) != column_of(b, sort))
		return column_of(a, sort) > column_of(b, sort);
	return total_of(a) != total_of(b) ? total_of(a) > total_of(b) : a->key < b->key;
}

static void each_column_sorts_rows(void **state)
{
	(void)state;
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		struct loaded loaded = random_trace(round);
		for (unsigned sort = 0; sort < WEFT_STATS_SORTS; sort++) {
			struct weft_stats *stats =
				measure(&loaded, WEFT_STATS_BY_LABEL, (enum weft_stats_sort)sort, 0, 0);
			for (uint32_t i = 1; i < stats->row_count; i++)
				assert_true(
					is_before(&stats->rows[i - 1], &stats->rows[i], (enum weft_stats_sort)sort));
			weft_stats_destroy(stats);
		}
		loaded_finish(&loaded);
	}
}

/* ---- Counters ---- */

static void check_counter(
	const struct loaded *l, const struct weft_stats *stats, uint32_t number, struct range r)
{
	const struct weft_counter *c = &l->model->counters[number];
	struct weft_stats_counter got = weft_stats_counter_of(stats, number);
	double before = 0, after = 0, min = 0, max = 0;
	uint32_t changes = 0;
	bool has_value = !c->begins_set, has_before = has_value;
	for (uint32_t i = c->first; i < c->first + c->count; i++) {
		double value = weft_counter_value(l->model, c, i);
		if (l->model->samples.time[i] < r.from) {
			before = after = min = max = value;
			has_value = has_before = true;
		} else if (l->model->samples.time[i] < r.to) {
			after = value;
			min = value < min || !has_value ? value : min;
			max = value > max || !has_value ? value : max;
			has_value = true;
			changes++;
		}
	}
	assert_int_equal(got.changes, changes);
	assert_true(got.has_no_before == !has_before && got.has_no_value == !has_value);
	assert_true(got.before.real == before && got.after.real == after);
	assert_true(got.min.real == min && got.max.real == max);
	struct weft_number change = weft_stats_change(&got);
	assert_true(change.real == after - before);
	assert_int_equal(change.is_real, got.after.is_real || got.before.is_real);
	if (!change.is_real)
		assert_true((double)change.integer == after - before);
}

static void counters_are_as_computed_slowly(void **state)
{
	(void)state;
	uint32_t compared = 0;
	for (uint64_t round = 1; round <= 4 * ROUNDS; round++) {
		struct loaded loaded = random_trace(round);
		uint64_t from, to;
		pick_range(&loaded, &from, &to);
		struct weft_stats *stats =
			measure(&loaded, WEFT_STATS_BY_KIND, WEFT_STATS_SORT_TOTAL, from, to);
		for (uint32_t i = 0; i < loaded.model->counter_count; i++, compared++)
			check_counter(&loaded, stats, i, range_of(&loaded, from, to));
		weft_stats_destroy(stats);
		loaded_finish(&loaded);
	}
	assert_true(compared > ROUNDS);
}

static void a_change_stops_at_the_limits(void **state)
{
	const struct weft_stats_counter up = {
		.before = {.integer = INT64_MIN}, .after = {.integer = INT64_MAX}};
	const struct weft_stats_counter down = {
		.before = {.integer = INT64_MAX}, .after = {.integer = INT64_MIN}};
	(void)state;
	assert_true(weft_stats_change(&up).integer == INT64_MAX);
	assert_true(weft_stats_change(&down).integer == INT64_MIN);
}

/* ---- Histograms ---- */

/* 0, or 1, 2 or 5 times a power of ten; only a power of ten if the scale is coarse. */
static bool is_limit(uint64_t limit, bool is_coarse)
{
	while (limit && limit % 10 == 0)
		limit /= 10;
	return limit <= 1 || (!is_coarse && (limit == 2 || limit == 5));
}

/* The limits of the fine scale from a lifetime's bucket to that of another. */
static uint32_t fine_buckets(uint64_t least, uint64_t most)
{
	static const uint64_t factors[] = {1, 2, 5};
	uint32_t count = 0;
	for (uint64_t power = 1; power <= UINT64_MAX / 100; power *= 10)
		for (unsigned i = 0; i < 3; i++)
			count += factors[i] * power > least && factors[i] * power <= most;
	return count + 1;
}

static void check_histogram(const struct weft_stats *stats, const struct weft_stats_row *row)
{
	struct weft_stats_bucket buckets[WEFT_STATS_BUCKETS];
	uint32_t count = weft_stats_histogram(stats, row, buckets), sum = 0;
	if (!row->ended) {
		assert_int_equal(count, 0);
		return;
	}
	const struct weft_stats_member *members = &stats->members[row->first];
	uint32_t fine = fine_buckets(members[0].end - members[0].start, row->max_ns);
	bool is_coarse = fine > WEFT_STATS_BUCKETS;
	if (!is_coarse)
		assert_int_equal(count, fine);
	for (uint32_t i = 0; i < count; i++) {
		assert_true(
			is_limit(buckets[i].from_ns, is_coarse) && is_limit(buckets[i].to_ns, is_coarse));
		assert_int_equal(buckets[i].first, sum);
		assert_true(i == 0 || buckets[i].from_ns == buckets[i - 1].to_ns);
		for (uint32_t k = sum; k < sum + buckets[i].count; k++) {
			uint64_t life = members[k].end - members[k].start;
			assert_true(life >= buckets[i].from_ns && life < buckets[i].to_ns);
		}
		sum += buckets[i].count;
	}
	assert_int_equal(sum, row->ended);
	assert_true(buckets[0].count > 0 && buckets[count - 1].count > 0);
}

static void histograms_have_round_limits(void **state)
{
	(void)state;
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		struct loaded loaded = random_trace(round);
		struct weft_stats *stats =
			measure(&loaded, WEFT_STATS_BY_KIND, WEFT_STATS_SORT_TOTAL, 0, 0);
		for (uint32_t i = 0; i < stats->row_count; i++)
			check_histogram(stats, &stats->rows[i]);
		weft_stats_destroy(stats);
		loaded_finish(&loaded);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_as_computed_slowly),
		cmocka_unit_test(spans_are_as_computed_slowly),
		cmocka_unit_test(each_column_sorts_rows),
		cmocka_unit_test(counters_are_as_computed_slowly),
		cmocka_unit_test(a_change_stops_at_the_limits),
		cmocka_unit_test(histograms_have_round_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
