/* SPDX-License-Identifier: ISC
 *
 * A TCP server and its clients on loopback, in one program with one thread and one epoll loop. The
 * clients send their requests in waves; for each answer the server waits a while, computes a
 * checksum, and sends it back.
 *
 * Look for this: a wave lasts as long as its slowest call. One request is refused, because it is
 * misspelt. One call is never answered, and nothing in the program's output shows which.
 *
 *     weft record -o echo-server.weft build/examples/echo-server
 *
 * With a number of waves as argument it runs longer. Its connections have a category of their own:
 * while it runs, `weft ctl PID set net=debug` and `weft tail PID` show each read and write.
 *
 * A request is a line  VERB NUMBER MICROSECONDS TEXT,  its answer  NUMBER ok|error TEXT.
 */
#define _GNU_SOURCE /* accept4 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <weft/weft.h>

enum {
	CLIENTS = 3,
	WAVES = 5,
	WAVES_MAX = 1000000,
	CALLS_A_WAVE = 2, /* by each client */
	LINE_MAX_BYTES = 2048,
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* ---- The event loop: which task waits for which file descriptor ---- */

struct watch {
	int fd;
	uint64_t task; /* runs when the descriptor is ready */
	void (*ready)(struct watch *watch);
	char name[32];     /* the task's name */
	uint64_t since_ns; /* when it was created */
	struct watch *next, **link;
};

static int epoll;
static struct watch *watches; /* the loop ends with the last one */

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Creates the watch's task. */
__attribute__((format(printf, 2, 3))) static void watch_name(
	struct watch *watch, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(watch->name, sizeof(watch->name), format, arguments);
	va_end(arguments);
	watch->since_ns = now_ns();
	watch->task = weft_create(WEFT_KIND_TASK);
	weft_label_as(watch->task, watch->name);
}

static void watch_start(struct watch *watch, int fd, void (*ready)(struct watch *))
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = watch};
	watch->fd = fd;
	watch->ready = ready;
	if (fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
		die("watch");
	watch->next = watches;
	watch->link = &watches;
	if (watches)
		watches->link = &watch->next;
	watches = watch;
}

static void watch_stop(struct watch *watch)
{
	close(watch->fd);
	*watch->link = watch->next;
	if (watch->next)
		watch->next->link = watch->link;
}

/* Answers a request for a rundown: writes the living tasks, whose creation may have been
 * overwritten. */
static void write_rundown(void)
{
	static uint32_t seen;
	if (!weft_rundown_wanted(&seen))
		return;
	uint64_t now = now_ns();
	for (struct watch *watch = watches; watch; watch = watch->next)
		weft_rundown_task(
			watch->task, WEFT_KIND_TASK, watch->name, now - watch->since_ns, WEFT_TASK_NONE);
}

static void run_loop(void)
{
	while (watches) {
		/* One event at a time: handling it may close the next ready descriptor. */
		struct epoll_event event;
		write_rundown();
		weft_band_begin(WEFT_BAND_IDLE, "epoll_wait");
		int count = epoll_wait(epoll, &event, 1, -1);
		weft_band_end(WEFT_BAND_IDLE, "epoll_wait");
		if (count < 0 && errno != EINTR)
			die("epoll_wait");
		if (count <= 0)
			continue;
		struct watch *watch = event.data.ptr;
		weft_switch(watch->task);
		watch->ready(watch);
	}
}

/* ---- Connections: lines over TCP ---- */

WEFT_CATEGORY_DEFINE(net, "net", "bytes that come and go");
#undef WEFT_CATEGORY
#define WEFT_CATEGORY net /* for the calls below, up to the next #define */

static size_t bytes_read; /* at both ends */

struct stream {
	struct watch watch;
	void (*take_line)(struct stream *stream, char *line);
	void (*closed)(struct stream *stream);
	char in[4 * LINE_MAX_BYTES];
	size_t in_size;
};

static void stream_ready(struct watch *watch)
{
	struct stream *stream = (struct stream *)watch;
	ssize_t size = recv(watch->fd, stream->in + stream->in_size,
		sizeof(stream->in) - stream->in_size, MSG_DONTWAIT);
	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (size <= 0) {
		stream->closed(stream);
		return;
	}
	stream->in_size += (size_t)size;
	bytes_read += (size_t)size;
	weft_counter_add("bytes", size);
	weft_at(WEFT_LEVEL_DEBUG, weft_notef("%zd bytes read from descriptor %d", size, watch->fd));
	char *line = stream->in, *end;
	while ((end = memchr(line, '\n', stream->in_size - (size_t)(line - stream->in)))) {
		*end = '\0';
		stream->take_line(stream, line);
		line = end + 1;
	}
	stream->in_size -= (size_t)(line - stream->in);
	memmove(stream->in, line, stream->in_size);
}

static void stream_start(struct stream *stream, int fd)
{
	/* Otherwise the second request of a client waits for the answer to its first (Nagle's
	 * algorithm); the picture showed that when this line was missing. */
	int on = 1;
	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0)
		die("TCP_NODELAY");
	watch_start(&stream->watch, fd, stream_ready);
}

/* Sends a few lines, which fit into the socket's buffer: so it never blocks. */
static void stream_send(struct stream *stream, const char *line, size_t size)
{
	if (send(stream->watch.fd, line, size, MSG_NOSIGNAL) != (ssize_t)size)
		die("send");
	weft_at(WEFT_LEVEL_DEBUG, weft_notef("%zu bytes sent by %d", size, stream->watch.fd));
}

#undef WEFT_CATEGORY
#define WEFT_CATEGORY program

/* ---- Calls: the state that both ends share, being one program ---- */

struct call {
	uint64_t task; /* ends when it is answered */
	char name[24];
};

static struct call *calls;
static unsigned call_count, refused, answered;

/* ---- The server ---- */

/* A request waits for a timer, which stands for whatever makes a real server slow. */
struct request {
	struct watch watch;
	struct stream *connection;
	struct request *next; /* the next subscriber */
	unsigned number;
	char text[LINE_MAX_BYTES];
};

static struct watch listener;
static unsigned connections;
static struct request *subscribers;

/* Hashes repeatedly, as for a password: some work for the processor. */
static unsigned seal(const char *text)
{
	unsigned hash = 2166136261;
	for (unsigned round = 0; round < 400; round++)
		for (const char *at = text; *at; at++)
			hash = (hash ^ (unsigned char)*at) * 16777619;
	return hash;
}

static void answer(struct request *request, const char *status, const char *text)
{
	char line[LINE_MAX_BYTES + 64];
	int size = snprintf(line, sizeof(line), "%u %s %s\n", request->number, status, text);
	stream_send(request->connection, line, (size_t)size);
	weft_resolve(calls[request->number].task);
	weft_counter_add_as(listener.task, "requests", -1);
}

/* The timer has expired. */
static void request_ready(struct watch *watch)
{
	struct request *request = (struct request *)watch;
	char text[LINE_MAX_BYTES + 32];
	snprintf(text, sizeof(text), "%s %08x", request->text, seal(request->text));
	answer(request, "ok", text);
	weft_resolve(watch->task);
	watch_stop(watch);
	free(request);
}

static void request_refuse(struct request *request, const char *verb)
{
	char reason[64];
	snprintf(reason, sizeof(reason), "unknown verb \"%s\"", verb);
	answer(request, "error", reason);
	weft_fail(request->watch.task, reason);
	free(request);
}

static void request_delay(struct request *request, unsigned microseconds)
{
	const struct itimerspec time = {.it_value.tv_nsec = (long)microseconds * 1000};
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	if (timer < 0 || timerfd_settime(timer, 0, &time, NULL) != 0)
		die("timer");
	watch_start(&request->watch, timer, request_ready);
}

/* Keeps a subscriber until there is news. There never is any. */
static void request_keep(struct request *request)
{
	weft_note("waits for news");
	request->next = subscribers;
	subscribers = request;
}

static void requests_drop(const struct stream *connection)
{
	for (struct request **at = &subscribers, *request; (request = *at);) {
		if (request->connection != connection) {
			at = &request->next;
			continue;
		}
		weft_note_as(request->watch.task, "dropped");
		*at = request->next;
		free(request);
	}
}

static void connection_line(struct stream *stream, char *line)
{
	char verb[16] = "";
	unsigned microseconds = 0;
	struct request *request = calloc(1, sizeof(*request));
	if (!request)
		die("request");
	request->connection = stream;
	if (sscanf(line, "%15s %u %u %2047s", verb, &request->number, &microseconds, request->text) !=
			4 ||
		request->number >= call_count) {
		free(request);
		return;
	}
	watch_name(&request->watch, "serve %s", calls[request->number].name);
	weft_counter_add_as(listener.task, "requests", 1);
	weft_signal_as(calls[request->number].task, request->watch.task);
	if (strcmp(verb, "echo") == 0)
		request_delay(request, microseconds);
	else if (strcmp(verb, "subscribe") == 0)
		request_keep(request);
	else
		request_refuse(request, verb);
	weft_switch(stream->watch.task);
}

static void connection_closed(struct stream *stream)
{
	requests_drop(stream);
	weft_resolve(stream->watch.task);
	watch_stop(&stream->watch);
	free(stream);
	if (--connections)
		return;
	weft_switch(listener.task);
	weft_resolve(listener.task);
	watch_stop(&listener);
}

static void listener_ready(struct watch *watch)
{
	struct stream *connection = calloc(1, sizeof(*connection));
	if (!connection)
		die("connection");
	connection->take_line = connection_line;
	connection->closed = connection_closed;
	watch_name(&connection->watch, "connection %u", ++connections);
	stream_start(connection, accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC));
}

/* The address that the system chose. */
static struct sockaddr_in listen_on_loopback(void)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, CLIENTS) != 0 ||
		getsockname(fd, (struct sockaddr *)&address, &size) != 0)
		die("listen");
	watch_name(&listener, "server");
	watch_start(&listener, fd, listener_ready);
	return address;
}

/* ---- The clients ---- */

struct client {
	struct stream stream;
	char letter;
	unsigned calls;
};

static struct client clients[CLIENTS];

static void next_wave(void);

static uint64_t program, wave;
static unsigned waves = WAVES, wave_number, wave_waits_for;

static struct call *client_call(struct client *client, const char *verb, unsigned microseconds)
{
	char line[LINE_MAX_BYTES], text[1024], name[64];
	struct call *call = &calls[call_count];
	call->task = weft_create(WEFT_KIND_TASK);
	snprintf(call->name, sizeof(call->name), "%c%u", client->letter, ++client->calls);
	snprintf(name, sizeof(name), "%s: %s", call->name, verb);
	weft_label_as(call->task, name);

	/* The text: one letter, repeated more often for longer calls. */
	size_t size = 100 + microseconds / 8 % 900;
	memset(text, client->letter, size);
	text[size] = '\0';
	int length =
		snprintf(line, sizeof(line), "%s %u %u %s\n", verb, call_count++, microseconds, text);
	stream_send(&client->stream, line, (size_t)length);
	return call;
}

/* The client's part of a wave: it asks for everything at once, then waits for all of it. */
static void client_burst(struct client *client)
{
	unsigned n = (unsigned)(client - clients);
	for (unsigned i = 0; i < CALLS_A_WAVE; i++) {
		unsigned microseconds = 1000 + 700 * ((3 * n + 5 * wave_number + 4 * i) % 8);
		bool misspelt = wave_number == 3 && n == 1 && i == 0;
		struct call *call = client_call(client, misspelt ? "ecko" : "echo", microseconds);
		weft_try_read(call->task);
		wave_waits_for++;
	}
	/* A subscriber expects an answer at some time. */
	if (wave_number == 2 && n == 2) {
		struct call *call = client_call(client, "subscribe", 0);
		weft_expect_as(call->task);
	}
}

static void client_line(struct stream *stream, char *line)
{
	unsigned number;
	char status[8];
	if (sscanf(line, "%u %7s", &number, status) != 2 || number >= call_count)
		return;
	weft_read_as(stream->watch.task, calls[number].task);
	answered++;
	if (strcmp(status, "ok") != 0)
		refused++;
	if (--wave_waits_for == 0) {
		weft_resolve(wave);
		weft_read_as(program, wave);
		next_wave();
	}
}

static void client_closed(struct stream *stream)
{
	weft_resolve(stream->watch.task);
	watch_stop(&stream->watch);
}

static void client_connect(struct client *client, const struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0)
		die("connect");
	client->letter = (char)('A' + (client - clients));
	client->stream.take_line = client_line;
	client->stream.closed = client_closed;
	watch_name(&client->stream.watch, "client %c", client->letter);
	weft_signal_only_as(client->stream.watch.task, listener.task);
	stream_start(&client->stream, fd);
}

/* ---- The program ---- */

static void next_wave(void)
{
	char name[16];
	if (wave_number == waves) {
		for (unsigned i = 0; i < CLIENTS; i++)
			shutdown(clients[i].stream.watch.fd, SHUT_WR);
		return;
	}
	wave = weft_create(WEFT_KIND_TASK);
	snprintf(name, sizeof(name), "wave %u", ++wave_number);
	weft_label_as(wave, name);
	weft_try_read(wave);
	for (unsigned i = 0; i < CLIENTS; i++) {
		weft_signal_as(wave, clients[i].stream.watch.task);
		client_burst(&clients[i]);
	}
	weft_switch(program);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		waves = (unsigned)strtoul(argv[1], NULL, 10);
	waves = waves < WAVES_MAX ? waves : WAVES_MAX;
	calls = calloc(waves * CLIENTS * CALLS_A_WAVE + 1, sizeof(*calls));
	if (!calls)
		die("calls");
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		die("epoll");
	program = weft_create(WEFT_KIND_TASK);
	weft_label_as(program, "main");
	weft_switch(program);
	struct sockaddr_in address = listen_on_loopback();
	for (unsigned i = CLIENTS; i-- > 0;) /* readers show the newest first */
		client_connect(&clients[i], &address);
	next_wave();
	run_loop();
	weft_switch(program);
	weft_resolve(program);
	weft_switch(WEFT_TASK_NONE);
	printf("%u calls, %u answered, %u of them refused; %zu bytes\n", call_count, answered, refused,
		bytes_read);
}
