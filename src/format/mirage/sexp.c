/* SPDX-License-Identifier: ISC
 *
 * The format of the first Mirage viewer, with one form for each event:
 *
 *     ((time 1413637708.834171)(op(Creates 0 1 Task)))
 *
 * Opening reads everything once, to count damage and to find out whether all times are plausible
 * and in order. If they are, reading follows the file; otherwise it follows an index with repaired
 * times.
 */
#include <stdlib.h>
#include <string.h>

#include "model/slice.h"
#include "base/array.h"
#include "format/clock.h"
#include "format/formats.h"
#include "format/order.h"
#include "format/mirage/sexp_form.h"
#include "format/mirage/sexp_line.h"
#include "format/mirage/sexp_number.h"
#include "format/mirage/sexp_op.h"
#include "model/span.h"

struct sexp_reader {
	struct weft__reader base;
	struct weft_trace_thread thread;
	struct weft__order order; /* empty if the file is in time order */
	bool is_ordered_by_index;
	size_t at;  /* offset, or position in the order */
	char *text; /* the current event's text, if it had escapes */
	size_t text_capacity;
	int error; /* out of memory for `text`; not damage of the file */
};

/* A form's tokens, read from left to right. */
struct tokens {
	const struct weft__sexp_token *next, *end;
};

static bool take_token(struct tokens *tokens, enum weft__sexp_token_type type)
{
	if (tokens->next == tokens->end || tokens->next->type != type)
		return false;
	tokens->next++;
	return true;
}

static const struct weft__sexp_token *take_atom(struct tokens *tokens)
{
	if (take_token(tokens, WEFT__SEXP_ATOM) || take_token(tokens, WEFT__SEXP_QUOTED))
		return tokens->next - 1;
	return NULL;
}

static const char *read_task(const struct weft__sexp_token *token, weft_task_id *ret_task)
{
	if (weft__slice_is(token->text, "-1")) {
		*ret_task = WEFT_TASK_NONE;
		return NULL;
	}
	if (token->text.size && token->text.bytes[0] == '-')
		return "negative task id";
	return weft__format_sexp_unsigned(token->text, ret_task) ? NULL : "malformed task id";
}

static const char *read_text(
	struct sexp_reader *reader, const struct weft__sexp_token *token, struct weft_slice *ret_text)
{
	struct weft_slice text = token->text;
	if (token->type == WEFT__SEXP_QUOTED && memchr(text.bytes, '\\', text.size)) {
		if (text.size > reader->text_capacity) {
			reader->error = weft__array_resize(&reader->text, text.size, 1);
			if (reader->error)
				return "string is larger than memory";
			reader->text_capacity = text.size;
		}
		text.size = weft__format_sexp_unescape(text, reader->text);
		text.bytes = reader->text;
	}
	*ret_text = text;
	return NULL;
}

static const char *read_kind(struct tokens *tokens, uint16_t *ret_kind)
{
	const struct weft__sexp_token *token = take_atom(tokens);
	*ret_kind = token ? weft__format_sexp_kind(token->text) : WEFT_KIND_WAIT;
	return NULL;
}

static const char *read_option(
	struct sexp_reader *reader, struct tokens *tokens, struct weft_event *event)
{
	if (!take_token(tokens, WEFT__SEXP_OPEN))
		return NULL;
	const struct weft__sexp_token *message = take_atom(tokens);
	if (!take_token(tokens, WEFT__SEXP_CLOSE))
		return "malformed exception";
	if (!message)
		return NULL;
	event->type = WEFT_EVENT_FAIL;
	return read_text(reader, message, &event->text);
}

static const char *read_argument(struct sexp_reader *reader, enum weft__sexp_argument argument,
	struct tokens *tokens, struct weft_event *event)
{
	uint64_t duration;
	if (argument == WEFT__SEXP_KIND)
		return read_kind(tokens, &event->kind);
	if (argument == WEFT__SEXP_OPTION)
		return read_option(reader, tokens, event);
	const struct weft__sexp_token *token = take_atom(tokens);
	if (!token)
		return "op lacks an argument";
	switch (argument) {
	case WEFT__SEXP_TASK:
		return read_task(token, &event->task);
	case WEFT__SEXP_OTHER:
		return read_task(token, &event->other);
	case WEFT__SEXP_TEXT:
		return read_text(reader, token, &event->text);
	case WEFT__SEXP_NUMBER:
		return weft__format_sexp_signed(token->text, &event->value) ? NULL : "malformed number";
	case WEFT__SEXP_SECONDS:
		if (!weft__format_sexp_seconds(token->text, &duration) || duration > INT64_MAX)
			return "malformed duration";
		event->value = (int64_t)duration;
		return NULL;
	case WEFT__SEXP_NO_ARGUMENT:
	case WEFT__SEXP_KIND:
	case WEFT__SEXP_OPTION:
		break; /* none is one atom */
	}
	return NULL;
}

static const char *read_op(
	struct sexp_reader *reader, struct tokens *tokens, struct weft_event *event)
{
	const struct weft__sexp_token *name = NULL;
	const char *problem = NULL;
	if (!take_token(tokens, WEFT__SEXP_OPEN) || !(name = take_atom(tokens)))
		return "form is not an event";
	const struct weft__sexp_operation *operation = weft__format_sexp_operation(name->text);
	if (!operation)
		return "unknown op";
	event->type = operation->type;
	for (size_t i = 0; i < WEFT__SEXP_ARGUMENTS_MAX && operation->arguments[i] && !problem; i++)
		problem =
			read_argument(reader, (enum weft__sexp_argument)operation->arguments[i], tokens, event);
	if (!problem && !take_token(tokens, WEFT__SEXP_CLOSE))
		problem = "op has too many arguments";
	return problem;
}

/* `(time 1.5)` or `(op(…))`. */
static const char *read_field(struct sexp_reader *reader, struct tokens *tokens,
	struct weft_event *event, bool *has_time, bool *has_op)
{
	const struct weft__sexp_token *name = NULL, *value;
	const char *problem = NULL;
	if (!take_token(tokens, WEFT__SEXP_OPEN) || !(name = take_atom(tokens)))
		return "form is not an event";
	if (weft__slice_is(name->text, "time") && !*has_time) {
		value = take_atom(tokens);
		if (!value || !weft__format_sexp_time(value->text, &event->time_ns))
			return "malformed time";
		*has_time = true;
	} else if (weft__slice_is(name->text, "op") && !*has_op) {
		problem = read_op(reader, tokens, event);
		*has_op = true;
	} else {
		return "form is not an event";
	}
	if (!problem && !take_token(tokens, WEFT__SEXP_CLOSE))
		problem = "form is not an event";
	return problem;
}

static const char *read_event(
	struct sexp_reader *reader, const struct weft__sexp_form *form, struct weft_event *ret_event)
{
	struct weft_event event = {.offset = form->offset};
	struct tokens tokens = {form->tokens, form->tokens + form->count};
	bool has_time = false, has_op = false;
	const char *problem = form->problem;
	if (!problem && !take_token(&tokens, WEFT__SEXP_OPEN))
		problem = "form is not an event";
	while (!problem && (!has_time || !has_op))
		problem = read_field(reader, &tokens, &event, &has_time, &has_op);
	/* The last token closes the form: a form without it has a problem already. */
	if (!problem && tokens.end - tokens.next != 1)
		problem = "form is not an event";
	if (problem)
		return problem;
	weft__format_sexp_recognise_hint(&event);
	*ret_event = event;
	return NULL;
}

/* The next intact event in file order. Damage is counted unless `diagnostics` is NULL. */
static int next_in_file(struct sexp_reader *reader, size_t *at,
	struct weft_diagnostics *diagnostics, struct weft_event *ret_event)
{
	const struct weft__input *input = &reader->base.input;
	struct weft__sexp_form form;
	for (;;) {
		if (weft__format_sexp_read_line(input->bytes, input->size, at, ret_event))
			return WEFT_OK;
		if (!weft__format_sexp_next_form(input->bytes, input->size, at, &form))
			return WEFT_END;
		const char *problem = read_event(reader, &form, ret_event);
		if (!problem)
			return WEFT_OK;
		if (reader->error)
			return reader->error;
		if (diagnostics)
			weft_diagnostics_add(diagnostics, form.offset, problem);
	}
}

/* The result of the first pass. */
struct survey {
	uint64_t first_ns, last_ns;
	bool any;
	bool is_monotone; /* and no time is negative */
};

static int survey_file(struct sexp_reader *reader, struct survey *ret_survey)
{
	struct survey survey = {.is_monotone = true};
	struct weft_event event;
	size_t at = 0;
	int status;
	while (
		(status = next_in_file(reader, &at, reader->base.input.diagnostics, &event)) == WEFT_OK) {
		if (!survey.any)
			survey.first_ns = event.time_ns;
		if (event.time_ns < survey.last_ns || event.time_ns >= WEFT__NEGATIVE_NS)
			survey.is_monotone = false;
		survey.any = true;
		survey.last_ns = event.time_ns;
	}
	*ret_survey = survey;
	return status < 0 ? status : 0;
}

static int index_by_time(struct sexp_reader *reader)
{
	struct weft_event event;
	size_t at = 0;
	int status;
	while ((status = next_in_file(reader, &at, NULL, &event)) == WEFT_OK) {
		const struct weft__position position = {event.time_ns, event.offset};
		int error = weft__format_order_add(&reader->order, position);
		if (error)
			return error;
	}
	reader->is_ordered_by_index = true;
	if (status < 0)
		return status;
	weft__format_order_settle(&reader->order, reader->base.input.diagnostics);
	return 0;
}

static void sexp_close(struct weft__reader *base)
{
	struct sexp_reader *reader = (struct sexp_reader *)base;
	weft__format_order_finish(&reader->order);
	free(reader->text);
	free(reader);
}

static int sexp_open(const struct weft__input *input, struct weft__reader **ret_reader)
{
	struct sexp_reader *reader = calloc(1, sizeof(*reader));
	if (!reader)
		return WEFT_ERROR_MEMORY;
	reader->base.input = *input;
	struct survey survey;
	int error = survey_file(reader, &survey);
	bool is_in_order = survey.is_monotone && survey.last_ns - survey.first_ns <= WEFT__SPAN_NS;
	if (!error && !is_in_order)
		error = index_by_time(reader);
	if (error) {
		sexp_close(&reader->base);
		return error;
	}
	reader->thread = (struct weft_trace_thread){.name = ""};
	input->description->threads = &reader->thread;
	input->description->thread_count = survey.any;
	weft__format_clock_guess(reader->order.count ? reader->order.list[0].time_ns : survey.first_ns,
		&input->description->clock);
	*ret_reader = &reader->base;
	return 0;
}

static int sexp_next(struct weft__reader *base, struct weft_event *ret_event)
{
	struct sexp_reader *reader = (struct sexp_reader *)base;
	if (!reader->is_ordered_by_index)
		return next_in_file(reader, &reader->at, NULL, ret_event);
	if (reader->at == reader->order.count)
		return WEFT_END;
	const struct weft__position *position = &reader->order.list[reader->at++];
	size_t at = (size_t)position->offset;
	int status = next_in_file(reader, &at, NULL, ret_event);
	ret_event->time_ns = position->time_ns;
	return status;
}

/* ---- Input that is still arriving ---- */

struct sexp_incoming {
	struct sexp_reader reader;
	struct weft__writer_clock clock;
	size_t wanted; /* size of the window below which a retry is useless */
	bool has_part; /* the window begins with an incomplete form */
};

static int incoming_prepare(const struct weft__input *input, size_t *examined)
{
	(void)input;
	(void)examined;
	return WEFT_OK;
}

static int incoming_start(
	const struct weft__input *input, size_t examined, struct weft__reader **ret_reader)
{
	(void)examined;
	struct sexp_incoming *r = calloc(1, sizeof(*r));
	if (!r)
		return WEFT_ERROR_MEMORY;
	r->reader.base.input = *input;
	r->reader.thread = (struct weft_trace_thread){.name = ""};
	*ret_reader = &r->reader.base;
	return WEFT_OK;
}

/* An incomplete form is parsed again from its beginning, but only once the window has grown by a
 * sixteenth, so that the total work stays proportional to the form's size. */
static int wait_for_more(struct sexp_incoming *r, const struct weft__window *w)
{
	r->wanted = w->size + w->size / 16 + 1;
	return WEFT_AGAIN;
}

/* Returns WEFT_OK and an event, WEFT_AGAIN if the next form is incomplete, WEFT_END, or an
 * error. */
static int next_form(struct sexp_incoming *r, struct weft__window *w, struct weft_event *ret_event)
{
	struct weft__sexp_form form;
	while (w->is_whole || w->size >= r->wanted) {
		size_t at = 0;
		bool is_there = weft__format_sexp_next_form(w->bytes, w->size, &at, &form);
		r->has_part = is_there && form.is_open;
		if (!w->is_whole && (!is_there || form.is_open))
			return wait_for_more(r, w);
		if (!is_there)
			return WEFT_END;
		r->wanted = 0;
		form.offset += w->offset;
		const char *problem = read_event(&r->reader, &form, ret_event);
		weft__format_window_take(w, at);
		if (!problem || r->reader.error)
			return r->reader.error;
		weft_diagnostics_add(r->reader.base.input.diagnostics, form.offset, problem);
	}
	return WEFT_AGAIN;
}

static int incoming_next(
	struct weft__reader *base, struct weft__window *window, struct weft_event *ret_event)
{
	struct sexp_incoming *r = (struct sexp_incoming *)base;
	struct weft_trace_description *description = base->input.description;
	int status = next_form(r, window, ret_event);
	if (status != WEFT_OK)
		return status;
	struct weft__position position = {ret_event->time_ns, ret_event->offset};
	weft__format_writer_clock_next(&r->clock, &position, false, base->input.diagnostics);
	ret_event->time_ns = position.time_ns;
	if (description->thread_count == 0)
		weft__format_clock_guess(ret_event->time_ns, &description->clock);
	description->threads = &r->reader.thread;
	description->thread_count = 1;
	return WEFT_OK;
}

static bool incoming_is_pending(const struct weft__reader *base, const struct weft__window *window)
{
	(void)window;
	return ((const struct sexp_incoming *)base)->has_part;
}

static const struct weft__incoming incoming = {
	.prepare = incoming_prepare,
	.start = incoming_start,
	.next = incoming_next,
	.is_pending = incoming_is_pending,
	.close = sexp_close,
};

const struct weft__format weft__format_sexp = {
	.name = "sexp",
	.probe = weft__format_sexp_probe,
	.open = sexp_open,
	.next = sexp_next,
	.close = sexp_close,
	.incoming = &incoming,
};
