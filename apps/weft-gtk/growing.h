/* SPDX-License-Identifier: ISC
 *
 * The events of a file that grows, such as a stream: each byte is read and decoded once.
 */
#ifndef WEFT_GTK_GROWING_H
#define WEFT_GTK_GROWING_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/refresh.h>

struct growing;

int growing_open(const char *path, struct growing **ret_growing);
void growing_close(struct growing *growing);

/* The events, for weft_refresh_create(). */
struct weft_refresh_source growing_source(struct growing *growing);

/* Waits a while for the file to grow. 0, or an error. */
int growing_wait(struct growing *growing);

/* True once all bytes were read that were in the file at some time. */
bool growing_is_current(const struct growing *growing);

/* The time before which all events were read, in ns on the trace's clock; 0: unknown. */
uint64_t growing_mark(const struct growing *growing);

/* The size of the file as far as it was read. */
uint64_t growing_size(const struct growing *growing);

#endif
