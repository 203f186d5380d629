/* SPDX-License-Identifier: ISC
 *
 * One request by HTTP, and the meaning of its answer in OTLP's protocol.
 */
#ifndef WEFT_APPS_EXPORT_PUSH_CLIENT_H
#define WEFT_APPS_EXPORT_PUSH_CLIENT_H

#include <weft/text.h>

#include "library.h"
#include "push.h"

enum client_result {
	CLIENT_TAKEN,
	CLIENT_REFUSED, /* this message; sending it again would not help */
	CLIENT_WRONG,   /* all messages: the address or the credentials are wrong */
	CLIENT_LATER,   /* it may be sent again */
	CLIENT_STOPPED, /* the caller does not wait any longer */
};

struct client {
	CURL *curl;
	struct curl_slist *headers; /* the first one says that the body is packed */
	char *urls[WEFT_OTLP_SIGNALS];
	struct weft_text answer; /* its first bytes */
	size_t answer_bytes;
	char reason[CURL_ERROR_SIZE + 64]; /* why the last message was not taken */
	uint64_t retry_after_s;            /* what the receiver asked for, or 0 */
	uint64_t rejected;                 /* of the last message that was taken: spans or points */
	long status;                       /* of the last answer; 0: none */
	bool is_json;
	bool is_plain; /* the receiver does not unpack */
	struct weft_text plain;
	bool (*goes_on)(void *context); /* whether the caller still waits; asked about each second */
	void *context;
};

/* False after a message. The caller calls finish in any case. */
bool client_init(struct client *client, const struct push_options *options);
void client_finish(struct client *client);

/* Sends a body that gzip has packed; unpacked, if the receiver cannot read it otherwise. */
enum client_result client_post(
	struct client *client, enum weft_otlp_signal signal, const void *body, size_t size);

#endif
