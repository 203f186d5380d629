/* SPDX-License-Identifier: ISC
 *
 * The formats that Prometheus reads: exact texts for what programs declare, names that stay apart,
 * levels that add up, and counters of hostile programs, which lose a series but never the text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "metrics/exposition.h"
#include "metrics/levels.h"
#include "metrics/names.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static size_t left_out;

static void count_left_out(const struct weft__metrics_sample *sample, const char *why)
{
	assert_non_null(sample->counter);
	assert_true(why[0]);
	left_out++;
}

/* The text, until the next call. */
static const char *expose_samples(
	bool is_openmetrics, const struct weft__metrics_sample *samples, size_t count, size_t depth)
{
	static struct weft_text text;
	const struct weft__metrics_exposition exposition = {
		.is_openmetrics = is_openmetrics, .depth = depth, .left_out = count_left_out};
	weft_text_finish(&text);
	left_out = 0;
	weft__metrics_expose(&exposition, samples, count, &text);
	weft_text_add(&text, "", 1);
	assert_int_equal(text.error, 0);
	return text.bytes;
}

/* The text for the counters of one process. */
static const char *expose(
	bool is_openmetrics, const struct weft__runs_counter *counters, size_t count, size_t depth)
{
	struct weft__metrics_sample samples[16];
	assert_true(count <= COUNT(samples));
	for (size_t i = 0; i < count; i++)
		samples[i] =
			(struct weft__metrics_sample){.program = "server", .pid = 7, .counter = &counters[i]};
	return expose_samples(is_openmetrics, samples, count, depth);
}

static struct weft__runs_counter counter(const char *name, enum weft__runs_type type, int64_t value)
{
	return (struct weft__runs_counter){
		.name = name, .help = "", .unit = "", .type = type, .integer = value};
}

static void each_type_has_its_lines(void **state)
{
	struct weft__runs_counter all[] = {
		counter("requests", WEFT__RUNS_COUNTER, 5),
		counter("queue", WEFT__RUNS_GAUGE, -2),
		counter("load", WEFT__RUNS_UNKNOWN, 0),
	};
	(void)state;
	all[0].help = "Requests that\nwere \"answered\" \\";
	all[0].created_unix_ns = 1700000000500000000;
	all[2].is_real = true;
	all[2].real = 0.75;
	assert_string_equal(expose(true, all, COUNT(all), 9),
		"# HELP queue The counter queue.\n"
		"# TYPE queue gauge\n"
		"queue{program=\"server\",pid=\"7\"} -2\n"
		"# HELP requests Requests that\\nwere \\\"answered\\\" \\\\\n"
		"# TYPE requests counter\n"
		"requests_total{program=\"server\",pid=\"7\"} 5\n"
		"requests_created{program=\"server\",pid=\"7\"} 1700000000.5\n"
		"# HELP load The counter load.\n"
		"# TYPE load unknown\n"
		"load{program=\"server\",pid=\"7\"} 0.75\n"
		"# EOF\n");
	assert_string_equal(expose(false, all, COUNT(all), 9),
		"# HELP queue The counter queue.\n"
		"# TYPE queue gauge\n"
		"queue{program=\"server\",pid=\"7\"} -2\n"
		"# HELP requests_total Requests that\\nwere \"answered\" \\\\\n"
		"# TYPE requests_total counter\n"
		"requests_total{program=\"server\",pid=\"7\"} 5\n"
		"# HELP load The counter load.\n"
		"# TYPE load untyped\n"
		"load{program=\"server\",pid=\"7\"} 0.75\n");
	assert_int_equal(left_out, 0);
}

/* Domain 0 has a number, too; and a program may have the number and the name of a domain. */
static void a_domain_has_no_pid(void **state)
{
	const struct weft__runs_counter it = counter("x", WEFT__RUNS_GAUGE, 5);
	const struct weft__metrics_sample samples[] = {
		{.program = "xen:Domain-0", .counter = &it, .is_domain = true},
		{.program = "xen:web", .pid = 3, .counter = &it, .is_domain = true},
		{.program = "xen:web", .pid = 3, .counter = &it},
	};
	(void)state;
	const char *text = expose_samples(true, samples, COUNT(samples), 9);
	assert_non_null(strstr(text, "\nx{program=\"xen:Domain-0\",domain=\"0\"} 5\n"));
	assert_non_null(strstr(text, "\nx{program=\"xen:web\",domain=\"3\"} 5\n"));
	assert_non_null(strstr(text, "\nx{program=\"xen:web\",pid=\"3\"} 5\n"));
	assert_int_equal(left_out, 0);
}

static void values_are_exact_in_base_units(void **state)
{
	static const struct {
		int64_t value;
		const char *unit;
		int scale;
		const char *line;
	} cases[] = {
		{1234567890, "seconds", -9, "x_seconds{program=\"server\",pid=\"7\"} 1.23456789\n"},
		{1234567890, "ns", 0, "x_seconds{program=\"server\",pid=\"7\"} 1.23456789\n"},
		{-1, "ns", 0, "x_seconds{program=\"server\",pid=\"7\"} -0.000000001\n"},
		{0, "ns", 0, "x_seconds{program=\"server\",pid=\"7\"} 0\n"},
		{9223372036854775807, "us", 0,
			"x_seconds{program=\"server\",pid=\"7\"} 9223372036854.775807\n"},
		{INT64_MIN, "ms", -9, "x_seconds{program=\"server\",pid=\"7\"} -9223372.036854775808\n"},
		{42, "bytes", 3, "x_bytes{program=\"server\",pid=\"7\"} 42000\n"},
		{80, "%", 0, "x_ratio{program=\"server\",pid=\"7\"} 0.8\n"},
		{5, "widgets/h", 0, "x_widgets_2f_h{program=\"server\",pid=\"7\"} 5\n"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct weft__runs_counter it = counter("x", WEFT__RUNS_GAUGE, cases[i].value);
		it.unit = cases[i].unit;
		it.scale = cases[i].scale;
		const char *text = expose(true, &it, 1, 9);
		const char *line = strstr(text, "\nx_");
		assert_non_null(line);
		assert_memory_equal(line + 1, cases[i].line, strlen(cases[i].line));
		assert_non_null(strstr(text, "# UNIT x_"));
	}
}

static void a_unit_and_total_are_not_written_twice(void **state)
{
	struct weft__runs_counter it = counter("sent_bytes_total", WEFT__RUNS_COUNTER, 1);
	(void)state;
	it.unit = "bytes";
	assert_non_null(strstr(expose(true, &it, 1, 9), "\nsent_bytes_total{"));
	assert_non_null(strstr(expose(true, &it, 1, 9), "# UNIT sent_bytes bytes\n"));
}

/* Readers refuse the unit of such a name: it would have to follow something. */
static void a_unit_that_is_the_name_is_not_written_again(void **state)
{
	struct weft__runs_counter all[] = {counter("bytes", WEFT__RUNS_COUNTER, 1),
		counter("bytes", WEFT__RUNS_COUNTER, 2), counter("bytes_total", WEFT__RUNS_COUNTER, 3),
		counter("bytes_bytes", WEFT__RUNS_COUNTER, 4)};
	(void)state;
	for (size_t i = 0; i < COUNT(all); i++)
		all[i].unit = i == 1 ? "" : "bytes"; /* another one without a unit, of another program */
	const char *text = expose(true, all, COUNT(all), 9);
	assert_int_equal(left_out, 2);
	assert_non_null(strstr(text, "\nbytes_total{program=\"server\",pid=\"7\"} 1\n"));
	assert_non_null(strstr(text, "\nbytes_bytes_total{program=\"server\",pid=\"7\"} 4\n"));
	assert_null(strstr(text, "# UNIT bytes bytes\n"));
	assert_non_null(strstr(text, "# UNIT bytes_bytes bytes\n"));
}

static void a_histogram_has_a_bucket_for_each_factor_of_two(void **state)
{
	/* up to 2^10 in eight steps, up to 2^11, and beyond */
	uint64_t cells[18] = {[0] = 1, [3] = 1, [8] = 1, [9] = 2, [16] = 3, [17] = 4};
	struct weft__runs_counter it = counter("lat", WEFT__RUNS_HISTOGRAM, 0);
	(void)state;
	it.unit = "ns";
	it.histogram = (struct weft__runs_histogram){cells, COUNT(cells), 10, 12, 1500};
	assert_string_equal(expose(false, &it, 1, 9),
		"# HELP lat_seconds The counter lat.\n"
		"# TYPE lat_seconds histogram\n"
		"lat_seconds_bucket{program=\"server\",pid=\"7\",le=\"1.024e-06\"} 1\n"
		"lat_seconds_bucket{program=\"server\",pid=\"7\",le=\"2.048e-06\"} 3\n"
		"lat_seconds_bucket{program=\"server\",pid=\"7\",le=\"4.096e-06\"} 8\n"
		"lat_seconds_bucket{program=\"server\",pid=\"7\",le=\"+Inf\"} 12\n"
		"lat_seconds_count{program=\"server\",pid=\"7\"} 12\n"
		"lat_seconds_sum{program=\"server\",pid=\"7\"} 0.0000015\n");
	assert_true(weft__metrics_quantile(&it, 0.01) == 1.024e-06);
	assert_true(weft__metrics_quantile(&it, 0.25) == 2.048e-06);
	assert_true(weft__metrics_quantile(&it, 0.99) > 1e300);
}

/* A bound belongs to the bucket below it. */
static void an_exemplar_is_in_one_bucket(void **state)
{
	static const struct {
		uint64_t value;
		const char *line;
	} cases[] = {{0, "le=\"1024.0\""}, {1023, "le=\"1024.0\""}, {1024, "le=\"1024.0\""},
		{1025, "le=\"2048.0\""}, {2048, "le=\"2048.0\""}, {2049, "le=\"4096.0\""},
		{4096, "le=\"4096.0\""}, {4097, "le=\"+Inf\""}, {UINT64_C(1) << 60, "le=\"+Inf\""}};
	uint64_t cells[18] = {[3] = 1};
	struct weft__runs_counter it = counter("lat", WEFT__RUNS_HISTOGRAM, 0);
	(void)state;
	it.histogram = (struct weft__runs_histogram){cells, COUNT(cells), 10, 1, 9};
	for (size_t i = 0; i < COUNT(cases); i++) {
		it.exemplar = (struct weft__runs_exemplar){
			.is_there = true, .value = cases[i].value, .task = 5, .unix_ns = 7};
		const char *found = strstr(expose(true, &it, 1, 9), " # {task=\"5\"} ");
		assert_non_null(found);
		assert_null(strstr(found + 1, " # {"));
		const char *line = found;
		while (line[-1] != '\n')
			line--;
		assert_memory_equal(strstr(line, "le="), cases[i].line, strlen(cases[i].line));
		assert_null(strstr(expose(false, &it, 1, 9), " # {"));
	}
}

/* Undoes the escape, as a reader would. */
static void unescape(const struct weft_text *text, char *ret_name)
{
	static const char hex[] = "0123456789abcdef";
	for (size_t i = 0; i < text->size;) {
		const char *at = text->bytes + i;
		bool is_escape = i + 3 < text->size && at[0] == '_' && strchr(hex, at[1]) &&
						 strchr(hex, at[2]) && at[3] == '_';
		*ret_name++ =
			is_escape ? (char)((strchr(hex, at[1]) - hex) * 16 + strchr(hex, at[2]) - hex) : *at;
		i += is_escape ? 4 : 1;
	}
	*ret_name = '\0';
}

/* All names of up to six of these bytes. */
static void escaped_names_can_be_read_back(void **state)
{
	static const char bytes[] = "_2f/z";
	const size_t base = sizeof(bytes);
	(void)state;
	for (size_t number = 1, end = base * base * base * base * base * base; number < end; number++) {
		char name[8], read[8], key[8];
		size_t size = 0;
		for (size_t rest = number; rest; rest /= base)
			name[size++] = bytes[rest % base];
		name[size] = '\0';
		if (strlen(name) != size)
			continue;
		struct weft_text text = {0};
		weft__metrics_add_name(&text, name);
		unescape(&text, read);
		assert_string_equal(read, name);
		assert_true(text.bytes[0] == '_' || text.bytes[0] > '9');
		text.size = 0;
		weft__metrics_add_key(&text, name);
		unescape(&text, key);
		assert_string_equal(key, name);
		assert_true(text.size < 2 || text.bytes[0] != '_' || text.bytes[1] != '_');
		weft_text_finish(&text);
	}
}

static void labels_are_escaped_and_sorted(void **state)
{
	static const struct weft__runs_label labels[] = {{"vm/id", "a\"b\\c\nd\xff\xc3\xa9"},
		{"pid", "9"}, {"exported_pid", "8"}, {"le", "1"}, {"customer", "acme"}, {"empty", ""},
		{"__name__", "x"}};
	struct weft__runs_counter it = counter("x", WEFT__RUNS_GAUGE, 1);
	(void)state;
	it.labels = labels;
	it.label_count = COUNT(labels);
	assert_non_null(strstr(expose(true, &it, 1, 9),
		"x{program=\"server\",pid=\"7\",_5f__name__=\"x\",customer=\"acme\","
		"exported_exported_pid=\"8\",exported_le=\"1\",exported_pid=\"9\","
		"vm_2f_id=\"a\\\"b\\\\c\\nd\xef\xbf\xbd\xc3\xa9\"} 1\n"));
}

static void collisions_lose_the_later_family(void **state)
{
	static const struct weft__runs_label one[] = {{"a", "1"}}, empty[] = {{"a", ""}},
										 twice[] = {{"a", "1"}, {"a", "2"}}, none[] = {{"", "1"}};
	struct weft__runs_counter all[] = {
		counter("lat", WEFT__RUNS_HISTOGRAM, 0),
		counter("lat_count", WEFT__RUNS_GAUGE, 1),    /* the histogram has it */
		counter("lat_bucket", WEFT__RUNS_UNKNOWN, 1), /* this, too */
		counter("requests", WEFT__RUNS_COUNTER, 1),
		counter("requests_total", WEFT__RUNS_COUNTER, 1), /* becomes the same */
		counter("requests", WEFT__RUNS_UNKNOWN, 1),       /* the same without a type */
		counter("weft_metrics_left_out", WEFT__RUNS_GAUGE, 1),
		counter("down", WEFT__RUNS_COUNTER, -1),
		counter("y", WEFT__RUNS_GAUGE, 1),
		counter("y", WEFT__RUNS_GAUGE, 2), /* a label without a value is as good as none */
		counter("z", WEFT__RUNS_GAUGE, 1),
		counter("zz", WEFT__RUNS_GAUGE, 1),
		counter("zz", WEFT__RUNS_GAUGE, 3),
	};
	uint64_t cell = 0;
	(void)state;
	all[0].histogram = (struct weft__runs_histogram){&cell, 1, 0, 0, 0};
	all[9].labels = empty;
	all[9].label_count = 1;
	all[10].labels = one;
	all[10].label_count = 1;
	all[11].labels = twice;
	all[11].label_count = 2;
	all[12].labels = none;
	all[12].label_count = 1;
	const char *text = expose(true, all, COUNT(all), 9);
	assert_int_equal(left_out, 9);
	const char *last_bucket = strstr(text, "lat_bucket{program=\"server\",pid=\"7\",le=\"+Inf\"}");
	assert_non_null(last_bucket);
	assert_null(strstr(last_bucket + 1, "lat_bucket"));
	assert_non_null(strstr(text, "requests_total{"));
	assert_null(strstr(text, "weft_metrics_left_out"));
	assert_non_null(strstr(text, "z{program=\"server\",pid=\"7\",a=\"1\"} 1\n"));
}

/* Two series of one name in other units; and one that comes twice, and not first. */
static void the_second_series_of_a_family_is_compared_too(void **state)
{
	static const struct weft__runs_label one[] = {{"a", "1"}}, two[] = {{"a", "2"}};
	struct weft__runs_counter units[] = {
		counter("lat_seconds", WEFT__RUNS_GAUGE, 1), counter("lat_seconds", WEFT__RUNS_GAUGE, 2)};
	struct weft__runs_counter series[] = {counter("y", WEFT__RUNS_GAUGE, 1),
		counter("y", WEFT__RUNS_GAUGE, 2), counter("y", WEFT__RUNS_GAUGE, 3)};
	(void)state;
	units[0].unit = "s";
	units[1].labels = one;
	units[1].label_count = 1;
	expose(true, units, COUNT(units), 9);
	assert_int_equal(left_out, 1);
	for (size_t i = 0; i < 3; i++) {
		series[i].labels = i ? two : one;
		series[i].label_count = 1;
	}
	expose(true, series, COUNT(series), 9);
	assert_int_equal(left_out, 1);
}

static const struct weft__runs_label levels_of[] = {{"pool", "eu"}, {"customer", "acme"}};

static void a_level_has_only_what_is_not_below_it(void **state)
{
	static const struct weft__runs_label bolt[] = {{"pool", "eu"}, {"customer", "bolt"}};
	struct weft__runs_counter all[] = {
		counter("acked", WEFT__RUNS_COUNTER, 100),
		counter("acked", WEFT__RUNS_COUNTER, 90),
		counter("acked", WEFT__RUNS_COUNTER, 60),
		counter("acked", WEFT__RUNS_COUNTER, 30),
	};
	(void)state;
	for (size_t i = 1; i < 4; i++) {
		all[i].labels = i == 3 ? bolt : levels_of;
		all[i].label_count = i == 1 ? 1 : 2;
	}
	const char *text = expose(true, all, COUNT(all), 9);
	assert_non_null(strstr(text,
		"acked_total{program=\"server\",pid=\"7\"} 10\n"
		"acked_total{program=\"server\",pid=\"7\",customer=\"acme\",pool=\"eu\"} 60\n"
		"acked_total{program=\"server\",pid=\"7\",customer=\"bolt\",pool=\"eu\"} 30\n# EOF"));
	text = expose(true, all, COUNT(all), 1);
	assert_non_null(
		strstr(text, "acked_total{program=\"server\",pid=\"7\"} 10\n"
					 "acked_total{program=\"server\",pid=\"7\",pool=\"eu\"} 90\n# EOF"));
	text = expose(true, all, COUNT(all), 0);
	assert_non_null(strstr(text, "acked_total{program=\"server\",pid=\"7\"} 100\n# EOF"));
}

/* The second process lacks the level above, which those beside it have. */
static void levels_are_those_of_one_process(void **state)
{
	struct weft__runs_counter top = counter("acked", WEFT__RUNS_COUNTER, 100),
							  pool = counter("acked", WEFT__RUNS_COUNTER, 60);
	const struct weft__metrics_sample samples[] = {
		{.program = "server", .pid = 9, .counter = &pool},
		{.program = "server", .pid = 8, .counter = &pool},
		{.program = "server", .pid = 7, .counter = &pool},
		{.program = "server", .pid = 9, .counter = &top},
		{.program = "server", .pid = 7, .counter = &top},
	};
	(void)state;
	pool.labels = levels_of;
	pool.label_count = 1;
	const char *text = expose_samples(true, samples, COUNT(samples), 9);
	assert_non_null(strstr(text, "acked_total{program=\"server\",pid=\"7\"} 40\n"));
	assert_non_null(strstr(text, "acked_total{program=\"server\",pid=\"9\"} 40\n"));
	assert_null(strstr(text, "acked_total{program=\"server\",pid=\"8\"}"));
	assert_non_null(strstr(text, "acked_total{program=\"server\",pid=\"8\",pool=\"eu\"} 60\n"));
}

static void only_levels_of_which_nothing_remains_are_left_out(void **state)
{
	struct weft__runs_counter all[] = {counter("x", WEFT__RUNS_COUNTER, 60),
		counter("x", WEFT__RUNS_COUNTER, 60), counter("y", WEFT__RUNS_COUNTER, 0),
		counter("y", WEFT__RUNS_COUNTER, 0)};
	(void)state;
	all[1].labels = all[3].labels = levels_of;
	all[1].label_count = all[3].label_count = 1;
	const char *text = expose(true, all, COUNT(all), 9);
	assert_null(strstr(text, "x_total{program=\"server\",pid=\"7\"}"));
	assert_non_null(strstr(text, "x_total{program=\"server\",pid=\"7\",pool=\"eu\"} 60\n"));
	assert_null(strstr(text, "y_total{program=\"server\",pid=\"7\"}"));
	assert_non_null(strstr(text, "y_total{program=\"server\",pid=\"7\",pool=\"eu\"} 0\n"));
}

static void a_histograms_level_has_only_what_is_not_below_it(void **state)
{
	uint64_t pool[] = {5, 6, 7}, customer[] = {2, 6, 3};
	struct weft__runs_counter all[] = {
		counter("lat", WEFT__RUNS_HISTOGRAM, 0), counter("lat", WEFT__RUNS_HISTOGRAM, 0)};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		all[i].labels = levels_of;
		all[i].label_count = i + 1;
		all[i].histogram =
			(struct weft__runs_histogram){i ? customer : pool, 3, 0, i ? 11 : 18, i ? 10 : 30};
	}
	const char *text = expose(true, all, COUNT(all), 9);
	assert_non_null(strstr(text, "lat_count{program=\"server\",pid=\"7\",pool=\"eu\"} 7\n"
								 "lat_sum{program=\"server\",pid=\"7\",pool=\"eu\"} 20\n"));
	assert_non_null(strstr(text, "le=\"1.0\"} 3\n"));
	assert_int_equal(pool[0], 5); /* the reader's memory is as it was */
	all[1].histogram.sum = 31;    /* read later than the level above */
	text = expose(true, all, COUNT(all), 9);
	assert_non_null(strstr(text, "lat_sum{program=\"server\",pid=\"7\",pool=\"eu\"} 0\n"));
}

/* ---- Random levels, compared with naive ones ---- */

enum {
	LEVELS = 40,
	CELLS = 3
};

struct random_level {
	struct weft__runs_counter counter;
	struct weft__runs_label labels[3];
	uint64_t cells[CELLS];
};

static struct random_level random_levels[LEVELS];
static uint64_t random_state;

static uint32_t pick(uint32_t count)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(random_state >> 33) % count;
}

/* An integer, a real number, or a histogram, by its name. */
static void make_random_level(struct random_level *it, struct weft__metrics_sample *sample)
{
	static const char *const keys[] = {"pool", "customer", "kind"};
	const uint32_t type = pick(3);
	*it = (struct random_level){.counter = counter((const char *[]){"i", "r", "h"}[type],
									type == 2 ? WEFT__RUNS_HISTOGRAM : WEFT__RUNS_GAUGE, 0)};
	it->counter.labels = it->labels;
	it->counter.label_count = pick(4);
	for (size_t i = 0; i < it->counter.label_count; i++)
		it->labels[i] = (struct weft__runs_label){keys[i], pick(2) ? "a" : "b"};
	it->counter.is_real = type == 1;
	if (type == 0)
		it->counter.integer = pick(3);
	else if (type == 1)
		it->counter.real = pick(3) / 4.0;
	for (size_t i = 0; type == 2 && i < CELLS; i++)
		it->counter.histogram.count += it->cells[i] = pick(3);
	if (type == 2)
		it->counter.histogram = (struct weft__runs_histogram){
			it->cells, CELLS, 0, it->counter.histogram.count, pick(9)};
	*sample = (struct weft__metrics_sample){.program = pick(2) ? "server" : "client",
		.pid = (int)pick(2) + 7,
		.user = (const char *[]){NULL, "0"}[pick(2)],
		.counter = &it->counter};
}

static bool are_same_text(const char *left, const char *right)
{
	return strcmp(left ? left : "", right ? right : "") == 0;
}

/* True if the labels of `level` are the first ones of `below`, or all of them. */
static bool is_at_or_above(
	const struct weft__metrics_sample *level, const struct weft__metrics_sample *below)
{
	const struct weft__runs_counter *l = level->counter, *b = below->counter;
	bool is = are_same_text(level->program, below->program) && level->pid == below->pid &&
			  are_same_text(level->user, below->user) && are_same_text(l->name, b->name) &&
			  l->label_count <= b->label_count;
	for (size_t i = 0; is && i < l->label_count; i++)
		is = are_same_text(l->labels[i].value, b->labels[i].value);
	return is;
}

/* The sample whose value contains that of `below`: the one with the most of its labels. */
static size_t find_above(const struct weft__metrics_sample *samples, size_t count, size_t below)
{
	size_t found = count;
	for (size_t i = 0; i < count; i++)
		if (samples[i].counter->label_count < samples[below].counter->label_count &&
			is_at_or_above(&samples[i], &samples[below]) &&
			(found == count ||
				samples[i].counter->label_count > samples[found].counter->label_count))
			found = i;
	return found;
}

static uint64_t at_least_zero(uint64_t from, uint64_t taken)
{
	return taken < from ? from - taken : 0;
}

/* Takes from a copy of a sample's counter the values right below it. `cells`: of the copy. */
static bool take_below(const struct weft__metrics_sample *samples, size_t count, size_t at,
	struct weft__runs_counter *copy, uint64_t cells[CELLS])
{
	bool has_below = false;
	for (size_t i = 0; i < count; i++) {
		const struct weft__runs_counter *below = samples[i].counter;
		if (find_above(samples, count, i) != at)
			continue;
		has_below = true;
		copy->integer -= below->integer;
		copy->real -= below->real;
		copy->histogram.sum = at_least_zero(copy->histogram.sum, below->histogram.sum);
		for (uint32_t k = 0; k < below->histogram.cell_count; k++)
			cells[k] = at_least_zero(cells[k], below->histogram.cells[k]);
	}
	return has_below;
}

static void assert_level(const struct weft__metrics_sample *samples, size_t count, size_t at,
	const struct weft__metrics_levels *levels)
{
	struct weft__runs_counter copy = *samples[at].counter;
	const struct weft__metrics_sample *found = NULL;
	uint64_t cells[CELLS] = {0}, sum = 0;
	for (uint32_t i = 0; i < copy.histogram.cell_count; i++)
		cells[i] = copy.histogram.cells[i];
	const bool has_below = take_below(samples, count, at, &copy, cells);
	for (size_t i = 0; i < CELLS; i++)
		sum += cells[i];
	for (size_t i = 0; i < levels->count; i++)
		if (is_at_or_above(&levels->samples[i], &samples[at]) &&
			is_at_or_above(&samples[at], &levels->samples[i]))
			found = &levels->samples[i];
	assert_int_equal(found != NULL, !has_below || copy.integer || copy.real != 0 || sum);
	if (!found)
		return;
	assert_int_equal(found->counter->integer, copy.integer);
	assert_true(found->counter->real == copy.real); /* all are quarters */
	assert_int_equal(found->counter->histogram.count, sum);
	assert_int_equal(found->counter->histogram.sum, copy.histogram.sum);
	for (uint32_t i = 0; i < copy.histogram.cell_count; i++)
		assert_int_equal(found->counter->histogram.cells[i], cells[i]);
}

static void random_levels_are_those_of_a_naive_reading(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct weft__metrics_sample samples[LEVELS];
		struct weft__metrics_levels levels;
		size_t count = 0;
		random_state = seed;
		for (size_t i = 0; i < LEVELS; i++) {
			bool is_new = true;
			make_random_level(&random_levels[count], &samples[count]);
			for (size_t k = 0; k < count; k++)
				is_new &= !is_at_or_above(&samples[k], &samples[count]) ||
						  !is_at_or_above(&samples[count], &samples[k]);
			count += is_new;
		}
		assert_true(weft__metrics_levels_init(&levels, samples, count, 3));
		for (size_t i = 0; i < count; i++)
			assert_level(samples, count, i, &levels);
		weft__metrics_levels_finish(&levels);
	}
}

static void a_format_is_chosen_by_the_accept_header(void **state)
{
	static const char *const openmetrics[] = {
		"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
		"text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
		"application/openmetrics-text;version=0.0.1;q=0.5,"
		"text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
		"Application/OpenMetrics-Text",
		"application/openmetrics-text;version=0.0.1;q=0.1,application/openmetrics-text;q=0.9,"
		"application/openmetrics-text;q=0.2,text/plain;q=0.5",
		" text/plain ; q=0.2 , application/openmetrics-text ; q=0.3 ",
	};
	static const char *const text[] = {NULL, "", "*/*", "text/html,application/xml;q=0.9,*/*;q=0.8",
		"text/plain", "application/*", "application/openmetrics-text;version=2.0.0",
		"application/openmetrics-text;q=0", "text/plain;q=0.9,application/openmetrics-text;q=0.125",
		"application/openmetrics-textual", ",;=,q=", "application/openmetrics-text;q=0.5,*/*"};
	(void)state;
	for (size_t i = 0; i < COUNT(openmetrics); i++)
		assert_true(weft__metrics_wants_openmetrics(openmetrics[i]));
	for (size_t i = 0; i < COUNT(text); i++)
		assert_false(weft__metrics_wants_openmetrics(text[i]));
}

/* If both are as welcome, it is OpenMetrics, which says more. The more specific range counts, and
 * of equal ranges the better one. */
static void the_more_welcome_format_is_chosen(void **state)
{
	static const unsigned qualities[] = {0, 1, 499, 500, 501, 999, 1000};
	(void)state;
	for (size_t i = 0; i < COUNT(qualities); i++)
		for (size_t k = 0; k < COUNT(qualities); k++) {
			const unsigned q = qualities[i], other = qualities[k];
			const bool wants = q > 0 && q >= other;
			char accept[128];
			snprintf(accept, sizeof(accept),
				"application/openmetrics-text;q=%u.%03u,text/plain;q=%u.%03u", q / 1000, q % 1000,
				other / 1000, other % 1000);
			assert_int_equal(weft__metrics_wants_openmetrics(accept), wants);
			snprintf(accept, sizeof(accept),
				"text/plain;q=%u.%03u,text/*;q=1,application/openmetrics-text;q=%u.%03u",
				other / 1000, other % 1000, q / 1000, q % 1000);
			assert_int_equal(weft__metrics_wants_openmetrics(accept), wants);
			snprintf(accept, sizeof(accept),
				"text/plain;q=0.5,application/openmetrics-text;q=%u.%03u,"
				"application/openmetrics-text;q=%u.%03u",
				q / 1000, q % 1000, other / 1000, other % 1000);
			assert_int_equal(weft__metrics_wants_openmetrics(accept), q >= 500 || other >= 500);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type_has_its_lines),
		cmocka_unit_test(a_domain_has_no_pid),
		cmocka_unit_test(values_are_exact_in_base_units),
		cmocka_unit_test(a_unit_and_total_are_not_written_twice),
		cmocka_unit_test(a_unit_that_is_the_name_is_not_written_again),
		cmocka_unit_test(a_histogram_has_a_bucket_for_each_factor_of_two),
		cmocka_unit_test(an_exemplar_is_in_one_bucket),
		cmocka_unit_test(escaped_names_can_be_read_back),
		cmocka_unit_test(labels_are_escaped_and_sorted),
		cmocka_unit_test(collisions_lose_the_later_family),
		cmocka_unit_test(a_level_has_only_what_is_not_below_it),
		cmocka_unit_test(the_second_series_of_a_family_is_compared_too),
		cmocka_unit_test(levels_are_those_of_one_process),
		cmocka_unit_test(only_levels_of_which_nothing_remains_are_left_out),
		cmocka_unit_test(a_histograms_level_has_only_what_is_not_below_it),
		cmocka_unit_test(random_levels_are_those_of_a_naive_reading),
		cmocka_unit_test(a_format_is_chosen_by_the_accept_header),
		cmocka_unit_test(the_more_welcome_format_is_chosen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
