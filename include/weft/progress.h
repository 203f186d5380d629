/* SPDX-License-Identifier: ISC
 *
 * How far long work is, a way to stop it, and who helps with it: laying out and indexing a hundred
 * million events takes seconds. (weft_decoder_build_model counts events in its own way.)
 */
#ifndef WEFT_PROGRESS_H
#define WEFT_PROGRESS_H

#include <stdbool.h>

#include <weft/help.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_progress {
	/* NULL, or called now and then, by the thread that works, with the part that is done: from 0,
	 * ascending. False stops the work, which answers WEFT_ERROR_CANCELED and leaves nothing behind.
	 */
	bool (*step)(void *context, double part);
	void *context;
	const struct weft_help *help; /* NULL: nobody helps */
};

#ifdef __cplusplus
}
#endif
#endif
