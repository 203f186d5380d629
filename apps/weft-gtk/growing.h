/* SPDX-License-Identifier: ISC
 *
 * The events of files that grow, such as streams: each byte is read and decoded once.
 */
#ifndef WEFT_GTK_GROWING_H
#define WEFT_GTK_GROWING_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/refresh.h>

struct growing;

/* Opens a file, or several as one trace. They must fit together, and be in the order of
 * weft_input_open_files(). `paths` ends with NULL. */
int growing_open(char **paths, struct growing **ret_growing);
void growing_close(struct growing *growing);

/* The events, for weft_refresh_create(). */
struct weft_refresh_source growing_source(struct growing *growing);

/* Waits a while for the files to grow. 0, or an error: WEFT_ERROR_STATE if one of several has grown
 * after it was taken for complete, so that all have to be read again. */
int growing_wait(struct growing *growing);

/* True once all bytes were read that were in the files at some time. */
bool growing_is_current(const struct growing *growing);

/* The time before which all events were read, in ns on the trace's clock; 0: unknown. */
uint64_t growing_mark(const struct growing *growing);

/* The size of the files as far as they were read, in the same way as by files_size(). */
int64_t growing_size(const struct growing *growing);

/* The damage that was found, a line each, or "". The caller frees it. */
char *growing_damage(const struct growing *growing);

#endif
