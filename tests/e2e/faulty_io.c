/* SPDX-License-Identifier: ISC
 *
 * Programs with a fault in how they use descriptors, and their sound twins, without libweft. The
 * first line that each prints has the number of its process. They go on until they are killed.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void check(int is_good, const char *what)
{
	if (is_good)
		return;
	perror(what);
	exit(1);
}

static void print_process(void)
{
	printf("%d\n", (int)getpid());
	fflush(stdout);
}

static void begin(void *(*function)(void *), void *of, const char *name)
{
	pthread_t thread;
	check(pthread_create(&thread, NULL, function, of) == 0, "pthread_create");
	pthread_setname_np(thread, name);
}

static int listen_at(struct sockaddr_in *ret_address)
{
	const int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(*ret_address);
	*ret_address = (struct sockaddr_in){.sin_family = AF_INET};
	ret_address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	check(bind(listener, (struct sockaddr *)ret_address, size) == 0 && listen(listener, 8) == 0 &&
			  getsockname(listener, (struct sockaddr *)ret_address, &size) == 0,
		"listen");
	return listener;
}

static int connect_to(const struct sockaddr_in *address)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	check(connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0, "connect");
	return fd;
}

/* ---- A reply to a client that does not read, while a lock is held ---- */

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static sem_t is_served;

struct reply {
	int fd;
	bool is_locked;
};

static void *reply_at_length(void *of)
{
	const struct reply *reply = of;
	static char page[1 << 16];
	pthread_mutex_lock(&table);
	sem_post(&is_served);
	if (!reply->is_locked)
		pthread_mutex_unlock(&table);
	while (send(reply->fd, page, sizeof(page), MSG_NOSIGNAL) > 0)
		;
	return NULL;
}

static void *use_table(void *unused)
{
	sem_wait(&is_served);
	pthread_mutex_lock(&table);
	pthread_mutex_unlock(&table);
	pause();
	return unused;
}

static void reply_to(bool is_locked)
{
	struct sockaddr_in address;
	const int listener = listen_at(&address), client = connect_to(&address);
	struct reply reply = {accept(listener, NULL, NULL), is_locked};
	check(client >= 0 && reply.fd >= 0, "accept");
	begin(reply_at_length, &reply, "server");
	begin(use_table, NULL, "other");
	print_process();
	pause();
}

static void reply_locked(void)
{
	reply_to(true);
}

static void reply_unlocked(void)
{
	reply_to(false);
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} parts[] = {{"locked", reply_locked}, {"unlocked", reply_unlocked}};
	for (size_t i = 0; count == 2 && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(arguments[1], parts[i].name) == 0) {
			parts[i].function();
			return 0;
		}
	return 2;
}
