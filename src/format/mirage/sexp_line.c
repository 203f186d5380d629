/* SPDX-License-Identifier: ISC
 *
 * Usual events are read from left to right without a choice at each character. Escapes, numbers
 * that might not fit, comments, further spaces and all damage are left to sexp_form.c.
 */
#include "format/mirage/sexp_line.h"

#include <string.h>

#include "format/mirage/sexp_form.h"
#include "format/mirage/sexp_op.h"

/* So many digits surely fit an int64_t, and seconds with that many and nine behind the point a
 * uint64_t. */
#define DIGITS_MAX       18
#define WHOLE_DIGITS_MAX 10

struct sexp_line {
	const uint8_t *at, *limit;
};

/* The members of an event that the format has. An event itself is long: to zero and copy one would
 * take a third of the time. */
struct usual_event {
	uint64_t time_ns;
	weft_task_id task, other;
	int64_t value;
	struct weft_slice text;
	uint16_t kind;
	uint8_t type;
};

#define TAKE(line, literal) take(line, literal, sizeof(literal) - 1)

static inline bool take(struct sexp_line *l, const char *bytes, size_t size)
{
	if ((size_t)(l->limit - l->at) < size || memcmp(l->at, bytes, size) != 0)
		return false;
	l->at += size;
	return true;
}

/* Appends digits to *value, `most` of them at most; returns their number. */
static inline size_t take_digits(struct sexp_line *l, size_t most, uint64_t *value)
{
	const uint8_t *const start = l->at;
	const uint8_t *const limit = (size_t)(l->limit - start) > most ? start + most : l->limit;
	for (; l->at < limit && (uint8_t)(*l->at - '0') < 10; l->at++)
		*value = *value * 10 + (uint8_t)(*l->at - '0');
	return (size_t)(l->at - start);
}

static bool take_seconds(struct sexp_line *l, uint64_t *ret_ns)
{
	uint64_t value = 0;
	if (!take_digits(l, WHOLE_DIGITS_MAX, &value) || !TAKE(l, "."))
		return false;
	for (size_t digits = take_digits(l, 9, &value); digits < 9; digits++)
		value *= 10;
	*ret_ns = value;
	return true;
}

static inline bool take_task(struct sexp_line *l, weft_task_id *ret_task)
{
	*ret_task = 0;
	if (take_digits(l, DIGITS_MAX, ret_task))
		return true;
	*ret_task = WEFT_TASK_NONE;
	return TAKE(l, "-1");
}

static bool take_number(struct sexp_line *l, int64_t *ret_number)
{
	const bool is_negative = TAKE(l, "-");
	uint64_t value = 0;
	if (!take_digits(l, DIGITS_MAX, &value))
		return false;
	*ret_number = is_negative ? -(int64_t)value : (int64_t)value;
	return true;
}

static inline bool take_atom(struct sexp_line *l, struct weft_slice *ret_atom)
{
	const uint8_t *const start = l->at;
	while (l->at < l->limit && !weft__format_sexp_delimiters[*l->at])
		l->at++;
	*ret_atom = (struct weft_slice){(const char *)start, (size_t)(l->at - start)};
	return l->at > start;
}

/* An atom, or a text in quotes of one line without escapes, before which a space may be missing. */
static bool take_text(struct sexp_line *l, struct weft_slice *ret_text)
{
	const bool has_space = TAKE(l, " ");
	if (!TAKE(l, "\""))
		return has_space && take_atom(l, ret_text);
	const uint8_t *const start = l->at;
	while (l->at < l->limit && *l->at != '"' && *l->at != '\\' && *l->at != '\n')
		l->at++;
	*ret_text = (struct weft_slice){(const char *)start, (size_t)(l->at - start)};
	return TAKE(l, "\"");
}

/* Without one, the kind is that of a wait. */
static bool take_kind(struct sexp_line *l, uint16_t *ret_kind)
{
	struct weft_slice name;
	*ret_kind = WEFT_KIND_WAIT;
	if (!TAKE(l, " "))
		return true;
	if (!take_atom(l, &name))
		return false;
	*ret_kind = weft__format_sexp_kind(name);
	return true;
}

static bool take_duration(struct sexp_line *l, int64_t *ret_ns)
{
	uint64_t ns;
	if (!take_seconds(l, &ns) || ns > INT64_MAX)
		return false;
	*ret_ns = (int64_t)ns;
	return true;
}

__attribute__((always_inline)) static inline bool take_argument(
	struct sexp_line *l, enum weft__sexp_argument argument, struct usual_event *event)
{
	switch (argument) {
	case WEFT__SEXP_TASK:
		return TAKE(l, " ") && take_task(l, &event->task);
	case WEFT__SEXP_OTHER:
		return TAKE(l, " ") && take_task(l, &event->other);
	case WEFT__SEXP_TEXT:
		return take_text(l, &event->text);
	case WEFT__SEXP_NUMBER:
		return TAKE(l, " ") && take_number(l, &event->value);
	case WEFT__SEXP_SECONDS:
		return TAKE(l, " ") && take_duration(l, &event->value);
	case WEFT__SEXP_KIND:
		return take_kind(l, &event->kind);
	case WEFT__SEXP_OPTION:
		/* With a text, the line does not end here. */
		return TAKE(l, "()") || TAKE(l, " ()") || true;
	case WEFT__SEXP_NO_ARGUMENT:
		break;
	}
	return true;
}

static bool take_operation(struct sexp_line *l, struct usual_event *event)
{
	struct weft_slice name;
	if (!take_atom(l, &name))
		return false;
	const struct weft__sexp_operation *operation = weft__format_sexp_operation(name);
	if (!operation)
		return false;
	event->type = operation->type;
	for (size_t i = 0; i < WEFT__SEXP_ARGUMENTS_MAX && operation->arguments[i]; i++)
		if (!take_argument(l, (enum weft__sexp_argument)operation->arguments[i], event))
			return false;
	return true;
}

bool weft__format_sexp_read_line(
	const uint8_t *bytes, size_t size, size_t *at, struct weft_event *ret_event)
{
	struct sexp_line line = {bytes + *at, bytes + size};
	struct usual_event event = {0};
	while (line.at < line.limit && (*line.at == '\n' || *line.at == ' '))
		line.at++;
	const uint8_t *const start = line.at;
	if (!TAKE(&line, "((time ") || !take_seconds(&line, &event.time_ns) || !TAKE(&line, ")(op(") ||
		!take_operation(&line, &event) || !TAKE(&line, ")))"))
		return false;
	*at = (size_t)(line.at - bytes);
	ret_event->offset = (uint64_t)(start - bytes);
	ret_event->time_ns = event.time_ns;
	ret_event->task = event.task;
	ret_event->other = event.other;
	ret_event->value = event.value;
	ret_event->text = event.text;
	ret_event->kind = event.kind;
	ret_event->type = event.type;
	weft__format_sexp_recognise_hint(ret_event);
	return true;
}
