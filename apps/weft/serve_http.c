/* SPDX-License-Identifier: ISC
 *
 * HTTP by libmicrohttpd, a thread a connection: each may take its time. What a request costs is
 * bounded before it is known who asks: so many connections, so much memory for a request's head,
 * and so many seconds until it is there (serve_tick). Bodies are not read.
 */
#include "serve.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#include "cli.h"
#include "page_assets.h"
#include "serve_live.h"

enum {
	CONNECTIONS_MAX = 64,
	CONNECTIONS_OF_ONE_MAX = 48,
	HEAD_BYTES = 16 << 10,
	SILENCE_S = 20, /* nothing is read or written */
	HEAD_S = 10,    /* from a connection's beginning to the end of a request's head */
	IDLE_S = 60,    /* between requests */
	PIECE_BYTES = 64 << 10,
};

/* A connection, as long as it is there. */
struct client {
	struct client *next, **link;
	int fd;
	bool is_busy;   /* a request is being answered */
	bool has_asked; /* not for the first time */
	time_t since;
};

struct serve_server {
	struct MHD_Daemon *daemon;
	struct serve_guard guard;
	atomic_bool stopping;
	char url[128];
	pthread_mutex_t mutex; /* for the clients */
	struct client *clients;
};

static time_t now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* ---- Answers ---- */

static const char policy[] =
	"default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; "
	"connect-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; "
	"frame-ancestors 'none'";

static void add_header(struct MHD_Response *response, const char *name, const char *value)
{
	MHD_add_response_header(response, name, value);
}

/* Takes the response over. */
static enum MHD_Result answer(
	struct MHD_Connection *connection, unsigned status, struct MHD_Response *response)
{
	if (!response)
		return MHD_NO;
	add_header(response, "Content-Security-Policy", policy);
	add_header(response, "X-Content-Type-Options", "nosniff");
	add_header(response, "X-Frame-Options", "DENY");
	add_header(response, "Referrer-Policy", "no-referrer");
	add_header(response, "Cross-Origin-Opener-Policy", "same-origin");
	add_header(response, "Cross-Origin-Resource-Policy", "same-origin");
	add_header(response, "Cache-Control", "no-store");
	enum MHD_Result result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static struct MHD_Response *response_of(const char *type, const void *bytes, size_t size)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(size, (void *)(uintptr_t)bytes, MHD_RESPMEM_MUST_COPY);
	if (response)
		add_header(response, "Content-Type", type);
	return response;
}

static enum MHD_Result answer_text(
	struct MHD_Connection *connection, unsigned status, const char *text)
{
	return answer(connection, status, response_of("text/plain; charset=utf-8", text, strlen(text)));
}

static enum MHD_Result refuse_method(struct MHD_Connection *connection)
{
	static const char text[] = "only GET and HEAD\n";
	struct MHD_Response *response =
		response_of("text/plain; charset=utf-8", text, sizeof(text) - 1);
	if (response)
		add_header(response, "Allow", "GET, HEAD");
	return answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED, response);
}

/* ---- Traces ---- */

static enum MHD_Result answer_list(struct MHD_Connection *connection)
{
	struct weft_text text = {0};
	enum MHD_Result result = MHD_NO;
	if (serve_traces_list(&text))
		result =
			answer(connection, MHD_HTTP_OK, response_of("application/json", text.bytes, text.size));
	weft_text_finish(&text);
	return result;
}

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Changes whenever the file does. */
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
		response_of("text/plain; charset=utf-8", "there is nothing there\n", 23);
	snprintf(range, sizeof(range), "bytes */%llu", (unsigned long long)trace->size_bytes);
	if (response)
		add_header(response, "Content-Range", range);
	return answer(connection, MHD_HTTP_RANGE_NOT_SATISFIABLE, response);
}

static enum MHD_Result answer_bytes(
	struct MHD_Connection *connection, const struct serve_trace *trace)
{
	struct timespec modified;
	char tag[64], text[96];
	uint64_t first = 0, count = trace->size_bytes;
	int fd = serve_traces_open(trace, &modified);
	if (fd < 0)
		return answer_text(connection, MHD_HTTP_NOT_FOUND, "it has gone\n");
	format_tag(trace, &modified, tag);
	const char *wanted_tag = header_of(connection, "If-Range");
	enum serve_range range = SERVE_RANGE_ALL;
	if (!wanted_tag || strcmp(wanted_tag, tag) == 0)
		range =
			serve_guard_range(header_of(connection, "Range"), trace->size_bytes, &first, &count);
	if (range == SERVE_RANGE_NONE) {
		close(fd);
		return answer_unsatisfiable(connection, trace);
	}
	struct MHD_Response *response = MHD_create_response_from_fd_at_offset64(count, fd, first);
	if (!response) {
		close(fd);
		return MHD_NO;
	}
	add_header(response, "Content-Type", "application/octet-stream");
	add_header(response, "Accept-Ranges", "bytes");
	add_header(response, "ETag", tag);
	if (range == SERVE_RANGE_PART) {
		snprintf(text, sizeof(text), "bytes %llu-%llu/%llu", (unsigned long long)first,
			(unsigned long long)(first + count - 1), (unsigned long long)trace->size_bytes);
		add_header(response, "Content-Range", text);
	}
	return answer(
		connection, range == SERVE_RANGE_PART ? MHD_HTTP_PARTIAL_CONTENT : MHD_HTTP_OK, response);
}

static ssize_t read_live(void *live, uint64_t position, char *bytes, size_t room)
{
	(void)position;
	ssize_t size = serve_live_read(live, bytes, room);
	if (size == 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	return size < 0 ? MHD_CONTENT_READER_END_WITH_ERROR : size;
}

static void close_live(void *live)
{
	serve_live_close(live);
}

static enum MHD_Result answer_live(struct serve_server *server, struct MHD_Connection *connection,
	const struct serve_trace *trace, bool is_head)
{
	struct serve_live *live = serve_live_open(trace->path, &server->stopping);
	if (!live)
		return answer_text(connection, MHD_HTTP_CONFLICT,
			"no buffer that a program records into; /api/trace/ has its bytes\n");
	if (is_head) {
		serve_live_close(live);
		return answer(connection, MHD_HTTP_OK, response_of("application/octet-stream", "", 0));
	}
	struct MHD_Response *response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, PIECE_BYTES, read_live, live, close_live);
	if (!response)
		serve_live_close(live);
	else
		add_header(response, "Content-Type", "application/octet-stream");
	return answer(connection, MHD_HTTP_OK, response);
}

static enum MHD_Result answer_api(
	struct serve_server *server, struct MHD_Connection *connection, const char *path, bool is_head)
{
	struct serve_trace trace;
	bool is_live = strncmp(path, "live/", 5) == 0;
	if (strcmp(path, "traces") == 0)
		return answer_list(connection);
	if (!is_live && strncmp(path, "trace/", 6) != 0)
		return answer_text(connection, MHD_HTTP_NOT_FOUND, "there is no such thing\n");
	if (!serve_traces_find(path + (is_live ? 5 : 6), &trace))
		return answer_text(connection, MHD_HTTP_NOT_FOUND, "no trace has that id\n");
	return is_live ? answer_live(server, connection, &trace, is_head)
				   : answer_bytes(connection, &trace);
}

/* ---- The page ---- */

#if WEFT_HAS_PAGE
static enum MHD_Result answer_page(struct MHD_Connection *connection, const char *path)
{
	const char *name = *path ? path : "index.html";
	for (const struct page_asset *asset = page_assets; asset->name; asset++)
		if (strcmp(asset->name, name) == 0)
			return answer(
				connection, MHD_HTTP_OK, response_of(asset->type, asset->bytes, asset->size));
	if (strcmp(name, "favicon.ico") == 0) /* which browsers want, whatever the page says */
		return answer(connection, MHD_HTTP_NO_CONTENT, response_of("image/x-icon", "", 0));
	return answer_text(connection, MHD_HTTP_NOT_FOUND, "there is no such thing\n");
}
#else
static enum MHD_Result answer_page(struct MHD_Connection *connection, const char *path)
{
	if (*path)
		return answer_text(connection, MHD_HTTP_NOT_FOUND, "there is no such thing\n");
	return answer_text(connection, MHD_HTTP_NOT_IMPLEMENTED,
		"This weft was built without the page; it lacked " WEFT_PAGE_MISSING
		". The traces are at /api/traces.\n");
}
#endif

/* ---- Requests ---- */

/* The token goes from the URL into a cookie, so that no link, history or log has it. */
static enum MHD_Result take_token(struct serve_server *server, struct MHD_Connection *connection)
{
	char cookie[128];
	struct MHD_Response *response = response_of("text/plain; charset=utf-8", "", 0);
	snprintf(cookie, sizeof(cookie), "weft-%u=%s; Path=/; HttpOnly; SameSite=Strict",
		server->guard.port, server->guard.token);
	if (response) {
		add_header(response, "Set-Cookie", cookie);
		add_header(response, "Location", "/");
	}
	return answer(connection, MHD_HTTP_SEE_OTHER, response);
}

static bool is_admitted(const struct serve_server *server, struct MHD_Connection *connection)
{
	return !server->guard.has_token ||
		   serve_guard_has_cookie(&server->guard, header_of(connection, "Cookie")) ||
		   serve_guard_is_token(&server->guard,
			   MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token"));
}

/* Another site's page may lead here, but not ask in our page's name. */
static bool is_foreign(struct MHD_Connection *connection)
{
	const char *site = header_of(connection, "Sec-Fetch-Site");
	return site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0;
}

static enum MHD_Result handle(struct serve_server *server, struct MHD_Connection *connection,
	const char *path, const char *method)
{
	static const char api[] = "/api/";
	bool is_head = strcmp(method, "HEAD") == 0;
	if (!is_head && strcmp(method, "GET") != 0)
		return refuse_method(connection);
	if (!serve_guard_is_host(&server->guard, header_of(connection, "Host")))
		return answer_text(connection, MHD_HTTP_MISDIRECTED_REQUEST,
			"this is not that host: open the address that weft serve has printed\n");
	if (!is_admitted(server, connection))
		return answer_text(connection, MHD_HTTP_FORBIDDEN,
			"open the address that weft serve has printed, with its token\n");
	if (strncmp(path, api, sizeof(api) - 1) == 0) {
		if (is_foreign(connection))
			return answer_text(connection, MHD_HTTP_FORBIDDEN, "not for other sites\n");
		return answer_api(server, connection, path + sizeof(api) - 1, is_head);
	}
	if (server->guard.has_token && strcmp(path, "/") == 0 &&
		MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token"))
		return take_token(server, connection);
	return answer_page(connection, *path == '/' ? path + 1 : path);
}

static struct client *client_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	return info ? info->socket_context : NULL;
}

static void set_busy(struct serve_server *server, struct MHD_Connection *connection, bool is_busy)
{
	struct client *client = client_of(connection);
	pthread_mutex_lock(&server->mutex);
	if (client) {
		client->is_busy = is_busy;
		client->has_asked = true;
		client->since = now_s();
	}
	pthread_mutex_unlock(&server->mutex);
}

/* Called when a request's head is there, and again when all of it is: an answer before that would
 * end the connection. A body, which GET has none of, does. */
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
	set_busy(server, connection, true);
	return MHD_YES;
}

static void on_answered(void *context, struct MHD_Connection *connection, void **request,
	enum MHD_RequestTerminationCode code)
{
	(void)request;
	(void)code;
	set_busy(context, connection, false);
}

/* ---- Connections ---- */

static void add_client(
	struct serve_server *server, struct MHD_Connection *connection, void **ret_client)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct client *client = info ? calloc(1, sizeof(*client)) : NULL;
	if (!client)
		return;
	client->fd = info->connect_fd;
	client->since = now_s();
	pthread_mutex_lock(&server->mutex);
	client->next = server->clients;
	client->link = &server->clients;
	if (client->next)
		client->next->link = &client->next;
	server->clients = client;
	pthread_mutex_unlock(&server->mutex);
	*ret_client = client;
}

static void remove_client(struct serve_server *server, struct client *client)
{
	if (!client)
		return;
	pthread_mutex_lock(&server->mutex);
	*client->link = client->next;
	if (client->next)
		client->next->link = client->link;
	pthread_mutex_unlock(&server->mutex);
	free(client);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **client,
	enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		add_client(context, connection, client);
	} else {
		remove_client(context, *client);
		*client = NULL;
	}
}

/* Who sends a byte now and then is never silent for long. */
void serve_tick(struct serve_server *server)
{
	time_t now = now_s();
	pthread_mutex_lock(&server->mutex);
	for (struct client *client = server->clients; client; client = client->next)
		if (!client->is_busy && now - client->since >= (client->has_asked ? IDLE_S : HEAD_S))
			shutdown(client->fd, SHUT_RDWR);
	pthread_mutex_unlock(&server->mutex);
}

/* ---- Listening ---- */

static bool is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return ((const unsigned char *)&((const struct sockaddr_in *)(const void *)address)
					   ->sin_addr)[0] == 127;
	if (address->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(
			&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
	return false;
}

static int listen_at(const struct addrinfo *address)
{
	const int yes = 1;
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0)
		return fd;
	int reason = errno;
	close(fd);
	errno = reason;
	return -1;
}

/* -1 after a message. */
static int open_socket(
	const char *address, const char *port, bool is_port_told, bool *ret_is_loopback)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found;
	int fd = -1;
	if (getaddrinfo(address, port, &hints, &found) != 0) {
		cli_error(
			"--listen: \"%s\" is no address; write 127.0.0.1, [::1]:8080 or 0.0.0.0:8080", address);
		return -1;
	}
	*ret_is_loopback = is_loopback(found->ai_addr);
	fd = listen_at(found);
	int reason = errno;
	freeaddrinfo(found);
	/* Another weft has our port: any will do. */
	if (fd < 0 && reason == EADDRINUSE && !is_port_told)
		return open_socket(address, "0", true, ret_is_loopback);
	if (fd < 0)
		cli_error("cannot listen at %s, port %s: %s", address, port, strerror(reason));
	return fd;
}

static void describe_socket(struct serve_server *server, int fd)
{
	struct sockaddr_storage bound;
	socklen_t size = sizeof(bound);
	char host[64] = "", port[8] = "0";
	if (getsockname(fd, (struct sockaddr *)&bound, &size) == 0)
		getnameinfo((struct sockaddr *)&bound, size, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV);
	server->guard.port = (uint16_t)strtoul(port, NULL, 10);
	/* All addresses of this machine: its name leads to one of them. */
	if (strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0)
		gethostname(host, sizeof(host) - 1);
	snprintf(server->url, sizeof(server->url),
		strchr(host, ':') ? "http://[%s]:%s/%s%s" : "http://%s:%s/%s%s", host, port,
		server->guard.has_token ? "?token=" : "",
		server->guard.has_token ? server->guard.token : "");
}

/* What goes wrong on a connection is its client's business. */
static void keep_quiet(void *context, const char *format, va_list arguments)
{
	(void)context;
	(void)format;
	(void)arguments;
}

static struct MHD_Daemon *start_daemon(struct serve_server *server, int fd)
{
	return MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
								MHD_USE_POLL | MHD_USE_ITC | MHD_USE_ERROR_LOG,
		0, NULL, NULL, on_request, server, MHD_OPTION_EXTERNAL_LOGGER, keep_quiet, NULL,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)CONNECTIONS_OF_ONE_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEAD_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned)SILENCE_S, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_COMPLETED,
		on_answered, server, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_END);
}

struct serve_server *serve_start(const char *address, const char *port, bool is_port_told)
{
	bool is_loopback = false;
	int fd = open_socket(address, port, is_port_told, &is_loopback);
	struct serve_server *server = fd < 0 ? NULL : calloc(1, sizeof(*server));
	if (!server) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	pthread_mutex_init(&server->mutex, NULL);
	if (serve_guard_init(&server->guard, !is_loopback)) {
		describe_socket(server, fd);
		server->daemon = start_daemon(server, fd);
	}
	if (!server->daemon) {
		cli_error("cannot start the server: %s", strerror(errno));
		close(fd);
		free(server);
		return NULL;
	}
	return server;
}

const char *serve_url(const struct serve_server *server)
{
	return server->url;
}

static bool is_busy(struct serve_server *server)
{
	bool is_busy = false;
	pthread_mutex_lock(&server->mutex);
	for (const struct client *client = server->clients; client; client = client->next)
		is_busy |= client->is_busy;
	pthread_mutex_unlock(&server->mutex);
	return is_busy;
}

/* Streams come to their ends first, and whatever else is nearly done. */
void serve_stop(struct serve_server *server)
{
	const struct timespec moment = {0, 10000000};
	server->stopping = true;
	int fd = MHD_quiesce_daemon(server->daemon);
	for (int i = 0; i < 100 && is_busy(server); i++)
		nanosleep(&moment, NULL);
	MHD_stop_daemon(server->daemon);
	if (fd >= 0)
		close(fd);
	pthread_mutex_destroy(&server->mutex);
	free(server);
}
