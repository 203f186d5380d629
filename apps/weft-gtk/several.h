/* SPDX-License-Identifier: ISC
 *
 * The events of several files that grow, in the order of time: see growing.h. The files are those
 * of one trace, and in the order of weft_input_open_files().
 */
#ifndef WEFT_GTK_SEVERAL_H
#define WEFT_GTK_SEVERAL_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include <weft/decoder.h>

struct several;

/* `paths` ends with NULL. */
int several_open(char **paths, struct several **ret_several);
/* NULL is allowed. */
void several_close(struct several *several);

/* As weft_decoder_next(). WEFT_END: all files were taken for complete. WEFT_ERROR_STATE: a file has
 * changed in such a way that all have to be read again. */
int several_next(struct several *several, struct weft_event *ret_event);

/* Looks for growth of files that were taken for complete: WEFT_ERROR_STATE as above, or 0. Call it
 * when there are no events. */
int several_look(struct several *several);

/* The merged decoder. */
struct weft_decoder *several_decoder(const struct several *several);

/* As growing_size() and growing_is_current(). */
int64_t several_size(const struct several *several);
bool several_is_current(const struct several *several);

/* Adds a line for each kind of damage in a file, and for each file that cannot be read. */
void several_add_damage(const struct several *several, GString *lines);

#endif
