/* SPDX-License-Identifier: ISC
 *
 * See http.h. One thread, few connections (serve/clients.h), bodies of limited size; without the
 * token no body is read. The checks of requests, the listening socket and the token are those of
 * weft serve.
 */
#include "http.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/database.h"
#include "agent/rollup.h"
#include "agent/webhook.h"
#include "cli/cli.h"
#include "metrics/format.h"
#include "serve/reply.h"
#include "serve/serve.h"
#include "serve/tokens.h"

enum {
	CLIENTS_MAX = 32,
	CONNECTIONS_MAX = 2 * CLIENTS_MAX, /* further ones are being closed */
	HEAD_BYTES = 16 << 10,
	BODY_BYTES = 256 << 10,
	SILENCE_S = 20,
	WAITING_MAX = 4 * WEFT__AGENT_CALLS_MAX,
	SEEN_MAX = 256,
};

struct agent_http {
	int listener; /* a socket, which the daemon closes */
	struct MHD_Daemon *daemon;
	bool shows_token;
	struct serve_guard guard;
	struct serve_tokens tokens;
	struct serve_clients clients;
	size_t depth;
	sqlite3 *data; /* of the server's thread */
	pthread_mutex_t lock;
	struct weft__agent_calls waiting;                                 /* under the lock */
	char seen[SEEN_MAX][sizeof(((struct weft__agent_call *)0)->key)]; /* of the agent's thread */
	unsigned next_seen;
};

/* A request, with what has come of its body. */
struct body {
	const struct agent_http *http;
	const struct serve_token *bound; /* by which it was admitted; NULL: by the token for all */
	char *bytes;
	size_t size;
	bool is_too_large;
};

/* ---- /alert ---- */

static void take_piece(struct body *body, const char *piece, size_t size)
{
	char *bytes = NULL;
	if (size <= BODY_BYTES - body->size && !body->is_too_large)
		bytes = realloc(body->bytes, body->size + size);
	body->is_too_large |= !bytes;
	if (!bytes)
		return;
	memcpy(bytes + body->size, piece, size);
	body->bytes = bytes;
	body->size += size;
}

/* The agent's thread takes them. */
static bool hand_over(struct agent_http *http, struct weft__agent_calls *calls)
{
	pthread_mutex_lock(&http->lock);
	struct weft__agent_calls *waiting = &http->waiting;
	struct weft__agent_call *list = NULL;
	if (waiting->count + calls->count <= WAITING_MAX)
		list = realloc(waiting->list, (waiting->count + calls->count + 1) * sizeof(*list));
	if (list) {
		if (calls->count)
			memcpy(list + waiting->count, calls->list, calls->count * sizeof(*list));
		waiting->list = list;
		waiting->count += calls->count;
		calls->count = 0; /* their labels are the other list's */
	}
	pthread_mutex_unlock(&http->lock);
	return list;
}

static enum MHD_Result answer_alert(
	struct agent_http *http, struct MHD_Connection *connection, const struct body *body)
{
	struct weft__agent_calls calls;
	char text[128];
	if (body->is_too_large)
		return serve_reply_text(
			connection, MHD_HTTP_CONTENT_TOO_LARGE, "a message has 256 KiB at most\n");
	const char *problem =
		weft__agent_webhook_parse(http->data, body->bytes ? body->bytes : "", body->size, &calls);
	const size_t count = calls.count;
	bool is_taken = !problem && hand_over(http, &calls);
	weft__agent_calls_finish(&calls);
	if (is_taken)
		kill(getpid(), AGENT_HTTP_SIGNAL);
	if (problem)
		snprintf(text, sizeof(text), "%s\n", problem);
	else
		snprintf(text, sizeof(text),
			is_taken ? "alerts that fire: %zu\n" : "too many alerts wait\n", count);
	return serve_reply_text(connection,
		problem    ? MHD_HTTP_BAD_REQUEST
		: is_taken ? MHD_HTTP_OK
				   : MHD_HTTP_SERVICE_UNAVAILABLE,
		text);
}

/* ---- /metrics ---- */

static const char *write_metrics(void *context, enum metrics_format format, struct weft_text *text)
{
	const struct body *request = context;
	const struct agent_http *http = request->http;
	const struct serve_token *bound = request->bound;
	const struct weft__metrics_exposition exposition = {
		.counts_left_out = true, .depth = http->depth};
	struct weft__agent_rollup rollup;
	bool good = weft__agent_rollup_read(http->data, bound ? bound->labels : NULL,
					bound ? bound->label_count : 0, &rollup) == SQLITE_OK;
	if (good)
		metrics_format_write(format, exposition, rollup.samples, rollup.count, text);
	weft__agent_rollup_finish(&rollup);
	return good ? NULL : SERVE_REPLY_SHORT;
}

/* ---- Requests ---- */

/* Why a request is refused by its head. */
struct refusal {
	unsigned status; /* 0: it is not */
	const char *text;
};

static struct refusal judge(const struct agent_http *http, struct MHD_Connection *connection,
	const char *path, const char *method, const struct serve_token **ret_bound)
{
	const char *authorization = serve_reply_header(connection, "Authorization");
	const bool is_post = strcmp(method, "POST") == 0, is_alert = strcmp(path, "/alert") == 0;
	if (!serve_guard_is_host(&http->guard, serve_reply_header(connection, "Host")))
		return (struct refusal){MHD_HTTP_MISDIRECTED_REQUEST, "the request names another host\n"};
	if (serve_reply_header(connection, "Origin"))
		return (struct refusal){MHD_HTTP_FORBIDDEN, "pages have no access\n"};
	if (!serve_guard_has_bearer(&http->guard, authorization) &&
		!(*ret_bound = serve_tokens_find(&http->tokens, authorization)))
		return (struct refusal){
			MHD_HTTP_UNAUTHORIZED, "the token is needed: Authorization: Bearer TOKEN\n"};
	if (*ret_bound && strcmp(path, "/metrics") != 0)
		return (struct refusal){MHD_HTTP_FORBIDDEN, "this token is for /metrics alone\n"};
	if (!is_alert && strcmp(path, "/metrics") != 0)
		return (struct refusal){MHD_HTTP_NOT_FOUND, "there are /metrics and /alert\n"};
	if (is_alert != is_post || (!is_post && strcmp(method, "GET") != 0))
		return (struct refusal){MHD_HTTP_METHOD_NOT_ALLOWED,
			is_alert ? "alerts are sent by POST\n" : "only GET is supported\n"};
	return (struct refusal){0, NULL};
}

/* A response to a head alone ends the connection. */
static enum MHD_Result take_head(struct agent_http *http, struct MHD_Connection *connection,
	const char *path, const char *method, void **request)
{
	const struct serve_token *bound = NULL;
	const struct refusal refusal = judge(http, connection, path, method, &bound);
	if (refusal.status)
		return serve_reply_refusal(
			connection, refusal.status, "text/plain; charset=utf-8", refusal.text);
	serve_clients_admit(&http->clients, serve_reply_client(connection));
	struct body *body = *request = calloc(1, sizeof(*body));
	if (!body)
		return MHD_NO;
	body->http = http;
	body->bound = bound;
	return MHD_YES;
}

/* Called when the head is complete, for each piece of the body, and at its end. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
	const char *path, const char *method, const char *version, const char *piece,
	size_t *piece_bytes, void **request)
{
	struct agent_http *http = context;
	struct body *body = *request;
	(void)version;
	if (!body)
		return take_head(http, connection, path, method, request);
	if (*piece_bytes) {
		take_piece(body, piece, *piece_bytes);
		*piece_bytes = 0;
		return MHD_YES;
	}
	return strcmp(method, "POST") == 0 ? answer_alert(http, connection, body)
									   : serve_reply_metrics(connection, write_metrics, body);
}

static void on_answered(void *context, struct MHD_Connection *connection, void **request,
	enum MHD_RequestTerminationCode code)
{
	struct agent_http *http = context;
	struct body *body = *request;
	(void)code;
	serve_clients_answered(&http->clients, serve_reply_client(connection));
	if (body)
		free(body->bytes);
	free(body);
	*request = NULL;
}

static struct MHD_Daemon *start_daemon(struct agent_http *http)
{
	return MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, NULL,
		NULL, on_request, http, MHD_OPTION_EXTERNAL_LOGGER, serve_reply_quiet, NULL,
		MHD_OPTION_LISTEN_SOCKET, http->listener, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEAD_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_S, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_NOTIFY_COMPLETED, on_answered, http, MHD_OPTION_NOTIFY_CONNECTION,
		serve_reply_connection, &http->clients, MHD_OPTION_END);
}

/* ---- Beginning and end ---- */

static bool open_all(struct agent_http *http, const struct agent_http_options *options)
{
	const struct serve_address at = {options->host, options->port, true, NULL, NULL};
	return serve_load_library() &&
		   (options->token_file ? serve_token_read(options->token_file, http->guard.token)
								: serve_token_draw(http->guard.token)) &&
		   (!options->tokens || serve_tokens_read(options->tokens, &http->tokens)) &&
		   (http->listener = serve_listen(&at, &http->guard)) >= 0;
}

struct agent_http *agent_http_open(const struct agent_http_options *options)
{
	struct agent_http *http = calloc(1, sizeof(*http));
	if (!http) {
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
		return NULL;
	}
	http->listener = -1;
	http->depth = options->depth;
	http->shows_token = !options->token_file;
	pthread_mutex_init(&http->lock, NULL);
	serve_clients_init(&http->clients, CLIENTS_MAX);
	signal(SIGPIPE, SIG_IGN); /* from closed connections */
	if (open_all(http, options))
		return http;
	agent_http_stop(http);
	return NULL;
}

bool agent_http_start(struct agent_http *http, const char *database)
{
	if (weft__agent_database_open_readonly(database, &http->data) != SQLITE_OK) {
		cli_error("%s: %s", database, sqlite3_errmsg(http->data));
		return false;
	}
	http->daemon = start_daemon(http);
	if (!http->daemon) {
		cli_error("cannot start the server: %s", strerror(errno));
		return false;
	}
	printf("http://%s:%u/\n", http->guard.host, http->guard.port);
	if (http->shows_token)
		printf("token %s\n", http->guard.token);
	fflush(stdout);
	return true;
}

static bool was_seen(const struct agent_http *http, const char *key)
{
	for (unsigned i = 0; key[0] && i < SEEN_MAX; i++)
		if (strcmp(http->seen[i], key) == 0)
			return true;
	return false;
}

/* An alert of which there is no snapshot yet is tried again when it is sent again. */
static void act(
	struct agent_http *http, struct weft__agent *agent, const struct weft__agent_call *call)
{
	if (!was_seen(http, call->key) &&
		weft__agent_webhook_act(&agent->alerts, &agent->ledger, call) && call->key[0])
		snprintf(http->seen[http->next_seen++ % SEEN_MAX], sizeof(http->seen[0]), "%s", call->key);
}

void agent_http_act(struct agent_http *http, struct weft__agent *agent)
{
	pthread_mutex_lock(&http->lock);
	struct weft__agent_calls calls = http->waiting;
	http->waiting = (struct weft__agent_calls){0};
	pthread_mutex_unlock(&http->lock);
	for (size_t i = 0; i < calls.count; i++)
		act(http, agent, &calls.list[i]);
	weft__agent_calls_finish(&calls);
}

void agent_http_stop(struct agent_http *http)
{
	if (!http)
		return;
	if (http->daemon)
		MHD_stop_daemon(http->daemon);
	else if (http->listener >= 0)
		close(http->listener);
	weft__agent_calls_finish(&http->waiting);
	sqlite3_close(http->data);
	serve_tokens_finish(&http->tokens);
	pthread_mutex_destroy(&http->lock);
	serve_clients_finish(&http->clients);
	free(http);
}
