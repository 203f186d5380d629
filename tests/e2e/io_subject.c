/* SPDX-License-Identifier: ISC
 *
 * A program that knows nothing of weft, and uses descriptors in the way that its argument names.
 */
#include <aio.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "asleep.h"

enum {
	CONNECTIONS = 3,
	REQUESTS = 50
};

static void check(bool is_true, const char *what)
{
	if (is_true)
		return;
	perror(what);
	exit(1);
}

static void sleep_ms(long ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};
	nanosleep(&time, NULL);
}

static void let_main_wait(void)
{
	await_sleep((int)getpid());
}

/* ---- Sockets ---- */

static struct sockaddr_in loopback(int port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

/* A listening descriptor, and its port. */
static int listen_somewhere(int *ret_port)
{
	struct sockaddr_in address = loopback(0);
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	check(bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, 16) == 0, "listen");
	check(getsockname(fd, (struct sockaddr *)&address, &size) == 0, "getsockname");
	*ret_port = ntohs(address.sin_port);
	return fd;
}

static int connect_to(int port)
{
	struct sockaddr_in address = loopback(port);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	check(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
	return fd;
}

static void ask(int fd)
{
	char byte = 'x';
	check(write(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 1, "ask");
}

/* Asks on all connections in turns. */
static void *be_client(void *argument)
{
	int fds[CONNECTIONS];
	for (int i = 0; i < CONNECTIONS; i++)
		fds[i] = connect_to(*(int *)argument);
	for (int i = 0; i < REQUESTS * CONNECTIONS; i++)
		ask(fds[i % CONNECTIONS]);
	for (int i = 0; i < CONNECTIONS; i++)
		close(fds[i]);
	return NULL;
}

/* ---- A server with epoll ---- */

struct connection {
	int fd;
};

static void watch(int epoll, struct connection *connection, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = connection}};
	connection->fd = fd;
	check(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
}

/* True if it has ended. */
static bool serve(struct connection *connection)
{
	char bytes[16];
	ssize_t got = read(connection->fd, bytes, sizeof(bytes));
	if (got > 0)
		return write(connection->fd, bytes, (size_t)got) != got;
	close(connection->fd);
	return true;
}

static void serve_with_epoll(void)
{
	struct connection listener, connections[CONNECTIONS];
	int port, count = 0, ended = 0, epoll = epoll_create1(0), fd = listen_somewhere(&port);
	pthread_t client;
	watch(epoll, &listener, fd);
	pthread_create(&client, NULL, be_client, &port);
	while (ended < CONNECTIONS) {
		struct epoll_event events[8];
		int ready = epoll_wait(epoll, events, 8, -1);
		for (int i = 0; i < ready; i++) {
			if (events[i].data.ptr == &listener)
				watch(epoll, &connections[count++], accept4(fd, NULL, NULL, SOCK_NONBLOCK));
			else
				ended += serve(events[i].data.ptr);
		}
	}
	pthread_join(client, NULL);
	close(fd);
	close(epoll);
}

/* ---- A proxy with poll ---- */

/* Answers 20 ms after the proxy has begun to wait. */
static void *be_upstream(void *argument)
{
	char byte;
	int fd = accept(*(int *)argument, NULL, NULL);
	while (read(fd, &byte, 1) == 1) {
		let_main_wait();
		check(write(fd, &byte, 1) == 1, "answer");
	}
	close(fd);
	return NULL;
}

static void *be_user(void *argument)
{
	int fd = connect_to(*(int *)argument);
	for (int i = 0; i < 3; i++)
		ask(fd);
	close(fd);
	return NULL;
}

/* Moves what has come from one to the other; false at its end. */
static bool move(int from, int to)
{
	char bytes[16];
	ssize_t got = read(from, bytes, sizeof(bytes));
	return got > 0 && write(to, bytes, (size_t)got) == got;
}

static void be_proxy(void)
{
	int port, upstream_port, listener = listen_somewhere(&port);
	int upstream_listener = listen_somewhere(&upstream_port);
	pthread_t user, server;
	pthread_create(&server, NULL, be_upstream, &upstream_listener);
	pthread_create(&user, NULL, be_user, &port);
	struct pollfd polled[2] = {{.fd = connect_to(upstream_port), .events = POLLIN}};
	polled[1] = (struct pollfd){.fd = accept(listener, NULL, NULL), .events = POLLIN};
	for (bool goes_on = true; goes_on;) {
		check(poll(polled, 2, -1) > 0, "poll");
		for (int i = 0; i < 2 && goes_on; i++)
			if (polled[i].revents)
				goes_on = move(polled[i].fd, polled[1 - i].fd);
	}
	close(polled[0].fd);
	close(polled[1].fd);
	pthread_join(user, NULL);
	pthread_join(server, NULL);
}

/* ---- Other descriptors, with select ---- */

static void *write_late(void *argument)
{
	const int *fds = argument;
	uint64_t one = 1;
	sleep_ms(5);
	check(write(fds[0], "x", 1) == 1 && write(fds[1], &one, sizeof(one)) == sizeof(one), "write");
	return NULL;
}

static void select_several(void)
{
	struct itimerspec time = {.it_interval = {0, 20000000}, .it_value = {0, 20000000}};
	int ends[2], timer = timerfd_create(CLOCK_MONOTONIC, 0), event = eventfd(0, 0);
	pthread_t writer;
	check(pipe(ends) == 0 && timerfd_settime(timer, 0, &time, NULL) == 0, "timer");
	pthread_create(&writer, NULL, write_late, (int[]){ends[1], event});
	bool is_done[3] = {false};
	for (int fds[] = {ends[0], timer, event}; !is_done[0] || !is_done[1] || !is_done[2];) {
		fd_set in;
		FD_ZERO(&in);
		for (int i = 0; i < 3; i++)
			FD_SET(fds[i], &in);
		check(select(event + ends[1] + 1, &in, NULL, NULL, NULL) > 0, "select");
		for (int i = 0; i < 3; i++) {
			uint64_t value;
			if (FD_ISSET(fds[i], &in))
				is_done[i] = read(fds[i], &value, sizeof(value)) > 0;
		}
	}
	pthread_join(writer, NULL);
}

static void *wake_later(void *argument)
{
	for (int i = 0; i < 3; i++) {
		sleep_ms(10);
		check(eventfd_write(*(int *)argument, 1) == 0, "eventfd_write");
	}
	return NULL;
}

/* A loop that another thread wakes, with data that was registered anew. */
static void wake(void)
{
	int epoll = epoll_create1(0), event = eventfd(0, EFD_NONBLOCK);
	struct epoll_event it = {.events = EPOLLIN, .data.fd = event};
	eventfd_t value;
	pthread_t writer;
	check(eventfd_read(event, &value) < 0 && errno == EAGAIN, "eventfd_read");
	check(epoll_ctl(epoll, EPOLL_CTL_ADD, event, &it) == 0, "epoll_ctl");
	it.data.u64 = 777;
	check(epoll_ctl(epoll, EPOLL_CTL_MOD, event, &it) == 0, "epoll_ctl");
	pthread_create(&writer, NULL, wake_later, &event);
	for (int i = 0; i < 3; i++) {
		check(epoll_wait(epoll, &it, 1, -1) == 1, "epoll_wait");
		check(eventfd_read(event, &value) == 0 && value == 1, "eventfd_read");
	}
	pthread_join(writer, NULL);
}

/* ---- Calls that block ---- */

static void *write_slowly(void *argument)
{
	for (int i = 0; i < 3; i++) {
		let_main_wait();
		check(write(*(int *)argument, "x", 1) == 1, "write");
	}
	return NULL;
}

static void block(void)
{
	int ends[2];
	char byte;
	pthread_t writer;
	check(pipe(ends) == 0, "pipe");
	pthread_create(&writer, NULL, write_slowly, &ends[1]);
	for (int i = 0; i < 3; i++)
		check(read(ends[0], &byte, 1) == 1, "read");
	pthread_join(writer, NULL);
}

static void *drain(void *argument)
{
	char bytes[4096];
	let_main_wait();
	while (read(*(int *)argument, bytes, sizeof(bytes)) > 0)
		;
	return NULL;
}

/* Writes more than a pipe holds. */
static void fill(void)
{
	static char bytes[1 << 18];
	int ends[2];
	pthread_t reader;
	check(pipe(ends) == 0, "pipe");
	pthread_create(&reader, NULL, drain, &ends[0]);
	for (int i = 0; i < 3; i++)
		check(write(ends[1], bytes, sizeof(bytes)) == sizeof(bytes), "write");
	close(ends[1]);
	pthread_join(reader, NULL);
}

static void print_pid(void)
{
	printf("%d\n", (int)getpid());
	fflush(stdout);
}

/* Prints its process id, and then makes a call that never returns, after 100 that return at once.
 */
static void get_stuck(bool reads, size_t size)
{
	static char bytes[1 << 18];
	int ends[2];
	check(pipe(ends) == 0, "pipe");
	for (int i = 0; i < 100; i++)
		check(write(ends[1], bytes, 1) == 1 && read(ends[0], bytes, 1) == 1, "pipe");
	print_pid();
	while (!reads)
		check(write(ends[1], bytes, size) == (ssize_t)size, "write");
	check(read(ends[0], bytes, 1) == 1, "read");
}

/* The listener has room for one connection, and nobody accepts. */
static void get_stuck_in_connect(void)
{
	const struct sockaddr_un any = {.sun_family = AF_UNIX};
	struct sockaddr_un address;
	socklen_t size = sizeof(address);
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	check(bind(listener, (const struct sockaddr *)&any, sizeof(any.sun_family)) == 0, "bind");
	check(listen(listener, 0) == 0, "listen");
	check(getsockname(listener, (struct sockaddr *)&address, &size) == 0, "getsockname");
	print_pid();
	for (;;)
		connect(socket(AF_UNIX, SOCK_STREAM, 0), (const struct sockaddr *)&address, size);
}

/* A loop's reply to a client that does not read. */
static void get_stuck_in_reply(void)
{
	static char reply[1 << 20];
	int ends[2];
	char request;
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
	check(write(ends[0], "?", 1) == 1, "write");
	struct pollfd polled[] = {{.fd = ends[1], .events = POLLIN}, {.fd = -1}};
	check(poll(polled, 2, -1) == 1 && read(ends[1], &request, 1) == 1, "read");
	print_pid();
	check(write(ends[1], reply, sizeof(reply)) == sizeof(reply), "reply");
}

static void get_stuck_in_open(void)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/named", getenv("XDG_RUNTIME_DIR"));
	check(mkfifo(path, 0600) == 0, "mkfifo");
	print_pid();
	open(path, O_RDONLY);
}

static void get_stuck_in_read(void)
{
	get_stuck(true, 0);
}

static void get_stuck_in_small_writes(void)
{
	get_stuck(false, 4096);
}

static void get_stuck_in_a_large_write(void)
{
	get_stuck(false, 1 << 18);
}

/* The first write fills the pipe. */
static void get_stuck_in_a_second_write(void)
{
	static const char bytes[1 << 16];
	int ends[2];
	check(pipe(ends) == 0, "pipe");
	printf("%d\n", (int)getpid());
	fflush(stdout);
	check(write(ends[1], bytes, sizeof(bytes)) == sizeof(bytes), "write");
	check(write(ends[1], bytes, 8192) == 8192, "write");
}

static void *hold(void *argument)
{
	int fd = open(argument, O_RDWR);
	check(flock(fd, LOCK_EX) == 0, "flock");
	pthread_barrier_t *barrier = *(pthread_barrier_t **)((char *)argument + 64);
	pthread_barrier_wait(barrier);
	let_main_wait();
	close(fd);
	return NULL;
}

/* Waits for a lock of a file, which another thread holds. */
static void lock_file(void)
{
	struct {
		char path[64];
		pthread_barrier_t *barrier;
	} holder = {.path = "locked"};
	pthread_barrier_t barrier;
	pthread_t thread;
	int fd = open(holder.path, O_CREAT | O_RDWR, 0600);
	holder.barrier = &barrier;
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, hold, &holder);
	pthread_barrier_wait(&barrier);
	check(flock(fd, LOCK_EX) == 0, "flock");
	pthread_join(thread, NULL);
}

/* Holds a lock of a record of the file until its parent waits: such locks belong to processes. */
static void hold_record(int fd, int held, pid_t parent)
{
	struct flock all = {.l_type = F_WRLCK};
	check(fcntl(fd, F_SETLK, &all) == 0, "fcntl");
	check(write(held, "x", 1) == 1, "write");
	await_sleep_of(parent, parent);
	_exit(0);
}

static void wait_for_record(bool by_lockf)
{
	struct flock all = {.l_type = F_WRLCK};
	int fd = open("records", O_CREAT | O_RDWR, 0600), ends[2];
	char byte;
	check(pipe(ends) == 0, "pipe");
	pid_t parent = getpid(), child = fork();
	if (child == 0)
		hold_record(fd, ends[1], parent);
	check(read(ends[0], &byte, 1) == 1, "read");
	check((by_lockf ? lockf(fd, F_LOCK, 0) : fcntl(fd, F_SETLKW, &all)) == 0, "lock");
	waitpid(child, NULL, 0);
}

static void lock_by_lockf(void)
{
	wait_for_record(true);
}

static void lock_by_fcntl(void)
{
	wait_for_record(false);
}

/* Many calls that do not block. */
static void call_often(void)
{
	int ends[2], file = open("often", O_CREAT | O_RDWR, 0600);
	char byte = 'x';
	check(pipe2(ends, O_NONBLOCK) == 0, "pipe");
	for (int i = 0; i < 1000; i++) {
		check(write(ends[1], &byte, 1) == 1 && read(ends[0], &byte, 1) == 1, "pipe");
		check(pwrite(file, &byte, 1, 0) == 1 && pread(file, &byte, 1, 0) == 1, "file");
	}
	check(read(ends[0], &byte, 1) == -1 && errno == EAGAIN, "empty pipe");
}

/* ---- Copies of descriptors ---- */

/* Waits for the descriptor and reads a byte. */
static void take(int fd)
{
	struct pollfd polled = {.fd = fd, .events = POLLIN};
	char byte;
	check(poll(&polled, 1, -1) == 1 && read(fd, &byte, 1) == 1, "take");
}

static void copy(void)
{
	int ends[2];
	check(pipe(ends) == 0 && write(ends[1], "abcde", 5) == 5, "pipe");
	take(ends[0]);
	int second = dup(ends[0]), third = fcntl(second, F_DUPFD, 199); /* the last in the range */
	close(ends[0]);
	take(second);
	check(dup2(second, 200) == 200, "dup2");
	close(second);
	close_range(100, 199, 0);
	check(third == 199 && fcntl(third, F_GETFD) == -1 && errno == EBADF, "close_range");
	pid_t child = vfork();
	if (child == 0) {
		close(200);
		dup2(ends[1], 200);
		_exit(0);
	}
	check(waitpid(child, NULL, 0) == child, "vfork");
	take(200);
	child = fork();
	if (child == 0) {
		take(200);
		close(200);
		exit(0);
	}
	check(waitpid(child, NULL, 0) == child, "fork");
	take(200);
	close(200);
}

/* ---- Names ---- */

static char *own_name;

/* As setproctitle() does: the program's name is now something else. */
static void change_title(void)
{
	int ends[2];
	memset(own_name, '/', strlen(own_name));
	check(pipe(ends) == 0 && write(ends[1], "a", 1) == 1, "pipe");
	pid_t child = fork();
	if (child == 0) {
		take(ends[0]);
		exit(0);
	}
	check(waitpid(child, NULL, 0) == child, "fork");
}

/* ---- Errors ---- */

static void fail(void)
{
	struct sockaddr_in address = loopback(1);
	char byte;
	printf("%zd %d\n", read(-1, &byte, 1), errno);
	printf("%zd %d\n", read(1 << 20, &byte, 1), errno);
	printf("%d %d\n", close(-1), errno);
	printf("%d %d\n", dup2(-1, 5), errno);
	printf("%d %d\n", poll(NULL, 0, 1), errno);
	printf("%d %d\n", epoll_wait(0, &(struct epoll_event){0}, 1, 0), errno);
	printf("%d %d\n",
		connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof(address)),
		errno);
	printf("%d %d\n", fcntl(77, F_SETFL, O_NONBLOCK), errno);
}

/* A server at its limit of descriptors is told of connections that it cannot accept. */
static void accept_too_many(void)
{
	struct sockaddr_in address = loopback(0);
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), failures = 0;
	check(accept(listener, NULL, NULL) == -1 && errno == EINVAL, "accept without listen");
	check(bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 8) == 0 &&
			  getsockname(listener, (struct sockaddr *)&address, &size) == 0,
		"listen");
	check(accept(listener, NULL, NULL) == -1 && errno == EAGAIN, "accept of none");
	int client = socket(AF_INET, SOCK_STREAM, 0);
	check(connect(client, (struct sockaddr *)&address, size) == 0, "connect");
	check(setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, 3}) == 0, "setrlimit");
	struct pollfd ready = {listener, POLLIN, 0};
	for (int i = 0; i < 40; i++) {
		check(poll(&ready, 1, -1) == 1 || errno == EINVAL, "poll");
		failures += accept4(listener, NULL, NULL, 0) == -1 && errno == EMFILE;
	}
	check(failures == 40, "accept");
	int ends[2];
	check(open("/dev/null", O_RDONLY) == -1 && errno == EMFILE, "open");
	check(socket(AF_INET, SOCK_STREAM, 0) == -1 && errno == EMFILE, "socket");
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == -1 && errno == EMFILE, "socketpair");
	check(pipe(ends) == -1 && errno == EMFILE, "pipe");
	check(eventfd(0, 0) == -1 && errno == EMFILE, "eventfd");
}

/* ---- Queues ---- */

static struct {
	int messages, semaphores, ends[2];
	mqd_t queue;
	atomic_int waits; /* that main has begun, or is about to */
} queues;

static void await_wait(int number)
{
	while (atomic_load(&queues.waits) < number)
		sleep_ms(1);
	let_main_wait();
}

struct message {
	long type;
	char bytes[8];
};

static void *serve_queues(void *unused)
{
	struct message message = {.type = 1};
	char bytes[8] = "";
	await_wait(1);
	msgsnd(queues.messages, &message, sizeof(message.bytes), 0);
	await_wait(2);
	semop(queues.semaphores, &(struct sembuf){.sem_op = 1}, 1);
	await_wait(3);
	mq_send(queues.queue, bytes, sizeof(bytes), 0);
	await_wait(4);
	mq_receive(queues.queue, bytes, sizeof(bytes), NULL);
	await_wait(5);
	check(write(queues.ends[1], bytes, 1) == 1, "write");
	return unused;
}

static void wait_for_queues(void)
{
	struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
	struct message message;
	pthread_t server;
	char name[32], bytes[8];
	snprintf(name, sizeof(name), "/weft-%d", (int)getpid());
	queues.messages = msgget(IPC_PRIVATE, 0600);
	queues.semaphores = semget(IPC_PRIVATE, 1, 0600);
	queues.queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
	check(queues.queue >= 0 && mq_unlink(name) == 0 && pipe(queues.ends) == 0, "mq_open");
	struct aiocb request = {.aio_fildes = queues.ends[0], .aio_buf = bytes, .aio_nbytes = 1};
	const struct aiocb *requests[] = {&request};
	pthread_create(&server, NULL, serve_queues, NULL);
	atomic_fetch_add(&queues.waits, 1);
	printf("%zd\n", msgrcv(queues.messages, &message, sizeof(message.bytes), 0, 0));
	atomic_fetch_add(&queues.waits, 1);
	printf("%d\n", semop(queues.semaphores, &(struct sembuf){.sem_op = -1}, 1));
	atomic_fetch_add(&queues.waits, 1);
	printf("%zd\n", mq_receive(queues.queue, bytes, sizeof(bytes), NULL));
	printf("%d\n", mq_send(queues.queue, bytes, sizeof(bytes), 0));
	atomic_fetch_add(&queues.waits, 1);
	printf("%d\n", mq_send(queues.queue, bytes, sizeof(bytes), 0));
	check(aio_read(&request) == 0, "aio_read");
	atomic_fetch_add(&queues.waits, 1);
	printf("%d\n", aio_suspend(requests, 1, NULL));
	printf("%zd %d\n", msgrcv(queues.messages, &message, 8, 0, IPC_NOWAIT), errno);
	printf("%d %d\n",
		semtimedop(queues.semaphores, &(struct sembuf){.sem_op = -1}, 1, &(struct timespec){0, 1}),
		errno);
	printf("%d %d\n", mq_timedsend(queues.queue, bytes, 8, 0, &(struct timespec){1, 0}), errno);
	msgctl(queues.messages, IPC_RMID, NULL);
	semctl(queues.semaphores, 0, IPC_RMID);
	pthread_join(server, NULL);
}

/* ---- A client ---- */

static void *answer_late(void *listener)
{
	char byte;
	int fd = accept(*(int *)listener, NULL, NULL);
	check(read(fd, &byte, 1) == 1, "read");
	let_main_wait();
	check(write(fd, &byte, 1) == 1, "write");
	close(fd);
	return NULL;
}

/* As psql and curl do: it waits for one connection, beside which curl has a pair of sockets. */
static void be_waiting_client(void)
{
	int port, listener = listen_somewhere(&port), wakers[2], error;
	socklen_t size = sizeof(error);
	char byte = 'x';
	pthread_t server;
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, wakers) == 0, "socketpair");
	for (nfds_t polled = 1; polled <= 2; polled++) {
		pthread_create(&server, NULL, answer_late, &listener);
		int fd = connect_to(port);
		struct pollfd both[] = {{fd, POLLOUT, 0}, {wakers[0], POLLIN, 0}};
		check(poll(both, polled, -1) == 1, "poll");
		check(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0, "getsockopt");
		check(write(fd, &byte, 1) == 1, "write");
		both[0].events = POLLIN;
		check(poll(both, polled, -1) == 1 && read(fd, &byte, 1) == 1, "read");
		close(fd);
		pthread_join(server, NULL);
	}
}

/* ---- A number that is used again ---- */

/* poll reports a pipe, which is closed unused; its number then belongs to a file. */
static void reuse(void)
{
	int first[2], second[2];
	char byte;
	check(pipe(first) == 0 && pipe(second) == 0, "pipe");
	close(first[1]);
	struct pollfd both[] = {{first[0], POLLIN, 0}, {second[0], POLLIN, 0}};
	check(poll(both, 2, -1) == 1, "poll");
	close(first[0]);
	int file = open(own_name, O_RDONLY);
	check(file == first[0] && read(file, &byte, 1) == 1, "read");
	dup2(file, second[1]); /* The same without a close. */
	check(poll(both + 1, 1, -1) == 1, "poll");
	dup2(file, second[0]);
	check(read(second[0], &byte, 1) == 1, "read");
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} parts[] = {{"epoll", serve_with_epoll}, {"proxy", be_proxy}, {"select", select_several},
		{"wake", wake}, {"block", block}, {"fill", fill}, {"lock", lock_file},
		{"fcntl", lock_by_fcntl}, {"lockf", lock_by_lockf}, {"stuck read", get_stuck_in_read},
		{"stuck connect", get_stuck_in_connect}, {"stuck open", get_stuck_in_open},
		{"stuck reply", get_stuck_in_reply}, {"stuck writes", get_stuck_in_small_writes},
		{"stuck write", get_stuck_in_a_large_write}, {"stuck second", get_stuck_in_a_second_write},
		{"often", call_often}, {"copy", copy}, {"title", change_title}, {"fail", fail},
		{"accept", accept_too_many}, {"reuse", reuse}, {"client", be_waiting_client},
		{"queues", wait_for_queues}};
	own_name = arguments[0];
	for (size_t i = 0; count == 2 && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(arguments[1], parts[i].name) == 0) {
			parts[i].function();
			return 0;
		}
	return 2;
}
