/* SPDX-License-Identifier: ISC
 *
 * A thread that helps with long work: with it, opening a trace takes little more than half as long.
 *
 * A worker belongs to one thread, which lends it to the functions that it calls. It blocks all
 * signals.
 */
#ifndef WEFT_WORKER_H
#define WEFT_WORKER_H

#include <weft/help.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_worker;

/* NULL if this process may use only one processor, or if a thread or memory could not be had:
 * the work is then done by one thread. */
struct weft_worker *weft_worker_create(void);

/* `worker` may be NULL. */
void weft_worker_destroy(struct weft_worker *worker);

/* To be lent; valid as long as the worker exists. NULL for NULL. */
const struct weft_help *weft_worker_help(const struct weft_worker *worker);

#ifdef __cplusplus
}
#endif
#endif
