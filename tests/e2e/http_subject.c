/* SPDX-License-Identifier: ISC
 *
 * Serves one request by HTTP as a span of the caller's trace, and asks the server at the port in
 * the request's header X-Port meanwhile, as that span. Prints its own port.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft/context.h>
#include <weft/weft.h>

static int make_socket(struct sockaddr_in *address, int port)
{
	*address = (struct sockaddr_in){.sin_family = AF_INET,
		.sin_port = htons((unsigned short)port),
		.sin_addr = {htonl(INADDR_LOOPBACK)}};
	return socket(AF_INET, SOCK_STREAM, 0);
}

static void stop(const char *what)
{
	perror(what);
	exit(1);
}

/* Reads up to the end of the head. */
static void read_head(int fd, char *head, size_t room)
{
	size_t size = 0;
	head[0] = '\0';
	while (!strstr(head, "\r\n\r\n")) {
		const ssize_t count = read(fd, head + size, room - 1 - size);
		if (count <= 0)
			stop("read");
		size += (size_t)count;
		head[size] = '\0';
	}
}

static const char *header(const char *head, const char *name, size_t *ret_size)
{
	const size_t size = strlen(name);
	for (const char *line = head; (line = strstr(line, "\r\n")); line += 2)
		if (strncasecmp(line + 2, name, size) == 0 && line[2 + size] == ':') {
			const char *value = line + 2 + size + 1;
			value += strspn(value, " ");
			*ret_size = strcspn(value, "\r");
			return value;
		}
	*ret_size = 0;
	return "";
}

static void ask(int port, const struct weft_context *context)
{
	char text[WEFT_CONTEXT_TEXT], message[256], answer[4096];
	struct sockaddr_in address;
	const int fd = make_socket(&address, port);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		stop("connect");
	weft_context_print(context, text);
	const int size = snprintf(message, sizeof(message),
		"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\ntraceparent: %s\r\n\r\n", text);
	if (write(fd, message, (size_t)size) != size)
		stop("write");
	while (read(fd, answer, sizeof(answer)) > 0)
		continue;
	close(fd);
}

static void serve(int fd)
{
	static const char answer[] =
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
	struct weft_context remote, own;
	char head[8192];
	size_t size;
	read_head(fd, head, sizeof(head));
	const uint64_t task = weft_create(WEFT_KIND_TASK);
	weft_label_as(task, "serve");
	weft_switch(task);
	const char *text = header(head, "traceparent", &size);
	weft_context_parse(text, size, &remote);
	weft_context_start(&remote, &own);
	ask(atoi(header(head, "x-port", &size)), &own);
	weft_resolve_as(task, task);
	weft_switch(WEFT_TASK_NONE);
	if (write(fd, answer, sizeof(answer) - 1) != (ssize_t)sizeof(answer) - 1)
		stop("write");
}

int main(void)
{
	struct sockaddr_in address;
	socklen_t size = sizeof(address);
	const int fd = make_socket(&address, 0);
	if (bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, 1) != 0 ||
		getsockname(fd, (struct sockaddr *)&address, &size) != 0)
		stop("listen");
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	const int client = accept(fd, NULL, NULL);
	if (client < 0)
		stop("accept");
	serve(client);
	return 0;
}
