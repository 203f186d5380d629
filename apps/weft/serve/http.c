/* SPDX-License-Identifier: ISC
 *
 * HTTP by libmicrohttpd, with a thread for each connection, so that a live connection can wait for
 * its program. The resources of a request without the token are limited: the number of connections
 * (serve/clients.h), the memory for its head, the time until it is complete. Bodies are not read.
 */
#include "serve.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/parse.h>

#include "cli/cli.h"
#include "render/page_assets.h"
#include "live.h"
#include "metrics.h"
#include "part_reply.h"
#include "reply.h"

enum {
	CLIENTS_MAX = 256,
	CONNECTIONS_MAX = 2 * CLIENTS_MAX, /* further ones are being closed */
	HEAD_BYTES = 16 << 10,
	STACK_BYTES = 1 << 20,
	SILENCE_S = 20, /* time-out, if nothing is read or written */
	PIECE_BYTES = 64 << 10,
};

struct serve_server {
	struct MHD_Daemon *daemon;
	struct serve_guard guard;
	struct serve_tokens tokens;
	struct serve_clients clients;
	atomic_bool stopping, was_opened;
	char url[SERVE_URL_BYTES];
};

/* ---- Answers ---- */

static enum MHD_Result refuse_method(struct MHD_Connection *connection)
{
	static const char text[] = "only GET and HEAD are supported\n";
	struct MHD_Response *response =
		serve_reply_make("text/plain; charset=utf-8", text, sizeof(text) - 1);
	if (response)
		serve_reply_add(response, "Allow", "GET, HEAD");
	return serve_reply_send(connection, MHD_HTTP_METHOD_NOT_ALLOWED, response);
}

static enum MHD_Result answer_list(struct MHD_Connection *connection)
{
	struct weft_text text = {0};
	enum MHD_Result result = MHD_NO;
	if (serve_list(&text))
		result = serve_reply_send(
			connection, MHD_HTTP_OK, serve_reply_make("application/json", text.bytes, text.size));
	weft_text_finish(&text);
	return result;
}

/* Writes an ETag, which changes whenever the file does. */
static void format_tag(
	const struct serve_trace *trace, const struct timespec *modified, char tag[64])
{
	snprintf(tag, 64, "\"%llx-%llx-%lx\"", (unsigned long long)trace->size_bytes,
		(unsigned long long)modified->tv_sec, modified->tv_nsec);
}

static enum MHD_Result answer_unsatisfiable(
	struct MHD_Connection *connection, const struct serve_trace *trace)
{
	char range[48];
	struct MHD_Response *response =
		serve_reply_make("text/plain; charset=utf-8", "there is nothing there\n", 23);
	snprintf(range, sizeof(range), "bytes */%llu", (unsigned long long)trace->size_bytes);
	if (response)
		serve_reply_add(response, "Content-Range", range);
	return serve_reply_send(connection, MHD_HTTP_RANGE_NOT_SATISFIABLE, response);
}

static enum MHD_Result answer_bytes(
	struct MHD_Connection *connection, const struct serve_trace *trace)
{
	struct timespec modified;
	char tag[64], text[96];
	uint64_t first = 0, count = trace->size_bytes;
	int fd = serve_traces_open(trace, &modified);
	if (fd < 0)
		return serve_reply_text(connection, MHD_HTTP_NOT_FOUND, "the trace is no longer there\n");
	format_tag(trace, &modified, tag);
	const char *wanted_tag = serve_reply_header(connection, "If-Range");
	enum serve_range range = SERVE_RANGE_ALL;
	if (!wanted_tag || strcmp(wanted_tag, tag) == 0)
		range = serve_guard_range(
			serve_reply_header(connection, "Range"), trace->size_bytes, &first, &count);
	if (range == SERVE_RANGE_NONE) {
		close(fd);
		return answer_unsatisfiable(connection, trace);
	}
	struct MHD_Response *response = MHD_create_response_from_fd_at_offset64(count, fd, first);
	if (!response) {
		close(fd);
		return MHD_NO;
	}
	serve_reply_add(response, "Content-Type", "application/octet-stream");
	serve_reply_add(response, "Accept-Ranges", "bytes");
	serve_reply_add(response, "ETag", tag);
	if (range == SERVE_RANGE_PART) {
		snprintf(text, sizeof(text), "bytes %llu-%llu/%llu", (unsigned long long)first,
			(unsigned long long)(first + count - 1), (unsigned long long)trace->size_bytes);
		serve_reply_add(response, "Content-Range", text);
	}
	return serve_reply_send(
		connection, range == SERVE_RANGE_PART ? MHD_HTTP_PARTIAL_CONTENT : MHD_HTTP_OK, response);
}

/* One client's live connection. */
struct live {
	struct serve_live *stream;
	struct serve_clients *clients;
	unsigned traces;
};

static ssize_t read_live(void *context, uint64_t position, char *bytes, size_t room)
{
	(void)position;
	struct live *live = context;
	ssize_t size = serve_live_read(live->stream, bytes, room);
	if (size == 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	return size < 0 ? MHD_CONTENT_READER_END_WITH_ERROR : size;
}

static void close_live(void *context)
{
	struct live *live = context;
	serve_live_close(live->stream);
	serve_clients_end_live(live->clients, live->traces);
	free(live);
}

/* Makes a response; NULL without memory, and then the stream is closed. */
static struct MHD_Response *response_of_live(
	struct serve_server *server, struct serve_live *stream, unsigned traces)
{
	struct live *live = malloc(sizeof(*live));
	struct MHD_Response *response = NULL;
	if (live) {
		*live = (struct live){stream, &server->clients, traces};
		response = MHD_create_response_from_callback(
			MHD_SIZE_UNKNOWN, PIECE_BYTES, read_live, live, close_live);
	}
	if (response) {
		serve_reply_add(response, "Content-Type", "application/octet-stream");
		return response;
	}
	serve_live_close(stream);
	serve_clients_end_live(&server->clients, traces);
	free(live);
	return NULL;
}

/* Traces that are searched for in one pass: "ID,ID,…". */
struct wanted {
	const char *ids;
	struct serve_trace *traces; /* those not found yet have no id */
	size_t count, found;
};

#define ID_STEP (SERVE_ID_BYTES + 1)

static bool is_list_of_ids(const char *ids, size_t most)
{
	size_t size = strlen(ids) + 1;
	for (size_t i = ID_STEP; i < size; i += ID_STEP)
		if (ids[i - 1] != ',')
			return false;
	return size % ID_STEP == 0 && size / ID_STEP <= most;
}

static bool take_wanted(void *context, const struct serve_trace *trace)
{
	struct wanted *w = context;
	for (size_t i = 0; i < w->count; i++)
		if (!w->traces[i].id[0] && memcmp(w->ids + i * ID_STEP, trace->id, SERVE_ID_BYTES) == 0) {
			w->traces[i] = *trace;
			w->found++;
		}
	return w->found < w->count;
}

/* Finds the traces of "ID,ID,…", at most so many. NULL if one does not exist, there are more, or
 * memory is short. */
static struct serve_trace *find_traces(const char *ids, size_t most, size_t *ret_count)
{
	struct wanted w = {.ids = ids, .count = (strlen(ids) + 1) / ID_STEP};
	if (!is_list_of_ids(ids, most))
		return NULL;
	w.traces = calloc(w.count, sizeof(*w.traces));
	if (w.traces && w.count == 1)
		w.found = serve_traces_find(ids, w.traces);
	else if (w.traces)
		serve_traces_each(take_wanted, &w);
	if (w.found < w.count) {
		free(w.traces);
		return NULL;
	}
	*ret_count = w.count;
	return w.traces;
}

/* `has_frames`: several traces, in frames. */
static enum MHD_Result answer_live(struct serve_server *server, struct MHD_Connection *connection,
	const char *ids, bool has_frames, bool is_head)
{
	size_t count;
	struct serve_trace *traces = find_traces(ids, has_frames ? SERVE_PARTS_MAX : 1, &count);
	if (!traces)
		return serve_reply_text(connection, MHD_HTTP_NOT_FOUND, "no trace has that id\n");
	if (!serve_clients_begin_live(&server->clients, (unsigned)count)) {
		free(traces);
		return serve_reply_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
			"weft serve has as many live connections as it allows: close one of the pages\n");
	}
	struct serve_live *live = has_frames ? serve_live_open_parts(traces, count, &server->stopping)
										 : serve_live_open(traces, &server->stopping);
	free(traces);
	if (live && !is_head)
		return serve_reply_send(
			connection, MHD_HTTP_OK, response_of_live(server, live, (unsigned)count));
	serve_clients_end_live(&server->clients, (unsigned)count);
	serve_live_close(live);
	if (live)
		return serve_reply_send(
			connection, MHD_HTTP_OK, serve_reply_make("application/octet-stream", "", 0));
	return serve_reply_text(
		connection, MHD_HTTP_CONFLICT, "no program records into it; /api/trace/ has its bytes\n");
}

/* The rest of the path after the folder; NULL if it is in another one. */
static const char *in_folder(const char *path, const char *folder)
{
	size_t size = strlen(folder);
	return strncmp(path, folder, size) == 0 ? path + size : NULL;
}

/* The answers about one trace, by the folder that its id is in. */
static const struct folder {
	const char *name;
	enum MHD_Result (*answer)(struct MHD_Connection *connection, const struct serve_trace *trace);
} folders[] = {
	{"trace/", answer_bytes},
	{"part/", serve_part_answer},
	{"density/", serve_part_answer_density},
};

static const struct folder *find_folder(const char *path, const char **ret_id)
{
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if ((*ret_id = in_folder(path, folders[i].name)))
			return &folders[i];
	return NULL;
}

static enum MHD_Result answer_api(
	struct serve_server *server, struct MHD_Connection *connection, const char *path, bool is_head)
{
	struct serve_trace trace;
	const char *ids;
	if (strcmp(path, "traces") == 0)
		return answer_list(connection);
	if ((ids = in_folder(path, "live/")))
		return answer_live(server, connection, ids, false, is_head);
	if ((ids = in_folder(path, "parts/")))
		return answer_live(server, connection, ids, true, is_head);
	const struct folder *folder = find_folder(path, &ids);
	if (!folder)
		return serve_reply_text(connection, MHD_HTTP_NOT_FOUND, "not found\n");
	if (!serve_traces_find(ids, &trace))
		return serve_reply_text(connection, MHD_HTTP_NOT_FOUND, "no trace has that id\n");
	return folder->answer(connection, &trace);
}

/* ---- Counters ---- */

static bool parse_depth(const char *text, size_t *ret_depth)
{
	uint64_t depth = SIZE_MAX;
	if (text && weft_parse_number(text, strlen(text), &depth) != WEFT_PARSE_OK)
		return false;
	*ret_depth = depth;
	return true;
}

static const char *write_metrics(void *context, enum metrics_format format, struct weft_text *text)
{
	struct serve_metrics_request *request = context;
	request->format = format;
	return serve_metrics(request, text);
}

static enum MHD_Result answer_metrics(
	struct MHD_Connection *connection, const struct serve_token *bound)
{
	struct serve_metrics_request request = {.bound = bound};
	if (!parse_depth(serve_reply_argument(connection, "depth"), &request.depth))
		return serve_reply_text(
			connection, MHD_HTTP_BAD_REQUEST, "depth is a number of labels, such as ?depth=2\n");
	return serve_reply_metrics(connection, write_metrics, &request);
}

/* Text of programs, in which nothing is markup. */
static void add_escaped(struct weft_text *page, const struct weft_text *text)
{
	for (size_t i = 0; i < text->size; i++) {
		const char byte = text->bytes[i];
		if (byte == '&' || byte == '<' || byte == '>')
			weft_text_add_string(page, byte == '&' ? "&amp;" : byte == '<' ? "&lt;" : "&gt;");
		else
			weft_text_add(page, &byte, 1);
	}
}

/* The page of a token that is bound to labels. */
static enum MHD_Result answer_values(
	struct MHD_Connection *connection, const struct serve_token *bound)
{
	const struct serve_metrics_request request = {bound, METRICS_TEXT, SIZE_MAX};
	struct weft_text page = {0}, text = {0};
	const char *problem = serve_metrics(&request, &text);
	weft_text_add_string(&page,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"refresh\" content=\"5\">\n<title>weft</title>\n<pre>\n");
	if (problem)
		weft_text_add_string(&page, problem);
	else
		add_escaped(&page, &text);
	weft_text_add_string(&page, "</pre>\n</html>\n");
	enum MHD_Result result = MHD_NO;
	if (!page.error && !text.error)
		result = serve_reply_send(connection, problem ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_OK,
			serve_reply_make("text/html; charset=utf-8", page.bytes, page.size));
	weft_text_finish(&text);
	weft_text_finish(&page);
	return result;
}

/* ---- The page ---- */

#if WEFT_HAS_PAGE
static enum MHD_Result answer_page(struct MHD_Connection *connection, const char *path)
{
	const char *name = *path ? path : "index.html";
	for (const struct page_asset *asset = page_assets; asset->name; asset++)
		if (strcmp(asset->name, name) == 0)
			return serve_reply_send(
				connection, MHD_HTTP_OK, serve_reply_make(asset->type, asset->bytes, asset->size));
	if (strcmp(name, "favicon.ico") == 0) /* browsers request it whatever the page says */
		return serve_reply_send(
			connection, MHD_HTTP_NO_CONTENT, serve_reply_make("image/x-icon", "", 0));
	return serve_reply_text(connection, MHD_HTTP_NOT_FOUND, "not found\n");
}
#else
static enum MHD_Result answer_page(struct MHD_Connection *connection, const char *path)
{
	if (*path)
		return serve_reply_text(connection, MHD_HTTP_NOT_FOUND, "not found\n");
	return serve_reply_text(connection, MHD_HTTP_NOT_IMPLEMENTED,
		"This weft was built without the page; it lacked " WEFT_PAGE_MISSING
		". The traces are at /api/traces.\n");
}
#endif

/* ---- Requests ---- */

/* Moves the token from the URL into a cookie, so that the page's address, which people copy and
 * browsers remember, does not contain it. Browsers keep the part behind '#'. */
static enum MHD_Result take_token(
	struct serve_server *server, struct MHD_Connection *connection, const struct serve_token *bound)
{
	char cookie[SERVE_TOKEN_BYTES + 80];
	struct MHD_Response *response = serve_reply_make("text/plain; charset=utf-8", "", 0);
	snprintf(cookie, sizeof(cookie), "weft-%u=%s; Path=/; HttpOnly; SameSite=Strict",
		server->guard.port, bound ? bound->guard.token : server->guard.token);
	if (response) {
		serve_reply_add(response, "Set-Cookie", cookie);
		serve_reply_add(response, "Location", "/");
	}
	server->was_opened = true;
	return serve_reply_send(connection, MHD_HTTP_SEE_OTHER, response);
}

/* One of the places where a token may be. */
static bool has_token(const struct serve_guard *guard, struct MHD_Connection *connection)
{
	return serve_guard_has_cookie(guard, serve_reply_header(connection, "Cookie")) ||
		   serve_guard_has_bearer(guard, serve_reply_header(connection, "Authorization")) ||
		   serve_guard_is_token(guard, serve_reply_argument(connection, "token"));
}

/* `*ret_bound`: the bound token that the request has; NULL: it has the one for everything. */
static bool is_admitted(const struct serve_server *server, struct MHD_Connection *connection,
	const struct serve_token **ret_bound)
{
	*ret_bound = NULL;
	if (has_token(&server->guard, connection))
		return true;
	for (size_t i = 0; i < server->tokens.count; i++)
		if (has_token(&server->tokens.list[i].guard, connection))
			*ret_bound = &server->tokens.list[i];
	return *ret_bound;
}

/* True for requests that another site's page sends with an Origin, as browsers do for those of
 * scripts and forms. Nobody but our own page may send these, not even for what is not secret. */
static bool has_foreign_origin(struct MHD_Connection *connection)
{
	return !serve_guard_is_origin(
		serve_reply_header(connection, "Origin"), serve_reply_header(connection, "Host"));
}

/* True for requests from another site's pages: these may link here, but not send requests in our
 * page's name. */
static bool is_foreign(struct MHD_Connection *connection)
{
	const char *site = serve_reply_header(connection, "Sec-Fetch-Site");
	return site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0;
}

#define FOREIGN "requests from pages of other sites are refused\n"

#define TOKEN_NEEDED                                                                    \
	"Nothing is shown without the token. Open the address that weft printed when it "   \
	"started, with ?token= in it; if it was started again, it has a new token. If the " \
	"token is from a file (--token-file), add ?token= and the line in that file. "      \
	"Programs can send the header \"Authorization: Bearer TOKEN\" instead.\n"

/* A browser that follows a link from another site, or from the file that --open makes, does not
 * send the cookie (SameSite=Strict). It gets this script, and sends the cookie when it loads the
 * script; the script then requests the page again, now as a link from our own site. */
static const char ask_again[] = "location.replace('/?again' + location.hash);\n";

static enum MHD_Result refuse_stranger(struct MHD_Connection *connection, const char *path)
{
	static const char page[] =
		"<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>weft</title>\n"
		"<p>" TOKEN_NEEDED "</p>\n<script src=\"again.js\"></script>\n</html>\n";
	if (strcmp(path, "/") == 0 &&
		MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, NULL, NULL) == 0)
		return serve_reply_refusal(
			connection, MHD_HTTP_FORBIDDEN, "text/html; charset=utf-8", page);
	return serve_reply_refusal(
		connection, MHD_HTTP_FORBIDDEN, "text/plain; charset=utf-8", TOKEN_NEEDED);
}

static enum MHD_Result answer_again(struct MHD_Connection *connection)
{
	return serve_reply_send(connection, MHD_HTTP_OK,
		serve_reply_make("text/javascript; charset=utf-8", ask_again, sizeof(ask_again) - 1));
}

/* The few paths that a bound token has. */
static enum MHD_Result answer_bound(struct serve_server *server, struct MHD_Connection *connection,
	const char *path, const struct serve_token *bound)
{
	if (strcmp(path, "/metrics") == 0)
		return is_foreign(connection) ? serve_reply_text(connection, MHD_HTTP_FORBIDDEN, FOREIGN)
									  : answer_metrics(connection, bound);
	if (strcmp(path, "/again.js") == 0)
		return answer_again(connection);
	if (strcmp(path, "/") != 0)
		return serve_reply_text(
			connection, MHD_HTTP_FORBIDDEN, "this token is for / and /metrics alone\n");
	return serve_reply_argument(connection, "token") ? take_token(server, connection, bound)
													 : answer_values(connection, bound);
}

static enum MHD_Result answer_admitted(struct serve_server *server,
	struct MHD_Connection *connection, const char *path, const char *method,
	const struct serve_token *bound)
{
	static const char api[] = "/api/";
	bool is_head = strcmp(method, "HEAD") == 0;
	if (!is_head && strcmp(method, "GET") != 0)
		return refuse_method(connection);
	if (bound)
		return answer_bound(server, connection, path, bound);
	if (strncmp(path, api, sizeof(api) - 1) == 0) {
		if (is_foreign(connection))
			return serve_reply_text(connection, MHD_HTTP_FORBIDDEN, FOREIGN);
		return answer_api(server, connection, path + sizeof(api) - 1, is_head);
	}
	if (strcmp(path, "/metrics") == 0)
		return is_foreign(connection) ? serve_reply_text(connection, MHD_HTTP_FORBIDDEN, FOREIGN)
									  : answer_metrics(connection, NULL);
	if (strcmp(path, "/") == 0 && serve_reply_argument(connection, "token"))
		return take_token(server, connection, NULL);
	if (strcmp(path, "/again.js") == 0)
		return answer_again(connection);
	return answer_page(connection, *path == '/' ? path + 1 : path);
}

static enum MHD_Result handle(struct serve_server *server, struct MHD_Connection *connection,
	const char *path, const char *method)
{
	if (!serve_guard_is_host(&server->guard, serve_reply_header(connection, "Host")))
		return serve_reply_refusal(connection, MHD_HTTP_MISDIRECTED_REQUEST,
			"text/plain; charset=utf-8",
			"the request names another host: open the address that weft serve printed\n");
	if (has_foreign_origin(connection))
		return serve_reply_refusal(
			connection, MHD_HTTP_FORBIDDEN, "text/plain; charset=utf-8", FOREIGN);
	const struct serve_token *bound;
	if (!is_admitted(server, connection, &bound))
		return refuse_stranger(connection, path);
	serve_clients_admit(&server->clients, serve_reply_client(connection));
	return answer_admitted(server, connection, path, method, bound);
}

/* Called when a request's head is complete, and again when all of it is: a response before that
 * would close the connection. A request with a body, which GET does not have, is closed. */
static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
	const char *path, const char *method, const char *version, const char *body, size_t *body_bytes,
	void **request)
{
	struct serve_server *server = context;
	(void)version;
	(void)body;
	if (*body_bytes)
		return MHD_NO;
	if (*request)
		return handle(server, connection, path, method);
	*request = server;
	return MHD_YES;
}

static void on_answered(void *context, struct MHD_Connection *connection, void **request,
	enum MHD_RequestTerminationCode code)
{
	struct serve_server *server = context;
	(void)request;
	(void)code;
	serve_clients_answered(&server->clients, serve_reply_client(connection));
}

/* ---- Connections ---- */

void serve_tick(struct serve_server *server)
{
	serve_clients_tick(&server->clients);
}

static struct MHD_Daemon *start_daemon(struct serve_server *server, int fd)
{
	return MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
								MHD_USE_POLL | MHD_USE_ITC | MHD_USE_ERROR_LOG,
		0, NULL, NULL, on_request, server, MHD_OPTION_EXTERNAL_LOGGER, serve_reply_quiet, NULL,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEAD_BYTES, MHD_OPTION_THREAD_STACK_SIZE,
		(size_t)STACK_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_S,
		MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_COMPLETED, on_answered, server,
		MHD_OPTION_NOTIFY_CONNECTION, serve_reply_connection, &server->clients, MHD_OPTION_END);
}

/* ---- Beginning and end ---- */

void serve_write_secret_url(const struct serve_server *server, char ret_url[SERVE_URL_BYTES])
{
	snprintf(ret_url, SERVE_URL_BYTES, "http://%s:%u/?token=%s", server->guard.host,
		server->guard.port, server->guard.token);
}

static bool set_tokens(struct serve_server *server, const struct serve_address *address)
{
	if (address->tokens && !serve_tokens_read(address->tokens, &server->tokens))
		return false;
	if (!address->token)
		return serve_token_draw(server->guard.token);
	snprintf(server->guard.token, sizeof(server->guard.token), "%s", address->token);
	return true;
}

struct serve_server *serve_start(const struct serve_address *address)
{
	struct serve_server *server = calloc(1, sizeof(*server));
	if (!server) {
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
		return NULL;
	}
	if (!serve_load_library()) {
		free(server);
		return NULL;
	}
	int fd = set_tokens(server, address) ? serve_listen(address, &server->guard) : -1;
	if (fd < 0) {
		serve_tokens_finish(&server->tokens);
		free(server);
		return NULL;
	}
	serve_tokens_name_port(&server->tokens, server->guard.port);
	serve_clients_init(&server->clients, CLIENTS_MAX);
	if (address->token)
		snprintf(server->url, sizeof(server->url), "http://%s:%u/", server->guard.host,
			server->guard.port);
	else
		serve_write_secret_url(server, server->url);
	server->daemon = start_daemon(server, fd);
	if (!server->daemon) {
		cli_error("cannot start the server: %s", strerror(errno));
		close(fd);
		serve_clients_finish(&server->clients);
		serve_tokens_finish(&server->tokens);
		free(server);
		return NULL;
	}
	return server;
}

const char *serve_url(const struct serve_server *server)
{
	return server->url;
}

bool serve_was_opened(const struct serve_server *server)
{
	return server->was_opened;
}

/* Ends live connections first, and lets others finish that are nearly done. */
void serve_stop(struct serve_server *server)
{
	const struct timespec pause = {0, 10000000};
	server->stopping = true;
	int fd = MHD_quiesce_daemon(server->daemon);
	for (int i = 0; i < 100 && serve_clients_are_busy(&server->clients); i++)
		nanosleep(&pause, NULL);
	MHD_stop_daemon(server->daemon);
	if (fd >= 0)
		close(fd);
	serve_clients_finish(&server->clients);
	serve_tokens_finish(&server->tokens);
	free(server);
}
