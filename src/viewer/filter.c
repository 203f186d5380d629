/* SPDX-License-Identifier: ISC
 *
 * Which tasks a filter leaves out. It is words with commas between them: "block, -kind:bind" shows
 * tasks whose label has "block", but no binds; "thread:main" those that first ran on that thread.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/state.h"

#define WORDS_MAX 32

enum sort {
	LABEL,
	KIND,
	THREAD,
};

struct word {
	enum sort sort;
	bool hides;
	bool has_capital;
	const char *text;
	size_t size;
};

struct words {
	struct word list[WORDS_MAX];
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

static void add_word(struct words *words, const char *text, size_t size)
{
	while (size && text[0] == ' ')
		text++, size--;
	while (size && text[size - 1] == ' ')
		size--;
	struct word word = {LABEL, false, false, text, size};
	word.hides = skip(&word, "-");
	word.sort = skip(&word, "kind:") ? KIND : skip(&word, "thread:") ? THREAD : LABEL;
	for (size_t i = 0; i < word.size; i++)
		word.has_capital = word.has_capital || isupper((unsigned char)word.text[i]);
	if (word.size == 0 || words->count == WORDS_MAX)
		return;
	words->only_count += !word.hides;
	words->list[words->count++] = word;
}

/* Capitals matter if the word has one. */
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
	const char *name = kind == WEFT_KIND_PREEXISTING ? "preexisting" : weft_kind_name(kind);
	if (!name) {
		snprintf(buffer, 16, "%u", kind);
		name = buffer;
	}
	return (struct weft_slice){name, strlen(name)};
}

static struct weft_slice thread_of(const struct weft_model *model, uint32_t task, char buffer[32])
{
	uint32_t first = model->tasks.first_activation[task];
	if (first == model->tasks.first_activation[task + 1])
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

static bool matches(const struct weft_model *model, const struct word *word, uint32_t task)
{
	char buffer[32];
	struct weft_slice text;
	if (word->sort == KIND) {
		text = kind_of(model, task, buffer);
		return text.size == word->size && memcmp(text.bytes, word->text, text.size) == 0;
	}
	text = word->sort == THREAD ? thread_of(model, task, buffer)
								: weft_model_string(model, model->tasks.label[task]);
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

int weft__filter(const struct weft_model *model, const char *filter, uint8_t **ret_hidden)
{
	struct words words = {.count = 0};
	uint8_t *hidden = malloc(model->tasks.count + (size_t)1);
	if (!hidden)
		return WEFT_ERROR_MEMORY;
	for (const char *at = filter; *at;) {
		size_t size = strcspn(at, ",");
		add_word(&words, at, size);
		at += size + (at[size] == ',');
	}
	for (uint32_t task = 0; task < model->tasks.count; task++)
		hidden[task] = is_hidden(model, &words, task);
	*ret_hidden = hidden;
	return 0;
}
