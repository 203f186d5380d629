/* SPDX-License-Identifier: ISC
 *
 * Rule: the program's memory is not read after the original has run. A condition may be destroyed
 * as soon as those that wait are woken. They only have to get the mutex then, and until they have
 * it, its holder may unmap the condition.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
	PAGE = 4096
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t *condition;
static bool waits;

static void make(bool is_shared)
{
	pthread_condattr_t attributes;
	condition = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (condition == MAP_FAILED || pthread_condattr_init(&attributes) != 0)
		abort();
	if (is_shared)
		pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	if (pthread_cond_init(condition, &attributes) != 0)
		abort();
}

/* Does not look at anything else when it is woken: the condition is signalled only once. */
static void *await(void *nothing)
{
	pthread_mutex_lock(&mutex);
	waits = true;
	pthread_cond_wait(condition, &mutex);
	waits = false;
	pthread_mutex_unlock(&mutex);
	return nothing;
}

/* False while the thread has not begun: the mutex is free then. */
static void lock_when_it_waits(void)
{
	for (bool it_waits = false; !it_waits;) {
		pthread_mutex_lock(&mutex);
		it_waits = waits;
		if (!it_waits)
			pthread_mutex_unlock(&mutex);
	}
}

/* Waits until the other thread is out of the condition, and keeps the mutex. */
static void end_condition(void)
{
	lock_when_it_waits();
	if (pthread_cond_broadcast(condition) != 0 || pthread_cond_destroy(condition) != 0 ||
		munmap(condition, PAGE) != 0)
		abort();
	pthread_mutex_unlock(&mutex);
}

int main(void)
{
	for (int is_shared = 0; is_shared < 2; is_shared++) {
		pthread_t thread;
		make(is_shared);
		if (pthread_create(&thread, NULL, await, NULL) != 0)
			abort();
		end_condition();
		pthread_join(thread, NULL);
		printf("%d: %d\n", is_shared, waits);
	}
	return 0;
}
