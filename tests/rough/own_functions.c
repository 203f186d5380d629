/* SPDX-License-Identifier: ISC
 *
 * Rule: the recorder and the hooks make their own system calls. This program has functions of its
 * own that are called like libc's, and the dynamic linker finds these first. Nobody but the program
 * calls them.
 */
#include <pthread.h>
#include <stdio.h>

/* Headers declare some of them otherwise. */
#define OWN(name)                                                                \
	__attribute__((visibility("default"))) long own_##name(void) __asm__(#name); \
	long own_##name(void)                                                        \
	{                                                                            \
		puts("my own " #name);                                                   \
		return -12345;                                                           \
	}

/* Those of the kernel. */
OWN(clock_gettime)
OWN(getpid)
OWN(getppid)
OWN(gettid)
OWN(open)
OWN(open64)
OWN(openat)
OWN(close)
OWN(read)
OWN(write)
OWN(pread)
OWN(pwrite)
OWN(lseek)
OWN(poll)
OWN(select)
OWN(stat)
OWN(fstat)
OWN(fstat64)
OWN(symlink)
OWN(readlink)
OWN(unlink)
OWN(flock)
OWN(syscall)
OWN(prctl)
OWN(getrandom)
OWN(sched_yield)
OWN(usleep)
OWN(nanosleep)
OWN(kill)
OWN(connect)
OWN(accept)
OWN(bind)
OWN(listen)
OWN(send)
OWN(recv)
OWN(epoll_wait)
OWN(sem_wait)
OWN(sem_trywait)
OWN(sem_post)
OWN(index)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_lock(void *unused)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t threads[4];
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, wait_for_lock, NULL))
			return 98;
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", own_connect() + own_getpid());
	return 0;
}
