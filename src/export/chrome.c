/* SPDX-License-Identifier: ISC
 *
 * Writes a line for each event, with the event's own fields in its arguments as "weft", and lines
 * that only draw: activations, arrows. Lines come in the order of events, so activations are B and
 * E, whose lengths need not be known when they begin.
 */
#include <weft/export.h>

#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "export/chrome_draw.h"

static struct weft_slice slice_of(const char *text)
{
	return (struct weft_slice){text, strlen(text)};
}

static void begin_line(struct weft_export_chrome *c, char phase, const char *name)
{
	weft__export_chrome_begin(&c->lines, phase, c->event->time_ns, c->event->thread);
	weft__export_chrome_name(&c->lines, slice_of(name));
}

/* ---- Slices of tasks ---- */

static void add_slice(struct weft_export_chrome *c, char phase, uint32_t task, bool has_fields)
{
	weft__export_chrome_begin(&c->lines, phase, c->event->time_ns, c->event->thread);
	weft__export_chrome_name_task(&c->lines, task);
	weft__export_chrome_id(&c->lines, "", c->identities.id[task]);
	if (has_fields)
		weft__export_chrome_end_with_fields(c, false);
	else
		weft__export_chrome_end(&c->lines);
}

/* A task that was there before the trace has a slice from its first mention on. */
static bool is_open(struct weft_export_chrome *c, uint32_t task)
{
	if (task == WEFT_NONE)
		return false;
	if (c->rows[task].life == WEFT__CHROME_UNKNOWN) {
		add_slice(c, 'b', task, false);
		c->rows[task].life = WEFT__CHROME_OPEN;
	}
	return c->rows[task].life == WEFT__CHROME_OPEN;
}

/* The task that another one has become. */
static uint32_t forward(struct weft_export_chrome *c, uint32_t task)
{
	return task == WEFT_NONE ? WEFT_NONE : weft__model_state_forward(&c->state, task);
}

/* An instant of the actor's slice, or of the thread. */
static void add_instant(struct weft_export_chrome *c, struct weft_slice name)
{
	const uint32_t task = forward(c, c->fact.task);
	const bool is_of_task = is_open(c, task);
	weft__export_chrome_begin(
		&c->lines, is_of_task ? 'n' : 'i', c->event->time_ns, c->event->thread);
	weft__export_chrome_name(&c->lines, name);
	if (is_of_task)
		weft__export_chrome_id(&c->lines, "", c->identities.id[task]);
	else
		weft_text_add_string(&c->lines.text, ",\"s\":\"t\"");
	weft__export_chrome_end_with_fields(c, false);
}

static struct weft_slice event_name(const struct weft_export_chrome *c)
{
	return slice_of(weft_event_describe(c->event->type)->name);
}

static void add_birth(struct weft_export_chrome *c, uint32_t task)
{
	if (task == WEFT_NONE || c->rows[task].life == WEFT__CHROME_OPEN) {
		add_instant(c, event_name(c));
		return;
	}
	c->rows[task].life = WEFT__CHROME_OPEN;
	add_slice(c, 'b', task, true);
}

static void end_spans(struct weft_export_chrome *c, uint32_t task)
{
	for (uint32_t span = weft__model_state_innermost(&c->state, task);
		 span != WEFT_NONE && c->rows[task].spans > 0; span = c->state.spans.list[span].outer) {
		weft__export_chrome_span_slice(
			c, 'e', weft__export_chrome_string(c, c->state.spans.list[span].name), task);
		weft__export_chrome_end(&c->lines);
	}
}

#define MOVED_SPANS 64u

/* The spans that came to `task` from the one that became it, the outer ones first; the innermost
 * ones if they are many. */
static void begin_spans(struct weft_export_chrome *c, uint32_t task)
{
	uint32_t names[MOVED_SPANS], count = 0;
	for (uint32_t span = weft__model_state_innermost(&c->state, task);
		 span != WEFT_NONE && count < MOVED_SPANS &&
		 c->state.spans.list[span].since == c->state.now;
		 span = c->state.spans.list[span].outer)
		names[count++] = c->state.spans.list[span].name;
	while (count > 0) {
		weft__export_chrome_span_slice(c, 'b', weft__export_chrome_string(c, names[--count]), task);
		weft__export_chrome_end(&c->lines);
	}
}

static void add_death(struct weft_export_chrome *c, uint32_t task)
{
	if (!is_open(c, task)) {
		add_instant(c, event_name(c));
		return;
	}
	end_spans(c, task);
	c->rows[task].life = WEFT__CHROME_ENDED;
	add_slice(c, 'e', task, true);
}

/* An impossible one changes nothing. */
static void add_become(struct weft_export_chrome *c)
{
	const uint32_t task = c->fact.task, target = forward(c, c->fact.other);
	if (task == WEFT_NONE || c->state.tasks.becomes[task] == WEFT_NONE) {
		add_instant(c, event_name(c));
		return;
	}
	add_death(c, task);
	if (is_open(c, target))
		begin_spans(c, target);
}

/* ---- Other events ---- */

static void add_counter(struct weft_export_chrome *c)
{
	struct weft_text *text = &c->lines.text;
	if (c->counter == WEFT_NONE) {
		add_instant(c, event_name(c));
		return;
	}
	const struct weft_number number = weft__model_state_number(&c->state, c->counter);
	weft__export_chrome_begin(&c->lines, 'C', c->event->time_ns, c->event->thread);
	weft__export_chrome_name(&c->lines, c->event->text);
	weft_text_add_string(text, ",\"args\":{\"value\":");
	if (number.is_real)
		weft_text_add_f64(text, number.real);
	else
		weft_text_add_i64(text, number.integer);
	weft_text_add_string(text, "}");
	weft__export_chrome_end_with_fields(c, true);
}

static void add_message(struct weft_export_chrome *c)
{
	begin_line(c, c->event->type == WEFT_EVENT_SEND ? 's' : 'f', "message");
	weft__export_chrome_flow(&c->lines, c->event->key);
	weft_text_add_string(&c->lines.text, ",\"bp\":\"e\"");
	weft__export_chrome_end_with_fields(c, false);
}

/* Spans of tasks last over their activations, so they are slices of the task's id. */
static void add_span(struct weft_export_chrome *c)
{
	const bool begins = c->event->type == WEFT_EVENT_BEGIN;
	const uint32_t task = forward(c, c->fact.task);
	if ((!begins && c->ended_span == WEFT_NONE) ||
		(task != WEFT_NONE && (!is_open(c, task) || (!begins && c->rows[task].spans == 0)))) {
		add_instant(c, event_name(c));
		return;
	}
	const struct weft_slice name =
		begins ? c->event->text : weft__export_chrome_string(c, c->ended_span);
	if (task != WEFT_NONE) {
		weft__export_chrome_span_slice(c, begins ? 'b' : 'e', name, task);
	} else {
		weft__export_chrome_begin(
			&c->lines, begins ? 'b' : 'e', c->event->time_ns, c->event->thread);
		weft__export_chrome_name(&c->lines, name);
		weft__export_chrome_id(&c->lines, "thread", c->event->thread);
	}
	weft__export_chrome_end_with_fields(c, false);
}

static void begin_band(struct weft_export_chrome *c, char phase, uint64_t time_ns, const char *name,
	const char *letter)
{
	weft__export_chrome_begin(&c->lines, phase, time_ns, c->event->thread);
	weft__export_chrome_name(&c->lines, slice_of(name));
	weft__export_chrome_id(&c->lines, letter, c->event->thread);
}

/* Programs may begin a band twice, or end one that has not begun. */
static int add_band(struct weft_export_chrome *c)
{
	const bool begins = c->event->flag, is_gc = c->event->band == WEFT_BAND_GC;
	int error = weft__export_chrome_reserve_drawn(c, c->event->thread);
	if (error)
		return error;
	bool *is_drawn = &c->drawn[c->event->thread].bands[is_gc];
	if (*is_drawn == begins) {
		add_instant(c, event_name(c));
		return 0;
	}
	*is_drawn = begins;
	begin_band(c, begins ? 'b' : 'e', c->event->time_ns, weft_band_name(c->event->band),
		is_gc ? "gc" : "idle");
	weft__export_chrome_end_with_fields(c, false);
	return 0;
}

static void add_collection(struct weft_export_chrome *c)
{
	const uint64_t now = c->event->time_ns;
	const uint64_t length = c->event->value > 0 ? (uint64_t)c->event->value : 0;
	begin_band(c, 'b', length < now ? now - length : 0, "gc", "collection");
	weft__export_chrome_end(&c->lines);
	begin_band(c, 'e', now, "gc", "collection");
	weft__export_chrome_end_with_fields(c, false);
}

/* On a track, spans may overlap: each has an id of its own. */
static void add_track_span(struct weft_export_chrome *c)
{
	const uint64_t end =
		c->event->end_ns < c->event->time_ns ? c->event->end_ns : c->event->time_ns;
	const uint64_t begin = c->event->begin_ns < end ? c->event->begin_ns : end;
	const uint64_t span = ++c->flows;
	for (int part = 0; part < 2; part++) {
		weft__export_chrome_begin(
			&c->lines, part ? 'e' : 'b', part ? end : begin, c->event->thread);
		weft__export_chrome_name(&c->lines, c->event->text);
		weft__export_chrome_id(&c->lines, "s", span);
		weft__export_chrome_end(&c->lines);
	}
	add_instant(c, event_name(c));
}

/* Most switches are where an activation begins or ends. Others, which change nothing that is drawn,
 * have lines of their own. */
static void add_switch(struct weft_export_chrome *c)
{
	if (c->has_switched)
		return;
	weft__export_chrome_begin(&c->lines, 'i', c->event->time_ns, c->event->thread);
	weft__export_chrome_name(&c->lines, event_name(c));
	weft_text_add_string(&c->lines.text, ",\"s\":\"t\"");
	weft__export_chrome_end_with_fields(c, false);
}

static int add_line(struct weft_export_chrome *c)
{
	switch (c->event->type) {
	case WEFT_EVENT_CREATE:
		add_birth(c, c->fact.other);
		break;
	case WEFT_EVENT_ALIVE:
		add_birth(c, c->fact.task);
		break;
	case WEFT_EVENT_RESOLVE:
	case WEFT_EVENT_FAIL:
	case WEFT_EVENT_CANCEL:
	case WEFT_EVENT_CLOSE:
	case WEFT_EVENT_TIME_OUT:
		add_death(c, forward(c, c->fact.other));
		break;
	case WEFT_EVENT_BECOME:
		add_become(c);
		break;
	case WEFT_EVENT_COUNTER:
	case WEFT_EVENT_TOTAL:
		add_counter(c);
		break;
	case WEFT_EVENT_SEND:
	case WEFT_EVENT_RECEIVE:
		add_message(c);
		break;
	case WEFT_EVENT_BEGIN:
	case WEFT_EVENT_END:
		add_span(c);
		break;
	case WEFT_EVENT_BAND:
		return add_band(c);
	case WEFT_EVENT_GC:
		add_collection(c);
		break;
	case WEFT_EVENT_SPAN:
		add_track_span(c);
		break;
	case WEFT_EVENT_SWITCH:
		add_switch(c);
		break;
	case WEFT_EVENT_LABEL:
	case WEFT_EVENT_NOTE:
	case WEFT_EVENT_TAG:
	case WEFT_EVENT_MARK:
		add_instant(c, c->event->text);
		break;
	case WEFT_EVENT_READ:
		if (c->fact.other != WEFT_NONE)
			weft__export_chrome_end_arrow(c, "result", &c->rows[c->fact.other].result);
		add_instant(c, event_name(c));
		break;
	default:
		add_instant(c, event_name(c));
		break;
	}
	return 0;
}

/* ---- The export ---- */

WEFT__EXPORT int weft_export_chrome_create(
	const struct weft_export_chrome_sink *sink, struct weft_export_chrome **ret_export)
{
	struct weft_export_chrome *c = calloc(1, sizeof(*c));
	if (!c)
		return WEFT_ERROR_MEMORY;
	c->lines.sink = *sink;
	c->lines.name = weft__export_chrome_task_name;
	c->lines.context = c;
	weft__model_state_init(&c->state, &weft__export_chrome_listener, c);
	int error = weft__model_identities_init(&c->identities);
	if (!error)
		error = weft__model_texts_init(&c->texts);
	if (!error)
		error = weft__export_chrome_lines_init(&c->lines);
	if (error) {
		weft_export_chrome_destroy(c);
		return error;
	}
	weft_text_add_string(&c->lines.text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	*ret_export = c;
	return 0;
}

WEFT__EXPORT void weft_export_chrome_destroy(struct weft_export_chrome *c)
{
	if (!c)
		return;
	weft__export_chrome_lines_finish(&c->lines);
	weft__model_identities_finish(&c->identities);
	weft__model_texts_finish(&c->texts);
	weft__model_state_finish(&c->state);
	free(c->rows);
	free(c->drawn);
	free(c);
}

/* True for events of which only the rows of the model need the texts. */
static bool is_remark(const struct weft_event *event)
{
	return event->type == WEFT_EVENT_NOTE || event->type == WEFT_EVENT_TAG ||
		   event->type == WEFT_EVENT_MARK;
}

WEFT__EXPORT int weft_export_chrome_add(struct weft_export_chrome *c,
	const struct weft_event *event, const struct weft_trace_description *description)
{
	if (event->time_ns < c->last_ns || !weft_event_describe(event->type)->name ||
		event->thread >= description->thread_count)
		return WEFT_ERROR_ARGUMENT;
	weft__export_chrome_declare(&c->lines, description);
	c->last_ns = event->time_ns;
	c->event = event;
	c->counter = c->ended_span = WEFT_NONE;
	c->has_switched = false;
	int error = weft__model_fact_of_event(
		&c->identities, is_remark(event) ? NULL : &c->texts, event, &c->fact);
	if (!error)
		error = weft__model_state_take(&c->state, &c->fact);
	if (!error)
		error = add_line(c);
	return error ? error : c->lines.error;
}

/* The activations that go on end with their programs. */
static int close_threads(
	struct weft_export_chrome *c, const struct weft_trace_description *description)
{
	uint64_t *ends = calloc(description->thread_count + (size_t)1, sizeof(*ends));
	if (!ends)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < description->thread_count; i++)
		ends[i] = weft_trace_buffer_at(
			description->buffers, description->buffer_count, description->threads[i].buffer)
					  ->end_ns;
	c->is_closing = true;
	int error = weft__model_state_close(&c->state, ends, description->thread_count);
	free(ends);
	return error;
}

static void add_loss(struct weft_export_chrome *c, const struct weft_loss_period *loss)
{
	struct weft_text *text = &c->lines.text;
	weft__export_chrome_begin(&c->lines, 'i', loss->start, loss->thread);
	weft__export_chrome_name(&c->lines, slice_of("lost events"));
	weft_text_add_string(text, ",\"s\":\"t\",\"args\":{\"weft\":{\"event\":\"loss\",\"start\":");
	weft_text_add_u64(text, loss->start);
	weft_text_add_string(text, ",\"end\":");
	weft_text_add_u64(text, loss->end);
	weft_text_add_string(text, ",\"count\":");
	weft_text_add_u64(text, loss->count);
	if (loss->cause < WEFT_LOSS_CAUSES) {
		weft_text_add_string(text, ",\"cause\":\"");
		weft_text_add_string(text, weft_loss_name((enum weft_loss)loss->cause));
		weft_text_add_string(text, "\"");
	}
	weft_text_add_string(text, "}}");
	weft__export_chrome_end(&c->lines);
}

static void add_losses(
	struct weft_export_chrome *c, const struct weft_trace_description *description)
{
	struct weft_text *text = &c->lines.text;
	weft_text_add_string(text, "\n],\"otherData\":{\"producer\":\"weft\"");
	for (unsigned cause = 0; cause < WEFT_LOSS_CAUSES; cause++) {
		if (!description->losses[cause])
			continue;
		weft_text_add_string(text, ",\"lost: ");
		weft_text_add_string(text, weft_loss_name((enum weft_loss)cause));
		weft_text_add_string(text, "\":");
		weft_text_add_u64(text, description->losses[cause]);
	}
	weft_text_add_string(text, "}}\n");
}

WEFT__EXPORT int weft_export_chrome_finish(
	struct weft_export_chrome *c, const struct weft_trace_description *description)
{
	weft__export_chrome_declare(&c->lines, description);
	int error = close_threads(c, description);
	if (error)
		return error;
	for (uint32_t i = 0; i < description->loss_period_count; i++)
		add_loss(c, &description->loss_periods[i]);
	weft__export_chrome_declare_ends(&c->lines, description);
	add_losses(c, description);
	return weft__export_chrome_flush(&c->lines);
}
