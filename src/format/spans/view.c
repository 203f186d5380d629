/* SPDX-License-Identifier: ISC */
#include "model/slice.h"
#include "format/spans/view.h"

#define US 1000u

static void set_id(const struct weft__json_value *value, uint64_t *id)
{
	uint64_t words[2];
	if (weft__format_spans_id(value, words))
		*id = words[1];
}

/* Times beyond 64 bits of ns are none. */
static bool read_time(const struct weft__json_value *value, uint64_t unit, uint64_t *ret_ns)
{
	uint64_t number;
	if (!weft__format_spans_number(value, &number) || number > UINT64_MAX / unit)
		return false;
	*ret_ns = number * unit;
	return true;
}

static void read_status(const struct weft__json_value *status, struct weft__span_view *view)
{
	struct weft__json_value code;
	uint64_t number = 0;
	if (!weft__format_json_find(status, "code", &code))
		return;
	view->has_failed = (weft__format_spans_number(&code, &number) && number == 2) ||
					   weft__slice_is(code.text, "STATUS_CODE_ERROR");
	if (!weft__format_json_find(status, "message", &view->message))
		view->message = (struct weft__json_value){0};
}

static void read_otlp(
	struct weft_slice key, const struct weft__json_value *value, struct weft__span_view *view)
{
	if (weft__slice_is(key, "traceId"))
		weft__format_spans_id(value, view->trace);
	else if (weft__slice_is(key, "spanId"))
		set_id(value, &view->id);
	else if (weft__slice_is(key, "parentSpanId"))
		set_id(value, &view->parent);
	else if (weft__slice_is(key, "startTimeUnixNano"))
		view->has_start = read_time(value, 1, &view->start_ns);
	else if (weft__slice_is(key, "endTimeUnixNano"))
		read_time(value, 1, &view->end_ns);
	else if (weft__slice_is(key, "attributes"))
		view->attributes = *value;
	else if (weft__slice_is(key, "events"))
		view->events = *value;
	else if (weft__slice_is(key, "links"))
		view->links = *value;
	else if (weft__slice_is(key, "status"))
		read_status(value, view);
}

/* A tag "error" says that the span failed. */
static void read_tags(const struct weft__json_value *tags, struct weft__span_view *view)
{
	view->attributes = *tags;
	view->has_failed = weft__format_json_find(tags, "error", &view->message) &&
					   !weft__slice_is(view->message.text, "false");
	if (!view->has_failed)
		view->message = (struct weft__json_value){0};
}

static void read_zipkin(
	struct weft_slice key, const struct weft__json_value *value, struct weft__span_view *view)
{
	if (weft__slice_is(key, "traceId"))
		weft__format_spans_id(value, view->trace);
	else if (weft__slice_is(key, "id"))
		set_id(value, &view->id);
	else if (weft__slice_is(key, "parentId"))
		set_id(value, &view->parent);
	else if (weft__slice_is(key, "timestamp"))
		view->has_start = read_time(value, US, &view->start_ns);
	else if (weft__slice_is(key, "duration"))
		read_time(value, US, &view->end_ns); /* so far a length */
	else if (weft__slice_is(key, "tags"))
		read_tags(value, view);
	else if (weft__slice_is(key, "annotations"))
		view->events = *value;
	else if (weft__slice_is(key, "localEndpoint"))
		view->endpoint = *value;
	else if (weft__slice_is(key, "shared"))
		view->is_shared = value->type == WEFT__JSON_TRUE;
}

static uint64_t add(uint64_t start, uint64_t length)
{
	return length > UINT64_MAX - start ? UINT64_MAX : start + length;
}

void weft__format_spans_view(
	const struct weft__json_value *object, bool is_zipkin, struct weft__span_view *ret_view)
{
	struct weft__json_value key, value;
	size_t at = 0;
	*ret_view = (struct weft__span_view){0};
	while (weft__format_json_next_member(object, &at, &key, &value)) {
		if (weft__slice_is(key.text, "name"))
			ret_view->name = value;
		else if (weft__slice_is(key.text, "kind"))
			ret_view->kind = value;
		else if (is_zipkin)
			read_zipkin(key.text, &value, ret_view);
		else
			read_otlp(key.text, &value, ret_view);
	}
	if (is_zipkin && ret_view->end_ns)
		ret_view->end_ns = add(ret_view->start_ns, ret_view->end_ns);
	if (ret_view->end_ns && ret_view->end_ns < ret_view->start_ns)
		ret_view->end_ns = ret_view->start_ns;
}

bool weft__format_spans_event(const struct weft__json_value *event, bool is_zipkin,
	uint64_t *ret_ns, struct weft__json_value *ret_name)
{
	struct weft__json_value time;
	return weft__format_json_find(event, is_zipkin ? "timestamp" : "timeUnixNano", &time) &&
		   read_time(&time, is_zipkin ? US : 1, ret_ns) &&
		   weft__format_json_find(event, is_zipkin ? "value" : "name", ret_name);
}

bool weft__format_spans_link(
	const struct weft__json_value *link, uint64_t ret_trace[2], uint64_t *ret_id)
{
	struct weft__json_value trace, id;
	*ret_id = 0;
	if (!weft__format_json_find(link, "traceId", &trace) ||
		!weft__format_json_find(link, "spanId", &id) || !weft__format_spans_id(&trace, ret_trace))
		return false;
	set_id(&id, ret_id);
	return *ret_id;
}
