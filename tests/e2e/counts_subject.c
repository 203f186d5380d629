/* SPDX-License-Identifier: ISC
 *
 * A program that knows nothing of weft and does a known amount of work, for the test of the
 * adapters' metrics.
 *
 *     pipe N        writes and reads 100 bytes N times
 *     fork N M      the same, and then M times in a forked child
 *     messages      1000 messages of 10 bytes through a pair of sockets, each looked at before it
 * is read; 4 in two calls for several; 50 bytes moved from a pipe to a pipe loop N        N rounds
 * of epoll, in each of which 8 bytes are read lock N        a thread waits N times for a lock that
 * another one holds
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(long result, long wanted)
{
	if (result != wanted) {
		perror("counts_subject");
		exit(1);
	}
}

static void use_pipe(int times)
{
	static char bytes[100];
	int ends[2];
	check(pipe(ends), 0);
	for (int i = 0; i < times; i++) {
		check(write(ends[1], bytes, sizeof(bytes)), sizeof(bytes));
		check(read(ends[0], bytes, sizeof(bytes)), sizeof(bytes));
	}
}

static void use_pipe_in_child(int times)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		use_pipe(times);
		exit(0);
	}
	check(waitpid(child, &status, 0), child);
	check(status, 0);
}

static void send_several(const int ends[2])
{
	char bytes[2][10] = {"", ""};
	struct iovec parts[2] = {{bytes[0], 10}, {bytes[1], 10}};
	struct mmsghdr messages[2];
	memset(messages, 0, sizeof(messages));
	for (int i = 0; i < 2; i++) {
		messages[i].msg_hdr.msg_iov = &parts[i];
		messages[i].msg_hdr.msg_iovlen = 1;
	}
	check(sendmmsg(ends[0], messages, 2, 0), 2);
	check(recvmmsg(ends[1], messages, 2, 0, NULL), 2);
}

static void move_bytes(void)
{
	int from[2], to[2];
	char bytes[50] = "";
	check(pipe(from) + pipe(to), 0);
	check(write(from[1], bytes, sizeof(bytes)), sizeof(bytes));
	check(splice(from[0], NULL, to[1], NULL, sizeof(bytes), 0), sizeof(bytes));
	check(read(to[0], bytes, sizeof(bytes)), sizeof(bytes));
}

static void send_messages(void)
{
	char bytes[10] = "";
	int ends[2];
	check(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
	for (int i = 0; i < 1000; i++) {
		check(send(ends[0], bytes, sizeof(bytes), 0), sizeof(bytes));
		check(recv(ends[1], bytes, sizeof(bytes), MSG_PEEK), sizeof(bytes));
		check(recv(ends[1], bytes, sizeof(bytes), 0), sizeof(bytes));
	}
	send_several(ends);
	move_bytes();
}

static void run_loop(int rounds)
{
	int ends[2], epoll = epoll_create1(0);
	struct epoll_event event = {.events = EPOLLIN};
	uint64_t bytes = 0;
	check(pipe(ends), 0);
	event.data.fd = ends[0];
	check(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event), 0);
	for (int i = 0; i < rounds; i++) {
		check(write(ends[1], &bytes, sizeof(bytes)), sizeof(bytes));
		check(epoll_wait(epoll, &event, 1, -1), 1);
		check(read(event.data.fd, &bytes, sizeof(bytes)), sizeof(bytes));
	}
}

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static int waiter;

static void *wait_for_lock(void *unused)
{
	__atomic_store_n(&waiter, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	pthread_mutex_lock(&table_lock);
	pthread_mutex_unlock(&table_lock);
	return unused;
}

/* The state of the thread that waits: 'S' if it sleeps. */
static int state_of_waiter(void)
{
	char path[64], line[512] = "";
	int number = __atomic_load_n(&waiter, __ATOMIC_ACQUIRE);
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", number);
	int fd = number ? open(path, O_RDONLY) : -1;
	if (fd < 0 || read(fd, line, sizeof(line) - 1) < 0)
		return 0;
	close(fd);
	const char *name_end = strrchr(line, ')');
	return name_end && name_end[1] ? name_end[2] : 0;
}

static void wait_for_locks(int times)
{
	for (int i = 0; i < times; i++) {
		pthread_t thread;
		waiter = 0;
		pthread_mutex_lock(&table_lock);
		check(pthread_create(&thread, NULL, wait_for_lock, NULL), 0);
		while (state_of_waiter() != 'S')
			sched_yield();
		pthread_mutex_unlock(&table_lock);
		check(pthread_join(thread, NULL), 0);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const int times = argc > 2 ? atoi(argv[2]) : 0;
	if (strcmp(what, "pipe") == 0 || strcmp(what, "fork") == 0)
		use_pipe(times);
	if (strcmp(what, "fork") == 0)
		use_pipe_in_child(argc > 3 ? atoi(argv[3]) : 0);
	if (strcmp(what, "messages") == 0)
		send_messages();
	if (strcmp(what, "loop") == 0)
		run_loop(times);
	if (strcmp(what, "lock") == 0)
		wait_for_locks(times);
	if (argc > 3 && strcmp(argv[3], "stay") == 0) {
		printf("%d\n", (int)getpid());
		fflush(stdout);
		while (getchar() != EOF)
			;
	}
	return 0;
}
