/* SPDX-License-Identifier: ISC
 *
 * Classes of alike labels: "port-4" and "port-17" are alike, since any digits count as one "#". The
 * class of a label is the number of the first label that is alike.
 */
#include <stdlib.h>

#include "base/index.h"
#include "layout/layout.h"

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* Reads the next character; a run of digits counts as one. */
static char next_letter(struct weft_slice text, size_t *at)
{
	char letter = text.bytes[(*at)++];
	if (!is_digit(letter))
		return letter;
	while (*at < text.size && is_digit(text.bytes[*at]))
		++*at;
	return '#';
}

static uint64_t hash_label(const struct weft__hash_key *key, const void *owner, uint32_t string)
{
	const struct weft_model *model = owner;
	struct weft_slice text = weft_model_string(model, string);
	struct weft__hash hash = weft__hash_begin(key);
	uint64_t word = 0, letters = 0;
	for (size_t at = 0; at < text.size;) {
		word = word << 8 | (unsigned char)next_letter(text, &at);
		if (++letters % 8 == 0) {
			weft__hash_word(&hash, word);
			word = 0;
		}
	}
	/* The last word has at most seven characters, and the count in its low byte. */
	weft__hash_word(&hash, word << 8 | (letters & 0xff));
	return weft__hash_end(&hash);
}

static bool are_alike(struct weft_slice a, struct weft_slice b)
{
	size_t i = 0, j = 0;
	while (i < a.size && j < b.size)
		if (next_letter(a, &i) != next_letter(b, &j))
			return false;
	return i == a.size && j == b.size;
}

static int classify(
	const struct weft_model *model, struct weft__index *index, uint32_t label, uint32_t *ret_class)
{
	struct weft_slice text = weft_model_string(model, label);
	uint32_t slot = weft__index_start(index, hash_label(&index->key, model, label)), other;
	while ((other = index->slots[slot]) != WEFT__INDEX_EMPTY) {
		if (are_alike(text, weft_model_string(model, other))) {
			*ret_class = other;
			return 0;
		}
		slot = weft__index_next(index, slot);
	}
	*ret_class = label;
	return weft__index_add(index, label, hash_label, model);
}

static uint32_t highest_label(const struct weft_tasks *tasks)
{
	uint32_t highest = 0;
	for (uint32_t task = 0; task < tasks->count; task++)
		if (tasks->label[task] != WEFT_NONE && tasks->label[task] > highest)
			highest = tasks->label[task];
	return highest;
}

int weft__labels_classify(const struct weft_model *model, uint32_t **ret_class)
{
	const struct weft_tasks *tasks = &model->tasks;
	struct weft__index index;
	size_t count = highest_label(tasks) + (size_t)1;
	uint32_t *class = malloc(count * sizeof(*class));
	if (!class || weft__index_init(&index)) {
		free(class);
		return WEFT_ERROR_MEMORY;
	}
	for (size_t i = 0; i < count; i++)
		class[i] = WEFT_NONE;
	int error = 0;
	for (uint32_t task = 0; task < tasks->count && !error; task++) {
		uint32_t label = tasks->label[task];
		if (label != WEFT_NONE && class[label] == WEFT_NONE)
			error = classify(model, &index, label, &class[label]);
	}
	weft__index_finish(&index);
	if (error)
		free(class);
	else
		*ret_class = class;
	return error;
}
