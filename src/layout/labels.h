/* SPDX-License-Identifier: ISC
 *
 * Classes of alike labels: "port-4" and "port-17" are alike, since any digits count as one "#". The
 * class of a label is the number of the first label that is alike.
 */
#ifndef WEFT_LAYOUT_LABELS_H
#define WEFT_LAYOUT_LABELS_H

#include <weft/model.h>

#include "base/index.h"

struct weft__labels {
	const struct weft_model *model;
	uint32_t *class_of; /* class of each string that was added; WEFT_NONE: not added */
	struct weft__index index;
};

/* For the model's strings 0 to strings - 1. 0 or WEFT_ERROR_MEMORY; in the latter case finish need
 * not be called. */
int weft__layout_labels_init(
	struct weft__labels *labels, const struct weft_model *model, uint32_t strings);
void weft__layout_labels_finish(struct weft__labels *labels);

/* Finds the class of a string. 0 or WEFT_ERROR_MEMORY. */
int weft__layout_labels_add(struct weft__labels *labels, uint32_t label);

/* True if two labels are of one class. */
bool weft__layout_labels_are_alike(struct weft_slice a, struct weft_slice b);

/* Reads the next character from *at on, and moves it; a run of digits is one '#'. */
char weft__layout_label_letter(struct weft_slice text, size_t *at);

#endif
