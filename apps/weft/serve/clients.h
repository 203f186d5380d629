/* SPDX-License-Identifier: ISC
 *
 * The connections of `weft serve` or `weft agent`, and which of them is closed when there are too
 * many.
 *
 * A connection is admitted once a request on it had the token. Any process can open other
 * connections, so they never displace an admitted one: if there is no room for a new connection,
 * the oldest one that is not admitted is closed, else the admitted one that has been idle longest.
 * A connection whose request is being answered is never closed. Any thread may call.
 */
#ifndef WEFT_APPS_SERVE_CLIENTS_H
#define WEFT_APPS_SERVE_CLIENTS_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

enum {
	SERVE_LIVE_MAX = 32, /* live connections: each occupies a thread as long as it runs */
	SERVE_FED_MAX = 512, /* traces that they follow together: each takes a descriptor */
};

struct serve_client {
	struct serve_client *next, **link;
	int fd;
	bool is_admitted; /* a request on it had the token */
	bool is_busy;     /* a request is being answered */
	bool is_ended;    /* it was shut down; its thread has not noticed yet */
	time_t since;     /* time of the connection or its last answer */
};

struct serve_clients {
	pthread_mutex_t mutex;
	struct serve_client *first; /* the newest */
	unsigned most, count;       /* not counting those that have ended */
	unsigned live, fed;
};

void serve_clients_init(struct serve_clients *clients, unsigned most);
void serve_clients_finish(struct serve_clients *clients);

/* Adds a connection. The socket stays the caller's, and must stay open until the client is removed.
 * NULL without memory. */
struct serve_client *serve_clients_add(struct serve_clients *clients, int fd);
void serve_clients_remove(struct serve_clients *clients, struct serve_client *client);

/* Call before answering a request with the token. */
void serve_clients_admit(struct serve_clients *clients, struct serve_client *client);
/* Call after the answer to any request was sent. */
void serve_clients_answered(struct serve_clients *clients, struct serve_client *client);

/* Begins a live connection of so many traces; false if that would be more than allowed. */
bool serve_clients_begin_live(struct serve_clients *clients, unsigned traces);
void serve_clients_end_live(struct serve_clients *clients, unsigned traces);

/* Closes connections that have waited too long for a request. */
void serve_clients_tick(struct serve_clients *clients);
bool serve_clients_are_busy(struct serve_clients *clients);

#endif
