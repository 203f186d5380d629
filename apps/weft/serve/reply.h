/* SPDX-License-Identifier: ISC
 *
 * Answers with their headers, and the bookkeeping of connections: parts of the HTTP servers of
 * `weft serve` and `weft agent`.
 */
#ifndef WEFT_APPS_SERVE_REPLY_H
#define WEFT_APPS_SERVE_REPLY_H

#include <stdarg.h>

#include <weft/text.h>

#include "clients.h"
#include "library.h"
#include "metrics/format.h"

#define SERVE_REPLY_SHORT "memory or descriptors are short; try again\n"

/* The value of an argument in a request's address, or NULL. */
const char *serve_reply_argument(struct MHD_Connection *connection, const char *name);

/* The value of a request's header, or NULL. */
const char *serve_reply_header(struct MHD_Connection *connection, const char *name);

/* A response with a copy of the bytes. NULL without memory. */
struct MHD_Response *serve_reply_make(const char *type, const void *bytes, size_t size);
void serve_reply_add(struct MHD_Response *response, const char *name, const char *value);

/* Sends a response, and destroys it. NULL closes the connection. */
enum MHD_Result serve_reply_send(
	struct MHD_Connection *connection, unsigned status, struct MHD_Response *response);
enum MHD_Result serve_reply_text(
	struct MHD_Connection *connection, unsigned status, const char *text);

/* Refuses a request and closes the connection, which without the token has no claim to stay open.
 */
enum MHD_Result serve_reply_refusal(
	struct MHD_Connection *connection, unsigned status, const char *type, const char *text);

/* Answers with metrics in the format that the client wants: by the argument `format`, else by its
 * Accept header. `write` adds them to a text. It returns NULL, or why there are none. */
enum MHD_Result serve_reply_metrics(struct MHD_Connection *connection,
	const char *(*write)(void *context, enum metrics_format format, struct weft_text *text),
	void *context);

/* ---- Connections ---- */

/* The client of a connection, or NULL. */
struct serve_client *serve_reply_client(struct MHD_Connection *connection);

/* For MHD_OPTION_NOTIFY_CONNECTION, with a struct serve_clients. */
void serve_reply_connection(void *clients, struct MHD_Connection *connection, void **client,
	enum MHD_ConnectionNotificationCode code);

/* Drops libmicrohttpd's messages: errors on a connection concern only its client. */
void serve_reply_quiet(void *context, const char *format, va_list arguments);

#endif
