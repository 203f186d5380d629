/* SPDX-License-Identifier: ISC
 *
 * A program that knows nothing of weft, and makes each call that waits: so that it gets what it
 * waits for, in vain for a limited time, and until a signal interrupts it. For each call it prints
 * the name, the way, the result, errno, and what a trace of it must say:
 *
 *     sem_timedwait in_time 0 77 | semaphore items | read
 *     sem_timedwait late -1 110 | semaphore items | ended
 *
 * The last two are the label of what the call waits for, and the event by which the wait ends;
 * "none" for one that is tried before it waits and finds what it wants, also with a time that the
 * system may refuse.
 * errno is 77 before each call. Another thread, the partner, holds what the call waits for, and
 * gives it when the call sleeps.
 *
 *     outcomes-subject          by the first thread
 *     outcomes-subject child    by a second thread of a forked child
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "asleep.h"

enum way {
	IN_TIME = 1,
	LATE = 2,
	INTERRUPTED = 4,
	READY = 8,
	REFUSED = 16
};

/* Which results are successes. */
enum success {
	ZERO,
	NOT_BELOW_ZERO,
	ABOVE_ZERO,
	ALWAYS
};

struct row {
	const char *name;
	int ways;
	long (*call)(void);
	enum success success;
	const char *label, *end;
	void (*hold)(void);  /* by the partner before the call; NULL: nothing */
	void (*give)(void);  /* by the partner when the call sleeps, or after a call in vain if held */
	void (*after)(void); /* by the caller after a successful call */
};

static const char *const way_names[] = {[IN_TIME] = "in_time",
	[LATE] = "late",
	[INTERRUPTED] = "interrupted",
	[READY] = "ready",
	[REFUSED] = "refused"};

static struct timespec until, until_monotonic, span; /* far ones, except in the way LATE */
static pthread_t caller;
static pid_t caller_number;

static void check(bool is_true, const char *what)
{
	if (is_true)
		return;
	perror(what);
	_exit(1);
}

static struct timespec after_ms(clockid_t clock, long ms)
{
	struct timespec time;
	clock_gettime(clock, &time);
	time.tv_sec += ms / 1000;
	time.tv_nsec += ms % 1000 * 1000000;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

static void set_times(enum way way)
{
	const long ms = way == LATE ? 3 : 1000000;
	until = after_ms(CLOCK_REALTIME, ms);
	until_monotonic = after_ms(CLOCK_MONOTONIC, ms);
	span = (struct timespec){ms / 1000, ms % 1000 * 1000000};
	if (way == REFUSED)
		until.tv_nsec = until_monotonic.tv_nsec = span.tv_nsec = 1000000000;
}

/* clang-format off */
#define CALL(name, expression) static long call_##name(void) { return (long)(expression); }
#define DO(name, statement) static void name(void) { statement; }
/* clang-format on */

/* ---- Locks ---- */

static pthread_mutex_t books = PTHREAD_MUTEX_INITIALIZER;
static mtx_t coins;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;

DO(hold_mutex, pthread_mutex_lock(&books))
DO(give_mutex, pthread_mutex_unlock(&books))
DO(hold_mtx, mtx_lock(&coins))
DO(give_mtx, mtx_unlock(&coins))
DO(hold_rwlock, pthread_rwlock_wrlock(&table))
DO(give_rwlock, pthread_rwlock_unlock(&table))
CALL(mutex_lock, pthread_mutex_lock(&books))
CALL(mutex_timedlock, pthread_mutex_timedlock(&books, &until))
CALL(mutex_clocklock, pthread_mutex_clocklock(&books, CLOCK_MONOTONIC, &until_monotonic))
CALL(mtx_lock, mtx_lock(&coins))
CALL(mtx_timedlock, mtx_timedlock(&coins, &until))
CALL(rdlock, pthread_rwlock_rdlock(&table))
CALL(wrlock, pthread_rwlock_wrlock(&table))
CALL(timedrdlock, pthread_rwlock_timedrdlock(&table, &until))
CALL(timedwrlock, pthread_rwlock_timedwrlock(&table, &until))
CALL(clockrdlock, pthread_rwlock_clockrdlock(&table, CLOCK_MONOTONIC, &until_monotonic))
CALL(clockwrlock, pthread_rwlock_clockwrlock(&table, CLOCK_MONOTONIC, &until_monotonic))

/* One whose owner ends with it. */
static pthread_mutex_t heirloom;
static sem_t end_of_owner;
static atomic_bool is_owned;

static void *own_heirloom(void *unused)
{
	pthread_mutex_lock(&heirloom);
	atomic_store(&is_owned, true);
	sem_wait(&end_of_owner);
	return unused;
}

static void hold_heirloom(void)
{
	pthread_t owner;
	check(pthread_create(&owner, NULL, own_heirloom, NULL) == 0, "pthread_create");
	pthread_detach(owner);
	while (!atomic_exchange(&is_owned, false))
		sched_yield();
}

static void mend_heirloom(void)
{
	pthread_mutex_consistent(&heirloom);
	pthread_mutex_unlock(&heirloom);
}

static void begin_heirloom(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&heirloom, &attributes);
	sem_init(&end_of_owner, 0, 0);
}

DO(give_heirloom, sem_post(&end_of_owner))
CALL(inherit, pthread_mutex_lock(&heirloom))
CALL(timed_inherit, pthread_mutex_timedlock(&heirloom, &until))

/* ---- Conditions, semaphores, barriers, words ---- */

static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t ready_lock = PTHREAD_MUTEX_INITIALIZER;
static cnd_t full;
static mtx_t full_lock;
static sem_t items;
static pthread_barrier_t gate;
static atomic_int word;

static void give_condition(void)
{
	pthread_mutex_lock(&ready_lock);
	pthread_cond_signal(&ready);
	pthread_mutex_unlock(&ready_lock);
}

static void give_all(void)
{
	pthread_mutex_lock(&ready_lock);
	pthread_cond_broadcast(&ready);
	pthread_mutex_unlock(&ready_lock);
}

static void give_cnd(void)
{
	mtx_lock(&full_lock);
	cnd_signal(&full);
	mtx_unlock(&full_lock);
}

static void give_all_cnd(void)
{
	mtx_lock(&full_lock);
	cnd_broadcast(&full);
	mtx_unlock(&full_lock);
}

static long in_lock(int (*wait)(void))
{
	pthread_mutex_lock(&ready_lock);
	long result = wait();
	pthread_mutex_unlock(&ready_lock);
	return result;
}

static long in_mtx(int (*wait)(void))
{
	mtx_lock(&full_lock);
	long result = wait();
	mtx_unlock(&full_lock);
	return result;
}

static int wait_cond(void)
{
	return pthread_cond_wait(&ready, &ready_lock);
}

static int timedwait_cond(void)
{
	return pthread_cond_timedwait(&ready, &ready_lock, &until);
}

static int clockwait_cond(void)
{
	return pthread_cond_clockwait(&ready, &ready_lock, CLOCK_MONOTONIC, &until_monotonic);
}

static int wait_cnd(void)
{
	return cnd_wait(&full, &full_lock);
}

static int timedwait_cnd(void)
{
	return cnd_timedwait(&full, &full_lock, &until);
}

static void give_word(void)
{
	atomic_store(&word, 1);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

CALL(cond_wait, in_lock(wait_cond))
CALL(cond_timedwait, in_lock(timedwait_cond))
CALL(cond_clockwait, in_lock(clockwait_cond))
CALL(cnd_wait, in_mtx(wait_cnd))
CALL(cnd_timedwait, in_mtx(timedwait_cnd))
DO(give_semaphore, sem_post(&items))
CALL(sem_wait, sem_wait(&items))
CALL(sem_timedwait, sem_timedwait(&items, &until))
CALL(sem_clockwait, sem_clockwait(&items, CLOCK_MONOTONIC, &until_monotonic))
DO(give_barrier, pthread_barrier_wait(&gate))
CALL(barrier_wait, pthread_barrier_wait(&gate) > 0)
CALL(futex, syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &span, NULL, 0))
DO(reset_word, atomic_store(&word, 0))

/* ---- Time ---- */

CALL(nanosleep, nanosleep(&span, NULL))
CALL(clock_nanosleep, clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL))
CALL(usleep, usleep((useconds_t)(span.tv_sec * 1000000 + span.tv_nsec / 1000)))
CALL(sleep, sleep((unsigned)span.tv_sec) != 0)
CALL(thrd_sleep, thrd_sleep(&span, NULL))
CALL(ask_nanosleep, syscall(SYS_nanosleep, &span, NULL))
CALL(ask_clock_nanosleep, syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &span, NULL))

/* ---- Signals: SIGUSR1 has a handler, SIGUSR2 is blocked ---- */

static sigset_t blocked, nearly_all;
static int came;

DO(give_signal, kill(getpid(), SIGUSR2))
CALL(sigtimedwait, sigtimedwait(&blocked, NULL, &span))
CALL(sigwaitinfo, sigwaitinfo(&blocked, NULL))
CALL(sigwait, sigwait(&blocked, &came))
CALL(pause, pause())
CALL(sigsuspend, sigsuspend(&nearly_all))

/* ---- Pipes and sockets ---- */

static int ends[2], full_ends[2], pair[2], full_pair[2], event, timer, listener, accepted;
static char room[1 << 16];
static struct iovec part = {room, 1};
static struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

static void await_accepted(void)
{
	close(accepted);
}

static void connect_to(void)
{
	struct sockaddr address;
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	check(
		getsockname(listener, &address, &size) == 0 && connect(fd, &address, size) == 0, "connect");
	close(fd);
}

/* Fills it, so that not even a byte finds room. */
static void fill(int fd)
{
	fcntl(fd, F_SETFL, O_NONBLOCK);
	for (size_t size = sizeof(room); size; size /= 2)
		while (write(fd, room, size) > 0)
			continue;
	fcntl(fd, F_SETFL, 0);
}

static void drain(int fd)
{
	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (read(fd, room, sizeof(room)) > 0)
		continue;
	fcntl(fd, F_SETFL, 0);
}

DO(give_byte, check(write(ends[1], "x", 1) == 1, "write"))
DO(take_byte, check(read(ends[0], room, 1) == 1, "read"))
DO(give_message, check(send(pair[1], "x", 1, 0) == 1, "send"))
DO(hold_pipe, fill(full_ends[1]))
DO(give_pipe, drain(full_ends[0]))
DO(hold_socket, fill(full_pair[1]))
DO(give_socket, drain(full_pair[0]))
DO(give_event, eventfd_write(event, 3))
CALL(read, read(ends[0], room, 1))
CALL(readv, readv(ends[0], &part, 1))
CALL(ask_read, syscall(SYS_read, ends[0], room, 1))
CALL(recv, recv(pair[0], room, 1, 0))
CALL(recvfrom, recvfrom(pair[0], room, 1, 0, NULL, NULL))
CALL(recvmsg, recvmsg(pair[0], &message, 0))
CALL(write, write(full_ends[1], room, 1))
CALL(writev, writev(full_ends[1], &part, 1))
CALL(ask_write, syscall(SYS_write, full_ends[1], room, 1))
CALL(send, send(full_pair[1], room, 1, 0))
CALL(sendto, sendto(full_pair[1], room, 1, 0, NULL, 0))
CALL(sendmsg, sendmsg(full_pair[1], &message, 0))
CALL(eventfd_read, eventfd_read(event, (eventfd_t *)(void *)room))
CALL(read_event, read(event, room, 8))
CALL(read_timer, read(timer, room, 8))
CALL(accept, (accepted = accept(listener, NULL, NULL)) < 0 ? -1 : 0)
CALL(accept4, (accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) < 0 ? -1 : 0)

static void give_time(void)
{
	timerfd_settime(timer, 0, &(struct itimerspec){.it_value = {0, 1}}, NULL);
}

static struct pollfd *polled(void)
{
	static struct pollfd it;
	it = (struct pollfd){ends[0], POLLIN, 0};
	return &it;
}

static fd_set *selected(void)
{
	static fd_set it;
	FD_ZERO(&it);
	FD_SET(ends[0], &it);
	return &it;
}

static struct timeval *limit(void)
{
	static struct timeval it;
	it = (struct timeval){span.tv_sec, span.tv_nsec / 1000};
	return &it;
}

CALL(poll, poll(polled(), 1, (int)(span.tv_sec * 1000 + span.tv_nsec / 1000000)))
CALL(ppoll, ppoll(polled(), 1, &span, NULL))
CALL(select, select(ends[0] + 1, selected(), NULL, NULL, limit()))
CALL(pselect, pselect(ends[0] + 1, selected(), NULL, NULL, &span, NULL))
CALL(ask_ppoll,
	syscall(SYS_ppoll, polled(), 1, &(struct timespec){span.tv_sec, span.tv_nsec}, NULL, 0))

/* ---- Queues ---- */

static int queue, full_queue, set;
static mqd_t posts, full_posts;
static struct {
	long type;
	char text[8];
} letter = {1, "x"};

DO(give_letter, check(msgsnd(queue, &letter, 1, 0) == 0, "msgsnd"))
DO(hold_letter, check(msgsnd(full_queue, &letter, 1, 0) == 0, "msgsnd"))
DO(take_letter, msgrcv(full_queue, &letter, 8, 0, IPC_NOWAIT))
CALL(msgrcv, msgrcv(queue, &letter, 8, 1, 0))
CALL(msgsnd, msgsnd(full_queue, &letter, 1, 0))

static int operate(int by, int number, const struct timespec *time)
{
	struct sembuf operation = {(unsigned short)number, (short)by, 0};
	return time ? semtimedop(set, &operation, 1, time) : semop(set, &operation, 1);
}

DO(give_token, operate(1, 0, NULL))
DO(hold_token, operate(1, 1, NULL))
DO(take_token, operate(-1, 1, NULL))
CALL(semop, operate(-1, 0, NULL))
CALL(semtimedop, operate(-1, 0, &span))
CALL(semop_zero, operate(0, 1, NULL))

DO(give_post, check(mq_send(posts, "x", 1, 0) == 0, "mq_send"))
DO(hold_post, check(mq_send(full_posts, "x", 1, 0) == 0, "mq_send"))

static void take_post(void)
{
	mq_timedreceive(full_posts, room, sizeof(room), NULL, &(struct timespec){0, 0});
}

CALL(mq_receive, mq_receive(posts, room, sizeof(room), NULL))
CALL(mq_timedreceive, mq_timedreceive(posts, room, sizeof(room), NULL, &until))
CALL(mq_send, mq_send(full_posts, "x", 1, 0))
CALL(mq_timedsend, mq_timedsend(full_posts, "x", 1, 0, &until))

/* ---- Threads, processes, files ---- */

static sem_t end_of_thread;
static pthread_t thread;
static thrd_t c11_thread;
static pid_t child;
static int orders[2], file, other_file;

static atomic_bool lives;

static void *live(void *unused)
{
	atomic_store(&lives, true);
	sem_wait(&end_of_thread);
	return unused;
}

static int live_c11(void *unused)
{
	return live(unused) != NULL;
}

/* A join with a limit is recorded if the thread has begun. */
static void await_life(bool is_created)
{
	check(is_created, "thread");
	while (!atomic_exchange(&lives, false))
		sched_yield();
}

DO(hold_thread, await_life(pthread_create(&thread, NULL, live, NULL) == 0))
DO(hold_c11_thread, await_life(thrd_create(&c11_thread, live_c11, NULL) == thrd_success))
DO(give_end, sem_post(&end_of_thread))
CALL(join, pthread_join(thread, NULL))
CALL(timedjoin, pthread_timedjoin_np(thread, NULL, &until))
CALL(clockjoin, pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until_monotonic))
CALL(thrd_join, thrd_join(c11_thread, NULL))

/* One that was waited for in vain is joined by the partner. */
static void end_thread(void)
{
	give_end();
	if (until.tv_sec && span.tv_sec == 0)
		pthread_join(thread, NULL);
}

static void hold_child(void)
{
	check(pipe(orders) == 0, "pipe");
	child = fork();
	check(child >= 0, "fork");
	if (child == 0) {
		close(orders[1]);
		_exit(read(orders[0], room, 1) == 0 ? 7 : 8);
	}
	close(orders[0]);
}

DO(give_child, close(orders[1]))
CALL(wait, wait(&came) == child)
CALL(waitpid, waitpid(child, &came, 0) == child ? 0 : -1)
CALL(wait3, wait3(&came, 0, NULL) == child ? 0 : -1)
CALL(wait4, wait4(child, &came, 0, NULL) == child ? 0 : -1)
CALL(waitid, waitid(P_PID, (id_t)child, (siginfo_t *)(void *)room, WEXITED))

static int lock_file(int command, int fd, int type)
{
	struct flock lock = {.l_type = (short)type, .l_whence = SEEK_SET, .l_len = 1};
	return fcntl(fd, command, &lock);
}

DO(hold_flock, flock(other_file, LOCK_EX))
DO(give_flock, flock(other_file, LOCK_UN))
DO(after_flock, flock(file, LOCK_UN))
CALL(flock, flock(file, LOCK_EX))
DO(hold_fcntl, lock_file(F_OFD_SETLK, other_file, F_WRLCK))
DO(give_fcntl, lock_file(F_OFD_SETLK, other_file, F_UNLCK))
DO(after_fcntl, lock_file(F_OFD_SETLK, file, F_UNLCK))
CALL(fcntl, lock_file(F_OFD_SETLKW, file, F_WRLCK))

/* ---- All ---- */

#define ALL  (IN_TIME | LATE | INTERRUPTED)
#define BOTH (IN_TIME | INTERRUPTED)
/* clang-format off */
static const struct row rows[] = {
	{"pthread_mutex_lock", IN_TIME | READY, call_mutex_lock, ZERO, "lock books", "acquire", hold_mutex, give_mutex, give_mutex},
	{"pthread_mutex_timedlock", IN_TIME | LATE | READY | REFUSED, call_mutex_timedlock, ZERO, "lock books", "acquire", hold_mutex, give_mutex, give_mutex},
	{"pthread_mutex_clocklock", IN_TIME | LATE | READY | REFUSED, call_mutex_clocklock, ZERO, "lock books", "acquire", hold_mutex, give_mutex, give_mutex},
	{"pthread_mutex_lock heirloom", IN_TIME, call_inherit, ALWAYS, "lock heirloom", "acquire", hold_heirloom, give_heirloom, mend_heirloom},
	{"pthread_mutex_timedlock heirloom", IN_TIME, call_timed_inherit, ALWAYS, "lock heirloom", "acquire", hold_heirloom, give_heirloom, mend_heirloom},
	{"mtx_lock", IN_TIME | READY, call_mtx_lock, ZERO, "lock coins", "acquire", hold_mtx, give_mtx, give_mtx},
	{"mtx_timedlock", IN_TIME | LATE | READY | REFUSED, call_mtx_timedlock, ZERO, "lock coins", "acquire", hold_mtx, give_mtx, give_mtx},
	{"pthread_rwlock_rdlock", IN_TIME | READY, call_rdlock, ZERO, "rwlock table", "ended", hold_rwlock, give_rwlock, give_rwlock},
	{"pthread_rwlock_wrlock", IN_TIME | READY, call_wrlock, ZERO, "rwlock table", "acquire", hold_rwlock, give_rwlock, give_rwlock},
	{"pthread_rwlock_timedrdlock", IN_TIME | LATE | READY | REFUSED, call_timedrdlock, ZERO, "rwlock table", "ended", hold_rwlock, give_rwlock, give_rwlock},
	{"pthread_rwlock_timedwrlock", IN_TIME | LATE | READY | REFUSED, call_timedwrlock, ZERO, "rwlock table", "acquire", hold_rwlock, give_rwlock, give_rwlock},
	{"pthread_rwlock_clockrdlock", IN_TIME | LATE | READY | REFUSED, call_clockrdlock, ZERO, "rwlock table", "ended", hold_rwlock, give_rwlock, give_rwlock},
	{"pthread_rwlock_clockwrlock", IN_TIME | LATE | READY | REFUSED, call_clockwrlock, ZERO, "rwlock table", "acquire", hold_rwlock, give_rwlock, give_rwlock},
	{"pthread_cond_wait", IN_TIME, call_cond_wait, ZERO, "condition ready", "read", NULL, give_condition, NULL},
	{"pthread_cond_timedwait", IN_TIME | LATE, call_cond_timedwait, ZERO, "condition ready", "read", NULL, give_all, NULL},
	{"pthread_cond_clockwait", IN_TIME | LATE, call_cond_clockwait, ZERO, "condition ready", "read", NULL, give_condition, NULL},
	{"cnd_wait", IN_TIME, call_cnd_wait, ZERO, "condition full", "read", NULL, give_cnd, NULL},
	{"cnd_timedwait", IN_TIME | LATE, call_cnd_timedwait, ZERO, "condition full", "read", NULL, give_all_cnd, NULL},
	{"sem_wait", BOTH | READY, call_sem_wait, ZERO, "semaphore items", "read", NULL, give_semaphore, NULL},
	{"sem_timedwait", ALL | READY | REFUSED, call_sem_timedwait, ZERO, "semaphore items", "read", NULL, give_semaphore, NULL},
	{"sem_clockwait", ALL | READY | REFUSED, call_sem_clockwait, ZERO, "semaphore items", "read", NULL, give_semaphore, NULL},
	{"pthread_barrier_wait", IN_TIME, call_barrier_wait, ALWAYS, "barrier gate", "read", NULL, give_barrier, NULL},
	{"futex", ALL, call_futex, ZERO, "futex word", "read", NULL, give_word, reset_word},
	{"nanosleep", LATE | INTERRUPTED, call_nanosleep, ZERO, "sleep", "read", NULL, NULL, NULL},
	{"clock_nanosleep", LATE | INTERRUPTED, call_clock_nanosleep, ZERO, "sleep", "read", NULL, NULL, NULL},
	{"usleep", LATE | INTERRUPTED, call_usleep, ZERO, "sleep", "read", NULL, NULL, NULL},
	{"sleep", INTERRUPTED, call_sleep, ZERO, "sleep", "read", NULL, NULL, NULL},
	{"thrd_sleep", LATE | INTERRUPTED, call_thrd_sleep, ZERO, "sleep", "read", NULL, NULL, NULL},
	{"SYS_nanosleep", LATE | INTERRUPTED, call_ask_nanosleep, ZERO, "sleep", "read", NULL, NULL, NULL},
	{"SYS_clock_nanosleep", LATE | INTERRUPTED, call_ask_clock_nanosleep, ZERO, "sleep", "read", NULL, NULL, NULL},
	{"sigtimedwait", ALL, call_sigtimedwait, ABOVE_ZERO, "signal SIGUSR2", "read", NULL, give_signal, NULL},
	{"sigwaitinfo", BOTH, call_sigwaitinfo, ABOVE_ZERO, "signal SIGUSR2", "read", NULL, give_signal, NULL},
	{"sigwait", IN_TIME, call_sigwait, ZERO, "signal SIGUSR2", "read", NULL, give_signal, NULL},
	{"pause", INTERRUPTED, call_pause, ALWAYS, "any signal", "read", NULL, NULL, NULL},
	{"sigsuspend", INTERRUPTED, call_sigsuspend, ALWAYS, "any signal", "read", NULL, NULL, NULL},
	{"read", BOTH, call_read, NOT_BELOW_ZERO, "pipe", "read", NULL, give_byte, NULL},
	{"readv", BOTH, call_readv, NOT_BELOW_ZERO, "pipe", "read", NULL, give_byte, NULL},
	{"SYS_read", BOTH, call_ask_read, NOT_BELOW_ZERO, "pipe", "read", NULL, give_byte, NULL},
	{"recv", BOTH, call_recv, NOT_BELOW_ZERO, "unix", "read", NULL, give_message, NULL},
	{"recvfrom", BOTH, call_recvfrom, NOT_BELOW_ZERO, "unix", "read", NULL, give_message, NULL},
	{"recvmsg", BOTH, call_recvmsg, NOT_BELOW_ZERO, "unix", "read", NULL, give_message, NULL},
	{"write", BOTH, call_write, NOT_BELOW_ZERO, "pipe", "read", hold_pipe, give_pipe, NULL},
	{"writev", BOTH, call_writev, NOT_BELOW_ZERO, "pipe", "read", hold_pipe, give_pipe, NULL},
	{"SYS_write", BOTH, call_ask_write, NOT_BELOW_ZERO, "pipe", "read", hold_pipe, give_pipe, NULL},
	{"send", BOTH, call_send, NOT_BELOW_ZERO, "unix", "read", hold_socket, give_socket, NULL},
	{"sendto", BOTH, call_sendto, NOT_BELOW_ZERO, "unix", "read", hold_socket, give_socket, NULL},
	{"sendmsg", BOTH, call_sendmsg, NOT_BELOW_ZERO, "unix", "read", hold_socket, give_socket, NULL},
	{"eventfd_read", BOTH, call_eventfd_read, ZERO, "eventfd", "read", NULL, give_event, NULL},
	{"read_event", BOTH, call_read_event, NOT_BELOW_ZERO, "eventfd", "read", NULL, give_event, NULL},
	{"read_timer", BOTH, call_read_timer, NOT_BELOW_ZERO, "timerfd", "read", NULL, give_time, NULL},
	{"accept", BOTH, call_accept, ZERO, "accept", "read", NULL, connect_to, await_accepted},
	{"accept4", BOTH, call_accept4, ZERO, "accept", "read", NULL, connect_to, await_accepted},
	{"poll", ALL, call_poll, ABOVE_ZERO, "pipe", "read", NULL, give_byte, take_byte},
	{"ppoll", ALL, call_ppoll, ABOVE_ZERO, "pipe", "read", NULL, give_byte, take_byte},
	{"SYS_ppoll", ALL, call_ask_ppoll, ABOVE_ZERO, "pipe", "read", NULL, give_byte, take_byte},
	{"select", ALL, call_select, ABOVE_ZERO, "pipe", "read", NULL, give_byte, take_byte},
	{"pselect", ALL, call_pselect, ABOVE_ZERO, "pipe", "read", NULL, give_byte, take_byte},
	{"msgrcv", BOTH | READY, call_msgrcv, NOT_BELOW_ZERO, "message queue", "read", NULL, give_letter, NULL},
	{"msgsnd", BOTH | READY, call_msgsnd, ZERO, "room in message queue", "read", hold_letter, take_letter, take_letter},
	{"semop", BOTH | READY, call_semop, ZERO, "semaphore 0 of set", "read", NULL, give_token, NULL},
	{"semtimedop", ALL | READY | REFUSED, call_semtimedop, ZERO, "semaphore 0 of set", "read", NULL, give_token, NULL},
	{"semop zero", BOTH | READY, call_semop_zero, ZERO, "semaphore 1 of set", "read", hold_token, take_token, NULL},
	{"mq_receive", BOTH | READY, call_mq_receive, NOT_BELOW_ZERO, "message queue", "read", NULL, give_post, NULL},
	{"mq_timedreceive", ALL | READY | REFUSED, call_mq_timedreceive, NOT_BELOW_ZERO, "message queue", "read", NULL, give_post, NULL},
	{"mq_send", BOTH | READY, call_mq_send, ZERO, "room in message queue", "read", hold_post, take_post, take_post},
	{"mq_timedsend", ALL | READY | REFUSED, call_mq_timedsend, ZERO, "room in message queue", "read", hold_post, take_post, take_post},
	{"pthread_join", IN_TIME, call_join, ZERO, "live", "read", hold_thread, give_end, NULL},
	{"pthread_timedjoin_np", IN_TIME | LATE, call_timedjoin, ZERO, "live", "read", hold_thread, end_thread, NULL},
	{"pthread_clockjoin_np", IN_TIME | LATE, call_clockjoin, ZERO, "live", "read", hold_thread, end_thread, NULL},
	{"thrd_join", IN_TIME, call_thrd_join, ZERO, "live_c11", "read", hold_c11_thread, give_end, NULL},
	{"waitpid", IN_TIME, call_waitpid, ZERO, "exit of process", "read", hold_child, give_child, NULL},
	{"wait4", IN_TIME, call_wait4, ZERO, "exit of process", "read", hold_child, give_child, NULL},
	{"wait3", IN_TIME, call_wait3, ZERO, "exit of a child", "read", hold_child, give_child, NULL},
	{"waitid", IN_TIME, call_waitid, ZERO, "exit of process", "read", hold_child, give_child, NULL},
	{"wait", IN_TIME, call_wait, ABOVE_ZERO, "exit of a child", "read", hold_child, give_child, NULL},
	{"flock", BOTH | READY, call_flock, ZERO, "flock", "read", hold_flock, give_flock, after_flock},
	{"fcntl", BOTH | READY, call_fcntl, ZERO, "fcntl F_SETLKW", "read", hold_fcntl, give_fcntl, after_fcntl},
};
/* clang-format on */
enum {
	ROWS = sizeof(rows) / sizeof(rows[0])
};

/* ---- The partner ---- */

/* The caller asks for a call's preparation, makes the call, says that it has returned, and goes on
 * when the partner has seen that. It spins meanwhile: it sleeps in the calls only. */
static atomic_int stage;
enum {
	IDLE,
	ASKED,
	PREPARED,
	RETURNED,
	ENDED
};
static const struct row *now;
static enum way now_way;

/* False: the call has returned. Two looks, because a thread also sleeps on its way to a call. */
static bool await_call(void)
{
	const struct timespec pause = {0, 500000};
	for (int looks = 0; looks < 2;) {
		if (atomic_load(&stage) == RETURNED)
			return false;
		looks = is_asleep(getpid(), caller_number) ? looks + 1 : 0;
		nanosleep(&pause, NULL);
	}
	return true;
}

static void *be_partner(void *unused)
{
	const struct timespec pause = {0, 100000};
	for (;;) {
		while (atomic_load(&stage) != ASKED && atomic_load(&stage) != ENDED)
			nanosleep(&pause, NULL);
		if (atomic_load(&stage) == ENDED)
			return unused;
		if (now->hold && now_way < READY)
			now->hold();
		else if (!now->hold && now_way >= READY)
			now->give();
		atomic_store(&stage, PREPARED);
		if (now_way == IN_TIME && await_call())
			now->give();
		while (now_way == INTERRUPTED && await_call())
			pthread_kill(caller, SIGUSR1); /* the last may have come before the call */
		while (atomic_load(&stage) != RETURNED)
			nanosleep(&pause, NULL);
		if (now->hold && (now_way == LATE || now_way == INTERRUPTED))
			now->give();
		atomic_store(&stage, IDLE);
	}
}

static void await_stage(int wanted)
{
	while (atomic_load(&stage) != wanted)
		sched_yield();
}

static bool is_success(const struct row *row, long result)
{
	return row->success == ALWAYS || (row->success == ZERO && result == 0) ||
		   (row->success == NOT_BELOW_ZERO && result >= 0) ||
		   (row->success == ABOVE_ZERO && result > 0);
}

static void make_call(const struct row *row, enum way way)
{
	set_times(way);
	now = row;
	now_way = way;
	atomic_store(&stage, ASKED);
	await_stage(PREPARED);
	errno = 77;
	const long result = row->call();
	const int error = errno;
	atomic_store(&stage, RETURNED);
	await_stage(IDLE);
	const bool is_complete = is_success(row, result);
	printf("%s %s %ld %d | %s | %s\n", row->name, way_names[way], result, error, row->label,
		way >= READY  ? "none"
		: is_complete ? row->end
					  : "ended");
	if (!is_complete && way >= READY) { /* it still takes what is there */
		set_times(READY);
		check(is_success(row, row->call()), row->name);
	}
	if ((is_complete || way >= READY) && row->after)
		row->after();
}

/* ---- Beginning and end ---- */

static void ignore(int number)
{
	(void)number;
}

static void begin_signals(void)
{
	sigaction(SIGUSR1, &(struct sigaction){.sa_handler = ignore}, NULL);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR2);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	sigfillset(&nearly_all);
	sigdelset(&nearly_all, SIGUSR1);
}

static void begin_descriptors(void)
{
	check(pipe(ends) == 0 && pipe(full_ends) == 0, "pipe");
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, full_pair) == 0, "socketpair");
	event = eventfd(0, 0);
	timer = timerfd_create(CLOCK_MONOTONIC, 0);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	check(event >= 0 && timer >= 0 && listen(listener, 8) == 0, "listen");
	file = open("locked", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	other_file = open("locked", O_RDWR | O_CLOEXEC);
	check(file >= 0 && other_file >= 0, "open");
}

static void begin_queues(void)
{
	char name[32];
	struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
	struct msqid_ds about;
	queue = msgget(IPC_PRIVATE, 0600);
	full_queue = msgget(IPC_PRIVATE, 0600);
	set = semget(IPC_PRIVATE, 2, 0600);
	check(queue >= 0 && set >= 0 && msgctl(full_queue, IPC_STAT, &about) == 0, "msgget");
	about.msg_qbytes = 1;
	msgctl(full_queue, IPC_SET, &about);
	snprintf(name, sizeof(name), "/outcomes-%d", (int)getpid());
	posts = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
	mq_unlink(name);
	full_posts = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
	mq_unlink(name);
	check(posts >= 0 && full_posts >= 0, "mq_open");
}

static void end_queues(void)
{
	msgctl(queue, IPC_RMID, NULL);
	msgctl(full_queue, IPC_RMID, NULL);
	semctl(set, 0, IPC_RMID);
}

static void *make_calls(void *unused)
{
	pthread_t partner;
	caller = pthread_self();
	caller_number = gettid();
	check(pthread_create(&partner, NULL, be_partner, NULL) == 0, "pthread_create");
	for (int i = 0; i < ROWS; i++)
		for (int way = IN_TIME; way <= REFUSED; way *= 2)
			if (rows[i].ways & way)
				make_call(&rows[i], (enum way)way);
	atomic_store(&stage, ENDED);
	return unused;
}

static void make_calls_in_child(void)
{
	pthread_t thread_of_child;
	int status;
	pid_t process = fork();
	if (process == 0) {
		check(pthread_create(&thread_of_child, NULL, make_calls, NULL) == 0, "pthread_create");
		pthread_join(thread_of_child, NULL);
		exit(0);
	}
	check(waitpid(process, &status, 0) == process && status == 0, "child");
}

int main(int argc, char **argv)
{
	static char printed[1 << 16]; /* written at the end */
	setvbuf(stdout, printed, _IOFBF, sizeof(printed));
	mtx_init(&coins, mtx_timed);
	mtx_init(&full_lock, mtx_plain);
	cnd_init(&full);
	sem_init(&items, 0, 0);
	sem_init(&end_of_thread, 0, 0);
	pthread_barrier_init(&gate, NULL, 2);
	begin_heirloom();
	begin_signals();
	begin_descriptors();
	begin_queues();
	if (argc > 1 && strcmp(argv[1], "child") == 0)
		make_calls_in_child();
	else
		make_calls(NULL);
	end_queues();
	return 0;
}
