/* SPDX-License-Identifier: ISC
 *
 * Operations that users start on a trace: search, problems, statistics, the index of its edges. The
 * events are a random mix with labels of 8,000 different texts, and notes; the best of three runs
 * for each row.
 *
 *     bench_story [EVENTS]      by default 10⁵, 10⁶ and 10⁷
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/problems.h>
#include <weft/search.h>
#include <weft/stats.h>

#include "random_trace.h"

#define ROUNDS 5

static double now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void check(int error)
{
	if (!error)
		return;
	fprintf(stderr, "bench_story: %s\n", weft_error_text(error));
	exit(1);
}

static double time_search(
	const struct weft_model *model, const char *text, bool is_expression, uint64_t *ret_found)
{
	double best = 1e9;
	for (int round = 0; round < ROUNDS; round++) {
		struct weft_search *search;
		double begin = now_ms();
		check(weft_search_create(model, text, strlen(text), is_expression, NULL, &search));
		double took = now_ms() - begin;
		best = took < best ? took : best;
		*ret_found = search->found;
		weft_search_destroy(search);
	}
	return best;
}

static double time_index(const struct weft_model *model)
{
	double best = 1e9;
	for (int round = 0; round < ROUNDS; round++) {
		struct weft_story_index *index;
		double begin = now_ms();
		check(weft_story_index_create(model, &index));
		double took = now_ms() - begin;
		best = took < best ? took : best;
		weft_story_index_destroy(index);
	}
	return best;
}

static double time_problems(const struct weft_story *story, uint32_t *ret_count)
{
	double best = 1e9;
	for (int round = 0; round < ROUNDS; round++) {
		struct weft_problems *problems;
		double begin = now_ms();
		check(weft_problems_create(story, &problems));
		double took = now_ms() - begin;
		best = took < best ? took : best;
		*ret_count = problems->count;
		weft_problems_destroy(problems);
	}
	return best;
}

static double time_stats(const struct weft_story *story, uint32_t *ret_rows)
{
	double best = 1e9;
	for (int round = 0; round < ROUNDS; round++) {
		struct weft_stats *stats;
		double begin = now_ms();
		check(weft_stats_create(story, NULL, &stats));
		double took = now_ms() - begin;
		best = took < best ? took : best;
		*ret_rows = stats->row_count;
		weft_stats_destroy(stats);
	}
	return best;
}

static void measure(uint64_t events)
{
	struct weft_model *model = random_model(random_mirage(events));
	struct weft_layout *layout;
	struct weft_story_index *index;
	uint64_t few, many;
	uint32_t problems, rows;
	check(weft_layout_create(model, NULL, &layout));
	check(weft_story_index_create(model, &index));
	const struct weft_story story = {model, layout, index};
	double text = time_search(model, "block-77", false, &few);
	double expression = time_search(model, "(net|re.d)-[1-9]*$", true, &many);
	double edges = time_index(model), list = time_problems(&story, &problems);
	double statistics = time_stats(&story, &rows);
	printf("%9" PRIu64 " %8" PRIu32 " %8.1f %8" PRIu64 " %10.1f %8" PRIu64 " %8.1f %9.1f %6" PRIu32
		   " %10.1f %8" PRIu32 "\n",
		events, model->tasks.count, text, few, expression, many, edges, list, problems, statistics,
		rows);
	fflush(stdout);
	weft_story_index_destroy(index);
	weft_layout_destroy(layout);
	weft_model_destroy(model);
}

int main(int argc, char **argv)
{
	static const uint64_t sizes[] = {100000, 1000000, 10000000};
	uint64_t only = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	printf(
		"story: a search for a text and for an expression, the index, the list of problems, "
		"statistics by label; ms\n"
		"   events    tasks     text    found expression    found    index  problems  found statistics     rows\n");
	for (unsigned i = 0; i < 3 && !only; i++)
		measure(sizes[i]);
	if (only)
		measure(only);
	return 0;
}
