/* SPDX-License-Identifier: ISC
 *
 * Sends OTLP's messages to a receiver by HTTP. A message that the receiver cannot take now is sent
 * again, later and later, until the patience ends; then it and all that follow go to the spool, or
 * are counted as lost.
 */
#ifndef WEFT_APPS_EXPORT_PUSH_H
#define WEFT_APPS_EXPORT_PUSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/otlp.h>

struct push_options {
	const char *url;   /* of the receiver, without /v1/traces; NULL: nothing is pushed */
	const char *spool; /* a directory, or NULL */
	uint64_t spool_bytes;
	uint64_t queue_bytes; /* packed messages in memory, in the background */
	uint64_t timeout_ns;  /* for one answer */
	uint64_t patience_ns; /* for one message */
	bool is_json;
	bool in_background; /* a thread of its own sends them, see background.h */
};

struct push;

/* Loads the library, and checks the URL of an option, so that nothing is made for a wrong one.
 * CLI_DONE, or the exit status after a message. Comes before push_open(). */
int push_check_url(const char *command, const char *option, const char *url);

/* Sends what is in the spool. False after a message. */
bool push_open(const struct push_options *options, struct push **ret_push);

/* Sends a message of so many spans or points, or keeps it; in the background it does not wait for
 * the receiver. 0, or WEFT_ERROR_MEMORY. */
int push_send(struct push *push, enum weft_otlp_signal signal, const void *bytes, size_t size,
	uint32_t count);

/* For one in the background: its close does not wait long for the receiver, and leaves the rest to
 * the spool. */
void push_hurry(struct push *push);

/* Prints what became of the messages. The exit status: 0 only if the receiver has taken all. */
int push_close(struct push *push);

#endif
