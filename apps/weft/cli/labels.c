/* SPDX-License-Identifier: ISC
 *
 * Finds the task that a user means by a word: its number, its label, the begin of its label, or a
 * part of it. If several labels fit equally well, the user has to choose.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli.h"

/* How well a label fits. */
enum fit {
	FITS_NOT,
	HAS_IT, /* whatever the case of letters */
	BEGINS,
	IS_IT,
};

/* Labels that a message names. */
#define NAMED_MAX 5

static bool has_part(struct weft_slice label, const char *text, size_t size)
{
	for (size_t at = 0; at + size <= label.size; at++)
		if (strncasecmp(label.bytes + at, text, size) == 0)
			return true;
	return false;
}

static enum fit fit_of(struct weft_slice label, const char *text, size_t size)
{
	bool begins = label.size >= size && memcmp(label.bytes, text, size) == 0;
	if (begins)
		return label.size == size ? IS_IT : BEGINS;
	return has_part(label, text, size) ? HAS_IT : FITS_NOT;
}

/* The labels that fit best. */
struct matches {
	enum fit fit;
	uint32_t task;             /* the first that has the first one */
	uint32_t tasks;            /* that have the first one */
	uint32_t label[NAMED_MAX]; /* strings */
	uint32_t labels;           /* may be more than are named */
};

static void add_match(struct matches *m, enum fit fit, uint32_t task, uint32_t label)
{
	uint32_t known = 0;
	if (fit > m->fit)
		*m = (struct matches){.fit = fit, .task = task};
	while (known < m->labels && known < NAMED_MAX && m->label[known] != label)
		known++;
	m->tasks += known == 0;
	if (known < m->labels && known < NAMED_MAX)
		return;
	if (known < NAMED_MAX)
		m->label[known] = label;
	m->labels++;
}

static struct matches find_matches(const struct weft_model *model, const char *text)
{
	const size_t size = strlen(text);
	struct matches matches = {.fit = FITS_NOT, .task = WEFT_NONE};
	for (uint32_t task = 0; size && task < model->tasks.count; task++) {
		uint32_t label = model->tasks.label[task];
		enum fit fit =
			label == WEFT_NONE ? FITS_NOT : fit_of(weft_model_string(model, label), text, size);
		if (fit != FITS_NOT && fit >= matches.fit)
			add_match(&matches, fit, task, label);
	}
	return matches;
}

static void name_nearest(const char *trace, const struct weft_model *model, const char *text)
{
	struct cli_guess guess = cli_guess_begin(text, strlen(text));
	for (uint32_t task = 0; task < model->tasks.count; task++)
		if (model->tasks.label[task] != WEFT_NONE)
			cli_guess_try(&guess, weft_model_string(model, model->tasks.label[task]).bytes);
	if (guess.name)
		cli_inform("%s: no task %s; did you mean \"%s\"?", trace, text, guess.name);
	else
		cli_inform("%s: no task %s", trace, text);
}

static void list_several(const char *trace, const struct weft_model *model, const char *text,
	const struct matches *matches)
{
	struct weft_text list = {0};
	uint32_t named = matches->labels < NAMED_MAX ? matches->labels : NAMED_MAX;
	for (uint32_t i = 0; i < named; i++) {
		struct weft_slice label = weft_model_string(model, matches->label[i]);
		weft_text_add_string(&list, i ? ", \"" : "\"");
		weft_text_add(&list, label.bytes, label.size);
		weft_text_add_string(&list, "\"");
	}
	cli_inform("%s: several labels %s %s: %.*s%s", trace,
		matches->fit == BEGINS ? "begin with" : "contain", text, (int)list.size, list.bytes,
		matches->labels > named ? " and others" : "");
	weft_text_finish(&list);
}

uint32_t cli_find_task_named(
	const char *trace, const struct weft_model *model, const char *text, uint32_t *ret_count)
{
	uint32_t task = cli_find_task_by_id(model, text);
	*ret_count = 1;
	if (task != WEFT_NONE)
		return task;
	const struct matches matches = find_matches(model, text);
	if (matches.fit == FITS_NOT)
		name_nearest(trace, model, text);
	else if (matches.labels > 1)
		list_several(trace, model, text, &matches);
	else
		task = matches.task;
	*ret_count = matches.tasks;
	if (task != WEFT_NONE && matches.fit != IS_IT)
		cli_inform(
			"%s: this is about \"%s\"", trace, weft_model_string(model, matches.label[0]).bytes);
	return task;
}
