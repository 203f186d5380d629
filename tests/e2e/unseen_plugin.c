/* SPDX-License-Identifier: ISC
 *
 * A library that a program opens. Built by adapters_unseen.py, with -DOWN also with a function of
 * its own that has the name of one of libc's, and with -DNEEDS with its calls in another library.
 */
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

int plugin(void);
int plugin_calls(void);

#ifdef NEEDS
int plugin(void)
{
	return plugin_calls();
}
#else
static pthread_mutex_t plugin_lock = PTHREAD_MUTEX_INITIALIZER;

static void *plugin_thread(void *argument)
{
	pthread_mutex_lock(&plugin_lock);
	usleep(1000);
	pthread_mutex_unlock(&plugin_lock);
	return argument;
}

#ifdef OWN
int poll(struct pollfd *list, nfds_t count, int ms)
{
	(void)list;
	return (int)count + ms;
}
#endif

/* The addresses are words of the library's data, which the dynamic linker fills. */
static int (*const create)(
	pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = pthread_create;
static int (*polls)(struct pollfd *, nfds_t, int) = poll;

int plugin_calls(void)
{
	pthread_t thread;
	if (create(&thread, NULL, plugin_thread, NULL) != 0)
		return -1;
	pthread_join(thread, NULL);
	return poll(NULL, 0, 1) + polls(NULL, 0, 1) + 40;
}

int plugin(void)
{
	return plugin_calls();
}
#endif
