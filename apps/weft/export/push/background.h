/* SPDX-License-Identifier: ISC
 *
 * The thread that sends, so that who reads a running program never waits for the receiver. Messages
 * wait in a queue of bounded size. As long as the receiver takes nothing they are moved to the
 * spool, from which they are sent when it does again, and removed then. What finds no room is
 * counted as lost.
 */
#ifndef WEFT_APPS_EXPORT_PUSH_BACKGROUND_H
#define WEFT_APPS_EXPORT_PUSH_BACKGROUND_H

#include "pushing.h"

/* From here to the stop, only this thread uses the client, and the rest of the push needs its lock.
 * NULL after a message. */
struct background *background_start(struct push *push);

/* Adds what is packed. 0 or WEFT_ERROR_MEMORY. */
int background_add(struct background *background, enum weft_otlp_signal signal, uint32_t count);

/* From now on, answers are awaited for the timeout in all, and after the first failure none. */
void background_hurry(struct background *background);

/* Sends what waits, until the patience or a hurry ends that. */
void background_stop(struct background *background);

#endif
