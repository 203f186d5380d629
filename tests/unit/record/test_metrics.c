/* SPDX-License-Identifier: ISC
 *
 * Metrics: levels by labels and their totals, gauges, histograms, children that come and go,
 * limits; in threads, and in a forked child.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <weft/error.h>
#include <weft/metrics.h>
#include <weft/weft.h>
#include <weft/weft_ffi.h>

#include "record/metrics.h"
#include "wipes.h"

#define LABELS(...) ((const char *const[]){__VA_ARGS__})

WEFT_METRIC_DEFINE(acked, .name = "tcp_acked", .type = WEFT_METRIC_COUNTER, .unit = "bytes",
	.help = "Bytes that the peer has acknowledged", .is_billable = true);
WEFT_METRIC_DEFINE(queued, .name = "queued", .type = WEFT_METRIC_GAUGE);
WEFT_METRIC_DEFINE(
	latency, .name = "latency", .type = WEFT_METRIC_HISTOGRAM, .unit = "seconds", .scale = -9);

static int64_t value_of(weft_metric metric)
{
	struct weft_metric_value value;
	assert_true(weft_metric_read(metric, &value));
	return value.value;
}

#define SIZED(text) (text), sizeof(text) - 1

/* The texts that are given have no end of their own. */
static void other_languages_give_sizes(void **state)
{
	(void)state;
	const struct weft_ffi_metric sized = {.name = "tcp_ackedX",
		.name_size = 9,
		.unit = "bytesX",
		.unit_size = 5,
		.help = "Bytes that the peer has acknowledgedX",
		.help_size = 36,
		.kind = WEFT_METRIC_COUNTER,
		.is_billable = 1};
	const struct weft_ffi_pair labels[] = {
		{.key = "poolX", .value = "euX", .key_size = 4, .value_size = 2},
		{.key = "customerX", .value = "acmeX", .key_size = 8, .value_size = 4}};
	assert_true(weft_ffi_metric_get(&sized, NULL, 0) == weft_metric_get(&acked, NULL, 0));
	weft_metric acme = weft_ffi_metric_get(&sized, labels, 2);
	assert_true(
		acme && acme == weft_metric_get(&acked, LABELS("pool", "eu", "customer", "acme"), 2));
	struct weft_ffi_metric other = sized;
	other.unit_size = 0;
	assert_true(weft_ffi_metric_get(&other, NULL, 0) == 0); /* of another unit */
	other.name_size = 0;
	assert_true(weft_ffi_metric_get(&other, NULL, 0) == 0);
	const int64_t before = value_of(acme);
	weft_metric stream = weft_ffi_metric_child(acme, SIZED("stream"), SIZED("a"));
	weft_metric second = weft_ffi_metric_child_n(acme, SIZED("stream"), 7);
	weft_metric_add(stream, 2);
	weft_metric_add(second, 3);
	assert_int_equal(value_of(acme), before + 5);
	weft_metric_end(stream);
	weft_metric_end(second);
}

/* A value that is too long is cut as in C, and a name that is too long has no metric. */
static void long_texts_are_those_of_c(void **state)
{
	(void)state;
	char text[300];
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	const struct weft_ffi_pair label = {
		.key = "k", .value = text, .key_size = 1, .value_size = 299};
	const struct weft_ffi_metric sized = {
		.name = "queued", .name_size = 6, .kind = WEFT_METRIC_GAUGE};
	assert_true(
		weft_ffi_metric_get(&sized, &label, 1) == weft_metric_get(&queued, LABELS("k", text), 1));
	const struct weft_ffi_metric wrong = {
		.name = text, .name_size = 299, .kind = WEFT_METRIC_GAUGE};
	assert_true(weft_ffi_metric_get(&wrong, NULL, 0) == 0);
}

static void a_level_has_what_is_below_it(void **state)
{
	(void)state;
	weft_metric all = weft_metric_get(&acked, NULL, 0);
	weft_metric eu = weft_metric_get(&acked, LABELS("pool", "eu"), 1);
	weft_metric acme = weft_metric_get(&acked, LABELS("pool", "eu", "customer", "acme"), 2);
	weft_metric us = weft_metric_get(&acked, LABELS("pool", "us"), 1);
	int64_t before = value_of(all);
	assert_true(all && eu && acme && us && all != eu && eu != acme && eu != us);
	assert_int_equal(weft_metric_get(&acked, LABELS("pool", "eu", "customer", "acme"), 2), acme);
	weft_metric_add(all, 1);
	weft_metric_add(eu, 10);
	weft_metric_add(acme, 100);
	weft_metric_add(us, 1000);
	assert_int_equal(value_of(acme), 100);
	assert_int_equal(value_of(eu), 110);
	assert_int_equal(value_of(us), 1000);
	assert_int_equal(value_of(all), before + 1111);
}

static void labels_that_are_none_are_left_out(void **state)
{
	(void)state;
	weft_metric all = weft_metric_get(&acked, NULL, 0);
	weft_metric one = weft_metric_get(&acked, LABELS("pool", "one"), 1);
	assert_int_equal(weft_metric_get(&acked, LABELS(NULL, "x"), 1), all);
	assert_int_equal(weft_metric_get(&acked, LABELS("", "x"), 1), all);
	assert_int_equal(weft_metric_get(&acked, LABELS("pool", NULL), 1), all);
	assert_int_equal(weft_metric_get(&acked, LABELS("pool", "one", "pool", "two"), 2), one);
	/* Key and value are not one text. */
	assert_true(weft_metric_get(&acked, LABELS("po", "olone"), 1) !=
				weft_metric_get(&acked, LABELS("poo", "lone"), 1));
}

static void a_long_label_is_cut_between_characters(void **state)
{
	(void)state;
	char longer[400], other[400];
	memset(longer, 'a', sizeof(longer));
	longer[254] = (char)0xc3;
	longer[255] = (char)0xa9;
	longer[399] = '\0';
	memcpy(other, longer, sizeof(other));
	other[254] = '\0';
	assert_int_equal(weft_metric_get(&acked, LABELS("pool", longer), 1),
		weft_metric_get(&acked, LABELS("pool", other), 1));
}

static void one_name_has_one_type(void **state)
{
	(void)state;
	const struct weft_metric_type gauge = {.name = "tcp_acked", .type = WEFT_METRIC_GAUGE};
	struct weft_metric_type same = acked, unit = acked, wrong = {.name = "", .type = 1};
	char *longer = test_malloc(1000);
	same.help = "another sentence";
	unit.unit = "packets";
	assert_true(weft_metric_get(&acked, NULL, 0));
	assert_int_equal(weft_metric_get(&gauge, NULL, 0), 0);
	assert_int_equal(weft_metric_get(&unit, NULL, 0), 0);
	struct weft_metric_type free_of_charge = acked;
	free_of_charge.is_billable = false;
	assert_int_equal(weft_metric_get(&free_of_charge, NULL, 0), 0);
	assert_int_equal(weft_metric_get(&same, NULL, 0), weft_metric_get(&acked, NULL, 0));
	assert_int_equal(weft_metric_get(NULL, NULL, 0), 0);
	assert_int_equal(weft_metric_get(&wrong, NULL, 0), 0);
	wrong.name = NULL;
	assert_int_equal(weft_metric_get(&wrong, NULL, 0), 0);
	memset(longer, 'n', 999);
	longer[999] = '\0';
	wrong.name = longer;
	assert_int_equal(weft_metric_get(&wrong, NULL, 0), 0);
	wrong = (struct weft_metric_type){.name = "x", .type = 4};
	assert_int_equal(weft_metric_get(&wrong, NULL, 0), 0);
	wrong = (struct weft_metric_type){
		.name = "x", .type = WEFT_METRIC_HISTOGRAM, .first_exponent = 9, .last_exponent = 9};
	assert_int_equal(weft_metric_get(&wrong, NULL, 0), 0);
	wrong.last_exponent = 64;
	assert_int_equal(weft_metric_get(&wrong, NULL, 0), 0);
	test_free(longer);
}

static void handles_of_other_types_change_nothing(void **state)
{
	(void)state;
	weft_metric counter = weft_metric_get(&acked, LABELS("pool", "types"), 1);
	weft_metric gauge = weft_metric_get(&queued, LABELS("pool", "types"), 1);
	weft_metric histogram = weft_metric_get(&latency, LABELS("pool", "types"), 1);
	const weft_metric handles[] = {0, 1, UINT64_MAX, counter, gauge, histogram,
		counter | UINT64_C(1) << 34, UINT64_C(1) << 63, UINT64_C(1) << 62};
	for (size_t i = 0; i < sizeof(handles) / sizeof(*handles); i++) {
		if (handles[i] != counter)
			weft_metric_add(handles[i], 1);
		if (handles[i] != gauge) {
			weft_metric_change(handles[i], 1);
			weft_metric_set(handles[i], 1);
		}
		if (handles[i] != histogram)
			weft_metric_record(handles[i], 1);
		weft_metric_end(handles[i]);
	}
	assert_int_equal(value_of(counter), 0);
	assert_int_equal(value_of(gauge), 0);
	assert_int_equal(value_of(histogram), 0);
}

static void a_gauge_is_set_and_changed(void **state)
{
	(void)state;
	weft_metric gauge = weft_metric_get(&queued, LABELS("pool", "gauge"), 1);
	weft_metric_change(gauge, 5);
	weft_metric_set(gauge, -3);
	assert_int_equal(value_of(gauge), -3);
	weft_metric_change(gauge, -4);
	assert_int_equal(value_of(gauge), -7);
}

/* ---- Histograms ---- */

/* The cell's bound, computed in another way. */
static bool is_in_cell(uint64_t value, unsigned first, unsigned last, uint32_t cell)
{
	const uint32_t cells = WEFT_ABI_METRIC_CELLS_OF(first, last);
	long double upper = exp2l(first + cell / 8.0L), lower = exp2l(first + (cell - 1.0L) / 8.0L);
	return (cell + 1 == cells || (long double)value <= upper) &&
		   (cell == 0 || (long double)value > lower);
}

static void each_value_has_its_cell(void **state)
{
	(void)state;
	static const unsigned ranges[][2] = {{10, 40}, {0, 63}, {0, 1}, {62, 63}, {3, 20}};
	uint64_t random = 88172645463325252u;
	for (int i = 0; i < 200000; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		uint64_t value = i < 64    ? UINT64_C(1) << i
						 : i < 128 ? (UINT64_C(1) << (i - 64)) + 1
						 : i < 192 ? (UINT64_C(1) << (i - 128)) - 1
								   : random >> (i % 64);
		for (unsigned k = 0; k < sizeof(ranges) / sizeof(*ranges); k++) {
			uint32_t cell = weft__record_metric_histogram_cell(ranges[k][0], ranges[k][1], value);
			if (!is_in_cell(value, ranges[k][0], ranges[k][1], cell))
				fail_msg("%llu is in cell %u of 2^%u to 2^%u", (unsigned long long)value, cell,
					ranges[k][0], ranges[k][1]);
		}
	}
}

static void a_histogram_has_a_count_and_a_sum(void **state)
{
	(void)state;
	struct weft_metric_value value;
	weft_metric histogram = weft_metric_get(&latency, LABELS("pool", "histogram"), 1);
	weft_metric_record(histogram, 0);
	weft_metric_record(histogram, 1000000);
	weft_metric_record(histogram, UINT64_C(1) << 50);
	assert_true(weft_metric_read(histogram, &value));
	assert_int_equal(value.value, 3);
	assert_int_equal(value.sum, 1000000 + (UINT64_C(1) << 50));
}

/* ---- Children ---- */

static void a_child_counts_in_its_levels(void **state)
{
	(void)state;
	weft_metric acme = weft_metric_get(&acked, LABELS("customer", "child"), 1);
	weft_metric vm = weft_metric_child(acme, "vm", "3");
	weft_metric stream = weft_metric_child_n(vm, "stream", 1234567);
	weft_metric_add(stream, 7);
	weft_metric_add(vm, 20);
	assert_int_equal(value_of(stream), 7);
	assert_int_equal(value_of(vm), 27);
	assert_int_equal(value_of(acme), 27);
	weft_metric_end(stream);
	weft_metric_end(stream);
	weft_metric_add(stream, 1000);
	struct weft_metric_value none;
	assert_false(weft_metric_read(stream, &none));
	assert_int_equal(value_of(vm), 27);
	weft_metric next = weft_metric_child_n(vm, "stream", 2);
	assert_int_equal(value_of(next), 0);
	weft_metric_add(next, 1);
	assert_int_equal(value_of(next), 1);
	/* Another child gets the room of the one above it: that one has nothing of it. */
	weft_metric_end(vm);
	weft_metric other = weft_metric_child(acme, "vm", "4");
	weft_metric_add(next, 2);
	assert_int_equal(value_of(other), 0);
	assert_int_equal(value_of(next), 3);
	assert_int_equal(value_of(acme), 30);
	weft_metric_end(next);
	weft_metric_end(other);
}

static void what_a_gauges_child_had_goes_with_it(void **state)
{
	(void)state;
	weft_metric level = weft_metric_get(&queued, LABELS("pool", "children"), 1);
	weft_metric a = weft_metric_child(level, "stream", "a");
	weft_metric b = weft_metric_child(a, "part", "b");
	weft_metric_set(a, 5);
	weft_metric_change(b, 3);
	assert_int_equal(value_of(a), 8);
	assert_int_equal(value_of(level), 8);
	weft_metric_set(b, 10);
	assert_int_equal(value_of(a), 15);
	weft_metric_end(b);
	assert_int_equal(value_of(a), 5);
	weft_metric_end(a);
	assert_int_equal(value_of(level), 0);
}

static void a_gauges_child_can_end_after_the_one_above_it(void **state)
{
	(void)state;
	weft_metric level = weft_metric_get(&queued, LABELS("pool", "orphans"), 1);
	weft_metric a = weft_metric_child(level, "stream", "a"), b = weft_metric_child(a, "part", "b");
	weft_metric_set(b, 7);
	weft_metric_end(a);
	assert_int_equal(value_of(level), 0);
	weft_metric_change(b, 2);
	weft_metric_end(b);
	assert_int_equal(value_of(level), 0);
}

static void an_old_handle_ends_nothing(void **state)
{
	(void)state;
	weft_metric level = weft_metric_get(&acked, LABELS("pool", "handles"), 1);
	weft_metric old = weft_metric_child(level, "stream", "old");
	weft_metric_end(old);
	weft_metric new = weft_metric_child(level, "stream", "new");
	assert_int_equal((uint32_t)old, (uint32_t) new);
	weft_metric_end(old);
	weft_metric_add(new, 1);
	assert_int_equal(value_of(new), 1);
	weft_metric_end(new);
}

static void more_children_above_one_than_labels_are_refused(void **state)
{
	(void)state;
	weft_metric chain[WEFT_METRIC_PAIRS_MAX + 2];
	chain[0] = weft_metric_get(&acked, LABELS("pool", "deep"), 1);
	for (size_t i = 1; i < WEFT_METRIC_PAIRS_MAX + 2; i++)
		chain[i] = weft_metric_child_n(chain[i - 1], "depth", i);
	weft_metric_add(chain[WEFT_METRIC_PAIRS_MAX + 1], 1);
	for (size_t i = 0; i <= WEFT_METRIC_PAIRS_MAX; i++)
		assert_int_equal(value_of(chain[i]), 1);
	for (size_t i = WEFT_METRIC_PAIRS_MAX + 1; i > 0; i--)
		weft_metric_end(chain[i]);
}

static void without_room_the_level_counts(void **state)
{
	(void)state;
	enum {
		MOST = 1000
	};
	static weft_metric children[MOST + 10];
	weft_metric level = weft_metric_get(&acked, LABELS("customer", "full"), 1);
	assert_int_equal(weft_metrics_reserve(5), WEFT_ERROR_STATE);
	for (int i = 0; i < MOST + 10; i++) {
		children[i] = weft_metric_child_n(level, "stream", (uint64_t)i);
		weft_metric_add(children[i], 1);
	}
	assert_int_equal(value_of(level), MOST + 10);
	weft_metric refused = weft_metric_child(children[0], "part", "x");
	weft_metric_add(refused, 1);
	assert_int_equal(value_of(children[0]), 2);
	weft_metric_end(refused);
	assert_int_equal(value_of(children[0]), 2);
	for (int i = 0; i < MOST + 10; i++)
		weft_metric_end(children[i]);
	assert_int_equal(value_of(level), MOST + 11);
	/* A gauge's child without room counts nowhere: its end could not take it from the level. */
	weft_metric queue = weft_metric_get(&queued, LABELS("customer", "full"), 1);
	for (int i = 0; i < MOST; i++)
		children[i] = weft_metric_child_n(level, "stream", (uint64_t)i);
	assert_int_equal(weft_metric_child(queue, "stream", "1"), 0);
	for (int i = 0; i < MOST; i++)
		weft_metric_end(children[i]);
	/* A histogram has none. */
	weft_metric histogram = weft_metric_get(&latency, LABELS("customer", "full"), 1);
	weft_metric part = weft_metric_child(histogram, "stream", "1");
	weft_metric_record(part, 5);
	weft_metric_end(part);
	assert_int_equal(value_of(histogram), 1);
}

/* ---- Processes and threads ---- */

static void *count_and_churn(void *context)
{
	weft_metric level = *(const weft_metric *)context;
	for (int i = 0; i < 20000; i++) {
		weft_metric child = weft_metric_child_n(level, "stream", (uint64_t)i);
		weft_metric_add(child, 2);
		weft_metric_end(child);
		weft_metric_add(level, 1);
	}
	return NULL;
}

static void threads_lose_nothing(void **state)
{
	(void)state;
	pthread_t threads[4];
	weft_metric level = weft_metric_get(&acked, LABELS("pool", "threads"), 1);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count_and_churn, &level), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(value_of(level), 4 * 20000 * 3);
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define CROWD 500 /* sanitizers have less room for threads */
#else
#define CROWD 10000
#endif

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *count_in_a_crowd(void *context)
{
	const weft_metric level = *(const weft_metric *)context;
	weft_metric_add(level, 1);
	weft_counter_add("crowd", 1);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	weft_metric_add(level, 2);
	weft_counter_add("crowd", 2);
	return NULL;
}

static void open_gate(pthread_t *threads, size_t first, size_t end)
{
	pthread_mutex_unlock(&gate);
	for (size_t i = first; i < end; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* As many of them live at one time as the system allows. */
static void ten_thousand_threads_lose_nothing(void **state)
{
	static pthread_t threads[CROWD];
	(void)state;
	pthread_attr_t small;
	size_t joined = 0;
	weft_metric level = weft_metric_get(&acked, LABELS("pool", "crowd"), 1);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 << 10);
	pthread_mutex_lock(&gate);
	for (size_t i = 0; i < CROWD; i++)
		if (pthread_create(&threads[i], &small, count_in_a_crowd, &level) != 0) {
			assert_true(i > joined);
			open_gate(threads, joined, i);
			pthread_mutex_lock(&gate);
			joined = i--;
		}
	open_gate(threads, joined, CROWD);
	pthread_attr_destroy(&small);
	assert_int_equal(value_of(level), 3 * CROWD);
	assert_int_equal(weft_counter_read("crowd"), 3 * CROWD);
}

static struct weft_limit limit;

static void *use_limit(void *context)
{
	(void)context;
	for (int i = 0; i < 100000; i++)
		if (weft_limit_allows(&limit, 3))
			weft_metric_add(limit.counter, 3);
	return NULL;
}

static void a_limit_is_exceeded_by_what_threads_add_at_once(void **state)
{
	(void)state;
	pthread_t threads[4];
	limit =
		(struct weft_limit)WEFT_LIMIT(weft_metric_get(&acked, LABELS("pool", "limit"), 1), 200000);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use_limit, NULL), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_in_range(value_of(limit.counter), 200000 - 2, 200000 + 3 * 3);
	assert_false(weft_limit_allows(&limit, 3));
}

static void a_limit_is_exact_for_one_thread(void **state)
{
	(void)state;
	struct weft_limit one = WEFT_LIMIT(weft_metric_get(&acked, LABELS("pool", "exact"), 1), 1000);
	int allowed = 0;
	for (int i = 0; i < 2000; i++)
		if (weft_limit_allows(&one, 1)) {
			weft_metric_add(one.counter, 1);
			allowed++;
		}
	assert_int_equal(allowed, 1000);
	one.most = 1010;
	assert_true(weft_limit_allows(&one, 10));
	assert_false(weft_limit_allows(&one, 11));
	assert_false(weft_limit_allows(&one, UINT64_MAX));
	/* Levels below it count, too. */
	weft_metric_add(weft_metric_get(&acked, LABELS("pool", "exact", "customer", "x"), 2), 10);
	assert_false(weft_limit_allows(&one, 1));
}

static void a_forked_child_begins_with_zeros(void **state)
{
	(void)state;
	if (!system_wipes())
		skip();
	weft_metric level = weft_metric_get(&acked, LABELS("pool", "fork"), 1);
	weft_metric child = weft_metric_child(level, "stream", "of the parent");
	weft_metric_add(child, 5);
	pid_t pid = fork();
	if (pid == 0) {
		struct weft_metric_value value = {-1, 0};
		bool good = weft_metric_read(level, &value) && value.value == 0;
		weft_metric_add(level, 3);
		weft_metric_add(child, 4);
		good = good && weft_metric_read(level, &value) && value.value == 7;
		weft_metric own = weft_metric_child(level, "stream", "own");
		weft_metric_add(own, 1);
		good = good && weft_metric_read(own, &value) && value.value == 1;
		_exit(good ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(value_of(level), 5);
	weft_metric_end(child);
}

/* Its room for text stays that of others. */
static void histograms_without_room_take_none_from_others(void **state)
{
	(void)state;
	char name[20];
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "%d", i % 100);
		weft_metric histogram = weft_metric_get(&latency, LABELS("refused", name), 1);
		weft_metric_record(histogram, 1);
	}
	weft_metric before = weft_metric_get(&acked, LABELS("pool", "before"), 1);
	weft_metric after = weft_metric_get(&acked, LABELS("pool", "after"), 1);
	assert_true(before != after);
	struct weft_metric_value value;
	assert_true(weft_metric_read(weft_metric_get(&latency, NULL, 0), &value));
	assert_true(value.value >= 3000);
}

#ifndef __SANITIZE_THREAD__ /* which does not let a handler fork */
static volatile sig_atomic_t forks, failures;

/* The child goes on where the handler has interrupted its parent. */
static void fork_in_handler(int signal)
{
	const struct itimerval soon = {{0, 0}, {0, 200}};
	(void)signal;
	pid_t pid = fork();
	if (pid == 0) {
		forks = -1;
		return;
	}
	int status = -1;
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	forks++;
	failures += status != 0;
	setitimer(ITIMER_REAL, &soon, NULL);
}

static void a_handler_may_fork_in_the_middle_of_a_change(void **state)
{
	(void)state;
	const struct itimerval never = {{0, 0}, {0, 0}};
	weft_metric level = weft_metric_get(&acked, LABELS("pool", "handler"), 1);
	const struct sigaction action = {.sa_handler = fork_in_handler, .sa_flags = SA_RESTART};
	struct sigaction before;
	if (!system_wipes())
		skip();
	sigaction(SIGALRM, &action, &before);
	raise(SIGALRM);
	while (forks >= 0 && forks < 20) {
		weft_metric child = weft_metric_child(level, "stream", "a label that takes a while");
		weft_metric_add(child, 1);
		weft_counter_add("of a handler", 1);
		weft_metric_end(child);
	}
	if (forks < 0)
		_exit(0); /* the child has finished what was begun */
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	assert_int_equal(failures, 0);
}
#endif

/* Last, because rows stay. */
static void without_rows_the_level_above_counts(void **state)
{
	(void)state;
	char name[20];
	weft_metric all = weft_metric_get(&queued, NULL, 0);
	weft_metric_set(all, 0);
	int64_t before = value_of(all);
	for (int i = 0; i < 2 * WEFT_ABI_METRIC_ROWS; i++) {
		snprintf(name, sizeof(name), "%d", i);
		weft_metric_change(weft_metric_get(&queued, LABELS("pool", "many", "n", name), 2), 1);
	}
	assert_int_equal(value_of(all), before + 2 * WEFT_ABI_METRIC_ROWS);
	const struct weft_metric_type late = {.name = "late", .type = WEFT_METRIC_COUNTER};
	assert_int_equal(weft_metric_get(&late, NULL, 0), 0);
	assert_int_equal(weft_metric_get(&acked, LABELS("pool", "fork"), 1) != 0, 1);
}

static int reserve(void **state)
{
	(void)state;
	/* Before it, children are refused. */
	weft_metric level = weft_metric_get(&acked, LABELS("pool", "early"), 1);
	weft_metric early = weft_metric_child(level, "stream", "1");
	weft_metric_add(early, 2);
	weft_metric_end(early);
	assert_int_equal(value_of(level), 2);
	assert_int_equal(weft_metrics_reserve(0), WEFT_ERROR_ARGUMENT);
	assert_int_equal(weft_metrics_use(NULL, 0), WEFT_ERROR_UNSUPPORTED);
	return weft_metrics_reserve(1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_level_has_what_is_below_it),
		cmocka_unit_test(other_languages_give_sizes),
		cmocka_unit_test(long_texts_are_those_of_c),
		cmocka_unit_test(labels_that_are_none_are_left_out),
		cmocka_unit_test(a_long_label_is_cut_between_characters),
		cmocka_unit_test(one_name_has_one_type),
		cmocka_unit_test(handles_of_other_types_change_nothing),
		cmocka_unit_test(a_gauge_is_set_and_changed),
		cmocka_unit_test(each_value_has_its_cell),
		cmocka_unit_test(a_histogram_has_a_count_and_a_sum),
		cmocka_unit_test(a_child_counts_in_its_levels),
		cmocka_unit_test(what_a_gauges_child_had_goes_with_it),
		cmocka_unit_test(a_gauges_child_can_end_after_the_one_above_it),
		cmocka_unit_test(an_old_handle_ends_nothing),
		cmocka_unit_test(more_children_above_one_than_labels_are_refused),
		cmocka_unit_test(without_room_the_level_counts),
		cmocka_unit_test(threads_lose_nothing),
		cmocka_unit_test(ten_thousand_threads_lose_nothing),
		cmocka_unit_test(a_limit_is_exceeded_by_what_threads_add_at_once),
		cmocka_unit_test(a_limit_is_exact_for_one_thread),
		cmocka_unit_test(a_forked_child_begins_with_zeros),
#ifndef __SANITIZE_THREAD__
		cmocka_unit_test(a_handler_may_fork_in_the_middle_of_a_change),
#endif
		cmocka_unit_test(histograms_without_room_take_none_from_others),
		cmocka_unit_test(without_rows_the_level_above_counts),
	};
	return cmocka_run_group_tests(tests, reserve, NULL);
}
