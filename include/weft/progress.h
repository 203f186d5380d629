/* SPDX-License-Identifier: ISC
 *
 * Reports the progress of long work, lets the caller stop it, and lends it a second thread: laying
 * out and indexing a hundred million events takes seconds. (weft_decoder_build_model counts events
 * instead.)
 */
#ifndef WEFT_PROGRESS_H
#define WEFT_PROGRESS_H

#include <stdbool.h>

#include <weft/help.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_progress {
	/* Called now and then, by the thread that works, with the share that is done: from 0 to 1,
	 * ascending. Returning false stops the work, which then returns WEFT_ERROR_CANCELED and frees
	 * what it made. May be NULL. */
	bool (*step)(void *context, double part);
	void *context;
	const struct weft_help *help; /* NULL: no second thread */
};

#ifdef __cplusplus
}
#endif
#endif
