/* SPDX-License-Identifier: ISC
 *
 * Rule: no guess about which thread a pthread_t means. Handles are used again as soon as a thread
 * is joined, in each way in which it can be; a thread may be joined before it has begun, and by
 * another one than its creator.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

enum {
	TIMES = 300,
	MANY = 40
};

static atomic_int go;

static void *add_one(void *number)
{
	return (char *)number + 1;
}

static void *wait_for_go(void *number)
{
	while (!atomic_load(&go))
		sched_yield();
	return number;
}

static pthread_t start(void *(*function)(void *), void *argument)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, function, argument))
		exit(98);
	return thread;
}

static struct timespec in_s(clockid_t clock, int seconds)
{
	struct timespec until;
	clock_gettime(clock, &until);
	until.tv_sec += seconds;
	return until;
}

/* ---- Each way to join ---- */

static int join(int way, pthread_t thread, void **result)
{
	struct timespec until;
	switch (way) {
	case 0:
		return pthread_join(thread, result);
	case 1:
		until = in_s(CLOCK_REALTIME, 100);
		return pthread_timedjoin_np(thread, result, &until);
	case 2:
		until = in_s(CLOCK_MONOTONIC, 100);
		return pthread_clockjoin_np(thread, result, CLOCK_MONOTONIC, &until);
	default:
		while (pthread_tryjoin_np(thread, result) == EBUSY)
			sched_yield();
		return 0;
	}
}

static void in_each_way(void)
{
	char text[TIMES + 1] = "";
	long sum = 0;
	for (int i = 0; i < TIMES; i++) {
		void *result = NULL;
		if (join(i % 4, start(add_one, text + i), &result))
			exit(97);
		sum += (char *)result - text;
	}
	printf("sum %ld\n", sum);
}

/* ---- Time-outs ---- */

static void too_early(void)
{
	struct timespec past = {1, 0};
	pthread_t thread = start(wait_for_go, NULL);
	int timed = pthread_timedjoin_np(thread, NULL, &past);
	int clock = pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &past);
	int tried = pthread_tryjoin_np(thread, NULL);
	atomic_store(&go, 1);
	printf("%d %d %d %d\n", timed == ETIMEDOUT, clock == ETIMEDOUT, tried == EBUSY,
		pthread_join(thread, NULL));
	atomic_store(&go, 0);
}

/* ---- Many, from another thread ---- */

static pthread_t many[MANY];

static void *join_many(void *unused)
{
	long joined = 0;
	for (int i = MANY - 1; i >= 0; i--)
		joined += pthread_join(many[i], NULL) == 0;
	printf("%ld joined by another thread\n", joined);
	return unused;
}

static void from_another(void)
{
	for (int i = 0; i < MANY; i++)
		many[i] = start(wait_for_go, NULL);
	pthread_t joiner = start(join_many, NULL);
	atomic_store(&go, 1);
	pthread_join(joiner, NULL);
	printf("once more: %d\n", pthread_join(pthread_self(), NULL) == EDEADLK);
}

/* ---- C11 ---- */

static int give_seven(void *unused)
{
	(void)unused;
	return 7;
}

static void c11(void)
{
	int sum = 0, result = 0;
	for (int i = 0; i < TIMES; i++) {
		thrd_t thread;
		if (thrd_create(&thread, give_seven, NULL) || thrd_join(thread, &result))
			exit(96);
		sum += result;
	}
	printf("sum %d\n", sum);
}

int main(void)
{
	in_each_way();
	too_early();
	from_another();
	c11();
	return 0;
}
