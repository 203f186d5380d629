/* SPDX-License-Identifier: ISC
 *
 * The parts of `weft serve`: what is served, who may have it, and how it goes out.
 *
 *     GET /?token=TOKEN    puts the token into a cookie, and leads to the page
 *     GET /                the page, and its parts
 *     GET /api/traces      what there is, as JSON
 *     GET /api/trace/ID    the bytes of a trace; ranges of them, too
 *     GET /api/live/ID     what a running program records, as a stream that grows
 *
 * Each needs the token: in the cookie, as "Authorization: Bearer TOKEN", or in the query.
 * An ID says nothing about where a trace lies: it is found again among what is served, so that no
 * request names a path.
 */
#ifndef WEFT_APPS_SERVE_H
#define WEFT_APPS_SERVE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <weft/text.h>

/* ---- serve_traces.c: what is served. Any thread may call. ---- */

/* Of an operand and a name in it, if it is a directory; in hexadecimal. */
enum {
	SERVE_ID_BYTES = 16
};

struct serve_trace {
	char id[SERVE_ID_BYTES + 1];
	char path[PATH_MAX + NAME_MAX + 1]; /* for the owner's eyes only */
	char name[NAME_MAX + 1];
	uint64_t size_bytes, modified_ns;
	int pid;           /* of a ring; else 0 */
	bool is_entry;     /* of a directory: no link is followed */
	const char *state; /* of a ring: "running", "stopped" or "ended"; else NULL */
};

/* The operands, which must stay. Of a directory the traces that are in it at the time are served,
 * not those of directories in it, and no symbolic links. False after a message. */
bool serve_traces_init(char **operands, int count);

/* One more file from now on; it has the id that a ring had, whose trace it is. */
void serve_traces_add(const char *file, const char *ring);

/* The id of a ring. */
void serve_traces_ring_id(const char *ring, char ret_id[SERVE_ID_BYTES + 1]);

/* What there is now, as JSON. False without memory. */
bool serve_traces_list(struct weft_text *text);

/* False if there is none of that id. */
bool serve_traces_find(const char *id, struct serve_trace *ret_trace);

/* A descriptor that reads its bytes, of a ring those of now; -1 if it has gone. */
int serve_traces_open(const struct serve_trace *trace, struct timespec *ret_modified);

/* ---- serve_token.c: the secret that every request has to have. ---- */

enum {
	SERVE_TOKEN_LEAST = 16,
	SERVE_TOKEN_BYTES = 128, /* at most; one that is drawn has 32 */
};

/* 128 random bits in hexadecimal. False after a message. */
bool serve_token_draw(char ret_token[SERVE_TOKEN_BYTES + 1]);

/* The line in a file that other users cannot read. False after a message. */
bool serve_token_read(const char *file, char ret_token[SERVE_TOKEN_BYTES + 1]);

/* ---- serve_guard.c: who may have it. Pure. ---- */

enum {
	SERVE_HOST_BYTES = 80
};

struct serve_guard {
	char token[SERVE_TOKEN_BYTES + 1];
	char host[SERVE_HOST_BYTES]; /* as in the URL: "127.0.0.2", "[::1]" */
	uint16_t port;
	bool is_loopback;
};

/* Takes as long for each wrong token of the right length. */
bool serve_guard_is_token(const struct serve_guard *guard, const char *token);

/* Does an Authorization header have it? */
bool serve_guard_has_bearer(const struct serve_guard *guard, const char *authorization);

/* Does a Cookie header have it? */
bool serve_guard_has_cookie(const struct serve_guard *guard, const char *cookies);

/* On the loopback the Host header has to be a name of this machine or the address that we listen
 * at. Another name means that a site has its name lead here, to reach us through a browser (DNS
 * rebinding). Elsewhere we cannot know our names; that site lacks the token. */
bool serve_guard_is_host(const struct serve_guard *guard, const char *host);

enum serve_range {
	SERVE_RANGE_ALL,  /* none was asked for, or what we need not understand */
	SERVE_RANGE_PART, /* `ret_first` and the number of bytes */
	SERVE_RANGE_NONE, /* there is nothing there */
};

/* A Range header, or NULL, of something so large. */
enum serve_range serve_guard_range(
	const char *header, uint64_t size, uint64_t *ret_first, uint64_t *ret_count);

/* ---- serve_listen.c: where. ---- */

struct serve_place {
	const char *address, *port; /* numbers */
	bool is_port_told;          /* else any other port will do if that one is taken */
	const char *token;          /* NULL: one is drawn */
};

/* A socket that listens, and in the guard what its URL has. -1 after a message. */
int serve_listen(const struct serve_place *place, struct serve_guard *guard);

/* ---- serve_http.c: how it goes out. ---- */

enum {
	SERVE_URL_BYTES = 256
};

struct serve_server;

/* Listens at the place, and serves until it is stopped. NULL after a message. */
struct serve_server *serve_start(const struct serve_place *place);
/* The URL to print. It has the token if that was drawn. A token that was given is known to its
 * owner, and is kept out of logs. */
const char *serve_url(const struct serve_server *server);
/* The URL with the token. */
void serve_write_secret_url(const struct serve_server *server, char ret_url[SERVE_URL_BYTES]);
/* Has a browser come with the token in the URL? */
bool serve_was_opened(const struct serve_server *server);
/* Call it about once a second: it ends connections that wait too long before they ask. */
void serve_tick(struct serve_server *server);
void serve_stop(struct serve_server *server);

/* ---- serve_browser.c: starts a browser. ---- */

struct serve_page_file {
	char directory[PATH_MAX], path[PATH_MAX + 16]; /* "": there is none */
};

/* Starts a browser with a file that leads to the URL. The command line of a process is for all
 * users to read, so the URL, which has the token, is in a file of mode 0600 instead. */
void serve_browser_open(const char *url, struct serve_page_file *ret_file);
/* Removes the file. Call it when the browser has come, and at the end. */
void serve_browser_forget(struct serve_page_file *file);

#endif
