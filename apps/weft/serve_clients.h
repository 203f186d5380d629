/* SPDX-License-Identifier: ISC
 *
 * The connections of `weft serve`, and which of them has to go when there are too many.
 *
 * A connection is admitted once a request on it had the token. Anybody can open the others, so
 * they never take the place of an admitted one: if there is no room for a new connection, the
 * oldest that is not admitted ends, else the admitted one that has been idle longest. A connection
 * whose request is being answered stays. Any thread may call.
 */
#ifndef WEFT_APPS_SERVE_CLIENTS_H
#define WEFT_APPS_SERVE_CLIENTS_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

enum {
	SERVE_CLIENTS_MAX = 256,
	SERVE_LIVE_MAX = 32, /* live streams: each has a thread and a connection as long as it runs */
};

struct serve_client {
	struct serve_client *next, **link;
	int fd;
	bool is_admitted; /* a request on it had the token */
	bool is_busy;     /* and one is being answered */
	bool is_ended;    /* we have shut it down; its thread has not seen that yet */
	time_t since;     /* the connection or its last answer */
};

struct serve_clients {
	pthread_mutex_t mutex;
	struct serve_client *first; /* the newest */
	unsigned count;             /* without those that have ended */
	unsigned live;
};

void serve_clients_init(struct serve_clients *clients);
void serve_clients_finish(struct serve_clients *clients);

/* The socket stays the caller's, and open until the client is removed. NULL without memory. */
struct serve_client *serve_clients_add(struct serve_clients *clients, int fd);
void serve_clients_remove(struct serve_clients *clients, struct serve_client *client);

/* A request with the token is about to be answered. */
void serve_clients_admit(struct serve_clients *clients, struct serve_client *client);
/* The answer to any request has gone out. */
void serve_clients_answered(struct serve_clients *clients, struct serve_client *client);

/* False if there are SERVE_LIVE_MAX live streams. */
bool serve_clients_begin_live(struct serve_clients *clients);
void serve_clients_end_live(struct serve_clients *clients);

/* Ends connections that have waited too long for a request. */
void serve_clients_tick(struct serve_clients *clients);
bool serve_clients_are_busy(struct serve_clients *clients);

#endif
