/* SPDX-License-Identifier: ISC
 *
 * Builds sentences from clauses, with at most WEFT_SENTENCE_LETTERS characters: if a sentence is
 * too long, the least important clauses are dropped. Text of the trace is cleaned when it is added.
 */
#ifndef WEFT_STORY_WORDS_H
#define WEFT_STORY_WORDS_H

#include <weft/story.h>

/* Text of limited size, cut after a whole character. */
struct weft__words {
	char *text; /* NUL-terminated */
	size_t size, used;
	unsigned letters; /* characters so far */
};

void weft__story_words_init(struct weft__words *words, char *buffer, size_t size);

/* Appends our own text: clean UTF-8. */
__attribute__((format(printf, 2, 3))) void weft__story_words_add(
	struct weft__words *words, const char *format, ...);
/* Appends text of the trace, at most `letters` characters: an ellipsis replaces the rest, or the
 * middle of a path. */
void weft__story_words_add_text(
	struct weft__words *words, struct weft_slice text, unsigned letters);
/* Appends "12.491 ms": a time from the trace's start. */
void weft__story_words_add_time(
	struct weft__words *words, const struct weft_model *model, uint64_t time);
/* Appends "1.84 ms". */
void weft__story_words_add_length(struct weft__words *words, uint64_t ns);

/* Adds where the other task is, and the error of times between the two: " (on host beta, ± 80 us)";
 * nothing if both have one clock. */
void weft__story_words_add_host(
	struct weft__words *words, const struct weft_model *model, uint32_t task, uint32_t other);
/* Appends a number with at most `digits` significant digits. */
void weft__story_words_add_real(struct weft__words *words, double number, int digits);
/* Appends "1,234". */
void weft__story_words_add_number(struct weft__words *words, uint64_t number);
/* Appends "1 task" or "1,514 tasks". */
void weft__story_words_add_count(struct weft__words *words, uint64_t count, const char *one);
/* Appends "bind". */
void weft__story_words_add_kind(
	struct weft__words *words, const struct weft_model *model, unsigned kind);
/* Appends a task's label, or "wait 79". */
void weft__story_words_add_task(
	struct weft__words *words, const struct weft_model *model, uint32_t task, unsigned letters);
/* The same in a sentence with another task: kind and id if both have the same label. */
void weft__story_words_add_other(struct weft__words *words, const struct weft_model *model,
	uint32_t task, uint32_t beside, unsigned letters);
/* Appends "wait 79 'Net.read'". */
void weft__story_words_add_subject(
	struct weft__words *words, const struct weft_model *model, uint32_t task, unsigned letters);

/* Appends "due at 40 ms, fired 3.1 ms late". */
void weft__story_words_add_due(struct weft__words *words, const struct weft_model *model,
	const struct weft_story_timer *timer);

/* Appends "redis-server 4711". */
void weft__story_words_add_process(
	struct weft__words *words, const struct weft_model *model, uint32_t buffer);

#define WEFT__CLAUSES_MAX 11

struct weft__sentence {
	unsigned count;
	struct weft__clause {
		struct weft__words words;
		unsigned worth; /* clauses with the lowest worth are dropped first */
		char text[WEFT_SENTENCE_BYTES];
	} clauses[WEFT__CLAUSES_MAX];
};

void weft__story_sentence_init(struct weft__sentence *sentence);
/* The worth of a clause without which the sentence says nothing, as one with its verb. */
#define WEFT__WORTH_MOST 10
/* Begins a clause; it starts with its own punctuation. The first clause is never dropped, so it has
 * the verb where it can. */
struct weft__words *weft__story_clause(struct weft__sentence *sentence, unsigned worth);
/* Writes the sentence with a full stop. */
size_t weft__story_sentence_write(struct weft__sentence *sentence, char *buffer, size_t size);

#endif
