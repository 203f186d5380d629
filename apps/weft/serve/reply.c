/* SPDX-License-Identifier: ISC
 *
 * See reply.h. All answers have the headers that keep a browser from doing more with them than to
 * show them.
 */
#include "reply.h"

#include <string.h>

#include "serve.h"

static const char policy[] =
	"default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; "
	"connect-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; "
	"frame-ancestors 'none'";

static const char plain[] = "text/plain; charset=utf-8";

const char *serve_reply_header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

const char *serve_reply_argument(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

/* ---- Answers ---- */

struct MHD_Response *serve_reply_make(const char *type, const void *bytes, size_t size)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(size, (void *)(uintptr_t)bytes, MHD_RESPMEM_MUST_COPY);
	if (response)
		serve_reply_add(response, "Content-Type", type);
	return response;
}

void serve_reply_add(struct MHD_Response *response, const char *name, const char *value)
{
	MHD_add_response_header(response, name, value);
}

enum MHD_Result serve_reply_send(
	struct MHD_Connection *connection, unsigned status, struct MHD_Response *response)
{
	if (!response)
		return MHD_NO;
	serve_reply_add(response, "Content-Security-Policy", policy);
	serve_reply_add(response, "X-Content-Type-Options", "nosniff");
	serve_reply_add(response, "X-Frame-Options", "DENY");
	serve_reply_add(response, "Referrer-Policy", "no-referrer");
	serve_reply_add(response, "Cross-Origin-Opener-Policy", "same-origin");
	serve_reply_add(response, "Cross-Origin-Resource-Policy", "same-origin");
	serve_reply_add(response, "Cache-Control", "no-store");
	enum MHD_Result result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

enum MHD_Result serve_reply_text(
	struct MHD_Connection *connection, unsigned status, const char *text)
{
	return serve_reply_send(connection, status, serve_reply_make(plain, text, strlen(text)));
}

enum MHD_Result serve_reply_refusal(
	struct MHD_Connection *connection, unsigned status, const char *type, const char *text)
{
	struct MHD_Response *response = serve_reply_make(type, text, strlen(text));
	if (response)
		serve_reply_add(response, "Connection", "close");
	return serve_reply_send(connection, status, response);
}

static enum metrics_format format_of(struct MHD_Connection *connection)
{
	const char *named = serve_reply_argument(connection, "format");
	if (named)
		return metrics_format_named(named);
	return weft__metrics_wants_openmetrics(serve_reply_header(connection, "Accept"))
			   ? METRICS_OPENMETRICS
			   : METRICS_PROMETHEUS;
}

enum MHD_Result serve_reply_metrics(struct MHD_Connection *connection,
	const char *(*write)(void *context, enum metrics_format format, struct weft_text *text),
	void *context)
{
	const enum metrics_format format = format_of(connection);
	struct weft_text text = {0};
	enum MHD_Result result;
	if (format == METRICS_FORMATS)
		return serve_reply_text(
			connection, MHD_HTTP_BAD_REQUEST, "format is text, json, openmetrics or prometheus\n");
	const char *problem = write(context, format, &text);
	if (!problem && text.error)
		problem = SERVE_REPLY_SHORT;
	if (problem)
		result = serve_reply_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, problem);
	else
		result = serve_reply_send(connection, MHD_HTTP_OK,
			serve_reply_make(metrics_format_type(format), text.bytes ? text.bytes : "", text.size));
	weft_text_finish(&text);
	return result;
}

/* ---- Connections ---- */

struct serve_client *serve_reply_client(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	return info ? info->socket_context : NULL;
}

void serve_reply_connection(void *clients, struct MHD_Connection *connection, void **client,
	enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		*client = info ? serve_clients_add(clients, info->connect_fd) : NULL;
	} else {
		serve_clients_remove(clients, *client);
		*client = NULL;
	}
}

void serve_reply_quiet(void *context, const char *format, va_list arguments)
{
	(void)context;
	(void)format;
	(void)arguments;
}
