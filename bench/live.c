/* SPDX-License-Identifier: ISC
 *
 * What a refresh of a growing trace costs: after 10^6 and 10^7 events, REFRESHES times, 1000 more
 * events are added, and a snapshot, its layout and its scene are made. The least time of each
 * counts.
 *
 *     bench_live [EVENTS]
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

enum {
	REFRESHES = 5,
	EVENTS_BETWEEN = 1000,
};

struct least {
	double add, snapshot, layout, scene;
};

/* Of the process: what else runs on the machine does not count. */
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

/* The time since `*from`, if it is the least so far. */
static void take_least(double *least, double *from)
{
	double now = used_ms();
	if (*least == 0 || now - *from < *least)
		*least = now - *from;
	*from = now;
}

static void refresh(
	struct weft_decoder *decoder, struct weft_model_builder *builder, struct least *least)
{
	const struct weft_layout_options options = {0};
	struct weft_model *model;
	struct weft_layout *layout;
	struct weft_scene *scene;
	double from = used_ms();
	add(decoder, builder, EVENTS_BETWEEN);
	take_least(&least->add, &from);
	check(weft_model_builder_snapshot(builder, weft_decoder_describe(decoder), 0, &model));
	take_least(&least->snapshot, &from);
	check(weft_layout_create(model, &options, &layout));
	take_least(&least->layout, &from);
	check(weft_scene_create(model, layout, &scene));
	take_least(&least->scene, &from);
	weft_scene_destroy(scene);
	weft_layout_destroy(layout);
	weft_model_destroy(model);
}

static void measure(uint64_t events)
{
	struct bytes trace = random_weft(events + (uint64_t)REFRESHES * EVENTS_BETWEEN);
	struct weft_model_builder *builder;
	struct weft_decoder *decoder;
	struct least least = {0};
	check(weft_decoder_create(&decoder));
	check(weft_decoder_feed_borrowed(decoder, trace.data, trace.size));
	check(weft_decoder_finish(decoder));
	check(weft_model_builder_create(&builder));
	add(decoder, builder, events);
	for (unsigned i = 0; i < REFRESHES; i++)
		refresh(decoder, builder, &least);
	printf("%10" PRIu64 " %9.2f %9.1f %9.1f %9.1f\n", events, least.add, least.snapshot,
		least.layout, least.scene);
	fflush(stdout);
	weft_model_builder_destroy(builder);
	weft_decoder_destroy(decoder);
	free(trace.data);
}

int main(int argc, char **argv)
{
	printf("live: a refresh after %d more events; processor time, ms.\n"
		   "    events       add  snapshot    layout     scene\n",
		EVENTS_BETWEEN);
	fflush(stdout);
	if (argc > 1) {
		measure(strtoull(argv[1], NULL, 10));
		return 0;
	}
	measure(1000000);
	measure(10000000);
	return 0;
}
