/* SPDX-License-Identifier: ISC
 *
 * A lock that the thread `serve_client` has to wait for, and a thread of a library.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "asleep.h"

static pthread_mutex_t *lock;
static atomic_int client; /* the thread's number, once it is about to wait */

static void *serve_client(void *unused)
{
	atomic_store(&client, gettid());
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	lock = malloc(sizeof(*lock));
	pthread_mutex_init(lock, NULL);
	pthread_mutex_lock(lock);
	pthread_create(&thread, NULL, serve_client, NULL);
	while (!atomic_load(&client))
		usleep(1000);
	await_sleep(atomic_load(&client));
	pthread_mutex_unlock(lock);
	pthread_join(thread, NULL);
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void *(*function)(void *) = NULL;
	if (library)
		*(void **)&function = dlsym(library, "library_thread");
	if (function && pthread_create(&thread, NULL, function, NULL) == 0)
		pthread_join(thread, NULL);
	return 0;
}
