/* SPDX-License-Identifier: ISC
 *
 * Rule: memory is the program's that its own handlers of fork map in the child, wherever the kernel
 * maps it, and so are the threads that they begin. The handler is older than the recorder's, as
 * that of a sanitizer or of a library that begins its threads again.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	BLOCKS = 64,
	BYTES = 256 << 10, /* all of them are as large as a ring */
	CHILDREN = 8
};

static unsigned char *blocks[BLOCKS];
static pthread_t thread;
static bool has_thread; /* the next child begins one */

static void *work(void *unused)
{
	return unused;
}

static void on_child(void)
{
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memset(blocks[i], i + 1, BYTES);
	}
	if (has_thread)
		pthread_create(&thread, NULL, work, blocks);
}

static void on_load(void)
{
	pthread_atfork(NULL, NULL, on_child);
}

/* Runs before all constructors. */
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = on_load;

static int use_memory(void)
{
	void *result;
	usleep(1000);
	if (has_thread && (pthread_join(thread, &result) != 0 || result != blocks))
		return 2;
	for (int i = 0; i < BLOCKS; i++)
		for (int k = 0; k < BYTES; k += 64)
			if (blocks[i][k] != i + 1)
				return 3;
	return 0;
}

int main(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		int status = 0;
		has_thread = i % 2;
		pid_t child = fork();
		if (child == 0)
			_exit(use_memory());
		if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
			printf("child %d: %x\n", i, status);
			return 1;
		}
	}
	puts("all children have their memory");
	return 0;
}
