/* SPDX-License-Identifier: ISC
 *
 * See labels.h.
 */
#include "layout/labels.h"

#include <stdlib.h>

#include "layout/layout.h"

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

char weft__layout_label_letter(struct weft_slice text, size_t *at)
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
		word = word << 8 | (unsigned char)weft__layout_label_letter(text, &at);
		if (++letters % 8 == 0) {
			weft__hash_word(&hash, word);
			word = 0;
		}
	}
	/* The last word has at most seven characters, and the count in its low byte. */
	weft__hash_word(&hash, word << 8 | (letters & 0xff));
	return weft__hash_end(&hash);
}

bool weft__layout_labels_are_alike(struct weft_slice a, struct weft_slice b)
{
	size_t i = 0, j = 0;
	while (i < a.size && j < b.size)
		if (weft__layout_label_letter(a, &i) != weft__layout_label_letter(b, &j))
			return false;
	return i == a.size && j == b.size;
}

int weft__layout_labels_init(
	struct weft__labels *labels, const struct weft_model *model, uint32_t strings)
{
	size_t count = strings + (size_t)1;
	*labels = (struct weft__labels){.model = model, .class_of = malloc(count * sizeof(uint32_t))};
	if (!labels->class_of || weft__index_init(&labels->index)) {
		free(labels->class_of);
		return WEFT_ERROR_MEMORY;
	}
	for (size_t i = 0; i < count; i++)
		labels->class_of[i] = WEFT_NONE;
	return 0;
}

void weft__layout_labels_finish(struct weft__labels *labels)
{
	weft__index_finish(&labels->index);
	free(labels->class_of);
	*labels = (struct weft__labels){0};
}

int weft__layout_labels_add(struct weft__labels *labels, uint32_t label)
{
	struct weft__index *index = &labels->index;
	struct weft_slice text = weft_model_string(labels->model, label);
	if (labels->class_of[label] != WEFT_NONE)
		return 0;
	uint32_t slot = weft__index_start(index, hash_label(&index->key, labels->model, label)), other;
	while ((other = index->slots[slot]) != WEFT__INDEX_EMPTY) {
		if (weft__layout_labels_are_alike(text, weft_model_string(labels->model, other))) {
			labels->class_of[label] = other;
			return 0;
		}
		slot = weft__index_next(index, slot);
	}
	labels->class_of[label] = label;
	return weft__index_add(index, label, hash_label, labels->model);
}

static uint32_t highest_label(const struct weft_tasks *tasks)
{
	uint32_t highest = 0;
	for (uint32_t task = 0; task < tasks->count; task++)
		if (tasks->label[task] != WEFT_NONE && tasks->label[task] > highest)
			highest = tasks->label[task];
	return highest;
}

int weft__layout_labels_classify(const struct weft_model *model, uint32_t **ret_class)
{
	const struct weft_tasks *tasks = &model->tasks;
	struct weft__labels labels;
	int error = weft__layout_labels_init(&labels, model, highest_label(tasks) + 1);
	if (error)
		return error;
	for (uint32_t task = 0; task < tasks->count && !error; task++)
		if (tasks->label[task] != WEFT_NONE)
			error = weft__layout_labels_add(&labels, tasks->label[task]);
	if (!error) {
		*ret_class = labels.class_of;
		labels.class_of = NULL;
	}
	weft__layout_labels_finish(&labels);
	return error;
}
