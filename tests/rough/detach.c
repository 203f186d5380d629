/* SPDX-License-Identifier: ISC
 *
 * Rule: the program's memory is not read after the original has run. A pthread_t may be gone when
 * pthread_create returns, because the new thread has it already, and may free it.
 *
 * Threads are detached in each way, and their pthread_t lies in memory that is unmapped, in memory
 * that is freed and used again, and on the stack.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <threads.h>
#include <unistd.h>

enum {
	TIMES = 3000,
	ALIVE_MAX = 20,
	PAGE = 4096
};

static atomic_int alive;

/* The memory of the thread's handle, and its argument. */
static void *map(void)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		exit(98);
	return page;
}

static void await(int most)
{
	while (atomic_load(&alive) > most)
		sched_yield();
}

/* ---- A thread that detaches itself, and unmaps its pthread_t ---- */

static void *unmap(void *page)
{
	pthread_detach(pthread_self());
	munmap(page, PAGE);
	atomic_fetch_sub(&alive, 1);
	return NULL;
}

static int unmap_c11(void *page)
{
	thrd_detach(thrd_current());
	munmap(page, PAGE);
	atomic_fetch_sub(&alive, 1);
	return 0;
}

static void *unmap_detached(void *page)
{
	munmap(page, PAGE);
	atomic_fetch_sub(&alive, 1);
	return NULL;
}

/* The handle lies at the begin of the page, and the argument is the page: its memory is shared on
 * purpose. */
static int start(int way, const pthread_attr_t *detached, pthread_t *thread)
{
	void *page = (void *)(uintptr_t)thread;
	return way == 0   ? pthread_create(thread, NULL, unmap, page)
		   : way == 1 ? pthread_create(thread, detached, unmap_detached, page)
					  : thrd_create(thread, unmap_c11, page);
}

static void unmapped(void)
{
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < TIMES; i++) {
		void *page = map();
		atomic_fetch_add(&alive, 1);
		if (start(i % 3, &attributes, page))
			exit(97);
		await(ALIVE_MAX);
	}
	await(0);
	printf("%d threads have unmapped theirs\n", TIMES);
}

/* ---- Detached by another thread ---- */

static void *count(void *unused)
{
	atomic_fetch_sub(&alive, 1);
	return unused;
}

static void by_the_creator(void)
{
	for (int i = 0; i < TIMES; i++) {
		pthread_t *thread = malloc(sizeof(*thread));
		atomic_fetch_add(&alive, 1);
		if (!thread || pthread_create(thread, NULL, count, NULL) || pthread_detach(*thread))
			exit(96);
		memset(thread, 0x55, sizeof(*thread));
		free(thread);
		await(ALIVE_MAX);
	}
	await(0);
	printf("%d threads were detached\n", TIMES);
}

/* ---- Memory that is used again at once ---- */

struct job {
	pthread_t thread;
	char text[56];
};

static void *overwrite(void *job)
{
	pthread_detach(pthread_self());
	memset(job, 0xee, sizeof(struct job));
	free(job);
	atomic_fetch_sub(&alive, 1);
	return NULL;
}

static void freed(void)
{
	for (int i = 0; i < TIMES; i++) {
		struct job *job = calloc(1, sizeof(*job));
		atomic_fetch_add(&alive, 1);
		if (!job || pthread_create(&job->thread, NULL, overwrite, job))
			exit(95);
		await(ALIVE_MAX);
	}
	await(0);
	printf("%d threads have freed theirs\n", TIMES);
}

int main(void)
{
	unmapped();
	by_the_creator();
	freed();
	return 0;
}
