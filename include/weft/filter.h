/* SPDX-License-Identifier: ISC
 *
 * Filters: which tasks are shown. A filter is words with commas between them, of which one has to
 * hold:
 *
 *     block             the label has it; capitals matter if there are any in the word
 *     kind:bind         all of a kind
 *     thread:main       that first ran on a thread whose name or number has it
 *     -block            hides those instead, whatever else holds
 *
 * Spaces around words do not count; `\\` before a sign makes it an ordinary one. Nothing here keeps
 * anything; any thread may call.
 */
#ifndef WEFT_FILTER_H
#define WEFT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/model.h>
#include <weft/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Words beyond these are not looked at. */
#define WEFT_FILTER_WORDS 64

/* A byte a task, not 0 for those that are left out; the caller frees. 0 or WEFT_ERROR_MEMORY. */
int weft_filter_tasks(const struct weft_model *model, const char *filter, uint8_t **ret_hidden);

/* Appends a word, in which no sign but "kind:" and "thread:" means anything. 0 or
 * WEFT_ERROR_MEMORY. */
int weft_filter_add_word(struct weft_text *filter, const char *word, bool hides);

/* The first word of a filter, without signs, and what follows it; NULL if there is none. Words that
 * do not fit into `size` bytes are left out. */
const char *weft_filter_next_word(const char *filter, char *word, size_t size, bool *ret_hides);

#ifdef __cplusplus
}
#endif
#endif
