/* SPDX-License-Identifier: ISC
 *
 * See from.h. One request of HTTP/1.1 on a connection of its own, without encryption, as the two
 * servers have none.
 */
#include "metrics/from.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft/parse.h>

#include "cli/cli.h"
#include "runs/message.h"
#include "serve/serve.h"

#define ANSWER_BYTES_MAX ((size_t)1 << 30)

struct metrics_server {
	char host[128]; /* without brackets */
	char port[8];
	char named[160]; /* for the header Host */
};

/* ---- The address ---- */

/* Splits "http://HOST[:PORT][/]". */
static bool parse_url(const char *url, struct metrics_server *ret)
{
	static const char scheme[] = "http://";
	if (strncasecmp(url, scheme, sizeof(scheme) - 1) != 0)
		return false;
	const char *host = url + sizeof(scheme) - 1;
	const size_t size = strcspn(host, "/?#");
	const bool has_brackets = host[0] == '[';
	const char *host_end = has_brackets ? memchr(host, ']', size) : memchr(host, ':', size);
	if (has_brackets && !host_end)
		return false;
	if (!host_end)
		host_end = host + size;
	const char *rest = host_end + has_brackets, *end = host + size;
	uint64_t port = 80;
	if (rest < end && (*rest != ':' || weft_parse_number(rest + 1, (size_t)(end - rest - 1),
										   &port) != WEFT_PARSE_OK))
		return false;
	const int length = (int)(host_end - host) - has_brackets;
	if (!length || length >= (int)sizeof(ret->host) || !port || port > UINT16_MAX ||
		(*end && strcmp(end, "/") != 0))
		return false;
	snprintf(ret->host, sizeof(ret->host), "%.*s", length, host + has_brackets);
	snprintf(ret->port, sizeof(ret->port), "%u", (unsigned)port);
	snprintf(
		ret->named, sizeof(ret->named), has_brackets ? "[%s]:%s" : "%s:%s", ret->host, ret->port);
	return !ret->host[strcspn(ret->host, "\r\n \t")];
}

/* A connected socket; -1 after a message. */
static int connect_to(const struct metrics_server *target)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;
	int fd = -1, reason = 0, failed = getaddrinfo(target->host, target->port, &hints, &list);
	for (const struct addrinfo *it = list; !failed && fd < 0 && it; it = it->ai_next) {
		fd = socket(it->ai_family, it->ai_socktype | SOCK_CLOEXEC, it->ai_protocol);
		if (fd >= 0 && connect(fd, it->ai_addr, it->ai_addrlen) != 0) {
			reason = errno;
			close(fd);
			fd = -1;
		}
	}
	if (fd < 0)
		cli_error("%s: %s", weft__runs_shown(target->named),
			failed ? gai_strerror(failed) : strerror(reason));
	if (list)
		freeaddrinfo(list);
	return fd;
}

/* ---- The request ---- */

static bool send_all(int fd, const struct weft_text *text)
{
	ssize_t sent = 1;
	for (size_t at = 0; sent > 0 && at < text->size; at += (size_t)sent)
		sent = send(fd, text->bytes + at, text->size - at, MSG_NOSIGNAL);
	return sent > 0;
}

static bool ask(
	int fd, const struct metrics_server *target, const char *token, enum metrics_format format)
{
	struct weft_text request = {0};
	weft_text_add_string(&request, "GET /metrics?format=");
	weft_text_add_string(&request, metrics_format_name(format));
	weft_text_add_string(&request, " HTTP/1.1\r\nConnection: close\r\nHost: ");
	weft_text_add_string(&request, target->named);
	if (token[0]) {
		weft_text_add_string(&request, "\r\nAuthorization: Bearer ");
		weft_text_add_string(&request, token);
	}
	weft_text_add_string(&request, "\r\n\r\n");
	bool good = !request.error && send_all(fd, &request);
	weft_text_finish(&request);
	return good;
}

static bool read_all(int fd, struct weft_text *answer)
{
	char piece[16384];
	ssize_t size;
	while ((size = recv(fd, piece, sizeof(piece), 0)) > 0 && !answer->error) {
		if (answer->size > ANSWER_BYTES_MAX) {
			errno = EMSGSIZE;
			return false;
		}
		weft_text_add(answer, piece, (size_t)size);
	}
	return size == 0 && !answer->error;
}

/* ---- The answer ---- */

/* The value of a header, or NULL. The head ends with a NUL, and each of its lines with "\r\n". */
static const char *find_header(const char *head, const char *name)
{
	for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n"))
		if (strncasecmp(line + 2, name, strlen(name)) == 0 && line[2 + strlen(name)] == ':')
			return line + 3 + strlen(name) + strspn(line + 3 + strlen(name), " \t");
	return NULL;
}

/* The body behind the head, which is cut off with a NUL; NULL: the answer is not one of HTTP/1.1,
 * or not complete. */
static const char *find_body(struct weft_text *answer, unsigned *ret_status, size_t *ret_size)
{
	uint64_t status, size;
	char *end = answer->size ? memmem(answer->bytes, answer->size, "\r\n\r\n", 4) : NULL;
	if (!end || strncmp(answer->bytes, "HTTP/1.", 7) != 0)
		return NULL;
	end[2] = '\0';
	const char *length = find_header(answer->bytes, "Content-Length");
	*ret_size = answer->size - (size_t)(end + 4 - answer->bytes);
	if (strlen(answer->bytes) < 12 ||
		weft_parse_number(answer->bytes + 9, 3, &status) != WEFT_PARSE_OK || !length ||
		weft_parse_number(length, strspn(length, "0123456789"), &size) != WEFT_PARSE_OK ||
		size != *ret_size)
		return NULL;
	*ret_status = (unsigned)status;
	return end + 4;
}

static int take_answer(
	const struct metrics_server *target, struct weft_text *answer, struct weft_text *text)
{
	unsigned status = 0;
	size_t size = 0;
	const char *body = find_body(answer, &status, &size);
	if (!body) {
		cli_error("%s: the answer is cut off, or not one of HTTP", weft__runs_shown(target->named));
		return CLI_UNREADABLE;
	}
	if (status != 200) {
		char reason[512];
		snprintf(reason, sizeof(reason), "%.*s", (int)strcspn(body, "\n"), body);
		cli_error("%s: %u: %s", weft__runs_shown(target->named), status, weft__runs_shown(reason));
		return CLI_UNREADABLE;
	}
	weft_text_add(text, body, size);
	return size ? CLI_DONE : CLI_NO;
}

int metrics_from_read(const char *command, const struct metrics_from *from,
	enum metrics_format format, struct weft_text *text)
{
	char token[SERVE_TOKEN_BYTES + 1] = "";
	struct metrics_server target;
	struct weft_text answer = {0};
	if (!parse_url(from->url, &target))
		return cli_usage_error(
			command, "--from: \"%s\" is not an address such as http://127.0.0.1:9339/", from->url);
	if (from->token_file && !serve_token_read(from->token_file, token))
		return CLI_UNREADABLE;
	int status = CLI_UNREADABLE, fd = connect_to(&target);
	if (fd < 0)
		return status;
	if (ask(fd, &target, token, format) && read_all(fd, &answer)) {
		weft_text_add(&answer, "", 1);
		answer.size--;
		status = answer.error ? CLI_UNREADABLE : take_answer(&target, &answer, text);
	} else {
		cli_error("%s: %s", weft__runs_shown(target.named), strerror(errno));
	}
	close(fd);
	weft_text_finish(&answer);
	return status;
}
