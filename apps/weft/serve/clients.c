/* SPDX-License-Identifier: ISC
 *
 * A connection is closed by shutdown(): its own thread wakes up, closes it and removes the client.
 * Until then the client is in the list but does not count.
 */
#include "clients.h"

#include <stdlib.h>
#include <sys/socket.h>

enum {
	HEAD_S = 10, /* seconds until the head of the first request must be complete */
	IDLE_S = 60, /* seconds between requests */
};

static time_t now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

void serve_clients_init(struct serve_clients *clients, unsigned most)
{
	*clients = (struct serve_clients){.most = most};
	pthread_mutex_init(&clients->mutex, NULL);
}

void serve_clients_finish(struct serve_clients *clients)
{
	pthread_mutex_destroy(&clients->mutex);
}

static void end(struct serve_clients *clients, struct serve_client *client)
{
	shutdown(client->fd, SHUT_RDWR);
	client->is_ended = true;
	clients->count--;
}

/* Finds the connection to close. The list begins with the newest, so the last candidate has
 * approximately waited longest; an admitted connection may have been used since. */
static struct serve_client *find_victim(
	const struct serve_clients *clients, const struct serve_client *added)
{
	struct serve_client *stranger = NULL, *idle = NULL;
	for (struct serve_client *client = clients->first; client; client = client->next) {
		if (client == added || client->is_ended || client->is_busy)
			continue;
		if (!client->is_admitted)
			stranger = client;
		else if (!idle || client->since <= idle->since)
			idle = client;
	}
	return stranger ? stranger : idle;
}

struct serve_client *serve_clients_add(struct serve_clients *clients, int fd)
{
	struct serve_client *client = calloc(1, sizeof(*client));
	if (!client)
		return NULL;
	client->fd = fd;
	client->since = now_s();
	pthread_mutex_lock(&clients->mutex);
	client->next = clients->first;
	client->link = &clients->first;
	if (client->next)
		client->next->link = &client->next;
	clients->first = client;
	if (++clients->count > clients->most) {
		struct serve_client *victim = find_victim(clients, client);
		end(clients, victim ? victim : client);
	}
	pthread_mutex_unlock(&clients->mutex);
	return client;
}

void serve_clients_remove(struct serve_clients *clients, struct serve_client *client)
{
	if (!client)
		return;
	pthread_mutex_lock(&clients->mutex);
	*client->link = client->next;
	if (client->next)
		client->next->link = client->link;
	if (!client->is_ended)
		clients->count--;
	pthread_mutex_unlock(&clients->mutex);
	free(client);
}

void serve_clients_admit(struct serve_clients *clients, struct serve_client *client)
{
	if (!client)
		return;
	pthread_mutex_lock(&clients->mutex);
	client->is_admitted = client->is_busy = true;
	pthread_mutex_unlock(&clients->mutex);
}

void serve_clients_answered(struct serve_clients *clients, struct serve_client *client)
{
	if (!client)
		return;
	pthread_mutex_lock(&clients->mutex);
	client->is_busy = false;
	client->since = now_s();
	pthread_mutex_unlock(&clients->mutex);
}

bool serve_clients_begin_live(struct serve_clients *clients, unsigned traces)
{
	pthread_mutex_lock(&clients->mutex);
	bool has_room = clients->live < SERVE_LIVE_MAX && clients->fed + traces <= SERVE_FED_MAX;
	clients->live += has_room;
	clients->fed += has_room ? traces : 0;
	pthread_mutex_unlock(&clients->mutex);
	return has_room;
}

void serve_clients_end_live(struct serve_clients *clients, unsigned traces)
{
	pthread_mutex_lock(&clients->mutex);
	clients->live--;
	clients->fed -= traces;
	pthread_mutex_unlock(&clients->mutex);
}

/* Closes slow clients: one that sends a byte now and then never exceeds libmicrohttpd's time-out.
 */
void serve_clients_tick(struct serve_clients *clients)
{
	time_t now = now_s();
	pthread_mutex_lock(&clients->mutex);
	for (struct serve_client *client = clients->first; client; client = client->next)
		if (!client->is_ended && !client->is_busy &&
			now - client->since >= (client->is_admitted ? IDLE_S : HEAD_S))
			end(clients, client);
	pthread_mutex_unlock(&clients->mutex);
}

bool serve_clients_are_busy(struct serve_clients *clients)
{
	bool are_busy = false;
	pthread_mutex_lock(&clients->mutex);
	for (const struct serve_client *client = clients->first; client; client = client->next)
		are_busy |= client->is_busy && !client->is_ended;
	pthread_mutex_unlock(&clients->mutex);
	return are_busy;
}
