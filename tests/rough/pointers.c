/* SPDX-License-Identifier: ISC
 *
 * Rule: the program's memory is not read before the kernel has accepted it. Calls with memory that
 * cannot be read or written, that ends too early, or whose size is wrong fail as they do alone.
 * Garbage collectors and unwinders find out in this way which memory there is.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	PAGE = 4096
};

static int ends[2], pair[2], loop, timer, server, client, signals, queue, semaphores;
static mqd_t messages;

/* Says what a call has returned; numbers of descriptors and bytes may differ, but not their sign.
 */
static void say(const char *call, const char *memory, long result)
{
	printf("%s %s: %s\n", call, memory, result < 0 ? strerrorname_np(errno) : "done");
}

#define TRY(call)                         \
	do {                                  \
		errno = 0;                        \
		say(#call, memory, (long)(call)); \
	} while (0)

static void try_waits(const char *memory, void *bad)
{
	volatile int none = -1;
	static const struct timespec soon = {.tv_nsec = 1000};
	TRY(poll(bad, 1, 0));
	TRY(poll(bad, 2, 1));
	TRY(poll(bad, 20, 0));
	TRY(poll(bad, UINT_MAX, 0));
	TRY(ppoll(bad, 1, &soon, NULL));
	TRY(ppoll(NULL, 0, &soon, bad));
	TRY(select(ends[0] + 1, bad, NULL, NULL, &(struct timeval){0, 1}));
	TRY(select(1024, NULL, bad, NULL, &(struct timeval){0, 1}));
	TRY(select(-1, bad, NULL, NULL, &(struct timeval){0, 1}));
	TRY(select(INT_MAX, bad, NULL, NULL, &(struct timeval){0, 1}));
	TRY(pselect(1, bad, NULL, NULL, &soon, NULL));
	TRY(pselect(0, NULL, NULL, NULL, &soon, bad));
	TRY(epoll_wait(loop, bad, 1, 0));
	TRY(epoll_wait(loop, bad, INT_MAX / 16, 0));
	TRY(epoll_wait(loop, bad, none, 0));
	TRY(epoll_pwait2(loop, bad, 1, &soon, NULL));
	TRY(epoll_ctl(loop, EPOLL_CTL_MOD, ends[0], bad));
	TRY(epoll_ctl(loop, EPOLL_CTL_DEL, pair[1], bad));
	if (bad) /* NULL is no limit */
		TRY(epoll_pwait2(loop, &(struct epoll_event){0}, 1, bad, NULL));
}

static void try_transfers(const char *memory, void *bad)
{
	struct iovec part = {bad, 4};
	struct msghdr message = {.msg_iov = bad, .msg_iovlen = 1},
				  named = {.msg_name = bad, .msg_namelen = 16};
	TRY(write(ends[1], bad, 1));
	TRY(writev(ends[1], bad, 1));
	TRY(writev(ends[1], &part, 1));
	TRY(writev(ends[1], bad, INT_MAX));
	TRY(readv(ends[0], bad, 1));
	TRY(read(ends[0], bad, PAGE));
	TRY(read(-1, bad, PAGE));
	TRY(send(pair[0], bad, 1, MSG_DONTWAIT));
	TRY(sendto(pair[0], "a", 1, MSG_DONTWAIT, bad, 1 << 20));
	TRY(sendmsg(pair[0], bad, MSG_DONTWAIT));
	TRY(sendmsg(pair[0], &message, MSG_DONTWAIT));
	TRY(sendmsg(pair[0], &named, MSG_DONTWAIT));
	TRY(recv(pair[1], bad, 1, MSG_DONTWAIT));
	TRY(recvmsg(pair[1], bad, MSG_DONTWAIT));
	TRY(recvmmsg(pair[1], bad, 1, MSG_DONTWAIT, NULL));
	TRY(sendmmsg(pair[0], bad, 1, MSG_DONTWAIT));
	TRY(sendfile(pair[0], ends[0], bad, 1));
	TRY(read(signals, bad, 128));
}

static void try_objects(const char *memory, void *bad)
{
	static const struct timespec none = {0};
	TRY(pipe(bad));
	TRY(pipe2(bad, O_CLOEXEC));
	TRY(socketpair(AF_UNIX, SOCK_STREAM, 0, bad));
	TRY(connect(client, bad, 16));
	TRY(connect(client, bad, UINT_MAX));
	TRY(bind(client, bad, 16));
	TRY(accept(server, bad, &(socklen_t){16}));
	TRY(accept4(server, NULL, bad, SOCK_NONBLOCK));
	TRY(getsockopt(server, SOL_SOCKET, SO_ERROR, &(int){0}, bad));
	TRY(getsockopt(server, SOL_SOCKET, SO_ERROR, bad, &(socklen_t){1}));
	TRY(ioctl(timer, FIONBIO, bad));
	TRY(signalfd(-1, bad, 0));
	TRY(timerfd_settime(timer, 0, bad, NULL));
	TRY(timerfd_settime(timer, 0, &(struct itimerspec){0}, bad ? bad : (void *)16));
	TRY(open(bad, O_RDONLY));
	TRY(openat(AT_FDCWD, bad, O_RDONLY));
	TRY(creat(bad, 0600));
	TRY(msgsnd(queue, bad, 4, IPC_NOWAIT));
	TRY(msgrcv(queue, bad, 4, 0, IPC_NOWAIT));
	TRY(semop(semaphores, bad, 1));
	TRY(semtimedop(semaphores, &(struct sembuf){.sem_op = 0}, 1, bad));
	TRY(mq_send(messages, bad, 4, 0));
	TRY(mq_timedsend(messages, "a", 1, 0, &(struct timespec){0, -1}));
	TRY(mq_timedreceive(messages, bad, PAGE, NULL, &none));
	if (bad)
		TRY(mq_timedreceive(messages, (char[PAGE]){0}, PAGE, NULL, bad));
}

static void try_all(const char *memory, void *bad)
{
	try_waits(memory, bad);
	try_transfers(memory, bad);
	try_objects(memory, bad);
}

static void begin(void)
{
	struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 128};
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (pipe2(ends, O_NONBLOCK) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ||
		write(ends[1], "abcd", 4) != 4)
		_exit(1);
	loop = epoll_create1(0);
	epoll_ctl(loop, EPOLL_CTL_ADD, ends[0], &(struct epoll_event){.events = EPOLLIN});
	timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	signals = signalfd(-1, &set, SFD_NONBLOCK);
	server = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	listen(server, 5);
	client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	queue = msgget(IPC_PRIVATE, 0600);
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	messages = mq_open("/weft-rough-pointers", O_RDWR | O_CREAT | O_NONBLOCK, 0600, &attributes);
	mq_unlink("/weft-rough-pointers");
	kill(getpid(), SIGUSR1);
}

int main(void)
{
	char *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	begin();
	mprotect(pages + PAGE, PAGE, PROT_NONE);
	mprotect(pages + 2 * PAGE, PAGE, PROT_READ);
	try_all("NULL", NULL);
	try_all("low", (void *)16);
	try_all("of the kernel", (void *)(UINTPTR_MAX - 15));
	try_all("without rights", pages + PAGE);
	try_all("read-only", pages + 2 * PAGE);
	try_all("at the end", pages + PAGE - 1);
	try_all("not aligned", pages + PAGE - 5);
	munmap(pages + PAGE, PAGE);
	try_all("unmapped", pages + PAGE);
	msgctl(queue, IPC_RMID, NULL);
	semctl(semaphores, 0, IPC_RMID);
	return 0;
}
