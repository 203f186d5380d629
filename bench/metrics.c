/* SPDX-License-Identifier: ISC
 *
 * The cost of changing metrics, beside that of an atomic add, and of children that come and go
 * among 100,000 others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <weft/metrics.h>

#include "measure.h"

WEFT_METRIC_DEFINE(acked, .name = "acked", .type = WEFT_METRIC_COUNTER, .unit = "bytes");
WEFT_METRIC_DEFINE(queued, .name = "queued", .type = WEFT_METRIC_GAUGE);
WEFT_METRIC_DEFINE(
	latency, .name = "latency", .type = WEFT_METRIC_HISTOGRAM, .unit = "seconds", .scale = -9);

enum {
	CHILDREN = 100000,
};

static weft_metric counter, gauge, histogram, child, grandchild;
static weft_metric others[CHILDREN];
static struct weft_limit limit;
static uint64_t cell;

LOOP(do_atomic_add, __atomic_fetch_add(&cell, 1, __ATOMIC_RELAXED))
LOOP(do_add, weft_metric_add(counter, 1))
LOOP(do_change, weft_metric_change(gauge, 1))
LOOP(do_record, weft_metric_record(histogram, i * 977))
LOOP(do_add_to_child, weft_metric_add(child, 1))
LOOP(do_add_to_grandchild, weft_metric_add(grandchild, 1))
LOOP(do_limit, KEEP(weft_limit_allows(&limit, 1)))
LOOP(do_limit_and_add, if (weft_limit_allows(&limit, 1)) weft_metric_add(counter, 1))
LOOP(do_churn, weft_metric_end(weft_metric_child_n(counter, "stream", i)))

/* Adds to one of many, each in a cache line of its own. */
static uint64_t spread(uint64_t i)
{
	return i * 7919 % CHILDREN;
}
LOOP(do_add_to_any, weft_metric_add(others[spread(i)], 1))
LOOP(do_replace_any, weft_metric_end(others[spread(i)]);
	 others[spread(i)] = weft_metric_child_n(counter, "stream", i))

static const struct subject alone[] = {
	{"child, one of 100,000", do_add_to_any},
	{"end and begin, one of 100,000", do_replace_any},
};

static const struct subject subjects[] = {
	{"an atomic add, for comparison", do_atomic_add},
	{"counter", do_add},
	{"gauge", do_change},
	{"histogram", do_record},
	{"counter, of a child", do_add_to_child},
	{"counter, of a child of a child", do_add_to_grandchild},
	{"limit", do_limit},
	{"limit and counter", do_limit_and_add},
	{"begin and end of a child", do_churn},
};

static double ns_since(const struct timespec *begin)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - begin->tv_sec) * 1e9 + (double)(now.tv_nsec - begin->tv_nsec);
}

/* Ends all children, then begins as many, in an order that no cache expects. */
static void print_all_children(void)
{
	struct timespec begin;
	double ends = 1e18, begins = 1e18;
	for (int round = 0; round < 20; round++) {
		clock_gettime(CLOCK_MONOTONIC, &begin);
		for (uint64_t i = 0; i < CHILDREN; i++)
			weft_metric_end(others[spread(i)]);
		double ns = ns_since(&begin);
		ends = ns < ends ? ns : ends;
		clock_gettime(CLOCK_MONOTONIC, &begin);
		for (uint64_t i = 0; i < CHILDREN; i++)
			others[i] = weft_metric_child(counter, "stream", "10.0.0.1:51234");
		ns = ns_since(&begin);
		begins = ns < begins ? ns : begins;
	}
	printf("  100,000 children: end %.1f ns each, begin %.1f ns\n", ends / CHILDREN,
		begins / CHILDREN);
}

static void begin(void)
{
	static const char *const labels[] = {"pool", "eu", "customer", "acme"};
	counter = weft_metric_get(&acked, labels, 2);
	gauge = weft_metric_get(&queued, labels, 2);
	histogram = weft_metric_get(&latency, labels, 2);
	if (weft_metrics_reserve(CHILDREN + 10))
		exit(1);
	child = weft_metric_child(counter, "vm", "3");
	grandchild = weft_metric_child(child, "stream", "1");
	for (uint64_t i = 0; i < CHILDREN; i++)
		others[i] = weft_metric_child_n(counter, "stream", i);
	limit = (struct weft_limit)WEFT_LIMIT(counter, UINT64_MAX / 2);
}

int main(void)
{
	begin();
	measure_print_heading();
	measure_print_section("metrics; the floor is the empty loop");
	for (size_t i = 0; i < sizeof(subjects) / sizeof(*subjects); i++) {
		struct measured measured = measure_subject(&subjects[i], &measure_empty);
		measure_print_line(subjects[i].name, &measured, 0);
	}
	for (size_t i = 0; i < sizeof(alone) / sizeof(*alone); i++) {
		struct measured measured = measure_subject_alone(&alone[i], &measure_empty);
		measure_print_line(alone[i].name, &measured, 0);
	}
	measure_print_mean_of_two("one counter", do_add);
	print_all_children();
	return 0;
}
