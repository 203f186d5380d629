/* SPDX-License-Identifier: ISC
 *
 * Losses as problems: the missing events may be the very ones that the user searches. Overlapping
 * or close periods are one problem; losses without a period are a problem of the whole trace. They
 * are hints: they are no fault of the program.
 */
#include <inttypes.h>

#include "story/problems/findings.h"
#include "story/things.h"

#define NEAR_SHARE 200 /* 1 / share of a trace: closer periods are joined */
#define FOUND_MAX  20

/* Adjacent periods. */
struct cluster {
	uint64_t start, end, count;
	uint32_t thread; /* WEFT_NONE: several */
	uint8_t cause;   /* WEFT_LOSS_CAUSES: several */
};

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Packets are counted apart: it is unknown how many events they had. */
static bool is_of_packets(uint8_t cause)
{
	return cause == WEFT_LOSS_MISSING_PACKETS;
}

static void write_count(struct weft__sentence *s, uint64_t count, uint8_t cause)
{
	struct weft__words *w = weft__story_clause(s, 9);
	weft__story_words_add_count(w, count, is_of_packets(cause) ? "packet" : "event");
	weft__story_words_add(w, count == 1 ? " is" : " are");
	weft__story_words_add(w, is_of_packets(cause) ? " missing or damaged" : " lost");
}

static void find_losses(
	struct weft__findings *findings, const struct cluster *cluster, struct weft__sentence *s)
{
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_LOSS, WEFT_SEVERITY_HINT,
		cluster->count < UINT32_MAX ? (uint32_t)cluster->count : UINT32_MAX,
		(struct weft__case){WEFT_NONE, cluster->start, cluster->end});
	problem.thread = cluster->thread;
	weft__story_find(findings, &problem, cluster->count, s);
}

static void add_cluster(struct weft__findings *findings, const struct cluster *cluster)
{
	const struct weft_model *model = findings->story->model;
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	write_count(&s, cluster->count, cluster->cause);
	struct weft__words *w = weft__story_clause(&s, 8);
	if (cluster->start == cluster->end) {
		weft__story_words_add(w, " before the first");
	} else {
		weft__story_words_add(w, " from ");
		weft__story_words_add_time(w, model, cluster->start);
		weft__story_words_add(w, " to ");
		weft__story_words_add_time(w, model, cluster->end);
	}
	if (cluster->thread != WEFT_NONE)
		weft__story_words_add_thread(weft__story_clause(&s, 6), model, cluster->thread);
	if (cluster->cause < WEFT_LOSS_CAUSES && !is_of_packets(cluster->cause))
		weft__story_words_add(
			weft__story_clause(&s, 7), ": %s", weft_loss_name((enum weft_loss)cluster->cause));
	find_losses(findings, cluster, &s);
}

static void join(struct cluster *cluster, const struct weft_loss_period *period)
{
	if (period->end > cluster->end)
		cluster->end = period->end;
	if (period->thread != cluster->thread)
		cluster->thread = WEFT_NONE;
	if (period->cause != cluster->cause)
		cluster->cause = WEFT_LOSS_CAUSES;
	cluster->count = add_saturated(cluster->count, period->count);
}

/* Adds all clusters; returns the number of their events, without those of packets. */
static uint64_t add_clusters(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	uint64_t near_ns = (model->summary.end - model->summary.start) / NEAR_SHARE, sum = 0;
	uint32_t found = 0;
	for (uint32_t i = 0, next; i < model->loss_period_count && found < FOUND_MAX; i = next) {
		const struct weft_loss_period *p = &model->loss_periods[i];
		struct cluster cluster = {p->start, p->end, p->count, p->thread, p->cause};
		for (next = i + 1; next < model->loss_period_count; next++) {
			const struct weft_loss_period *other = &model->loss_periods[next];
			if ((other->start > cluster.end && other->start - cluster.end > near_ns) ||
				is_of_packets(other->cause) != is_of_packets(p->cause))
				break;
			join(&cluster, other);
		}
		if (cluster.count)
			add_cluster(findings, &cluster);
		sum = add_saturated(sum, is_of_packets(cluster.cause) ? 0 : cluster.count);
		found++;
	}
	return sum;
}

static void add_rest(struct weft__findings *findings, uint64_t rest, bool has_clusters)
{
	const struct weft_model *model = findings->story->model;
	struct cluster cluster = {
		model->summary.start, model->summary.end, rest, WEFT_NONE, WEFT_LOSS_CAUSES};
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	write_count(&s, rest, WEFT_LOSS_CAUSES);
	weft__story_words_add(
		weft__story_clause(&s, 8), " %s", has_clusters ? "elsewhere" : "somewhere");
	if (!has_clusters) {
		struct weft__words *w = weft__story_clause(&s, 7);
		weft__story_words_add(w, ": ");
		weft__story_words_add_losses(w, model->losses);
	}
	find_losses(findings, &cluster, &s);
}

void weft__find_losses(struct weft__findings *findings)
{
	uint64_t counted = add_clusters(findings);
	uint64_t sum = weft__story_count_losses(findings->story->model->losses);
	if (sum > counted)
		add_rest(findings, sum - counted, counted > 0);
}
