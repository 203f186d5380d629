/* SPDX-License-Identifier: ISC
 *
 * weft info: summarizes a trace, for people or as one JSON object (info/json.c).
 */
#include "info.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <weft/model.h>
#include <weft/unseen.h>

#include "runs/directory/find.h"
#include "runs/message.h"

#define COUNTERS_SHOWN 20

static const char usage[] =
	"usage: weft info [--json] [--counters] [--max-size SIZE] FILE...\n"
	"       weft info [--json] [--counters] PID\n"
	"\n"
	"Summarizes a trace: format, clock, times, events, tasks, counters, losses, damage, and what\n"
	"adapters could not record. FILE is a trace in any format that weft knows, or `-` for\n"
	"standard input. Several files, or a directory of traces, are one trace. PID is a process that\n"
	"records; of others: for which span of OpenTelemetry each thread works, if they show it.\n"
	"\n"
	"  --json           print one JSON object\n"
	"  --counters       list all counters, not only the 20 that change most often\n"
	"  --max-size SIZE  refuse a compressed FILE that holds more (500M, 4G); default: 64M plus 64\n"
	"                   times its own size, and 4G for a pipe\n"
	"  --cpu-hz HZ      the rate of the cycles in a trace of Xen (2596.15M); default: estimated\n"
	"  --no-align       leave the clocks of several hosts as they are\n"
	"  --help           this text\n";

static void add_head(struct weft_text *text, const char *head)
{
	size_t start = text->size;
	weft_text_add_string(text, head);
	weft_text_pad(text, start, 12);
}

static const uint64_t LONG_NS = UINT64_C(600000000000);
enum {
	LONG_DIGITS = 6,
};

/* Appends a duration in the largest unit with an integer part, "161.813 ms"; a long one in several:
 * "2 d 3 h 47 min". */
static void add_duration(struct weft_text *text, uint64_t ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}};
	char cell[40];
	if (ns >= LONG_NS) {
		weft_format_duration(ns, LONG_DIGITS, cell);
		weft_text_add_string(text, cell);
		return;
	}
	int length = snprintf(cell, sizeof(cell), "%" PRIu64 " ns", ns);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if ((double)ns < units[i].ns)
			continue;
		length = snprintf(cell, sizeof(cell), "%.3f %s", (double)ns / units[i].ns, units[i].name);
		break;
	}
	weft_text_add(text, cell, (size_t)length);
}

/* Appends the date of a time, if the clock has one. */
static void add_date(struct weft_text *text, const struct weft_clock *clock, uint64_t ns)
{
	char cell[64];
	struct tm date;
	if (clock->epoch != WEFT_EPOCH_UNIX && clock->offset_ns == 0)
		return;
	uint64_t unix_ns = ns + (uint64_t)clock->offset_ns;
	time_t seconds = (time_t)(unix_ns / 1000000000);
	if (!gmtime_r(&seconds, &date) || !strftime(cell, sizeof(cell), "%Y-%m-%d %H:%M:%S", &date))
		return;
	weft_text_add_string(text, ", from ");
	weft_text_add_string(text, cell);
	snprintf(cell, sizeof(cell), ".%06u UTC", (unsigned)(unix_ns % 1000000000 / 1000));
	weft_text_add_string(text, cell);
}

/* Appends a time counted from the first event. */
void info_add_time(struct weft_text *text, const struct info_report *report, uint64_t ns)
{
	uint64_t start = report->model->summary.start;
	bool is_before = ns < start;
	if (!report->model->summary.events) {
		weft_text_add_u64(text, ns);
		weft_text_add_string(text, " ns on the trace's clock");
		return;
	}
	add_duration(text, is_before ? start - ns : ns - start);
	if (is_before)
		weft_text_add_string(text, " before the first event");
}

static void add_level(struct weft_text *text, const char *category, unsigned level)
{
	weft_text_add_string(text, strcmp(category, "*") == 0 ? category : weft__runs_shown(category));
	weft_text_add_string(text, "=");
	weft_text_add_string(text, cli_level_name(level));
}

static void print_time(const struct info_report *report, struct weft_text *text)
{
	const struct weft_model_summary *summary = &report->model->summary;
	add_head(text, "time");
	if (summary->events) {
		add_duration(text, summary->end - summary->start);
		add_date(text, &report->model->clock, summary->start);
	} else {
		weft_text_add_string(text, "no events: nothing was recorded");
	}
	weft_text_add_string(text, "\n");
}

/* Appends how the record ended, and how long after its last event. */
static void add_ending(
	struct weft_text *text, const struct weft_trace_buffer *buffer, uint64_t last_ns)
{
	char ending[128];
	weft_trace_format_ending(buffer, ending, sizeof(ending));
	weft_text_add_string(text, ending);
	if (buffer->end_ns <= last_ns)
		return;
	weft_text_add_string(text, ", ");
	add_duration(text, buffer->end_ns - last_ns);
	weft_text_add_string(text, " after the last event");
}

static void print_ending(const struct weft_model *model, struct weft_text *text)
{
	if (model->buffer_count != 1 || model->buffers[0].ending == WEFT_ENDING_UNKNOWN)
		return;
	add_head(text, "ended");
	add_ending(text, &model->buffers[0], model->summary.last);
	weft_text_add_string(text, "\n");
}

static void print_events(const struct weft_model_summary *summary, struct weft_text *text)
{
	bool is_listed[WEFT_EVENT_TYPES] = {false};
	const char *separator = ": ";
	add_head(text, "events");
	weft_text_add_u64(text, summary->events);
	/* Prints the most frequent first. */
	for (;;) {
		unsigned best = 0;
		for (unsigned type = 1; type < WEFT_EVENT_TYPES; type++)
			if (!is_listed[type] && summary->by_event[type] > summary->by_event[best])
				best = type;
		if (!best || !summary->by_event[best])
			break;
		is_listed[best] = true;
		weft_text_add_string(text, separator);
		weft_text_add_u64(text, summary->by_event[best]);
		weft_text_add_string(text, " ");
		weft_text_add_string(text, weft_event_describe(best)->name);
		separator = ", ";
	}
	weft_text_add_string(text, "\n");
}

static void print_tasks(const struct weft_model *model, struct weft_text *text)
{
	const struct weft_model_summary *summary = &model->summary;
	const char *separator = ": ";
	add_head(text, "tasks");
	weft_text_add_u64(text, model->tasks.count - summary->tracks);
	for (unsigned i = 0; i < WEFT_OUTCOMES; i++) {
		if (!summary->by_outcome[i])
			continue;
		weft_text_add_string(text, separator);
		weft_text_add_u64(text, summary->by_outcome[i]);
		weft_text_add_string(text, " ");
		weft_text_add_string(text, weft_outcome_name((enum weft_outcome)i));
		separator = ", ";
	}
	weft_text_add_string(text, "\n");
	if (summary->tracks) {
		add_head(text, "tracks");
		weft_text_add_u64(text, summary->tracks);
		weft_text_add_string(text, "\n");
	}
	if (!summary->preexisting)
		return;
	add_head(text, "before");
	weft_text_add_u64(text, summary->preexisting);
	weft_text_add_string(text, summary->preexisting == 1 ? " task" : " tasks");
	weft_text_add_string(text, " began before the trace\n");
}

/* Those without a counterpart are no damage: the other side need not be in the trace. Of a program
 * alone that is true for all, so nothing is printed. */
static void print_messages(const struct weft_model *model, struct weft_text *text)
{
	const struct info_messages messages = info_count_messages(model);
	if (!messages.joined && (model->buffer_count <= 1 || !(messages.sent || messages.received)))
		return;
	add_head(text, "messages");
	weft_text_add_u64(text, messages.sent);
	cli_add_number(text, " sent, ", messages.received);
	cli_add_number(text, " received; ", messages.joined);
	weft_text_add_string(text, messages.joined == 1 ? " has both sides\n" : " have both sides\n");
	if (!messages.raised)
		return;
	add_head(text, "raised");
	weft_text_add_u64(text, messages.raised);
	cli_add_number(text, " by Xen's trace; ", messages.handled);
	cli_add_number(text, " handled, ", messages.raised - messages.handled);
	weft_text_add_string(text, " unmatched\n");
}

static void print_contexts(const struct weft_context_sums *contexts, struct weft_text *text)
{
	if (!contexts->spans)
		return;
	add_head(text, "contexts");
	weft_text_add_u64(text, contexts->spans);
	weft_text_add_string(text, contexts->spans == 1 ? " span" : " spans");
	cli_add_number(text, " with ids, of traces: ", contexts->traces);
	cli_add_number(text, ", of which ", contexts->begun);
	weft_text_add_string(text, contexts->begun == 1 ? " begins here\n" : " begin here\n");
}

/* Only a trace of Xen has any. */
static void print_wakes(const struct weft_trace_description *trace, struct weft_text *text)
{
	const uint64_t *wakes = trace->wakes;
	uint64_t all = 0;
	for (unsigned i = 0; i < WEFT_WAKERS; i++)
		all += wakes[i];
	if (!all)
		return;
	add_head(text, "wakes");
	weft_text_add_u64(text, all);
	cli_add_number(text, " of vCPUs: ", wakes[WEFT_WAKER_VCPU]);
	cli_add_number(text, " by vCPUs, ", wakes[WEFT_WAKER_INTERRUPT]);
	cli_add_number(text, " by interrupts, ", wakes[WEFT_WAKER_NOBODY]);
	weft_text_add_string(text, " by causes that the trace does not show, such as timers\n");
}

static void print_losses(const struct weft_model *model, struct weft_text *text)
{
	const char *separator = "";
	add_head(text, "losses");
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++) {
		if (!model->losses[cause])
			continue;
		weft_text_add_string(text, separator);
		weft_text_add_u64(text, model->losses[cause]);
		weft_text_add_string(text, " ");
		weft_text_add_string(text, weft_loss_name((enum weft_loss)cause));
		separator = ", ";
	}
	/* Events that are missing behind a cut are in no count. */
	bool is_cut = model->buffer_count == 1 && model->buffers[0].ending == WEFT_ENDING_CUT;
	weft_text_add_string(text, *separator ? "" : is_cut ? "none before the cut" : "none");
	weft_text_add_string(text, "\n");
}

/* Prints for how long events may be missing: "1.05 ms in 2 periods". */
static void print_dark(const struct weft_model *model, struct weft_text *text)
{
	char length[32];
	uint64_t sum = 0, periods = 0;
	for (uint32_t i = 0; i < model->dark_count; i++) {
		if (model->dark[i].reason != WEFT_DARK_LOST)
			continue;
		sum += model->dark[i].end - model->dark[i].start;
		periods++;
	}
	if (!periods)
		return;
	add_head(text, "dark");
	weft_format_duration(sum, 4, length);
	weft_text_add_string(text, length);
	cli_add_number(text, " in ", periods);
	weft_text_add_string(text, periods == 1 ? " period" : " periods");
	weft_text_add_string(text, ", in which events may be missing\n");
}

/* Prints a line for each thing that the adapters could not record. */
static void print_unseen(const struct weft_model *model, struct weft_text *text)
{
	char sentence[WEFT_UNSEEN_SENTENCE_BYTES];
	struct weft_unseen_list unseen;
	weft_unseen_collect(&unseen, model->buffers, model->buffer_count);
	for (uint32_t i = 0; i < unseen.count; i++) {
		add_head(text, i ? "" : "not seen");
		weft_unseen_sentence(&unseen.list[i], sentence, sizeof(sentence));
		weft_text_add_shown(text, sentence, strlen(sentence));
		if (unseen.list[i].buffers > 1) {
			cli_add_number(text, ", in ", unseen.list[i].buffers);
			weft_text_add_string(text, " programs");
		}
		weft_text_add_string(text, "\n");
	}
	if (!unseen.more)
		return;
	add_head(text, "");
	weft_text_add_u64(text, unseen.more);
	weft_text_add_string(text, " more\n");
}

static void count_diagnostic(
	void *count, const char *file, const struct weft_diagnostic *diagnostic)
{
	(void)file;
	*(uint64_t *)count += diagnostic->count;
}

static void print_damage(const struct info_report *report, struct weft_text *text)
{
	uint64_t damages = 0;
	cli_trace_each_diagnostic(report->opened, count_diagnostic, &damages);
	add_head(text, "damage");
	if (damages) {
		weft_text_add_u64(text, damages);
		weft_text_add_string(text, damages == 1 ? " place" : " places");
		weft_text_add_string(text, ", listed on standard error");
	} else {
		weft_text_add_string(text, "none");
	}
	weft_text_add_string(text, "\n");
}

/* To look for problems takes as long as the whole summary. */
static void print_hint(const struct weft_model *model, struct weft_text *text)
{
	if (!model->tasks.count)
		return;
	add_head(text, "problems");
	weft_text_add_string(text, "not looked for: weft dump --problems lists them\n");
}

static void print_title(const struct weft_model *model, struct weft_text *text)
{
	struct weft_slice title = {"", 0};
	if (model->buffer_count == 1)
		title = weft_unseen_title(model->buffers[0].unseen);
	if (!title.size)
		return;
	add_head(text, "title");
	weft_text_add_shown(text, title.bytes, title.size);
	weft_text_add_string(text, "\n");
}

static void print_buffers(const struct weft_model *model, struct weft_text *text)
{
	char name[128];
	for (uint32_t i = 0; model->buffer_count > 1 && i < model->buffer_count; i++) {
		add_head(text, i ? "" : "processes");
		weft_trace_format_process(model->buffers, model->buffer_count, i, name, sizeof(name));
		weft_text_add_shown(text, name, strlen(name));
		cli_add_number(text, ", buffer ", i);
		if (*model->buffers[i].file) {
			weft_text_add_string(text, ": ");
			weft_text_add_shown(text, model->buffers[i].file, strlen(model->buffers[i].file));
		}
		if (model->buffers[i].ending != WEFT_ENDING_UNKNOWN) {
			weft_trace_format_ending(&model->buffers[i], name, sizeof(name));
			weft_text_add_string(text, "; ");
			weft_text_add_string(text, name);
		}
		weft_text_add_string(text, "\n");
	}
}

static void print_value(
	struct weft_text *text, int width, const struct weft_counter *counter, struct weft_number value)
{
	char number[32], cell[48];
	weft_counter_format(counter, value, number, sizeof(number));
	int length = snprintf(cell, sizeof(cell), "%*s ", width, number);
	weft_text_add(text, cell, (size_t)length);
}

static void print_counter(
	const struct weft_model *model, const struct weft_counter *counter, struct weft_text *text)
{
	struct weft_slice name = weft_model_string(model, counter->name);
	static const struct weft_counter absolute = {.is_relative = false};
	const uint32_t last = counter->first + counter->count - 1;
	print_value(text, 12, counter, weft_counter_number(model, counter, counter->first));
	print_value(text, 11, counter, counter->min);
	print_value(text, 11, counter, counter->max);
	if (counter->is_end_known)
		print_value(text, 11, &absolute, counter->end);
	else
		print_value(text, 11, counter, weft_counter_number(model, counter, last));
	char changes[32];
	int length = snprintf(changes, sizeof(changes), " %10" PRIu32 "  ", counter->count);
	weft_text_add(text, changes, (size_t)length);
	weft_text_add_quoted(text, name.bytes, name.size);
	if (model->buffer_count > 1) {
		cli_add_number(text, " of buffer ", counter->buffer);
	}
	weft_text_add_string(text, "\n");
}

/* The counters that change most often, in the order of the model. Returns their number. */
static uint32_t find_busiest(const struct weft_model *model, uint32_t ret_list[COUNTERS_SHOWN])
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < model->counter_count; i++) {
		if (count < COUNTERS_SHOWN) {
			ret_list[count++] = i;
			continue;
		}
		/* The last of those that change least often makes room. */
		uint32_t least = count - 1;
		for (uint32_t n = count - 1; n-- > 0;)
			if (model->counters[ret_list[n]].count < model->counters[ret_list[least]].count)
				least = n;
		if (model->counters[i].count <= model->counters[ret_list[least]].count)
			continue;
		memmove(ret_list + least, ret_list + least + 1, (count - 1 - least) * sizeof(*ret_list));
		ret_list[count - 1] = i;
	}
	return count;
}

static void print_counters(const struct info_report *report, struct weft_text *text)
{
	const struct weft_model *model = report->model;
	uint32_t busiest[COUNTERS_SHOWN];
	if (!model->counter_count)
		return;
	weft_text_add_string(text, "\n       first         min         max        last  "
							   "   changes  counter\n");
	bool all = report->all_counters || model->counter_count <= COUNTERS_SHOWN;
	uint32_t count = all ? model->counter_count : find_busiest(model, busiest);
	for (uint32_t i = 0; i < count; i++)
		print_counter(model, &model->counters[all ? i : busiest[i]], text);
	if (all)
		return;
	weft_text_add_u64(text, model->counter_count - count);
	weft_text_add_string(text, " more that change less often; `weft info --counters` lists all\n");
}

/* Appends "buffer 2: " if there are several. */
static void add_buffer(
	struct weft_text *text, const struct weft_trace_description *trace, uint32_t buffer)
{
	if (trace->buffer_count <= 1)
		return;
	cli_add_number(text, "buffer ", buffer);
	weft_text_add_string(text, ": ");
}

/* Prints a line for each buffer. */
static void print_levels(const struct weft_trace_description *trace, struct weft_text *text)
{
	const struct weft_trace_category *list = trace->categories;
	for (uint32_t i = 0; i < trace->category_count; i++) {
		bool is_first = i == 0 || list[i].buffer != list[i - 1].buffer;
		if (is_first) {
			weft_text_add_string(text, i ? "\n" : "");
			add_head(text, i ? "" : "levels");
			add_buffer(text, trace, list[i].buffer);
		}
		weft_text_add_string(text, is_first ? "" : ", ");
		add_level(text, list[i].name, list[i].level);
	}
	weft_text_add_string(text, trace->category_count ? "\n" : "");
}

/* Prints categories only if they are informative: most programs have one, at the default level. A
 * level that was set before the first event was no change to what the program recorded. */
static void print_categories(const struct info_report *report, struct weft_text *text)
{
	const struct weft_trace_description *trace = report->trace;
	uint32_t buffers = trace->buffer_count ? trace->buffer_count : 1, printed = 0;
	if (trace->category_count > buffers || trace->change_count)
		print_levels(trace, text);
	for (uint32_t i = 0; i < trace->change_count; i++) {
		const struct weft_trace_change *change = &trace->changes[i];
		if (change->time_ns < report->model->summary.start)
			continue;
		add_head(text, printed++ ? "" : "set");
		add_buffer(text, trace, change->buffer);
		add_level(text, cli_category_name(trace, change->buffer, change->category), change->level);
		weft_text_add_string(text, " at ");
		info_add_time(text, report, change->time_ns);
		weft_text_add_string(text, "\n");
	}
}

/* Appends the clock's name, and the rate if the trace leaves it open. */
static void add_clock(struct weft_text *text, const struct weft_clock *clock)
{
	char cell[64];
	weft_text_add_string(text, clock->name);
	if (clock->rate != WEFT_RATE_GIVEN) {
		bool is_estimate = clock->rate == WEFT_RATE_ESTIMATED;
		snprintf(cell, sizeof(cell), ", %.3f MHz, %s", (double)clock->hz / 1e6,
			is_estimate ? "estimated from the trace" : "a guess");
		weft_text_add_string(text, cell);
	}
	if (clock->comparisons == 1)
		weft_text_add_string(text, ", compared with the host's once: off by the drift since then");
	if (clock->comparisons > 1) {
		weft_text_add_string(text, ", within ");
		add_duration(text, clock->error_ns);
		weft_text_add_string(text, " of the host's");
	}
	weft_text_add_string(text, "\n");
}

/* How the clocks of several hosts compare. */
static void print_hosts(const struct weft_input *input, struct weft_text *text)
{
	char sentence[512];
	for (size_t i = 0; input && i < weft_input_host_count(input); i++) {
		const struct weft_input_host *host = weft_input_host(input, i);
		add_head(text, i ? "" : "hosts");
		weft_text_add_shown(text, host->name, strlen(host->name));
		weft_input_explain_host(host, sentence, sizeof(sentence));
		weft_text_add_string(text, ": ");
		weft_text_add_string(text, sentence);
		weft_text_add_string(text, "\n");
	}
}

static void write_text(const struct info_report *report, struct weft_text *text)
{
	const struct weft_model *model = report->model;
	add_head(text, "trace");
	weft_text_add_shown(text, report->name, strlen(report->name));
	weft_text_add_string(text, "\n");
	add_head(text, "format");
	weft_text_add_string(text, report->trace->format);
	if (report->trace->source) {
		weft_text_add_string(text, ", part of ");
		weft_text_add_quoted(text, report->trace->source, strlen(report->trace->source));
	}
	weft_text_add_string(text, "\n");
	print_title(model, text);
	print_buffers(model, text);
	print_hosts(report->opened->input, text);
	info_write_alerts(report, text);
	print_time(report, text);
	print_ending(model, text);
	add_head(text, "clock");
	add_clock(text, &model->clock);
	print_events(&model->summary, text);
	add_head(text, "threads");
	weft_text_add_u64(text, model->thread_count);
	weft_text_add_string(text, "\n");
	print_tasks(model, text);
	print_messages(model, text);
	print_contexts(&model->summary.contexts, text);
	print_wakes(report->trace, text);
	print_losses(model, text);
	print_dark(model, text);
	print_unseen(model, text);
	print_damage(report, text);
	print_hint(model, text);
	print_categories(report, text);
	print_counters(report, text);
	info_write_tables(report, text);
	info_write_metrics(report, text);
	if (strcmp(report->trace->format, "xentrace") == 0)
		info_write_xen(report, text);
}

static int show(const struct cli_trace *trace, bool json, bool all_counters)
{
	struct weft_model *model = NULL;
	cli_progress_start();
	/* Only domains of Xen are summed up from what they did. */
	int error = strcmp(weft_decoder_describe(trace->decoder)->format, "xentrace") == 0
					? cli_trace_build_model(trace, &model)
					: cli_trace_build_summary(trace, &model);
	cli_progress_end();
	if (error)
		return cli_trace_fail(trace, error);
	const struct info_report report = {
		.name = trace->name,
		.trace = weft_decoder_describe(trace->decoder),
		.opened = trace,
		.model = model,
		.all_counters = all_counters,
	};
	struct weft_text text = {0};
	if (json)
		info_write_json(&report, &text);
	else
		write_text(&report, &text);
	cli_write(&text);
	weft_text_finish(&text);
	weft_model_destroy(model);
	return CLI_DONE;
}

/* True for a process that records nothing, but shows its service or its threads' spans. */
static bool is_seen_from_outside(const char *operand)
{
	struct weft__runs_found found;
	const pid_t pid = weft__runs_parse_pid(operand);
	return pid && !weft__runs_look_for(pid, &found) && !weft__runs_find_mapped(pid, &found) &&
		   info_shows_context(pid);
}

int cli_info(int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"counters", no_argument, NULL, 'c'},
		{"json", no_argument, NULL, 'j'},
		CLI_MAX_SIZE_OPTION,
		CLI_CPU_HZ_OPTION,
		CLI_NO_ALIGN_OPTION,
		{NULL, 0, NULL, 0},
	};
	struct cli_trace trace;
	bool json = false, all_counters = false;
	int code;
	while ((code = cli_next_option(argc, argv, options)) != -1) {
		if (code == 'h')
			return cli_help(usage);
		if (code != 'c' && code != 'j')
			return CLI_USAGE;
		json |= code == 'j';
		all_counters |= code == 'c';
	}
	int count = cli_count_operands(argc, argv, "FILE");
	if (!count)
		return CLI_USAGE;
	if (count == 1 && is_seen_from_outside(argv[optind]))
		return info_process(weft__runs_parse_pid(argv[optind]), json);
	int status = cli_trace_open_all(argv + optind, count, &trace);
	if (status)
		return status;
	status = show(&trace, json, all_counters);
	cli_trace_report(&trace);
	cli_trace_close(&trace);
	return status;
}
