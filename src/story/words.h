/* SPDX-License-Identifier: ISC
 *
 * Sentences made of clauses, with room for WEFT_SENTENCE_LETTERS characters: what does not fit
 * goes, the least important first. Text of the trace is cleaned on its way in.
 */
#ifndef WEFT_STORY_WORDS_H
#define WEFT_STORY_WORDS_H

#include <weft/story.h>

/* Text that ends where its room does, after a whole character. */
struct weft__words {
	char *text; /* NUL-terminated */
	size_t size, used;
	unsigned letters; /* characters so far */
};

void weft__words_init(struct weft__words *words, char *buffer, size_t size);

/* Text of our own: UTF-8 and clean. */
__attribute__((format(printf, 2, 3))) void weft__say(
	struct weft__words *words, const char *format, ...);
/* Text of the trace, at most so many characters of it: an ellipsis stands for the rest; of a path,
 * for its middle. */
void weft__say_text(struct weft__words *words, struct weft_slice text, unsigned letters);
/* "12.491 ms": a time from the trace's start. */
void weft__say_time(struct weft__words *words, const struct weft_model *model, uint64_t time);
/* "1.84 ms" */
void weft__say_length(struct weft__words *words, uint64_t ns);
/* "1,234" */
/* With up to `digits` significant digits. */
void weft__say_real(struct weft__words *words, double number, int digits);
void weft__say_number(struct weft__words *words, uint64_t number);
/* "1 task", "1,514 tasks" */
void weft__say_count(struct weft__words *words, uint64_t count, const char *one);
/* "bind" */
void weft__say_kind(struct weft__words *words, unsigned kind);
/* Its label, or "wait 79". */
void weft__say_task(
	struct weft__words *words, const struct weft_model *model, uint32_t task, unsigned letters);
/* Like it, beside another: kind and id if both have one label. */
void weft__say_other(struct weft__words *words, const struct weft_model *model, uint32_t task,
	uint32_t beside, unsigned letters);
/* "wait 79 'Net.read'" */
void weft__say_subject(
	struct weft__words *words, const struct weft_model *model, uint32_t task, unsigned letters);

#define WEFT__CLAUSES_MAX 10

struct weft__sentence {
	unsigned count;
	struct weft__clause {
		struct weft__words words;
		unsigned worth; /* the least goes first */
		char text[WEFT_SENTENCE_BYTES];
	} clauses[WEFT__CLAUSES_MAX];
};

void weft__sentence_init(struct weft__sentence *sentence);
/* The next clause, for weft__say: it begins with its own punctuation. The first is never left
 * out. */
struct weft__words *weft__clause(struct weft__sentence *sentence, unsigned worth);
/* Writes it with a full stop. */
size_t weft__sentence_write(struct weft__sentence *sentence, char *buffer, size_t size);

#endif
