/* SPDX-License-Identifier: ISC
 *
 * Programs with a fault in how they use descriptors, and their sound twins, without libweft. The
 * first line that each prints has the number of its process. They go on until they are killed.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
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

static void begin(void *(*function)(void *), void *of, const char *name)
{
	pthread_t thread;
	check(pthread_create(&thread, NULL, function, of) == 0, "pthread_create");
	pthread_setname_np(thread, name);
}

static int listen_at(struct sockaddr_in *ret_address)
{
	const int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(*ret_address);
	*ret_address = (struct sockaddr_in){.sin_family = AF_INET};
	ret_address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	check(bind(listener, (struct sockaddr *)ret_address, size) == 0 && listen(listener, 8) == 0 &&
			  getsockname(listener, (struct sockaddr *)ret_address, &size) == 0,
		"listen");
	return listener;
}

static int connect_to(const struct sockaddr_in *address)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	check(connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0, "connect");
	return fd;
}

/* ---- A reply to a client that does not read, while a lock is held ---- */

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static sem_t is_served;

struct reply {
	int fd;
	bool is_locked;
};

static void *reply_at_length(void *of)
{
	const struct reply *reply = of;
	static char page[1 << 16];
	pthread_mutex_lock(&table);
	sem_post(&is_served);
	if (!reply->is_locked)
		pthread_mutex_unlock(&table);
	while (send(reply->fd, page, sizeof(page), MSG_NOSIGNAL) > 0)
		;
	return NULL;
}

static void *use_table(void *unused)
{
	sem_wait(&is_served);
	pthread_mutex_lock(&table);
	pthread_mutex_unlock(&table);
	pause();
	return unused;
}

static void reply_to(bool is_locked)
{
	struct sockaddr_in address;
	const int listener = listen_at(&address), client = connect_to(&address);
	struct reply reply = {accept(listener, NULL, NULL), is_locked};
	check(client >= 0 && reply.fd >= 0, "accept");
	begin(reply_at_length, &reply, "server");
	begin(use_table, NULL, "other");
	print_process();
	pause();
}

static void reply_locked(void)
{
	reply_to(true);
}

static void reply_unlocked(void)
{
	reply_to(false);
}

/* ---- Requests that epoll does not report ---- */

enum {
	REQUEST = 200
};

struct served {
	int fd;
	uint32_t events;
	bool is_sound; /* reads all, or has the descriptor reported again */
};

static void answer(const struct served *served, int epoll, size_t *got)
{
	char bytes[REQUEST / 4];
	struct epoll_event event = {.events = EPOLLIN | served->events};
	ssize_t size;
	do {
		size = read(served->fd, bytes, sizeof(bytes));
		*got += size > 0 ? (size_t)size : 0;
	} while (size > 0 && (served->is_sound || served->events != EPOLLET));
	if (*got >= REQUEST) {
		*got -= REQUEST;
		check(write(served->fd, "ok", 2) == 2, "write");
	}
	if (served->is_sound && served->events == EPOLLONESHOT)
		check(epoll_ctl(epoll, EPOLL_CTL_MOD, served->fd, &event) == 0, "epoll_ctl");
}

static void *serve(void *of)
{
	const struct served *served = of;
	const int epoll = epoll_create1(0);
	struct epoll_event event = {.events = EPOLLIN | served->events};
	size_t got = 0;
	check(epoll_ctl(epoll, EPOLL_CTL_ADD, served->fd, &event) == 0, "epoll_ctl");
	while (epoll_wait(epoll, &event, 1, -1) == 1)
		answer(served, epoll, &got);
	return NULL;
}

/* The sound server gets three requests, and half of one more. */
static void ask(uint32_t events, bool is_sound)
{
	struct sockaddr_in address;
	static const char request[REQUEST];
	char reply[2];
	const int listener = listen_at(&address), client = connect_to(&address);
	struct served served = {accept4(listener, NULL, NULL, SOCK_NONBLOCK), events, is_sound};
	check(served.fd >= 0, "accept");
	begin(serve, &served, "server");
	print_process();
	for (int i = 0; i < 3; i++)
		check(send(client, request, REQUEST, 0) == REQUEST && recv(client, reply, 2, 0) > 0, "ask");
	check(send(client, request, REQUEST / 2, 0) > 0 && recv(client, reply, 2, 0) > 0, "ask");
}

static void leave_unread(void)
{
	ask(EPOLLET, false);
}

static void read_all(void)
{
	ask(EPOLLET, true);
}

static void leave_unarmed(void)
{
	ask(EPOLLONESHOT, false);
}

static void arm_again(void)
{
	ask(EPOLLONESHOT, true);
}

/* ---- A lock of a file that is lost with another descriptor ---- */

static void look_at_file(bool opens_it_again)
{
	char path[] = "/tmp/weft-test-XXXXXX", byte;
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	const int file = mkstemp(path);
	check(file >= 0 && fcntl(file, F_SETLK, &lock) == 0, "fcntl");
	const int other = opens_it_again ? open(path, O_RDONLY) : dup(file);
	check(other >= 0 && read(other, &byte, 1) == 0 && unlink(path) == 0, "open");
	if (!opens_it_again) {
		lock.l_type = F_UNLCK;
		check(fcntl(file, F_SETLK, &lock) == 0, "fcntl");
	}
	close(other);
	print_process();
	pause();
}

static void lose_lock(void)
{
	look_at_file(true);
}

static void keep_lock(void)
{
	look_at_file(false);
}

/* A child that shares the memory closes a descriptor of the file. Then a copy is closed, which ends
 * the lock on purpose; and one of another file, whose lock was taken twice and given back. */
static void lose_none(void)
{
	char path[] = "/tmp/weft-test-XXXXXX", second[] = "/tmp/weft-test-XXXXXX";
	const int file = mkstemp(path), other = mkstemp(second);
	check(file >= 0 && other >= 0 && lockf(file, F_LOCK, 0) == 0, "lockf");
	const int copy = dup(file), childs = open(path, O_RDONLY);
	const pid_t child = vfork();
	if (child == 0) {
		close(childs);
		_exit(0);
	}
	check(child > 0 && waitpid(child, NULL, 0) == child, "vfork");
	check(lockf(other, F_LOCK, 0) == 0 && lockf(other, F_LOCK, 0) == 0, "lockf");
	check(lockf(other, F_ULOCK, 0) == 0 && close(open(second, O_RDONLY)) == 0, "lockf");
	close(other);
	close(copy);
	check(unlink(path) == 0 && unlink(second) == 0, "unlink");
	print_process();
	pause();
}

/* ---- Pipes that are full, and that only their own process could read ---- */

static int left[2], right[2];

/* More than a pipe holds. */
static void fill(int fd)
{
	static const char bytes[4096];
	for (int i = 0; i < 64; i++)
		check(write(fd, bytes, sizeof(bytes)) == sizeof(bytes), "write");
}

static void fill_own(void)
{
	check(pipe(left) == 0, "pipe");
	print_process();
	fill(left[1]);
}

static void *fill_then_read(void *ends)
{
	char bytes[4096];
	const int *fds = ends; /* to write, and to read */
	fill(fds[0]);
	while (read(fds[1], bytes, sizeof(bytes)) > 0)
		;
	return NULL;
}

static void fill_both(void)
{
	check(pipe(left) == 0 && pipe(right) == 0, "pipe");
	int of_left[2] = {left[1], right[0]}, of_right[2] = {right[1], left[0]};
	print_process();
	begin(fill_then_read, of_left, "left");
	fill_then_read(of_right);
}

static void *read_later(void *fd)
{
	char bytes[4096];
	pause();
	while (read(*(int *)fd, bytes, sizeof(bytes)) > 0)
		;
	return NULL;
}

/* All input is written to a child of vfork before its output is read. */
static void fill_filter(void)
{
	check(pipe2(left, O_CLOEXEC) == 0 && pipe2(right, O_CLOEXEC) == 0, "pipe2");
	const pid_t child = vfork();
	if (child == 0) {
		if (dup2(left[0], STDIN_FILENO) == 0 && dup2(right[1], STDOUT_FILENO) == 1)
			execlp("cat", "cat", (char *)NULL);
		_exit(1);
	}
	close(left[0]);
	close(right[1]);
	printf("%d %d\n", (int)getpid(), (int)child);
	fflush(stdout);
	for (int i = 0; i < 4; i++) /* cat has 128 KiB, and the pipes as much together */
		fill(left[1]);
}

/* Another thread reads when a signal has come. */
static void fill_for_thread(void)
{
	check(pipe(left) == 0, "pipe");
	begin(read_later, &left[0], "reader");
	print_process();
	fill(left[1]);
}

/* The child has the reading end, too. It ends with its parent. */
static void fill_beside(long (*begin_child)(void))
{
	const pid_t parent = getpid();
	check(pipe(left) == 0, "pipe");
	const long child = begin_child();
	check(child >= 0, "child");
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			pause();
		_exit(0);
	}
	print_process();
	fill(left[1]);
}

static long by_fork(void)
{
	return fork();
}

static void fill_for_child(void)
{
	fill_beside(by_fork);
}

/* Hooks do not see that a child begins. */
static long by_clone(void)
{
	return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void fill_for_clone(void)
{
	fill_beside(by_clone);
}

/* The reading end is on the way to the process at the other end of a socket. */
static void fill_handed_on(void)
{
	char control[CMSG_SPACE(sizeof(int))] = "", byte = 0;
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	int sockets[2];
	check(pipe(left) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0, "pipe");
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &left[0], sizeof(int));
	check(sendmsg(sockets[0], &message, 0) == 1, "sendmsg");
	print_process();
	fill(left[1]);
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} parts[] = {{"locked", reply_locked}, {"unlocked", reply_unlocked}, {"unread", leave_unread},
		{"read", read_all}, {"unarmed", leave_unarmed}, {"armed", arm_again},
		{"lose-lock", lose_lock}, {"keep-lock", keep_lock}, {"lose-none", lose_none},
		{"fill-own", fill_own}, {"fill-both", fill_both}, {"fill-filter", fill_filter},
		{"fill-for-thread", fill_for_thread}, {"fill-for-child", fill_for_child},
		{"fill-for-clone", fill_for_clone}, {"fill-handed-on", fill_handed_on}};
	for (size_t i = 0; count == 2 && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(arguments[1], parts[i].name) == 0) {
			parts[i].function();
			return 0;
		}
	return 2;
}
