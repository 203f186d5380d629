/* SPDX-License-Identifier: ISC
 *
 * The inside of a push, for the two ways to send: at once, and by a thread.
 */
#ifndef WEFT_APPS_EXPORT_PUSH_PUSHING_H
#define WEFT_APPS_EXPORT_PUSH_PUSHING_H

#include "client.h"
#include "spool.h"

#define NS_PER_S      UINT64_C(1000000000)
#define LAST_DELAY_NS (30 * NS_PER_S)

struct background;

struct push {
	struct push_options options;
	struct client client;
	struct spool spool;
	struct weft_text packed;
	struct background *background; /* or NULL */
	bool has_given_up;             /* what comes is kept or lost */
	bool has_no_room;              /* the spool could not take a message */
	uint64_t rejected, lost;       /* spans and points */
	/* Why something was not taken, and why something was lost for the first time. */
	char reason[sizeof(((struct client *)NULL)->reason)];
	char loss_reason[sizeof(((struct client *)NULL)->reason)];
};

uint64_t push_now_ns(void);

/* How long to wait after a failure; doubles the delay for the next one. */
uint64_t push_pause_ns(const struct client *client, uint64_t *delay_ns);

/* Counts what became of a message. True if nobody needs it any more. */
bool push_is_done(struct push *push, enum client_result result, uint32_t count);

/* Counts spans and points as lost, for the reason. */
void push_lose(struct push *push, uint32_t count);

/* Adds a packed message to the spool; false if there is none, or it has no room. */
bool push_keep(struct push *push, enum weft_otlp_signal signal, uint32_t count, const void *bytes,
	size_t size);

/* Reads a message; false: the reason says why not. */
bool push_read_spooled(
	struct push *push, const struct spooled *message, struct weft_text *ret_bytes);

#endif
