/* SPDX-License-Identifier: ISC
 *
 * The parts of `weft serve`: what is served, who may have it, and how it goes out.
 *
 *     GET /                the page, and its parts
 *     GET /api/traces      what there is, as JSON
 *     GET /api/trace/ID    the bytes of a trace; ranges of them, too
 *     GET /api/live/ID     what a running program records, as a stream that grows
 *
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

/* ---- serve_guard.c: who may have it. Pure. ---- */

enum {
	SERVE_TOKEN_BYTES = 32
};

struct serve_guard {
	bool has_token;
	char token[SERVE_TOKEN_BYTES + 1];
	uint16_t port;
};

/* Draws a token. False with errno. */
bool serve_guard_init(struct serve_guard *guard, bool has_token);

/* Is it the token? Takes as long for any that is wrong. */
bool serve_guard_is_token(const struct serve_guard *guard, const char *token);

/* Does a Cookie header have it? */
bool serve_guard_has_cookie(const struct serve_guard *guard, const char *cookies);

/* Without a token we answer only to names of this machine: another name that leads here is
 * somebody's who wants a browser to take us for him. */
bool serve_guard_is_host(const struct serve_guard *guard, const char *host);

enum serve_range {
	SERVE_RANGE_ALL,  /* none was asked for, or what we need not understand */
	SERVE_RANGE_PART, /* `ret_first` and the number of bytes */
	SERVE_RANGE_NONE, /* there is nothing there */
};

/* A Range header, or NULL, of something so large. */
enum serve_range serve_guard_range(
	const char *header, uint64_t size, uint64_t *ret_first, uint64_t *ret_count);

/* ---- serve_http.c: how it goes out ---- */

struct serve_server;

/* Listens at the address, and serves until it is stopped. NULL after a message. */
struct serve_server *serve_start(const char *address, const char *port, bool is_port_told);
/* What a person opens. */
const char *serve_url(const struct serve_server *server);
/* Now and then, once a second: ends those who take too long to say what they want. */
void serve_tick(struct serve_server *server);
void serve_stop(struct serve_server *server);

#endif
