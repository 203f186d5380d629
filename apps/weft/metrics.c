/* SPDX-License-Identifier: ISC
 *
 * weft metrics: the values that the counters of running programs have now.
 */
#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runs/attach/counters.h"
#include "runs/attach/page.h"
#include "runs/directory/find.h"
#include "runs/message.h"

static const char usage[] =
	"usage: weft metrics [OPTION]... [PID]...\n"
	"\n"
	"Prints the values that the counters of running programs have now, whether or not anything is\n"
	"recorded. Without PID, those of all programs of this user, or for root of all users, that are\n"
	"linked with libweft and were not started by `weft record`.\n"
	"\n"
	"  --json         one JSON object on each line\n"
	"  --openmetrics  OpenMetrics text, as Prometheus reads it\n"
	"  --help         this text\n"
	"\n"
	"Exit status: 1 if there is no counter.\n";

enum metrics_format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_OPENMETRICS
};

/* A counter of a program. */
struct sample {
	const struct weft__runs_counter *counter;
	const struct weft__runs_linked *program;
	char *family; /* its name in OpenMetrics, or NULL */
};

struct program {
	struct weft__runs_linked linked;
	struct weft__runs_counters counters;
};

struct metrics {
	struct program *programs;
	size_t program_count;
	struct sample *samples;
	size_t count;
};

/* ---- Reading ---- */

static void explain(pid_t pid, int error)
{
	if (error == ENOENT)
		cli_error(
			"process %d has no counters that can be read: it is not linked with libweft, was "
			"started by `weft record` (`weft info %d` has its counters), has WEFT_ATTACH=none, "
			"or was forked by clone(2)",
			(int)pid, (int)pid);
	else
		cli_error("process %d: %s", (int)pid, strerror(error));
}

/* Programs that end meanwhile are left out, unless the user has named them. */
static bool read_programs(
	struct metrics *metrics, const struct weft__runs_linked_list *linked, bool are_named)
{
	bool good = true;
	metrics->programs = calloc(linked->count + 1, sizeof(*metrics->programs));
	for (size_t i = 0; metrics->programs && i < linked->count; i++) {
		struct program *program = &metrics->programs[metrics->program_count];
		int error = weft__runs_counters_read(linked->list[i].pid, &program->counters);
		program->linked = linked->list[i];
		metrics->program_count += !error;
		metrics->count += error ? 0 : program->counters.count;
		if (error && are_named)
			explain(linked->list[i].pid, error);
		good = good && (!error || !are_named);
	}
	return good;
}

static void finish(struct metrics *metrics)
{
	for (size_t i = 0; metrics->samples && i < metrics->count; i++)
		free(metrics->samples[i].family);
	for (size_t i = 0; i < metrics->program_count; i++)
		weft__runs_counters_finish(&metrics->programs[i].counters);
	free(metrics->programs);
	free(metrics->samples);
}

/* ---- Text and JSON ---- */

static void add_value(struct weft_text *text, const struct weft__runs_counter *counter)
{
	if (counter->is_real)
		weft_text_add_f64(text, counter->real);
	else
		weft_text_add_i64(text, counter->integer);
}

static void add_text(struct weft_text *text, const struct sample *sample)
{
	size_t column = text->size;
	weft_text_add_u64(text, (uint64_t)sample->program->pid);
	weft_text_pad(text, column, 9);
	weft_text_add_string(text, weft__runs_shown(sample->program->program));
	weft_text_pad(text, column, 27);
	add_value(text, sample->counter);
	weft_text_pad(text, column, 49);
	weft_text_add_string(text, weft__runs_shown(sample->counter->name));
	weft_text_add_string(text, "\n");
}

static void add_json(struct weft_text *text, const struct sample *sample)
{
	const char *program = sample->program->program, *name = sample->counter->name;
	weft_text_add_string(text, "{\"pid\":");
	weft_text_add_u64(text, (uint64_t)sample->program->pid);
	weft_text_add_string(text, ",\"program\":");
	weft_text_add_json(text, program, strlen(program));
	weft_text_add_string(text, ",\"counter\":");
	weft_text_add_json(text, name, strlen(name));
	weft_text_add_string(text, ",\"value\":");
	add_value(text, sample->counter);
	weft_text_add_string(text, "}\n");
}

/* ---- OpenMetrics ---- */

static bool is_letter(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* A name of letters, digits and underscores; other bytes are written as _2f_. NULL without memory.
 */
static char *family_of(const char *name)
{
	char *family = malloc(4 * strlen(name) + 2), *at = family;
	if (!family)
		return NULL;
	if (name[0] >= '0' && name[0] <= '9')
		*at++ = '_';
	for (; *name; name++)
		if (is_letter(*name) || (*name >= '0' && *name <= '9') || *name == '_')
			*at++ = *name;
		else
			at += sprintf(at, "_%02x_", (unsigned)(unsigned char)*name);
	*at = '\0';
	return family;
}

/* In the text of a label. What is no UTF-8 is replaced. */
static void add_label(struct weft_text *text, const char *value)
{
	for (const char *at = weft__runs_shown(value); *at; at++) {
		if (*at == '\\' || *at == '"')
			weft_text_add(text, "\\", 1);
		weft_text_add(text, at, 1);
	}
}

static void add_openmetrics(struct weft_text *text, const struct sample *sample, bool is_first)
{
	if (is_first) {
		weft_text_add_string(text, "# TYPE ");
		weft_text_add_string(text, sample->family);
		weft_text_add_string(text, " unknown\n");
	}
	weft_text_add_string(text, sample->family);
	weft_text_add_string(text, "{program=\"");
	add_label(text, sample->program->program);
	weft_text_add_string(text, "\",pid=\"");
	weft_text_add_u64(text, (uint64_t)sample->program->pid);
	weft_text_add_string(text, "\"} ");
	add_value(text, sample->counter);
	weft_text_add_string(text, "\n");
}

/* Leaves out the later one of two names that become one. */
static void add_all_openmetrics(struct weft_text *text, const struct metrics *metrics)
{
	const struct sample *first = NULL;
	for (size_t i = 0; i < metrics->count; i++) {
		const struct sample *sample = &metrics->samples[i];
		bool is_first = !first || strcmp(first->family, sample->family) != 0;
		if (is_first)
			first = sample;
		if (strcmp(first->counter->name, sample->counter->name) == 0)
			add_openmetrics(text, sample, is_first);
		else
			cli_error("counter \"%s\" is left out: \"%s\" has the same name in OpenMetrics, %s",
				sample->counter->name, first->counter->name, first->family);
	}
	weft_text_add_string(text, "# EOF\n");
}

/* ---- All ---- */

static int by_family(const void *left, const void *right)
{
	const struct sample *l = left, *r = right;
	int order = strcmp(l->family, r->family);
	if (!order)
		order = strcmp(l->counter->name, r->counter->name);
	return order ? order
				 : (l->program->pid > r->program->pid) - (l->program->pid < r->program->pid);
}

/* In the order of programs and of their counters. False without memory. */
static bool list_samples(struct metrics *metrics)
{
	metrics->samples = calloc(metrics->count + 1, sizeof(*metrics->samples));
	struct sample *at = metrics->samples;
	for (size_t i = 0; at && i < metrics->program_count; i++)
		for (size_t k = 0; k < metrics->programs[i].counters.count; k++)
			*at++ = (struct sample){
				&metrics->programs[i].counters.list[k], &metrics->programs[i].linked, NULL};
	return at;
}

/* In the order of their names in OpenMetrics. False without memory. */
static bool sort_by_family(struct metrics *metrics)
{
	for (size_t i = 0; i < metrics->count; i++)
		if (!(metrics->samples[i].family = family_of(metrics->samples[i].counter->name)))
			return false;
	qsort(metrics->samples, metrics->count, sizeof(*metrics->samples), by_family);
	return true;
}

static void print(const struct metrics *metrics, enum metrics_format format)
{
	struct weft_text text = {0};
	if (format == FORMAT_OPENMETRICS)
		add_all_openmetrics(&text, metrics);
	else if (format == FORMAT_TEXT && metrics->count)
		weft_text_add_string(&text, "pid      program           value                 counter\n");
	for (size_t i = 0; format != FORMAT_OPENMETRICS && i < metrics->count; i++)
		(format == FORMAT_JSON ? add_json : add_text)(&text, &metrics->samples[i]);
	if (text.size)
		cli_write(&text);
	weft_text_finish(&text);
}

static int show(
	const struct weft__runs_linked_list *linked, bool are_named, enum metrics_format format)
{
	struct metrics metrics = {0};
	bool good = read_programs(&metrics, linked, are_named);
	int status = good ? metrics.count ? CLI_DONE : CLI_NO : CLI_UNREADABLE;
	if (!metrics.programs || !list_samples(&metrics) ||
		(format == FORMAT_OPENMETRICS && !sort_by_family(&metrics))) {
		cli_error("%s", strerror(ENOMEM));
		status = CLI_UNREADABLE;
	} else {
		print(&metrics, format);
		if (good && !metrics.count)
			cli_inform(are_named ? "no counter has changed yet"
								 : "no running program has a counter that has changed");
	}
	finish(&metrics);
	return status;
}

/* ---- Arguments ---- */

/* The programs of which the user gave the numbers. False after a message. */
static bool find_named(const char *command, char *const *operands, int count,
	struct weft__runs_linked_list *ret_linked)
{
	struct weft__runs_linked_list linked = {calloc((size_t)count + 1, sizeof(*linked.list)), 0};
	for (int i = 0; linked.list && i < count; i++) {
		pid_t pid = weft__runs_parse_pid(operands[i]);
		if (!pid) {
			cli_usage_error(command, "\"%s\" is not the number of a process", operands[i]);
			weft__runs_linked_finish(&linked);
			return false;
		}
		weft__runs_linked_name(&linked.list[linked.count++], pid);
	}
	*ret_linked = linked;
	return linked.list;
}

int cli_metrics(int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"json", no_argument, NULL, 'j'},
		{"openmetrics", no_argument, NULL, 'o'},
		{NULL, 0, NULL, 0},
	};
	enum metrics_format format = FORMAT_TEXT;
	struct weft__runs_linked_list linked;
	for (int option; (option = cli_next_option(argc, argv, options)) != -1;) {
		if (option == 'h')
			return cli_help(usage);
		if (option == '?')
			return CLI_USAGE;
		format = option == 'j' ? FORMAT_JSON : FORMAT_OPENMETRICS;
	}
	bool are_named = optind < argc;
	if (are_named && !find_named(argv[0], argv + optind, argc - optind, &linked))
		return CLI_USAGE;
	if (!are_named && !weft__runs_linked_find(&linked))
		return CLI_UNREADABLE;
	int status = show(&linked, are_named, format);
	weft__runs_linked_finish(&linked);
	return status;
}
