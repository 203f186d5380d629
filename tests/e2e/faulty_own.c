/* SPDX-License-Identifier: ISC
 *
 * Programs whose threads wait for what only their own process can give, and sound twins in which
 * others may give it, without libweft. The first line that each prints has the number of its
 * process. They go on until they are killed.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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

static pthread_t begin(void *(*function)(void *), void *of, const char *name)
{
	pthread_t thread;
	check(pthread_create(&thread, NULL, function, of) == 0, "pthread_create");
	pthread_setname_np(thread, name);
	return thread;
}

/* ---- Each of two threads waits for a message of the other one ---- */

/* By which a thread reads and writes. */
struct ends {
	int reads, writes;
};

static struct ends ends[2];

static void *exchange(void *number)
{
	const struct ends *own = &ends[(size_t)number];
	char byte = 0;
	for (int i = 0; i < 3; i++) {
		check(write(own->writes, &byte, 1) == 1, "write");
		check(read(own->reads, &byte, 1) == 1, "read");
	}
	check(read(own->reads, &byte, 1) == 1, "read");
	return NULL;
}

static void wait_for_each_other(void)
{
	pthread_t left = begin(exchange, (void *)0, "left");
	begin(exchange, (void *)1, "right");
	print_process();
	pthread_join(left, NULL);
}

static void make_pipes(void)
{
	for (int i = 0; i < 2; i++) {
		int both[2];
		check(pipe(both) == 0, "pipe");
		ends[i].reads = both[0];
		ends[1 - i].writes = both[1];
	}
}

static void wait_at_pipes(void)
{
	make_pipes();
	wait_for_each_other();
}

static void wait_at_sockets(void)
{
	int both[2];
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, both) == 0, "socketpair");
	for (int i = 0; i < 2; i++)
		ends[i] = (struct ends){both[i], both[i]};
	wait_for_each_other();
}

static void write_byte(int number)
{
	const char byte = (char)number;
	check(write(ends[0].writes, &byte, 1) == 1, "write");
}

/* The handler of a signal may write to the pipe. */
static void wait_for_handler(void)
{
	make_pipes();
	signal(SIGUSR1, write_byte);
	wait_for_each_other();
}

/* A child has the pipes, too. It ends with its parent. */
static void wait_for_child(void)
{
	const pid_t parent = getpid();
	make_pipes();
	const pid_t child = fork();
	check(child >= 0, "fork");
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			pause();
		_exit(0);
	}
	wait_for_each_other();
}

/* ---- A futex as libstdc++ has it: it never says that other processes do not use it ---- */

static void *wait_for_word(void *word)
{
	while (__atomic_load_n((uint32_t *)word, __ATOMIC_ACQUIRE) == 0)
		syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL);
	return NULL;
}

static void wait_at(void *word)
{
	pthread_t waiter = begin(wait_for_word, word, "waiter");
	print_process();
	pthread_join(waiter, NULL);
}

/* On a stack, as where the heap is that of a thread. */
static void wait_for_own_word(void)
{
	uint32_t word = 0;
	wait_at(&word);
}

static void wait_for_shared_word(void)
{
	wait_at(
		mmap(NULL, sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} parts[] = {{"pipes", wait_at_pipes}, {"sockets", wait_at_sockets},
		{"handler", wait_for_handler}, {"child", wait_for_child}, {"word", wait_for_own_word},
		{"shared-word", wait_for_shared_word}};
	for (size_t i = 0; count == 2 && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(arguments[1], parts[i].name) == 0) {
			parts[i].function();
			return 0;
		}
	return 2;
}
