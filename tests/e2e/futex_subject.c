/* SPDX-License-Identifier: ISC
 *
 * A lock of the program's own on a futex, which asks the kernel by syscall(2), and threads that a
 * function without a name runs: with the argument "silent", these do nothing that adapters record,
 * until the program ends. Prints what each call returned, so that runs can be compared.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "asleep.h"

static int waiter;          /* the thread that waits for the table */
static uint32_t table_lock; /* 0: free, 1: held, 2: another thread waits */

static long futex(uint32_t *word, int operation, uint32_t value, const struct timespec *timeout)
{
	return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, timeout, NULL, 0);
}

static void take(uint32_t *lock)
{
	uint32_t was = 0;
	if (__atomic_compare_exchange_n(lock, &was, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE) != 0)
		futex(lock, FUTEX_WAIT, 2, NULL);
}

static void release(uint32_t *lock)
{
	if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2)
		futex(lock, FUTEX_WAKE, 1, NULL);
}

static void *wait_for_table(void *argument)
{
	pthread_setname_np(pthread_self(), "waiter");
	waiter = gettid();
	take(&table_lock);
	release(&table_lock);
	return argument;
}

static void print_result(const char *what, long result)
{
	printf("%s %ld %s\n", what, result, result < 0 ? strerrorname_np(errno) : "");
}

static void print_results(void)
{
	const struct timespec short_time = {0, 2000000};
	uint32_t word = 7;
	print_result("changed", futex(&word, FUTEX_WAIT, 8, NULL));
	print_result("late", futex(&word, FUTEX_WAIT, 7, &short_time));
	print_result("no address", futex(NULL, FUTEX_WAIT, 7, &short_time));
	print_result("not aligned", futex((uint32_t *)((char *)&word + 1), FUTEX_WAIT, 7, &short_time));
	print_result("nobody", futex(&word, FUTEX_WAKE, 1, NULL));
	print_result("another call", syscall(SYS_getpid) == getpid() ? 0 : 1);
}

static void *stay(void *name)
{
	static uint32_t stays;
	if (name)
		pthread_setname_np(pthread_self(), name);
	__atomic_fetch_add(&table_lock, 1, __ATOMIC_RELEASE);
	for (;;)
		futex(&stays, FUTEX_WAIT_BITSET, 0, NULL);
	return NULL;
}

static int leave_silent_threads(void)
{
	pthread_t threads[2];
	if (pthread_create(&threads[0], NULL, stay, "silent") ||
		pthread_create(&threads[1], NULL, stay, NULL))
		return 1;
	while (__atomic_load_n(&table_lock, __ATOMIC_ACQUIRE) != 2)
		usleep(1000);
	return 0;
}

int main(int count, char **arguments)
{
	pthread_t thread;
	if (count == 2 && strcmp(arguments[1], "silent") == 0)
		return leave_silent_threads();
	print_results();
	take(&table_lock);
	if (pthread_create(&thread, NULL, wait_for_table, NULL))
		return 1;
	while (__atomic_load_n(&table_lock, __ATOMIC_ACQUIRE) != 2)
		usleep(1000);
	await_sleep(waiter);
	release(&table_lock);
	return pthread_join(thread, NULL);
}
