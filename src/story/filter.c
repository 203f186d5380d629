/* SPDX-License-Identifier: ISC
 *
 * See weft/filter.h. Words are parsed once; then each task is compared with each of them.
 */
#include <weft/filter.h>

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/export.h"

#define NAME_BYTES 128

enum sort {
	LABEL,
	KIND,
	THREAD,
	PROCESS,
};

struct word {
	enum sort sort;
	bool hides;
	bool has_capital;
	char *text; /* in the buffer of all words */
	size_t size;
};

struct words {
	struct word list[WEFT_FILTER_WORDS];
	unsigned count, only_count;
};

static bool skip(struct word *word, const char *prefix)
{
	size_t size = strlen(prefix);
	if (word->size < size || strncmp(word->text, prefix, size) != 0)
		return false;
	word->text += size;
	word->size -= size;
	return true;
}

/* True for an unescaped sign: an escape makes the next character an ordinary one. */
static bool is_sign(const char *text, size_t at, char sign)
{
	size_t escapes = 0;
	while (escapes < at && text[at - escapes - 1] == '\\')
		escapes++;
	return text[at] == sign && escapes % 2 == 0;
}

/* Trims a word; returns whether it hides. */
static bool trim(const char **text, size_t *size)
{
	while (*size && **text == ' ')
		++*text, --*size;
	while (*size && is_sign(*text, *size - 1, ' '))
		--*size;
	bool hides = *size && **text == '-';
	*text += hides;
	*size -= hides;
	return hides;
}

/* Copies a word without escapes. */
static size_t unescape(const char *text, size_t size, char *to)
{
	size_t used = 0;
	for (size_t i = 0; i < size; i++) {
		i += text[i] == '\\' && i + 1 < size;
		to[used++] = text[i];
	}
	return used;
}

/* Removes the prefix that says what the word is compared with. */
static enum sort find_sort(struct word *word)
{
	if (skip(word, "kind:"))
		return KIND;
	if (skip(word, "thread:"))
		return THREAD;
	return skip(word, "process:") ? PROCESS : LABEL;
}

static void add_word(struct words *words, const char *text, size_t size, char *room)
{
	struct word word = {.hides = trim(&text, &size)};
	word.text = room;
	word.size = unescape(text, size, room);
	word.sort = find_sort(&word);
	for (size_t i = 0; i < word.size; i++)
		word.has_capital = word.has_capital || isupper((unsigned char)word.text[i]);
	if (word.size == 0 || words->count == WEFT_FILTER_WORDS)
		return;
	words->only_count += !word.hides;
	words->list[words->count++] = word;
}

/* The size of a word: up to its comma. */
static size_t word_size(const char *text)
{
	size_t size = 0;
	while (text[size] && !is_sign(text, size, ','))
		size++;
	return size;
}

/* True if the text contains the word. Case matters only if the word has a capital letter. */
static bool has(const struct word *word, struct weft_slice text)
{
	for (size_t at = 0; at + word->size <= text.size; at++) {
		size_t i = 0;
		for (; i < word->size; i++) {
			unsigned char c = (unsigned char)text.bytes[at + i];
			if ((word->has_capital ? c : tolower(c)) != (unsigned char)word->text[i])
				break;
		}
		if (i == word->size)
			return true;
	}
	return false;
}

static struct weft_slice kind_of(const struct weft_model *model, uint32_t task, char buffer[16])
{
	unsigned kind = model->tasks.kind[task];
	const char *name = weft_model_kind_name(model, kind);
	if (!name) {
		snprintf(buffer, 16, "%u", kind);
		name = buffer;
	}
	return (struct weft_slice){name, strlen(name)};
}

static struct weft_slice thread_of(const struct weft_model *model, uint32_t task, char buffer[32])
{
	uint32_t first = model->tasks.first_activation[task];
	if (first == model->tasks.end_activation[task])
		return (struct weft_slice){"", 0};
	uint32_t number = model->activations.thread[first];
	if (number >= model->thread_count)
		return (struct weft_slice){"", 0};
	const struct weft_trace_thread *thread = &model->threads[number];
	if (thread->name && thread->name[0])
		return (struct weft_slice){thread->name, strlen(thread->name)};
	int size = snprintf(buffer, 32, "%" PRIu64, thread->tid);
	return (struct weft_slice){buffer, (size_t)size};
}

static struct weft_slice process_of(
	const struct weft_model *model, uint32_t task, char buffer[NAME_BYTES])
{
	size_t size = weft_trace_format_process(
		model->buffers, model->buffer_count, model->tasks.buffer[task], buffer, NAME_BYTES);
	return (struct weft_slice){buffer, size < NAME_BYTES ? size : NAME_BYTES - 1};
}

static bool matches(const struct weft_model *model, const struct word *word, uint32_t task)
{
	char buffer[NAME_BYTES];
	struct weft_slice text;
	if (word->sort == KIND) {
		text = kind_of(model, task, buffer);
		return text.size == word->size && memcmp(text.bytes, word->text, text.size) == 0;
	}
	if (word->sort == THREAD)
		text = thread_of(model, task, buffer);
	else if (word->sort == PROCESS)
		text = process_of(model, task, buffer);
	else
		text = weft_model_string(model, model->tasks.label[task]);
	return has(word, text);
}

static bool is_hidden(const struct weft_model *model, const struct words *words, uint32_t task)
{
	bool is_wanted = words->only_count == 0;
	for (unsigned i = 0; i < words->count; i++) {
		if (!matches(model, &words->list[i], task))
			continue;
		if (words->list[i].hides)
			return true;
		is_wanted = true;
	}
	return !is_wanted;
}

WEFT__EXPORT int weft_filter_tasks(
	const struct weft_model *model, const char *filter, uint8_t **ret_hidden)
{
	struct words words = {.count = 0};
	uint8_t *hidden = malloc(model->tasks.count + (size_t)1);
	char *room = malloc(strlen(filter) + 1);
	if (!hidden || !room) {
		free(hidden);
		free(room);
		return WEFT_ERROR_MEMORY;
	}
	for (const char *at = filter; *at;) {
		size_t size = word_size(at);
		add_word(&words, at, size, room + (at - filter));
		at += size + (at[size] == ',');
	}
	for (uint32_t task = 0; task < model->tasks.count; task++)
		hidden[task] = is_hidden(model, &words, task);
	free(room);
	*ret_hidden = hidden;
	return 0;
}

WEFT__EXPORT const char *weft_filter_next_word(
	const char *filter, char *word, size_t size, bool *ret_hides)
{
	while (*filter) {
		const char *text = filter;
		size_t length = word_size(filter);
		filter += length + (filter[length] == ',');
		bool hides = trim(&text, &length);
		if (length == 0 || length >= size)
			continue;
		word[unescape(text, length, word)] = '\0';
		*ret_hides = hides;
		return filter;
	}
	return NULL;
}

/* Appends a word and escapes special characters. */
static void add_text(struct weft_text *text, const char *word)
{
	for (size_t i = 0; word[i]; i++) {
		bool is_edge = i == 0 || !word[i + 1];
		if (word[i] == ',' || word[i] == '\\' || (word[i] == ' ' && is_edge) ||
			(word[i] == '-' && i == 0))
			weft_text_add_string(text, "\\");
		weft_text_add(text, &word[i], 1);
	}
}

WEFT__EXPORT int weft_filter_add_word(struct weft_text *filter, const char *word, bool hides)
{
	weft_text_add_string(filter, filter->size ? "," : "");
	weft_text_add_string(filter, hides ? "-" : "");
	add_text(filter, word);
	return filter->error;
}
