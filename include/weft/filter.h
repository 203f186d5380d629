/* SPDX-License-Identifier: ISC
 *
 * Filters: which tasks are shown. A filter is a list of words, separated by commas. A task is shown
 * if one of the words matches it:
 *
 *     block             the label contains it; case matters only if the word has a capital letter
 *     kind:bind         all tasks of a kind
 *     thread:main       first ran on a thread whose name or number contains it
 *     process:redis     is of a process whose name and pid contain it: "redis-server 4711"
 *     bytes > 4096      compares a field of a mark, or a tag, of that name, or a column of tasks
 *     -block            hides matching tasks instead, even if another word matches
 *
 * A comparison has = or ==, !=, <, <=, > or >=, and a number (-7, 0.5, 64K, 5ms as ns) or text. Its
 * name is that of a field or tag if the trace has one, else of a column of the table `tasks` in
 * weft/tables.h; other words with such a sign are looked for in labels.
 *
 * Spaces around words are ignored; `\\` makes the next character an ordinary one. The functions
 * keep no state; any thread may call them.
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

/* Further words are ignored. */
#define WEFT_FILTER_WORDS 64

/* Returns a byte for each task, not 0 for hidden tasks; the caller frees it. 0 or
 * WEFT_ERROR_MEMORY. */
int weft_filter_tasks(const struct weft_model *model, const char *filter, uint8_t **ret_hidden);

/* Appends a word and escapes its characters, apart from the prefixes "kind:", "thread:" and
 * "process:". 0 or WEFT_ERROR_MEMORY. */
int weft_filter_add_word(struct weft_text *filter, const char *word, bool hides);

/* Reads the first word of a filter, unescaped, and returns the rest of the filter; NULL if there is
 * no word. Words that do not fit into `size` bytes are skipped. */
const char *weft_filter_next_word(const char *filter, char *word, size_t size, bool *ret_hides);

#ifdef __cplusplus
}
#endif
#endif
