/* SPDX-License-Identifier: ISC
 *
 * Reports the progress of long work, lets the caller stop it, and lends it a second thread:
 * reading, laying out and indexing a hundred million events takes seconds.
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
	 * what it made; only reading, when stopped, gives a model of what was read. May be NULL. */
	bool (*step)(void *context, double part);
	void *context;
	const struct weft_help *help; /* NULL: no second thread */
};

#ifdef __cplusplus
}
#endif
#endif
