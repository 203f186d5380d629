/* SPDX-License-Identifier: ISC
 *
 * See weft/filter.h. Words are parsed once; then each task is compared with each of them. Many
 * tasks may have one long label, which is compared with a word once, in time proportional to its
 * length.
 */
#include <weft/filter.h>

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "story/comparison.h"
#include "story/filtering.h"

#define NAME_BYTES 128
#define STEP_TASKS 65536 /* that a step compares with a word: some milliseconds */

enum sort {
	LABEL,
	KIND,
	THREAD,
	PROCESS,
	COMPARISON, /* of attributes, if one has its key, else COLUMN or LABEL */
	COLUMN,     /* a comparison of a column of the table `tasks` */
};

struct word {
	enum sort sort;
	bool hides;
	bool has_capital;
	char *text; /* in the buffer of all words */
	size_t size;
	/* For each beginning of the word, the size of the longest shorter beginning that it ends with:
	 * where the search of Knuth, Morris and Pratt goes on. */
	size_t *shorter;
	struct weft__comparison comparison;
	unsigned column;
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

/* Copies a word without escapes. `ret_sign`, unless it is NULL, gets the offset of the first
 * character of a relation that was not escaped; the size of the word if it has none. */
static size_t unescape(const char *text, size_t size, char *to, size_t *ret_sign)
{
	size_t used = 0, sign = SIZE_MAX;
	for (size_t i = 0; i < size; i++) {
		bool is_escape = text[i] == '\\' && i + 1 < size;
		i += is_escape;
		if (!is_escape && sign == SIZE_MAX && memchr("=<>!", text[i], 4))
			sign = used;
		to[used++] = text[i];
	}
	if (ret_sign)
		*ret_sign = sign < used ? sign : used;
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

static void find_shorter(struct word *word)
{
	size_t size = 0;
	for (size_t i = 1; i < word->size; i++) {
		while (size && word->text[i] != word->text[size])
			size = word->shorter[size - 1];
		size += word->text[i] == word->text[size];
		word->shorter[i] = size;
	}
}

static void add_word(
	struct words *words, const char *text, size_t size, char *room, size_t *shorter)
{
	struct word word = {.hides = trim(&text, &size)};
	size_t sign;
	word.text = room;
	word.size = unescape(text, size, room, &sign);
	word.sort = find_sort(&word);
	const struct weft_slice whole = {word.text, word.size};
	if (word.sort == LABEL && weft__story_comparison_parse(whole, sign, &word.comparison))
		word.sort = COMPARISON;
	for (size_t i = 0; i < word.size; i++)
		word.has_capital = word.has_capital || isupper((unsigned char)word.text[i]);
	if (word.size == 0 || words->count == WEFT_FILTER_WORDS)
		return;
	word.shorter = shorter; /* of zeros */
	find_shorter(&word);
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
	size_t found = 0;
	for (size_t at = 0; at < text.size && found < word->size; at++) {
		unsigned char c = (unsigned char)text.bytes[at];
		char letter = (char)(word->has_capital ? c : tolower(c));
		while (found && letter != word->text[found])
			found = word->shorter[found - 1];
		found += letter == word->text[found];
	}
	return found == word->size;
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

static bool has_of_kind(const struct weft_model *model, const struct word *word, uint32_t task)
{
	char buffer[NAME_BYTES];
	struct weft_slice text = kind_of(model, task, buffer);
	return text.size == word->size && memcmp(text.bytes, word->text, text.size) == 0;
}

/* Whether a label has a word. */
enum known {
	UNKNOWN,
	HAS,
	LACKS,
};

static bool has_in_label(
	const struct weft_model *model, const struct word *word, uint32_t task, uint8_t *labels)
{
	uint32_t label = model->tasks.label[task];
	if (label >= weft_model_string_count(model))
		return false;
	if (labels[label] == UNKNOWN)
		labels[label] = has(word, weft_model_string(model, label)) ? HAS : LACKS;
	return labels[label] == HAS;
}

static bool matches(const struct weft_model *model, const struct weft_model_tables *tables,
	const struct word *word, uint32_t task, uint8_t *labels)
{
	char buffer[NAME_BYTES];
	switch (word->sort) {
	case KIND:
		return has_of_kind(model, word, task);
	case THREAD:
		return has(word, thread_of(model, task, buffer));
	case PROCESS:
		return has(word, process_of(model, task, buffer));
	case COLUMN:
		return weft__story_comparison_holds_in(tables, word->column, &word->comparison, task);
	case LABEL:
	case COMPARISON:
		break;
	}
	return has_in_label(model, word, task, labels);
}

enum {
	IS_WANTED = 1,
	IS_HIDDEN = 2,
};

struct weft__filtering {
	const struct weft_model *model;
	struct words words;
	struct weft_model_tables *tables;
	uint8_t *hidden, *labels;
	char *room; /* for the words */
	size_t *shorter;
	unsigned word; /* the one that is compared, from task `task` on */
	uint32_t task;
	bool has_key; /* a note of an earlier task has the name that the word compares */
};

int weft__story_filtering_create(
	const struct weft_model *model, const char *filter, struct weft__filtering **ret_filtering)
{
	struct weft__filtering *f = calloc(1, sizeof(*f));
	size_t length = strlen(filter);
	if (!f)
		return WEFT_ERROR_MEMORY;
	f->model = model;
	f->hidden = malloc(model->tasks.count + (size_t)1);
	f->labels = malloc(weft_model_string_count(model) + (size_t)1);
	f->room = malloc(length + 1);
	f->shorter = calloc(length + 1, sizeof(*f->shorter));
	if (!f->hidden || !f->labels || !f->room || !f->shorter) {
		weft__story_filtering_destroy(f);
		return WEFT_ERROR_MEMORY;
	}
	for (const char *at = filter; *at;) {
		size_t size = word_size(at);
		add_word(&f->words, at, size, f->room + (at - filter), f->shorter + (at - filter));
		at += size + (at[size] == ',');
	}
	memset(f->hidden, f->words.only_count ? 0 : IS_WANTED, model->tasks.count);
	*ret_filtering = f;
	return 0;
}

/* Compares what some tasks' notes say with the current word. If no note of any task has its name,
 * the word is about the column of that name, or is looked for in labels. */
static int compare_values(struct weft__filtering *f)
{
	struct word *word = &f->words.list[f->word];
	const struct weft_tasks *tasks = &f->model->tasks;
	for (uint64_t work = 0; f->task < tasks->count && work < STEP_TASKS; f->task++) {
		work += 1 + tasks->end_note[f->task] - tasks->first_note[f->task];
		if (weft__story_comparison_holds(f->model, &word->comparison, f->task, &f->has_key))
			f->hidden[f->task] |= word->hides ? IS_HIDDEN : IS_WANTED;
	}
	if (f->task < tasks->count)
		return 0;
	word->column = weft__story_comparison_column(&word->comparison);
	if (f->has_key)
		f->word++;
	else
		word->sort = word->column == WEFT_NONE ? LABEL : COLUMN;
	f->task = 0;
	f->has_key = false;
	bool needs_tables = word->sort == COLUMN && !f->tables;
	return needs_tables ? weft_model_tables_create(f->model, &f->tables) : 0;
}

/* Compares some tasks with the current word. */
static void compare_tasks(struct weft__filtering *f)
{
	const struct word *word = &f->words.list[f->word];
	uint32_t left = f->model->tasks.count - f->task;
	uint32_t end = f->task + (left < STEP_TASKS ? left : STEP_TASKS);
	if (f->task == 0)
		memset(f->labels, UNKNOWN, weft_model_string_count(f->model));
	for (uint32_t task = f->task; task < end; task++)
		if (matches(f->model, f->tables, word, task, f->labels))
			f->hidden[task] |= word->hides ? IS_HIDDEN : IS_WANTED;
	f->task = end;
	if (end == f->model->tasks.count) {
		f->word++;
		f->task = 0;
	}
}

int weft__story_filtering_step(struct weft__filtering *f, uint8_t **ret_hidden)
{
	if (f->word < f->words.count) {
		int error = 0;
		if (f->words.list[f->word].sort == COMPARISON)
			error = compare_values(f);
		else
			compare_tasks(f);
		return error ? error : WEFT_AGAIN;
	}
	for (uint32_t task = 0; task < f->model->tasks.count; task++)
		f->hidden[task] = f->hidden[task] != IS_WANTED;
	*ret_hidden = f->hidden;
	f->hidden = NULL;
	return 0;
}

void weft__story_filtering_destroy(struct weft__filtering *filtering)
{
	if (!filtering)
		return;
	weft_model_tables_destroy(filtering->tables);
	free(filtering->hidden);
	free(filtering->labels);
	free(filtering->room);
	free(filtering->shorter);
	free(filtering);
}

WEFT__EXPORT int weft_filter_tasks(
	const struct weft_model *model, const char *filter, uint8_t **ret_hidden)
{
	struct weft__filtering *filtering = NULL;
	int status = weft__story_filtering_create(model, filter, &filtering);
	if (status)
		return status;
	do
		status = weft__story_filtering_step(filtering, ret_hidden);
	while (status == WEFT_AGAIN);
	weft__story_filtering_destroy(filtering);
	return status;
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
		word[unescape(text, length, word, NULL)] = '\0';
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
