/* SPDX-License-Identifier: ISC
 *
 * Appends words to sentences. All text of the trace goes through write_letter(), so no name can
 * hide text, change its direction, or control a terminal.
 */
#include "story/words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <weft/duration.h>

#include "base/export.h"
#include "base/number.h"
#include "base/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"
#define ELLIPSIS    "\xe2\x80\xa6"

/* Significant digits. */
#define TIME_DIGITS   5
#define LENGTH_DIGITS 3

void weft__story_words_init(struct weft__words *w, char *buffer, size_t size)
{
	*w = (struct weft__words){buffer, size, 0, 0};
	if (size)
		buffer[0] = '\0';
}

/* Appends one character if it fits; once one does not fit, nothing more is appended. */
static void write_letter(struct weft__words *w, const char *bytes, size_t length)
{
	if (w->used + length + 1 > w->size) {
		w->size = w->used ? w->used + 1 : w->size;
		return;
	}
	memcpy(w->text + w->used, bytes, length);
	w->used += length;
	w->text[w->used] = '\0';
	w->letters++;
}

static size_t next_letter(struct weft_slice text, bool *ret_good)
{
	uint32_t character;
	size_t length = weft__utf8_decode(text.bytes, text.size, &character, ret_good);
	*ret_good = *ret_good && weft__utf8_is_showable(character);
	return length;
}

static struct weft_slice rest_of(struct weft_slice text, size_t from)
{
	return (struct weft_slice){text.bytes + from, text.size - from};
}

static void write_letters(struct weft__words *w, struct weft_slice text)
{
	while (text.size) {
		bool good;
		size_t length = next_letter(text, &good);
		if (good)
			write_letter(w, text.bytes, length);
		else
			write_letter(w, REPLACEMENT, sizeof(REPLACEMENT) - 1);
		text = rest_of(text, length);
	}
}

void weft__story_words_add(struct weft__words *w, const char *format, ...)
{
	char text[WEFT_SENTENCE_BYTES];
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (length <= 0)
		return;
	size_t size = (size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1;
	write_letters(w, (struct weft_slice){text, size});
}

/* The bytes of the first `letters` characters. */
static size_t head_bytes(struct weft_slice text, unsigned letters)
{
	size_t at = 0;
	while (at < text.size && letters-- > 0) {
		bool good;
		at += next_letter(rest_of(text, at), &good);
	}
	return at;
}

/* The offset of the last `letters` characters of a text, which have at most four bytes each. */
static size_t tail_from(struct weft_slice text, unsigned letters)
{
	size_t at = text.size;
	while (at > 0 && letters-- > 0)
		do
			at--;
		while (at > 0 && ((uint8_t)text.bytes[at] & 0xc0) == 0x80 && text.size - at < 512);
	return at;
}

static bool is_path(struct weft_slice text)
{
	const char *slash = memchr(text.bytes, '/', text.size);
	return slash && !memchr(text.bytes, ' ', text.size);
}

/* The length of " at file:line" at the end of a text; 0: it has none, or one of other letters. */
static unsigned location_letters(struct weft_slice text)
{
	static const char word[] = " at ";
	const size_t length = sizeof(word) - 1;
	size_t at = text.size;
	while (at > 0 && text.bytes[at - 1] >= '0' && text.bytes[at - 1] <= '9')
		at--;
	if (at == text.size || at == 0 || text.bytes[--at] != ':')
		return 0;
	while (at > 0 && text.bytes[at - 1] != ' ' && (uint8_t)text.bytes[at - 1] < 0x80)
		at--;
	if (at < length || memcmp(&text.bytes[at - length], word, length) != 0)
		return 0;
	return (unsigned)(text.size - at + length);
}

void weft__story_words_add_text(struct weft__words *w, struct weft_slice text, unsigned letters)
{
	if (head_bytes(text, letters) == text.size) {
		write_letters(w, text);
		return;
	}
	unsigned shown = letters ? letters - 1 : 0; /* without the ellipsis */
	unsigned location = location_letters(text);
	unsigned last = location <= shown * 3 / 4 ? location : 0;
	if (!last && is_path(text))
		last = shown * 2 / 3;
	size_t head = head_bytes(text, shown - last), tail = tail_from(text, last);
	write_letters(w, (struct weft_slice){text.bytes, head});
	write_letter(w, ELLIPSIS, sizeof(ELLIPSIS) - 1);
	write_letters(w, rest_of(text, tail > head ? tail : head));
}

void weft__story_words_add_time(
	struct weft__words *w, const struct weft_model *model, uint64_t time)
{
	uint64_t start = model->summary.start;
	char text[32];
	weft_format_duration(time > start ? time - start : 0, TIME_DIGITS, text);
	weft__story_words_add(w, "%s", text);
}

void weft__story_words_add_length(struct weft__words *w, uint64_t ns)
{
	char text[32];
	weft_format_duration(ns, LENGTH_DIGITS, text);
	weft__story_words_add(w, "%s", text);
}

void weft__story_words_add_host(
	struct weft__words *w, const struct weft_model *model, uint32_t task, uint32_t other)
{
	const uint32_t one = model->tasks.buffer[task], two = model->tasks.buffer[other];
	char text[96];
	if (!weft_trace_format_error(model->buffers, model->buffer_count, one, two, text, sizeof(text)))
		return;
	weft__story_words_add(w, " (on host ");
	const char *host = weft_trace_buffer_at(model->buffers, model->buffer_count, two)->host;
	weft__story_words_add_text(w, (struct weft_slice){host, strlen(host)}, 24);
	weft__story_words_add(w, ",%s)", text);
}

void weft__story_words_add_real(struct weft__words *w, double number, int digits)
{
	char text[WEFT__NUMBER_BYTES];
	weft__story_words_add(w, "%s", weft__number_general(number, digits, text));
}

void weft__story_words_add_number(struct weft__words *w, uint64_t number)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, number);
	for (int i = 0; i < length; i++)
		weft__story_words_add(w, i > 0 && (length - i) % 3 == 0 ? ",%c" : "%c", digits[i]);
}

void weft__story_words_add_count(struct weft__words *w, uint64_t count, const char *one)
{
	weft__story_words_add_number(w, count);
	weft__story_words_add(w, " %s%s", one, count == 1 ? "" : "s");
}

#define KIND_LETTERS 24

void weft__story_words_add_kind(
	struct weft__words *w, const struct weft_model *model, unsigned kind)
{
	const char *name = weft_model_kind_name(model, kind);
	if (name)
		weft__story_words_add_text(w, (struct weft_slice){name, strlen(name)}, KIND_LETTERS);
	else
		weft__story_words_add(w, "kind %u", kind);
}

static bool has_label(const struct weft_model *model, uint32_t task)
{
	return weft_model_string(model, model->tasks.label[task]).size > 0;
}

static void write_kind_and_id(struct weft__words *w, const struct weft_model *model, uint32_t task)
{
	weft__story_words_add_kind(w, model, model->tasks.kind[task]);
	if (model->tasks.kind[task] != WEFT_KIND_TRACK) /* programs know it by its name alone */
		weft__story_words_add(w, " %" PRIu64, model->tasks.id[task]);
}

void weft__story_words_add_task(
	struct weft__words *w, const struct weft_model *model, uint32_t task, unsigned letters)
{
	if (has_label(model, task))
		weft__story_words_add_text(w, weft_model_string(model, model->tasks.label[task]), letters);
	else
		write_kind_and_id(w, model, task);
}

void weft__story_words_add_other(struct weft__words *w, const struct weft_model *model,
	uint32_t task, uint32_t beside, unsigned letters)
{
	if (model->tasks.label[task] == model->tasks.label[beside])
		write_kind_and_id(w, model, task);
	else
		weft__story_words_add_task(w, model, task, letters);
}

void weft__story_words_add_subject(
	struct weft__words *w, const struct weft_model *model, uint32_t task, unsigned letters)
{
	write_kind_and_id(w, model, task);
	if (!has_label(model, task))
		return;
	weft__story_words_add(w, " '");
	weft__story_words_add_text(w, weft_model_string(model, model->tasks.label[task]), letters);
	weft__story_words_add(w, "'");
}

void weft__story_sentence_init(struct weft__sentence *sentence)
{
	sentence->count = 0;
}

struct weft__words *weft__story_clause(struct weft__sentence *sentence, unsigned worth)
{
	unsigned last = sentence->count;
	if (last == WEFT__CLAUSES_MAX)
		last--; /* no room: it takes the place of the last one */
	else
		sentence->count++;
	struct weft__clause *clause = &sentence->clauses[last];
	clause->worth = worth;
	weft__story_words_init(&clause->words, clause->text, sizeof(clause->text));
	return &clause->words;
}

static unsigned count_letters(const struct weft__sentence *sentence)
{
	unsigned letters = 1; /* one for the full stop */
	for (unsigned i = 0; i < sentence->count; i++)
		letters += sentence->clauses[i].words.letters;
	return letters;
}

/* Drops the last clause of the lowest worth. */
static bool leave_one_out(struct weft__sentence *sentence)
{
	struct weft__clause *least = NULL;
	for (unsigned i = 1; i < sentence->count; i++) {
		struct weft__clause *clause = &sentence->clauses[i];
		if (clause->words.used && (!least || clause->worth <= least->worth))
			least = clause;
	}
	if (!least)
		return false;
	weft__story_words_init(&least->words, least->text, sizeof(least->text));
	return true;
}

size_t weft__story_sentence_write(struct weft__sentence *sentence, char *buffer, size_t size)
{
	struct weft__words out;
	while (count_letters(sentence) > WEFT_SENTENCE_LETTERS && leave_one_out(sentence))
		;
	weft__story_words_init(&out, buffer, size);
	for (unsigned i = 0; i < sentence->count; i++) {
		const struct weft__words *words = &sentence->clauses[i].words;
		weft__story_words_add_text(&out, (struct weft_slice){words->text, words->used},
			WEFT_SENTENCE_LETTERS - 1 - out.letters);
	}
	if (out.used == 0 || out.text[out.used - 1] != '.') /* a message may end with a full stop */
		weft__story_words_add(&out, ".");
	return out.used;
}

void weft__story_words_add_process(
	struct weft__words *words, const struct weft_model *model, uint32_t buffer)
{
	char name[128];
	weft_trace_format_process(model->buffers, model->buffer_count, buffer, name, sizeof(name));
	weft__story_words_add_text(words, (struct weft_slice){name, strlen(name)}, 40);
}

void weft__story_words_add_due(
	struct weft__words *w, const struct weft_model *model, const struct weft_story_timer *timer)
{
	weft__story_words_add(w, "due at ");
	weft__story_words_add_time(w, model, timer->due);
	if (timer->late_ns) {
		weft__story_words_add(w, timer->has_fired ? ", fired " : ", overdue for ");
		weft__story_words_add_length(w, timer->late_ns);
		weft__story_words_add(w, timer->has_fired ? " late" : "");
	}
}

WEFT__EXPORT size_t weft_story_name(
	const struct weft_model *model, uint32_t task, unsigned letters, char *buffer, size_t size)
{
	struct weft__words w;
	weft__story_words_init(&w, buffer, size);
	weft__story_words_add_task(&w, model, task, letters);
	return w.used;
}
