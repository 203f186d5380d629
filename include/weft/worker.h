/* SPDX-License-Identifier: ISC
 *
 * A thread that helps with long work: opening a trace takes little more than half as long with it.
 *
 * A worker belongs to one thread, which lends it to what that thread does. It takes no signals.
 */
#ifndef WEFT_WORKER_H
#define WEFT_WORKER_H

#include <weft/help.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_worker;

/* NULL if this process may use one processor only, or has no thread or memory to spare: all work is
 * done without, then. */
struct weft_worker *weft_worker_create(void);

/* `worker` may be NULL. */
void weft_worker_destroy(struct weft_worker *worker);

/* The worker's, for as long as it exists; NULL for NULL. */
const struct weft_help *weft_worker_help(const struct weft_worker *worker);

#ifdef __cplusplus
}
#endif
#endif
