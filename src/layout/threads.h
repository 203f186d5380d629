/* SPDX-License-Identifier: ISC
 *
 * The thread that a task belongs to: docs/model.md, *Groups*.
 */
#ifndef WEFT_LAYOUT_THREADS_H
#define WEFT_LAYOUT_THREADS_H

#include <weft/model.h>

/* Fills `threads`, which has an element for each task. */
void weft__layout_find_threads(const struct weft_model *model, uint32_t *threads);

/* Writes a thread's name for people, with its process if there are several, and with its tid if
 * the name is not unique. */
void weft__layout_name_thread(
	const struct weft_model *model, uint32_t thread, char *name, size_t size);

#endif
