/* SPDX-License-Identifier: ISC
 *
 * The cost of a refresh of a growing trace: after 10^6 and 10^7 events, REFRESHES times, more
 * events are added, and a snapshot, its layout and its scene are made from the former ones. The
 * mean counts, since some refreshes pay for others; of the scene, also the largest.
 *
 *     bench_live [EVENTS [NEW-EVENTS]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <weft/decoder.h>
#include <weft/layout.h>
#include <weft/model.h>
#include <weft/render.h>

#include "random_trace.h"

#define REFRESHES 5

/* A state of the trace. */
struct shown {
	struct weft_model *model;
	struct weft_layout *layout;
	struct weft_scene *scene;
};

/* ms */
struct cost {
	double add, snapshot, layout, scene, scene_most;
};

/* The process's own time, without that of other programs. */
static double used_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void check(int error)
{
	if (!error)
		return;
	fprintf(stderr, "bench_live: %s\n", weft_error_text(error));
	exit(1);
}

static void add(struct weft_decoder *decoder, struct weft_model_builder *builder, uint64_t count)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_event event;
	while (count--) {
		check(weft_decoder_next(decoder, &event));
		check(weft_model_builder_add(builder, &event, &diagnostics));
	}
}

/* The time since `*from`, which becomes now. */
static double since(double *from)
{
	double before = *from;
	*from = used_ms();
	return *from - before;
}

static void drop(struct shown *shown)
{
	weft_scene_destroy(shown->scene);
	weft_layout_destroy(shown->layout);
	weft_model_destroy(shown->model);
}

static struct cost refresh(struct weft_decoder *decoder, struct weft_model_builder *builder,
	uint64_t new_events, struct shown *shown)
{
	const struct weft_layout_options options = {.previous = shown->layout};
	struct shown next;
	struct cost cost;
	double from = used_ms();
	add(decoder, builder, new_events);
	cost.add = since(&from);
	check(weft_model_builder_snapshot(builder, weft_decoder_describe(decoder), 0, &next.model));
	cost.snapshot = since(&from);
	check(weft_layout_create(next.model, &options, &next.layout));
	cost.layout = since(&from);
	check(weft_scene_create_from(next.model, next.layout, shown->scene, &next.scene));
	cost.scene = cost.scene_most = since(&from);
	drop(shown);
	*shown = next;
	return cost;
}

/* The mean costs; the first scene, which is made from nothing, does not count. */
static struct cost refresh_often(
	struct weft_decoder *decoder, struct weft_model_builder *builder, uint64_t new_events)
{
	struct shown shown = {NULL, NULL, NULL};
	struct cost mean = {0};
	refresh(decoder, builder, new_events, &shown);
	for (unsigned i = 0; i < REFRESHES; i++) {
		struct cost cost = refresh(decoder, builder, new_events, &shown);
		mean.add += cost.add / REFRESHES;
		mean.snapshot += cost.snapshot / REFRESHES;
		mean.layout += cost.layout / REFRESHES;
		mean.scene += cost.scene / REFRESHES;
		if (cost.scene > mean.scene_most)
			mean.scene_most = cost.scene;
	}
	drop(&shown);
	return mean;
}

static void measure(uint64_t events, uint64_t new_events)
{
	struct bytes trace = random_weft(events + (uint64_t)(REFRESHES + 1) * new_events);
	struct weft_model_builder *builder;
	struct weft_decoder *decoder;
	check(weft_decoder_create(&decoder));
	check(weft_decoder_feed_borrowed(decoder, trace.data, trace.size));
	check(weft_decoder_finish(decoder));
	check(weft_model_builder_create(&builder));
	add(decoder, builder, events);
	struct cost cost = refresh_often(decoder, builder, new_events);
	printf("%10" PRIu64 " %9" PRIu64 " %9.2f %9.1f %9.1f %9.1f %9.1f\n", events, new_events,
		cost.add, cost.snapshot, cost.layout, cost.scene, cost.scene_most);
	fflush(stdout);
	weft_model_builder_destroy(builder);
	weft_decoder_destroy(decoder);
	free(trace.data);
}

int main(int argc, char **argv)
{
	static const uint64_t all[] = {1000000, 10000000}, new_events[] = {10000, 100000};
	printf("live: a refresh of a growing trace; processor time, ms.\n"
		   "    events       new       add  snapshot    layout     scene  at most\n");
	fflush(stdout);
	if (argc > 1) {
		measure(strtoull(argv[1], NULL, 10), argc > 2 ? strtoull(argv[2], NULL, 10) : 10000);
		return 0;
	}
	for (unsigned i = 0; i < 4; i++)
		measure(all[i / 2], new_events[i % 2]);
	return 0;
}
