/* SPDX-License-Identifier: ISC
 *
 * The parts of `weft serve`: the traces that are served, the requests that may have them, and the
 * answers.
 *
 *     GET /?token=TOKEN    puts the token into a cookie, and leads to the page
 *     GET /                the page, and its parts
 *     GET /api/traces      what there is, as JSON
 *     GET /api/trace/ID    the bytes of a trace; ranges of them, too
 *     GET /api/density/ID  where in time its bytes are, as JSON: for a trace that is too large for
 * a page GET /api/part/ID     the part of ?start=NS&end=NS, as a trace of its own GET /api/live/ID
 * what a running program records, as a stream that grows; or a trace of Xen that is being written
 *     GET /api/parts/ID,ID several traces that grow, in frames (serve/live.h)
 *     GET /metrics         the counters of running programs, as Prometheus reads them
 *
 * Each needs the token: in the cookie, as "Authorization: Bearer TOKEN", or in the query. With one
 * that is bound to labels, / and /metrics have the counters that they belong to, and nothing else
 * is there.
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

/* ---- serve/traces.c: the traces that are served. Any thread may call. ---- */

/* The length of an id: a hash of an operand and, if that is a directory, a name in it; in
 * hexadecimal. */
enum {
	SERVE_ID_BYTES = 16,
	SERVE_PARTS_MAX = 256, /* traces in one request */
};

struct serve_trace {
	char id[SERVE_ID_BYTES + 1];
	char path[PATH_MAX + NAME_MAX + 1]; /* never sent to clients */
	char name[NAME_MAX + 1];
	uint64_t size_bytes, modified_ns;
	uint8_t boot_id[16]; /* traces of one boot can be one; zero: unknown */
	uint8_t uuid[16];  /* of the buffer: a ring and its saved trace have the same; zero: unknown */
	int pid;           /* a ring's process; else 0 */
	uint64_t recorded; /* the number of events that the ring's process has recorded so far */
	char run[SERVE_ID_BYTES + 1]; /* of a ring in a run that was not asked for; else "" */
	bool is_entry;                /* an entry of a directory: links are not followed */
	bool is_growing;              /* a trace of Xen that is being written */
	bool has_parts;               /* in weft's own format, which is read in parts */
	const char *state;            /* a ring's state: "running", "stopped" or "ended"; else NULL */
};

/* Sets the operands, which must stay valid. A directory stands for the traces in it at the time of
 * a request, without subdirectories and symbolic links. False after a message. */
bool serve_traces_init(char **operands, int count);

/* Adds a file, which gets the id of the ring whose trace it is. */
void serve_traces_add(const char *file, const char *ring);

/* The id of a ring. */
void serve_traces_ring_id(const char *ring, char ret_id[SERVE_ID_BYTES + 1]);

/* Names the run directory of our own program, whose rings are asked for. */
void serve_traces_own(const char *run);

/* Called for each current trace; false stops. */
typedef bool serve_visit(void *context, const struct serve_trace *trace);
bool serve_traces_each(serve_visit *visitor, void *context);

/* Finds a trace by its id; false if there is none. */
bool serve_traces_find(const char *id, struct serve_trace *ret_trace);

/* Sets the size of the largest trace that a page reads as a whole. */
void serve_traces_whole(uint64_t bytes);
/* How much of the trace a page reads at once, in bytes; 0: all of it. */
uint64_t serve_traces_part_bytes(const struct serve_trace *trace);

/* Opens a descriptor for a trace's bytes, for a ring its current ones; -1 if it no longer exists.
 */
int serve_traces_open(const struct serve_trace *trace, struct timespec *ret_modified);

/* ---- serve/list.c ---- */

/* Lists the current traces as JSON. False without memory. */
bool serve_list(struct weft_text *text);

/* ---- serve/token.c: the secret token of every request. ---- */

enum {
	SERVE_TOKEN_LEAST = 16,
	SERVE_TOKEN_BYTES = 128, /* maximum; a random one has 32 */
};

/* Draws 128 random bits in hexadecimal. False after a message. */
bool serve_token_draw(char ret_token[SERVE_TOKEN_BYTES + 1]);

/* Reads the token from a file that other users cannot read. False after a message. */
bool serve_token_read(const char *file, char ret_token[SERVE_TOKEN_BYTES + 1]);
/* True if it has the letters and the length of a token. */
bool serve_token_is_valid(const char *token, size_t size);
/* True if other users cannot read the file; false after a message that begins with the option. A
 * pipe's mode says nothing about that, and is accepted. */
bool serve_token_is_private(int fd, const char *option, const char *file);

/* ---- serve/guard.c: access checks. Pure functions. ---- */

enum {
	SERVE_HOST_BYTES = 80
};

struct serve_guard {
	char token[SERVE_TOKEN_BYTES + 1];
	char host[SERVE_HOST_BYTES]; /* as in the URL: "127.0.0.2" or "[::1]" */
	uint16_t port;
	bool is_loopback;
};

/* Compares in constant time for tokens of the right length. */
bool serve_guard_is_token(const struct serve_guard *guard, const char *token);

/* True if an Authorization header has the token. */
bool serve_guard_has_bearer(const struct serve_guard *guard, const char *authorization);

/* True if a Cookie header has the token. */
bool serve_guard_has_cookie(const struct serve_guard *guard, const char *cookies);

/* On a loopback address, the Host header must be a name of this machine or the address that we
 * listen on. Another name means that a site's name resolves to us, to reach us through a browser
 * (DNS rebinding). On other addresses we cannot know our names; such a site lacks the token. */
bool serve_guard_is_host(const struct serve_guard *guard, const char *host);

/* True if an Origin header, or NULL, is that of our own page: it names the host of the request. */
bool serve_guard_is_origin(const char *origin, const char *host);

enum serve_range {
	SERVE_RANGE_ALL,  /* no range was requested, or one that we may ignore */
	SERVE_RANGE_PART, /* `ret_first` and the number of bytes */
	SERVE_RANGE_NONE, /* the range is not satisfiable */
};

/* Evaluates a Range header, or NULL, for content of that size. */
enum serve_range serve_guard_range(
	const char *header, uint64_t size, uint64_t *ret_first, uint64_t *ret_count);

/* ---- serve/listen.c: the address. ---- */

/* WEFT on a phone keypad. */
#define SERVE_USUAL_PORT "9338"

struct serve_address {
	const char *address, *port; /* numbers */
	bool is_port_given;         /* else any free port is used if that one is in use */
	const char *token;          /* NULL: draw one */
	const char *tokens;         /* a file of tokens that are bound to labels, or NULL */
};

/* Opens a listening socket, and sets the guard's host and port. -1 after a message. */
int serve_listen(const struct serve_address *address, struct serve_guard *guard);

/* ---- serve/http.c: the server. ---- */

enum {
	SERVE_URL_BYTES = 256
};

struct serve_server;

/* Listens on the address, and serves until it is stopped. NULL after a message. */
struct serve_server *serve_start(const struct serve_address *address);
/* The URL to print. It contains the token if that was drawn; a token from a file is known to its
 * owner, and is kept out of logs. */
const char *serve_url(const struct serve_server *server);
/* The URL with the token. */
void serve_write_secret_url(const struct serve_server *server, char ret_url[SERVE_URL_BYTES]);
/* True if a browser has used the URL with the token. */
bool serve_was_opened(const struct serve_server *server);
/* Call about once a second: closes connections that wait too long before their request. */
void serve_tick(struct serve_server *server);
void serve_stop(struct serve_server *server);

/* ---- serve/browser.c: starts a browser. ---- */

struct serve_page_file {
	char directory[PATH_MAX], path[PATH_MAX + 16]; /* "": no file */
};

/* Starts a browser with a file that leads to the URL. All users can read a process's command line,
 * so the URL, which contains the token, is in a file of mode 0600 instead. */
void serve_browser_open(const char *url, struct serve_page_file *ret_file);
/* Removes the file. Call it after the browser's first request, and at the end. */
void serve_browser_forget(struct serve_page_file *file);

#endif
