/* SPDX-License-Identifier: ISC
 *
 * Files that are to be one trace, while it is decided which of them fit together.
 */
#ifndef WEFT_INPUT_CANDIDATE_H
#define WEFT_INPUT_CANDIDATE_H

#include "input/opened.h"

struct weft__input_candidate {
	struct weft_input_file file;
	struct weft__identity identity;
	size_t number; /* in the order of the paths */
	uint32_t host;
};

/* Leaves out files that do not fit, sorts all, and numbers the hosts: the first one is that of most
 * files. Returns their number. */
uint32_t weft__input_choose(struct weft__input_candidate *list, size_t count, bool at_any_time);

size_t weft__input_count_open(const struct weft__input_candidate *list, size_t count);

/* files.c: gives the file an error, of which errno has the reason. */
void weft__input_fail(struct weft_input_file *file, int error);

#endif
