/* SPDX-License-Identifier: ISC */
#include "otlp/remarks.h"

/* The limits of OpenTelemetry's SDKs; what is beyond them is counted in the span. */
enum {
	EVENTS_MAX = 128,
	LINKS_MAX = 128,
};

/* A span that is being filled. */
struct filling {
	struct weft__otlp_writer *w;
	const struct weft__otlp_plan *plan;
	uint32_t task; /* whose span it is */
	uint32_t count, dropped;
};

/* The span's task, then those that are folded into it. */
static uint32_t next_task(const struct filling *f, uint32_t task)
{
	if (!f->plan->first_folded)
		return WEFT_NONE;
	return task == f->task ? f->plan->first_folded[task] : f->plan->next_folded[task];
}

static bool has_room(struct filling *f, uint32_t most)
{
	if (f->count == most) {
		f->dropped++;
		return false;
	}
	f->count++;
	return true;
}

static void write_dropped(struct filling *f, unsigned field)
{
	if (f->dropped)
		weft__otlp_put_integer(&f->w->encoder, field, f->dropped);
	f->w->summary.dropped += f->dropped;
}

/* ---- Events ---- */

static void begin_event(struct filling *f, uint64_t time_ns, struct weft_slice name)
{
	struct weft__otlp_encoder *e = &f->w->encoder;
	weft__otlp_begin(e, WEFT__OTLP_SPAN_EVENT);
	weft__otlp_put_integer(e, WEFT__OTLP_EVENT_TIME, weft__otlp_unix_ns(f->w, time_ns));
	weft__otlp_put_text(e, WEFT__OTLP_EVENT_NAME, name);
}

static bool is_of_counter(uint8_t type)
{
	return type >= WEFT_NOTE_CHANGE;
}

static void write_change(struct filling *f, uint32_t note)
{
	const struct weft_notes *notes = &f->w->model->notes;
	const uint8_t type = notes->type[note];
	const bool is_set = type == WEFT_NOTE_SET || type == WEFT_NOTE_REAL_SET;
	const bool is_real = type == WEFT_NOTE_REAL_SET || type == WEFT_NOTE_REAL_CHANGE;
	struct weft_field field = {
		.name = is_set ? (struct weft_slice){"weft.set", 8} : (struct weft_slice){"weft.add", 8},
		.type = is_real ? WEFT_FIELD_F64 : WEFT_FIELD_I64,
		.value.i64 = notes->value[note], /* of a real one the same bits */
	};
	weft__otlp_attribute_field(&f->w->encoder, WEFT__OTLP_EVENT_ATTRIBUTE, &field);
}

static void write_note(struct filling *f, uint32_t note)
{
	const struct weft_model *model = f->w->model;
	if (!has_room(f, EVENTS_MAX))
		return;
	begin_event(f, model->notes.time[note], weft_model_string(model, model->notes.text[note]));
	const uint32_t count = weft_model_attribute_count(model, note);
	for (uint32_t i = 0; i < count; i++) {
		const struct weft_field field = weft_model_attribute(model, note, i);
		weft__otlp_attribute_field(&f->w->encoder, WEFT__OTLP_EVENT_ATTRIBUTE, &field);
	}
	if (is_of_counter(model->notes.type[note]))
		write_change(f, note);
	weft__otlp_end(&f->w->encoder);
}

/* The first label is the span's name. A person who does not want each promise does not want each
 * change of a counter. */
static void write_notes(struct filling *f, uint32_t task)
{
	const struct weft_model *model = f->w->model;
	struct weft_trace_context context;
	bool is_named = false;
	for (uint32_t i = model->tasks.first_note[task]; i < model->tasks.end_note[task]; i++) {
		const uint8_t type = model->notes.type[i];
		if (type == WEFT_NOTE_LABEL && !is_named &&
			model->notes.text[i] == model->tasks.label[task])
			is_named = true;
		else if ((!f->w->options.folds || !is_of_counter(type)) &&
				 !weft_model_note_context(model, i, &context))
			write_note(f, i);
	}
}

/* The failure of a folded task is not that of the span. */
static void write_failure(struct filling *f, uint32_t task)
{
	const struct weft_tasks *tasks = &f->w->model->tasks;
	if (task == f->task || tasks->outcome[task] != WEFT_OUTCOME_FAILED || !has_room(f, EVENTS_MAX))
		return;
	begin_event(f, tasks->end[task], (struct weft_slice){"exception", 9});
	const struct weft_field message = {.name = {"exception.message", 17},
		.type = WEFT_FIELD_TEXT,
		.value.text = weft_model_string(f->w->model, tasks->message[task])};
	weft__otlp_attribute_field(&f->w->encoder, WEFT__OTLP_EVENT_ATTRIBUTE, &message);
	weft__otlp_attribute_integer(
		&f->w->encoder, WEFT__OTLP_EVENT_ATTRIBUTE, "weft.task", (int64_t)tasks->id[task]);
	weft__otlp_end(&f->w->encoder);
}

void weft__otlp_write_events(
	struct weft__otlp_writer *w, const struct weft__otlp_plan *plan, uint32_t task)
{
	struct filling f = {.w = w, .plan = plan, .task = task};
	for (uint32_t t = task; t != WEFT_NONE; t = next_task(&f, t)) {
		write_notes(&f, t);
		write_failure(&f, t);
	}
	write_dropped(&f, WEFT__OTLP_SPAN_EVENTS_DROPPED);
	w->summary.events += f.count;
}

/* ---- Links ---- */

/* Between a span and its parent, a link would say nothing new to a person. */
static bool is_kin(const struct weft__otlp_plan *plan, uint32_t left, uint32_t right)
{
	return plan->first_folded && (weft__otlp_plan_parent(plan, left) == right ||
									 weft__otlp_plan_parent(plan, right) == left);
}

static void write_link(struct filling *f, const char *kind, uint64_t time_ns, uint32_t other)
{
	struct weft__otlp_encoder *e = &f->w->encoder;
	const uint32_t shown = other == WEFT_NONE ? WEFT_NONE : f->plan->shown[other];
	if (shown == WEFT_NONE || shown == f->task || is_kin(f->plan, f->task, shown) ||
		!has_room(f, LINKS_MAX))
		return;
	const struct weft__otlp_trace_id trace = weft__otlp_plan_trace(f->plan, shown);
	const uint64_t span = weft__otlp_plan_span(f->plan, shown);
	weft__otlp_begin(e, WEFT__OTLP_SPAN_LINK);
	weft__otlp_put_id(e, WEFT__OTLP_LINK_TRACE, trace.words, 2);
	weft__otlp_put_id(e, WEFT__OTLP_LINK_SPAN, &span, 1);
	weft__otlp_attribute_text(e, WEFT__OTLP_LINK_ATTRIBUTE, "weft.edge", kind);
	weft__otlp_attribute_integer(e, WEFT__OTLP_LINK_ATTRIBUTE, "weft.time_unix_nano",
		(int64_t)weft__otlp_unix_ns(f->w, time_ns));
	weft__otlp_end(e);
}

static void write_edges(struct filling *f, uint32_t task)
{
	const struct weft_model *model = f->w->model;
	const struct weft_edges *edges = &model->edges;
	for (uint32_t i = model->tasks.first_edge[task]; i < model->tasks.end_edge[task]; i++) {
		const uint32_t edge = edges->by_actor[i];
		if (edges->type[edge] < WEFT_EDGE_TYPES)
			write_link(f, weft_edge_name(edges->type[edge]), edges->time[edge], edges->to[edge]);
	}
	for (uint32_t i = f->plan->first_receive[task]; i < f->plan->first_receive[task + 1]; i++) {
		const uint32_t edge = f->plan->receives[i];
		write_link(f, weft_edge_name(WEFT_EDGE_RECEIVE), edges->time[edge], edges->from[edge]);
	}
	if (model->tasks.becomes[task] != WEFT_NONE)
		write_link(f, weft_edge_name(WEFT_EDGE_BECOME), model->tasks.end[task],
			model->tasks.becomes[task]);
	/* Its parent is another one. */
	if (f->plan->is_inferred[task] || f->plan->role[task] & WEFT__OTLP_REQUEST ||
		weft__otlp_plan_context(f->plan, task))
		write_link(f, weft_edge_name(WEFT_EDGE_CREATE), model->tasks.start[task],
			model->tasks.parent[task]);
}

void weft__otlp_write_links(
	struct weft__otlp_writer *w, const struct weft__otlp_plan *plan, uint32_t task)
{
	struct filling f = {.w = w, .plan = plan, .task = task};
	for (uint32_t t = task; t != WEFT_NONE; t = next_task(&f, t))
		write_edges(&f, t);
	write_dropped(&f, WEFT__OTLP_SPAN_LINKS_DROPPED);
	w->summary.links += f.count;
}
