/* SPDX-License-Identifier: ISC
 *
 * A trace's summary as one JSON object.
 */
#include "info.h"

#include <string.h>

#include <weft/unseen.h>

static void add_key(struct weft_text *text, const char *separator, const char *key)
{
	weft_text_add_string(text, separator);
	weft_text_add_json(text, key, strlen(key));
	weft_text_add(text, ":", 1);
}

static void add_number(
	struct weft_text *text, const char *separator, const char *key, uint64_t number)
{
	add_key(text, separator, key);
	weft_text_add_u64(text, number);
}

static void add_signed(
	struct weft_text *text, const char *separator, const char *key, int64_t number)
{
	add_key(text, separator, key);
	weft_text_add_i64(text, number);
}

static void add_name(
	struct weft_text *text, const char *separator, const char *key, const char *name)
{
	add_key(text, separator, key);
	weft_text_add_json(text, name, strlen(name));
}

/* Appends a time; null without events. */
static void add_time(
	struct weft_text *text, const struct info_report *report, const char *key, uint64_t ns)
{
	if (report->model->summary.events) {
		add_number(text, ",", key, ns);
		return;
	}
	add_key(text, ",", key);
	weft_text_add_string(text, "null");
}

static void add_event_counts(struct weft_text *text, const struct weft_model_summary *summary)
{
	const char *separator = "";
	add_key(text, ",", "by_event");
	weft_text_add_string(text, "{");
	for (unsigned type = 0; type < WEFT_EVENT_TYPES; type++) {
		if (!summary->by_event[type])
			continue;
		add_number(text, separator, weft_event_describe(type)->name, summary->by_event[type]);
		separator = ",";
	}
	weft_text_add_string(text, "}");
}

static void add_task_counts(struct weft_text *text, const struct weft_model *model)
{
	const struct weft_model_summary *summary = &model->summary;
	add_key(text, ",", "tasks");
	add_number(text, "{", "total", model->tasks.count - summary->tracks);
	for (unsigned i = 0; i < WEFT_OUTCOMES; i++)
		add_number(text, ",", weft_outcome_key((enum weft_outcome)i), summary->by_outcome[i]);
	add_number(text, ",", "preexisting", summary->preexisting);
	add_number(text, ",", "tracks", summary->tracks);
	weft_text_add_string(text, "}");
}

static void add_messages(struct weft_text *text, const struct weft_model *model)
{
	const struct info_messages messages = info_count_messages(model);
	add_key(text, ",", "messages");
	add_number(text, "{", "sent", messages.sent);
	add_number(text, ",", "received", messages.received);
	add_number(text, ",", "joined", messages.joined);
	add_number(text, ",", "raised", messages.raised);
	add_number(text, ",", "handled", messages.handled);
	weft_text_add_string(text, "}");
}

static void add_contexts(struct weft_text *text, const struct weft_context_sums *contexts)
{
	add_key(text, ",", "contexts");
	add_number(text, "{", "spans", contexts->spans);
	add_number(text, ",", "traces", contexts->traces);
	add_number(text, ",", "begun", contexts->begun);
	weft_text_add_string(text, "}");
}

static void add_value(struct weft_text *text, const char *key, struct weft_number value)
{
	add_key(text, ",", key);
	if (value.is_real)
		weft_text_add_f64(text, value.real);
	else
		weft_text_add_i64(text, value.integer);
}

static void add_counters(struct weft_text *text, const struct weft_model *model)
{
	add_key(text, ",", "counters");
	weft_text_add_string(text, "[");
	for (uint32_t i = 0; i < model->counter_count; i++) {
		const struct weft_counter *counter = &model->counters[i];
		struct weft_slice name = weft_model_string(model, counter->name);
		add_key(text, i ? ",{" : "{", "name");
		weft_text_add_json(text, name.bytes, name.size);
		if (model->buffer_count > 1)
			add_number(text, ",", "buffer", counter->buffer);
		uint32_t last = counter->first + counter->count - 1;
		add_value(text, "first", weft_counter_number(model, counter, counter->first));
		add_value(text, "min", counter->min);
		add_value(text, "max", counter->max);
		add_value(text, "last", weft_counter_number(model, counter, last));
		add_number(text, ",", "changes", counter->count);
		if (counter->is_relative)
			weft_text_add_string(text, ",\"relative\":true");
		if (counter->is_end_known)
			add_value(text, "end", counter->end);
		weft_text_add_string(text, "}");
	}
	weft_text_add_string(text, "]");
}

/* Times in which nothing is known of a process. */
static void add_dark(struct weft_text *text, const struct weft_model *model)
{
	add_key(text, ",", "dark");
	weft_text_add_string(text, "[");
	for (uint32_t i = 0; i < model->dark_count; i++) {
		add_number(text, i ? ",{" : "{", "start", model->dark[i].start);
		add_number(text, ",", "end", model->dark[i].end);
		add_name(text, ",", "reason", weft_dark_name((enum weft_dark_reason)model->dark[i].reason));
		if (model->buffer_count > 1)
			add_number(text, ",", "buffer", model->dark[i].buffer);
		weft_text_add_string(text, "}");
	}
	weft_text_add_string(text, "]");
}

static void add_unseen(struct weft_text *text, const struct weft_model *model)
{
	char sentence[WEFT_UNSEEN_SENTENCE_BYTES];
	struct weft_unseen_list unseen;
	weft_unseen_collect(&unseen, model->buffers, model->buffer_count);
	add_key(text, ",", "unseen");
	weft_text_add_string(text, "[");
	for (uint32_t i = 0; i < unseen.count; i++) {
		const struct weft_unseen *fact = &unseen.list[i];
		add_key(text, i ? ",{" : "{", "kind");
		weft_text_add_json(text, fact->key.bytes, fact->key.size);
		add_key(text, ",", "what");
		weft_text_add_json(text, fact->what.bytes, fact->what.size);
		weft_unseen_sentence(fact, sentence, sizeof(sentence));
		add_name(text, ",", "sentence", sentence);
		add_number(text, ",", "buffers", fact->buffers);
		weft_text_add_string(text, "}");
	}
	weft_text_add_string(text, "]");
}

static void add_diagnostic(
	void *context, const char *file, const struct weft_diagnostic *diagnostic)
{
	struct weft_text *text = context;
	bool is_first = text->bytes[text->size - 1] == '[';
	add_number(text, is_first ? "{" : ",{", "offset", diagnostic->offset);
	add_name(text, ",", "message", diagnostic->message);
	add_number(text, ",", "count", diagnostic->count);
	if (diagnostic->amount_ns)
		add_number(text, ",", "amount_ns", diagnostic->amount_ns);
	if (file)
		add_name(text, ",", "file", file);
	weft_text_add_string(text, "}");
}

static void add_diagnostics(struct weft_text *text, const struct info_report *report)
{
	add_key(text, ",", "diagnostics");
	weft_text_add_string(text, "[");
	if (!text->error)
		cli_trace_each_diagnostic(report->opened, add_diagnostic, text);
	weft_text_add_string(text, "]");
}

/* Appends how the buffer's record ended. */
static void add_ending(struct weft_text *text, const struct weft_trace_buffer *buffer)
{
	add_name(text, ",", "ending", weft_ending_name(buffer->ending));
	if (!buffer->wait_status)
		return;
	unsigned signal = buffer->wait_status & 0x7f;
	if (signal)
		add_number(text, ",", "signal", signal);
	else
		add_number(text, ",", "status", buffer->wait_status >> 8 & 0xff);
}

static void add_title(struct weft_text *text, const struct weft_trace_buffer *buffer)
{
	struct weft_slice title = weft_unseen_title(buffer->unseen);
	if (!title.size)
		return;
	add_key(text, ",", "title");
	weft_text_add_json(text, title.bytes, title.size);
}

/* Appends a row for each buffer, if there are several. */
static void add_buffers(struct weft_text *text, const struct weft_model *model)
{
	if (model->buffer_count <= 1)
		return;
	add_key(text, ",", "buffers");
	weft_text_add_string(text, "[");
	for (uint32_t i = 0; i < model->buffer_count; i++) {
		const struct weft_trace_buffer *buffer = &model->buffers[i];
		add_number(text, i ? ",{" : "{", "buffer", i);
		add_number(text, ",", "process", buffer->pid);
		add_name(text, ",", "program", buffer->process);
		add_title(text, buffer);
		add_name(text, ",", "host", buffer->host);
		add_name(text, ",", "file", buffer->file);
		add_ending(text, buffer);
		if (buffer->end_ns)
			add_number(text, ",", "end", buffer->end_ns);
		weft_text_add_string(text, "}");
	}
	weft_text_add_string(text, "]");
}

/* Appends a row for each host, if there are several. */
static void add_hosts(struct weft_text *text, const struct weft_input *input)
{
	static const char *const alignments[] = {
		[WEFT_ALIGNMENT_SAME] = "same",
		[WEFT_ALIGNMENT_BOUNDED] = "bounded",
		[WEFT_ALIGNMENT_ONE_SIDED] = "one-sided",
		[WEFT_ALIGNMENT_NONE] = "none",
	};
	const size_t count = input ? weft_input_host_count(input) : 0;
	for (size_t i = 0; i < count; i++) {
		const struct weft_input_host *host = weft_input_host(input, i);
		add_name(text, i ? ",{" : ",\"hosts\":[{", "host", host->name);
		add_name(text, ",", "alignment", alignments[host->alignment]);
		if (host->alignment == WEFT_ALIGNMENT_BOUNDED) {
			add_number(text, ",", "error", host->error_ns);
			add_signed(text, ",", "drift_ppb", (int64_t)(-host->drift * 1e9));
			add_signed(text, ",", "drift_error_ppb", (int64_t)(host->drift_error * 1e9));
		}
		if (host->pairs || host->has_wall_error) {
			add_signed(text, ",", "moved", host->moved_ns);
			add_number(text, ",", "pairs", host->pairs);
		}
		if (host->has_wall_error)
			weft_text_add_string(text, ",\"by_wall_clock\":true");
		weft_text_add_string(text, "}");
	}
	weft_text_add_string(text, count ? "]" : "");
}

static const char *epoch_name(enum weft_clock_epoch epoch)
{
	if (epoch == WEFT_EPOCH_UNIX)
		return "unix";
	return epoch == WEFT_EPOCH_MONOTONIC ? "monotonic" : "unknown";
}

static void add_clock(struct weft_text *text, const struct weft_clock *clock)
{
	add_key(text, ",", "clock");
	add_name(text, "{", "name", clock->name);
	add_name(text, ",", "epoch", epoch_name(clock->epoch));
	add_number(text, ",", "hz", clock->hz);
	if (clock->rate != WEFT_RATE_GIVEN)
		add_name(text, ",", "hz_is", clock->rate == WEFT_RATE_ESTIMATED ? "estimated" : "assumed");
	add_signed(text, ",", "offset_ns", clock->offset_ns);
	if (clock->comparisons) {
		add_number(text, ",", "comparisons", clock->comparisons);
		add_number(text, ",", "error_ns", clock->error_ns);
	}
	weft_text_add_string(text, "}");
}

void info_write_json(const struct info_report *report, struct weft_text *text)
{
	const struct weft_model *model = report->model;
	add_name(text, "{", "format", report->trace->format);
	if (report->trace->source)
		add_name(text, ",", "source", report->trace->source);
	add_time(text, report, "start", model->summary.start);
	add_time(text, report, "last_event", model->summary.last);
	add_time(text, report, "end", model->summary.end);
	if (model->buffer_count == 1) {
		add_title(text, &model->buffers[0]);
		add_ending(text, &model->buffers[0]);
	}
	add_number(text, ",", "events", model->summary.events);
	add_event_counts(text, &model->summary);
	add_number(text, ",", "threads", model->thread_count);
	add_task_counts(text, model);
	add_messages(text, model);
	add_contexts(text, &model->summary.contexts);
	add_counters(text, model);
	cli_add_losses(text, ",\"losses\":", model->losses);
	add_dark(text, model);
	add_unseen(text, model);
	add_buffers(text, model);
	add_hosts(text, report->opened->input);
	add_diagnostics(text, report);
	add_clock(text, &model->clock);
	cli_add_levels(text, report->trace);
	info_write_metrics_json(report, text);
	info_write_tables_json(report, text);
	if (strcmp(report->trace->format, "xentrace") == 0)
		info_write_xen_json(report, text);
	weft_text_add_string(text, "}\n");
}
