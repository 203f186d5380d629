/* SPDX-License-Identifier: ISC
 *
 * Describes bands, counters and losses in one sentence.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/export.h"
#include "base/search.h"
#include "story/things.h"

#define NAME_LETTERS 40

void weft__story_words_add_thread(
	struct weft__words *w, const struct weft_model *model, uint32_t thread)
{
	if (model->thread_count < 2 || thread >= model->thread_count)
		return; /* there is only one */
	const char *name = model->threads[thread].name;
	weft__story_words_add(w, " on thread ");
	if (name && name[0])
		weft__story_words_add_text(w, (struct weft_slice){name, strlen(name)}, 24);
	else
		weft__story_words_add(w, "%" PRIu32, thread);
}

WEFT__EXPORT size_t weft_story_band_sentence(
	const struct weft_story *story, const struct weft_band_period *band, char *buffer, size_t size)
{
	const struct weft_model *model = story->model;
	struct weft_slice reason = weft_model_string(model, band->reason);
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 4);
	weft__story_words_add(w, band->kind == WEFT_BAND_IDLE ? "Idle" : "Collecting garbage");
	w = weft__story_clause(&s, 3);
	weft__story_words_add(w, " from ");
	weft__story_words_add_time(w, model, band->start);
	w = weft__story_clause(&s, 4);
	weft__story_words_add(w, " for ");
	weft__story_words_add_length(w, band->end - band->start);
	weft__story_words_add_thread(weft__story_clause(&s, 1), model, band->thread);
	if (reason.size) {
		w = weft__story_clause(&s, 2);
		weft__story_words_add(w, ": ");
		weft__story_words_add_text(w, reason, NAME_LETTERS);
	}
	return weft__story_sentence_write(&s, buffer, size);
}

/* A name, followed by its process if the trace has several. */
static struct weft_slice name_in_process(
	const struct weft_model *model, uint32_t string, uint32_t buffer, char *room, size_t size)
{
	struct weft_slice name = weft_model_string(model, string);
	if (model->buffer_count <= 1)
		return name;
	size_t used = (size_t)snprintf(room, size, "%s, ", name.bytes);
	if (used < size)
		used += weft_trace_format_process(
			model->buffers, model->buffer_count, buffer, room + used, size - used);
	return (struct weft_slice){room, used < size ? used : size - 1};
}

WEFT__EXPORT struct weft_slice weft_story_counter_name(
	const struct weft_model *model, uint32_t counter, char *room, size_t size)
{
	const struct weft_counter *c = &model->counters[counter];
	return name_in_process(model, c->name, c->buffer, room, size);
}

WEFT__EXPORT struct weft_slice weft_story_histogram_name(
	const struct weft_model *model, uint32_t histogram, char *room, size_t size)
{
	const struct weft_histogram *h = &model->histograms[histogram];
	return name_in_process(model, h->name, h->buffer, room, size);
}

/* The last sample at or before `time`, or WEFT_NONE. */
static uint32_t sample_at(
	const struct weft_model *model, const struct weft_counter *counter, uint64_t time)
{
	uint32_t next =
		weft__upper_bound_u64(model->samples.time + counter->first, counter->count, time);
	return next ? counter->first + next - 1 : WEFT_NONE;
}

/* Appends ": +2", or ": set" if the value is as before. */
static void write_difference(struct weft__words *w, const struct weft_model *model,
	const struct weft_counter *counter, uint32_t sample)
{
	struct weft_number now = weft_counter_number(model, counter, sample), before = {0};
	char number[32];
	if (sample > counter->first)
		before = weft_counter_number(model, counter, sample - 1);
	struct weft_number change = {.real = now.real - before.real, .is_real = now.is_real};
	bool is_too_large =
		!now.is_real && __builtin_sub_overflow(now.integer, before.integer, &change.integer);
	if (is_too_large || (now.is_real ? change.real == 0 : change.integer == 0)) {
		weft__story_words_add(w, ": set");
		return;
	}
	weft_number_format(change, number, sizeof(number));
	weft__story_words_add(w, ": %s%s", number[0] == '-' ? "" : "+", number);
}

/* Appends ": +2 by read block 17 at 12.31 ms". */
static void write_change(struct weft__sentence *s, const struct weft_model *model,
	const struct weft_counter *counter, uint32_t sample)
{
	uint32_t task = model->samples.task[sample];
	struct weft__words *w = weft__story_clause(s, 2);
	write_difference(w, model, counter, sample);
	if (task != WEFT_NONE) {
		w = weft__story_clause(s, 2);
		weft__story_words_add(w, " by ");
		weft__story_words_add_task(w, model, task, 28);
	}
	w = weft__story_clause(s, 1);
	weft__story_words_add(w, " at ");
	weft__story_words_add_time(w, model, model->samples.time[sample]);
}

/* Appends " is 7"; a counter that is set at first has no value before. */
static void write_value(struct weft__words *w, const struct weft_model *model,
	const struct weft_counter *counter, uint32_t sample)
{
	struct weft_number value = counter->start;
	char number[32];
	if (sample != WEFT_NONE)
		value = weft_counter_number(model, counter, sample);
	weft_counter_format(counter, value, number, sizeof(number));
	if (sample == WEFT_NONE && counter->begins_set)
		weft__story_words_add(w, " has no value");
	else
		weft__story_words_add(w, " is %s", number);
}

WEFT__EXPORT size_t weft_story_counter_sentence(
	const struct weft_story *story, uint32_t counter, uint64_t at_ns, char *buffer, size_t size)
{
	const struct weft_model *model = story->model;
	const struct weft_counter *c = &model->counters[counter];
	uint32_t sample = sample_at(model, c, at_ns);
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 4);
	weft__story_words_add_text(w, weft_model_string(model, c->name), NAME_LETTERS);
	write_value(w, model, c, sample);
	w = weft__story_clause(&s, 3);
	weft__story_words_add(w, " at ");
	weft__story_words_add_time(w, model, at_ns < model->summary.end ? at_ns : model->summary.end);
	if (sample == WEFT_NONE)
		weft__story_words_add(weft__story_clause(&s, 2), ", before its first change");
	else
		write_change(&s, model, c, sample);
	return weft__story_sentence_write(&s, buffer, size);
}

void weft__story_words_add_losses(struct weft__words *w, const uint64_t losses[WEFT_LOSS_CAUSES])
{
	const char *before = "";
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++) {
		if (!losses[cause])
			continue;
		weft__story_words_add(w, "%s", before);
		weft__story_words_add_number(w, losses[cause]);
		weft__story_words_add(w, " %s", weft_loss_name((enum weft_loss)cause));
		before = ", ";
	}
}

uint64_t weft__story_count_losses(const uint64_t losses[WEFT_LOSS_CAUSES])
{
	uint64_t sum = 0;
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		if (cause != WEFT_LOSS_MISSING_PACKETS && __builtin_add_overflow(sum, losses[cause], &sum))
			return UINT64_MAX;
	return sum;
}

WEFT__EXPORT size_t weft_story_losses_sentence(
	const struct weft_story *story, char *buffer, size_t size)
{
	const uint64_t *losses = story->model->losses;
	uint64_t sum = weft__story_count_losses(losses), packets = losses[WEFT_LOSS_MISSING_PACKETS];
	struct weft__sentence s;
	if (!sum && !packets) {
		if (size)
			buffer[0] = '\0';
		return 0;
	}
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 2);
	weft__story_words_add_count(w, sum ? sum : packets, sum ? "event" : "packet");
	weft__story_words_add(w, " %s %s", (sum ? sum : packets) == 1 ? "is" : "are",
		sum ? "lost" : "missing or damaged");
	if (!sum)
		return weft__story_sentence_write(&s, buffer, size);
	w = weft__story_clause(&s, 1);
	weft__story_words_add(w, ": ");
	weft__story_words_add_losses(w, losses);
	return weft__story_sentence_write(&s, buffer, size);
}
