/* SPDX-License-Identifier: ISC
 *
 * Rule: a lock gives what libc gives. A robust mutex that cannot be recovered fails at each call,
 * also with a time limit, and for each thread; one whose owner has died is taken and recovered.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex;

static void *die_with_it(void *unused)
{
	pthread_mutex_lock(&mutex);
	return unused;
}

static int lock_in_time(void)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 1;
	return pthread_mutex_timedlock(&mutex, &until);
}

static void *lock_it(void *unused)
{
	int error = pthread_mutex_lock(&mutex);
	printf("another thread: %d, %d\n", error, lock_in_time());
	return unused;
}

static void run(void *(*function)(void *))
{
	pthread_t thread;
	pthread_create(&thread, NULL, function, NULL);
	pthread_join(thread, NULL);
}

static void begin(int kind)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, kind);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&mutex, &attributes);
	run(die_with_it);
}

int main(void)
{
	static const int kinds[] = {
		PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};
	setvbuf(stdout, NULL, _IONBF, 0);
	alarm(10);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		begin(kinds[i]);
		printf("recovered: %d, ", lock_in_time());
		printf("%d, ", pthread_mutex_consistent(&mutex));
		printf("%d\n", pthread_mutex_unlock(&mutex));
		begin(kinds[i]);
		printf("lost: %d, ", pthread_mutex_lock(&mutex));
		printf("%d, ", pthread_mutex_unlock(&mutex)); /* it was not made consistent */
		printf("%d, ", pthread_mutex_lock(&mutex));
		printf("%d\n", pthread_mutex_unlock(&mutex));
		run(lock_it);
	}
	return 0;
}
