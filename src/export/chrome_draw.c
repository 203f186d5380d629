/* SPDX-License-Identifier: ISC
 *
 * Lines come in the order of events, so activations are B and E, whose lengths need not be known
 * when they begin.
 */
#include "export/chrome_draw.h"

#include "base/array.h"

struct weft_slice weft__export_chrome_string(const struct weft_export_chrome *c, uint32_t string)
{
	return (struct weft_slice){weft__strings_bytes(&c->texts.strings, string),
		weft__strings_size(&c->texts.strings, string)};
}

static struct weft_slice slice_of(const char *text)
{
	return (struct weft_slice){text, strlen(text)};
}

/* ---- Lines ---- */

static void begin_line(struct weft_export_chrome *c, char phase, const char *name)
{
	weft__export_chrome_begin(&c->lines, phase, c->event->time_ns, c->event->thread);
	weft__export_chrome_name(&c->lines, slice_of(name));
}

void weft__export_chrome_end_with_fields(struct weft_export_chrome *c, bool is_outside)
{
	struct weft_text *text = &c->lines.text;
	weft_text_add_string(text, is_outside ? ",\"weft\":" : ",\"args\":{\"weft\":");
	weft_lines_add_json(&c->fields, c->event, text);
	text->size -= text->size > 0; /* the line's end */
	weft_text_add_string(text, is_outside ? "" : "}");
	weft__export_chrome_end(&c->lines);
}

/* ---- Names of tasks ---- */

static void add_default_name(
	const struct weft_export_chrome *c, uint32_t task, struct weft_text *text)
{
	const unsigned kind = c->rows[task].kind;
	const uint32_t named = weft__model_named_kind(kind);
	const char *word = weft_kind_name(kind);
	if (named < c->texts.kind_count)
		word = weft__export_chrome_string(c, c->texts.kinds[named]).bytes;
	weft_text_add_string(text, word ? word : "task");
	weft_text_add(text, " ", 1);
	weft_text_add_u64(text, c->identities.id[task]);
}

void weft__export_chrome_task_name(void *context, uint32_t task, struct weft_text *text)
{
	struct weft_export_chrome *c = context;
	struct weft__chrome_row *row = &c->rows[task];
	struct weft_text name = {0};
	if (!row->is_named) {
		row->name = c->state.tasks.label[task];
		row->kind = c->state.tasks.kind[task];
		row->is_named = true;
	}
	if (row->name == WEFT_NONE) {
		add_default_name(c, task, &name);
		weft_text_add_json(text, name.bytes, name.size);
		text->error = text->error ? text->error : name.error;
		weft_text_finish(&name);
		return;
	}
	const struct weft_slice label = weft__export_chrome_string(c, row->name);
	weft_text_add_json(text, label.bytes, label.size);
}

/* ---- Arrows ---- */

int weft__export_chrome_reserve_drawn(struct weft_export_chrome *c, uint32_t thread)
{
	const struct weft__column column = {&c->drawn, sizeof(*c->drawn)};
	int error = weft__columns_reserve(&column, 1, &c->drawn_capacity, thread + (size_t)1);
	while (!error && c->drawn_count <= thread)
		c->drawn[c->drawn_count++] = (struct weft__chrome_drawn){.task = WEFT_NONE};
	return error;
}

/* The task whose activation is drawn there now, or WEFT_NONE. */
static uint32_t shown_on(const struct weft_export_chrome *c, uint32_t thread)
{
	return thread < c->drawn_count ? c->drawn[thread].task : WEFT_NONE;
}

static void add_flow(struct weft_export_chrome *c, char phase, const char *name, uint64_t flow)
{
	begin_line(c, phase, name);
	weft__export_chrome_flow(&c->lines, flow);
}

/* Begins an arrow in the activation of the present event's thread; 0: nothing runs there. */
static uint64_t begin_arrow(struct weft_export_chrome *c, const char *name)
{
	if (shown_on(c, c->event->thread) == WEFT_NONE)
		return 0;
	add_flow(c, 's', name, ++c->flows);
	weft__export_chrome_end(&c->lines);
	return c->flows;
}

void weft__export_chrome_end_arrow(struct weft_export_chrome *c, const char *name, uint64_t *flow)
{
	if (!*flow || shown_on(c, c->event->thread) == WEFT_NONE)
		return;
	add_flow(c, 'f', name, *flow);
	weft_text_add_string(&c->lines.text, ",\"bp\":\"e\"");
	weft__export_chrome_end(&c->lines);
	*flow = 0;
}

static int on_edge(void *context, enum weft_edge_type type, uint32_t from, uint32_t to)
{
	struct weft_export_chrome *c = context;
	(void)from;
	if (type == WEFT_EDGE_CREATE || type == WEFT_EDGE_SIGNAL)
		c->rows[to].woken = begin_arrow(c, "wakes");
	else if (type == WEFT_EDGE_RESOLVE)
		c->rows[to].result = begin_arrow(c, "result");
	return 0;
}

/* ---- Activations ---- */

/* Begins or ends a slice of a thread. The first line for a switch has its fields. */
static void add_activation(
	struct weft_export_chrome *c, char phase, uint64_t time_ns, uint32_t thread, uint32_t task)
{
	weft__export_chrome_begin(&c->lines, phase, time_ns, thread);
	weft__export_chrome_name_task(&c->lines, task);
	if (c->is_closing || c->event->type != WEFT_EVENT_SWITCH || c->has_switched) {
		weft__export_chrome_end(&c->lines);
		return;
	}
	c->has_switched = true;
	weft__export_chrome_end_with_fields(c, true);
}

static int show(struct weft_export_chrome *c, uint32_t thread, uint32_t task)
{
	int error = weft__export_chrome_reserve_drawn(c, thread);
	if (error)
		return error;
	if (c->drawn[thread].task != WEFT_NONE)
		add_activation(c, 'E', c->state.now, thread, c->drawn[thread].task);
	c->drawn[thread].task = task;
	if (task == WEFT_NONE)
		return 0;
	add_activation(c, 'B', c->state.now, thread, task);
	weft__export_chrome_end_arrow(c, "wakes", &c->rows[task].woken);
	return 0;
}

static int on_run(void *context, uint32_t thread)
{
	struct weft_export_chrome *c = context;
	const uint32_t task = c->state.threads[thread].running;
	return show(c, thread, task < WEFT__RUNS_UNKNOWN ? task : WEFT_NONE);
}

/* The trace ends. */
static int on_period(void *context, uint32_t thread)
{
	struct weft_export_chrome *c = context;
	return c->is_closing ? show(c, thread, WEFT_NONE) : 0;
}

/* The running task ends or becomes another before its thread leaves it. */
static void on_end(void *context, uint32_t task, uint32_t becomes)
{
	struct weft_export_chrome *c = context;
	int error = shown_on(c, c->event->thread) == task ? show(c, c->event->thread, becomes) : 0;
	c->lines.error = c->lines.error ? c->lines.error : error;
}

static int on_mention(void *context, uint32_t task)
{
	struct weft_export_chrome *c = context;
	const struct weft__column column = {&c->rows, sizeof(*c->rows)};
	int error = weft__columns_reserve(&column, 1, &c->row_capacity, task + (size_t)1);
	if (!error)
		c->rows[task] = (struct weft__chrome_row){.name = WEFT_NONE};
	return error;
}

static int on_sample(void *context, uint32_t counter, uint32_t task)
{
	(void)task;
	((struct weft_export_chrome *)context)->counter = counter;
	return 0;
}

static int on_total(void *context, uint32_t counter)
{
	return on_sample(context, counter, WEFT_NONE);
}

void weft__export_chrome_span_slice(
	struct weft_export_chrome *c, char phase, struct weft_slice name, uint32_t task)
{
	c->rows[task].spans += phase == 'b' ? 1 : UINT32_MAX;
	weft__export_chrome_begin(&c->lines, phase, c->event->time_ns, c->event->thread);
	weft__export_chrome_name(&c->lines, name);
	weft__export_chrome_id(&c->lines, "", c->identities.id[task]);
}

/* Spans also end because their task becomes another, which has them from then on. */
static int on_span(
	void *context, uint32_t task, uint32_t thread, const struct weft__state_span *span)
{
	struct weft_export_chrome *c = context;
	(void)thread;
	c->ended_span = span->name;
	if (c->event->type != WEFT_EVENT_BECOME || task == WEFT_NONE || c->rows[task].spans == 0)
		return 0;
	weft__export_chrome_span_slice(c, 'e', weft__export_chrome_string(c, span->name), task);
	weft__export_chrome_end(&c->lines);
	return 0;
}

const struct weft__listener weft__export_chrome_listener = {
	.mention = on_mention,
	.edge = on_edge,
	.end = on_end,
	.sample = on_sample,
	.total = on_total,
	.period = on_period,
	.run = on_run,
	.span = on_span,
};
