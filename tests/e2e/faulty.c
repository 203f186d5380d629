/* SPDX-License-Identifier: ISC
 *
 * Programs with a fault, without libweft: each hangs for good. The first line that each prints has
 * the numbers of its processes, its own first. It comes when only the last waits are still to come.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(int is_good, const char *what)
{
	if (is_good)
		return;
	perror(what);
	exit(1);
}

static void print_processes(pid_t child)
{
	printf(child ? "%d %d\n" : "%d\n", (int)getpid(), (int)child);
	fflush(stdout);
}

static pthread_t begin(void *(*function)(void *), void *of, const char *name)
{
	pthread_t thread;
	check(pthread_create(&thread, NULL, function, of) == 0, "pthread_create");
	pthread_setname_np(thread, name);
	return thread;
}

/* Posted by each thread that has one wait left. */
static sem_t is_ready;

static void wait_for_ready(int count)
{
	while (count--)
		sem_wait(&is_ready);
	print_processes(0);
}

/* ---- Two threads that wait for each other by eventfds ---- */

static int events[2];

static void *take_turns(void *number)
{
	const size_t own = (size_t)number;
	uint64_t count = 1;
	for (int i = 0; i < 3; i++) {
		check(write(events[1 - own], &count, sizeof(count)) > 0, "write");
		check(read(events[own], &count, sizeof(count)) > 0, "read");
	}
	sem_post(&is_ready);
	check(read(events[own], &count, sizeof(count)) > 0, "read");
	return NULL;
}

static void wait_by_eventfds(void)
{
	struct epoll_event event = {.events = EPOLLIN};
	const int epoll = epoll_create1(0);
	for (int i = 0; i < 2; i++) {
		check((events[i] = eventfd(0, EFD_SEMAPHORE)) >= 0, "eventfd");
		/* The adapters know it before a thread has to wait. */
		check(epoll_ctl(epoll, EPOLL_CTL_ADD, events[i], &event) == 0, "epoll_ctl");
	}
	pthread_t ping = begin(take_turns, (void *)0, "ping");
	begin(take_turns, (void *)1, "pong");
	wait_for_ready(2);
	pthread_join(ping, NULL);
}

/* ---- A thread that waits for a condition while it holds a lock which the signaller needs ---- */

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static sem_t is_taken;
static int items;

static void *produce(void *unused)
{
	for (int i = 0; i < 2; i++) {
		sem_wait(&is_taken);
		pthread_mutex_lock(&outer);
		pthread_mutex_lock(&inner);
		items++;
		pthread_cond_signal(&filled);
		pthread_mutex_unlock(&inner);
		pthread_mutex_unlock(&outer);
	}
	return unused;
}

static void *consume(void *unused)
{
	for (int i = 0; i < 2; i++) {
		if (i == 1)
			pthread_mutex_lock(&outer);
		pthread_mutex_lock(&inner);
		if (i == 1)
			sem_post(&is_ready);
		sem_post(&is_taken);
		while (items == 0)
			pthread_cond_wait(&filled, &inner);
		items--;
		pthread_mutex_unlock(&inner);
	}
	return unused;
}

static void wait_with_lock(void)
{
	begin(produce, NULL, "producer");
	pthread_t consumer = begin(consume, NULL, "consumer");
	wait_for_ready(1);
	pthread_join(consumer, NULL);
}

/* ---- A barrier to which one thread does not come any more ---- */

static pthread_barrier_t step;

static void *solve(void *number)
{
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	if ((size_t)number == 2)
		return NULL;
	sem_post(&is_ready);
	pthread_barrier_wait(&step);
	return NULL;
}

static void wait_at_barrier(void)
{
	static const char *const names[] = {"solver-0", "solver-1", "solver-2"};
	pthread_t threads[3];
	pthread_barrier_init(&step, NULL, 3);
	for (size_t i = 0; i < 3; i++)
		threads[i] = begin(solve, (void *)i, names[i]);
	pthread_join(threads[2], NULL);
	wait_for_ready(2);
	pthread_join(threads[0], NULL);
}

/* ---- Readers that wait for the end of a pipe ---- */

static void read_all(int fd)
{
	char byte;
	while (read(fd, &byte, 1) == 1)
		;
	_exit(0);
}

/* The parent waits for its child, and does not close the pipe before. */
static void keep_pipe(void)
{
	int ends[2];
	check(pipe(ends) == 0, "pipe");
	const pid_t child = fork();
	if (child == 0) {
		close(ends[1]);
		read_all(ends[0]);
	}
	check(write(ends[1], "x", 1) == 1, "write");
	print_processes(child);
	waitpid(child, NULL, 0);
}

/* The child calls nothing before it reads: so it has not closed its own end. */
static void keep_own_pipe(void)
{
	int ends[2];
	check(pipe(ends) == 0, "pipe");
	const pid_t child = fork();
	if (child == 0)
		read_all(ends[0]);
	close(ends[0]);
	close(ends[1]);
	print_processes(child);
	waitpid(child, NULL, 0);
}

/* ---- A child that waits for a lock which another thread had at the fork ---- */

static void *keep_outer(void *unused)
{
	pthread_mutex_lock(&outer);
	sem_post(&is_taken);
	pause();
	return unused;
}

static void fork_at_lock(void)
{
	sem_init(&is_taken, 0, 0);
	begin(keep_outer, NULL, "logger");
	sem_wait(&is_taken);
	const pid_t child = fork();
	if (child == 0) {
		pthread_mutex_lock(&outer);
		_exit(1);
	}
	print_processes(child);
	waitpid(child, NULL, 0);
}

static void *take_inner(void *unused)
{
	pthread_mutex_lock(&inner);
	return unused;
}

/* The child's first thread has what the one had that forked. */
static void fork_with_lock(void)
{
	sem_init(&is_taken, 0, 0);
	begin(keep_outer, NULL, "logger");
	sem_wait(&is_taken);
	pthread_mutex_lock(&inner);
	const pid_t child = fork();
	if (child == 0) {
		begin(take_inner, NULL, "taker");
		pause();
	}
	print_processes(child);
	waitpid(child, NULL, 0);
}

static void *end_at_once(void *unused)
{
	return unused;
}

/* The same if the child, which has recorded something, forks again. */
static void fork_twice_with_lock(void)
{
	int ends[2];
	pid_t grandchild;
	check(pipe(ends) == 0, "pipe");
	pthread_mutex_lock(&inner);
	const pid_t child = fork();
	if (child == 0) {
		pthread_join(begin(end_at_once, NULL, "short"), NULL);
		if ((grandchild = fork()) == 0) {
			begin(take_inner, NULL, "taker");
			pause();
		}
		check(write(ends[1], &grandchild, sizeof(grandchild)) == sizeof(grandchild), "write");
		waitpid(grandchild, NULL, 0);
		_exit(1);
	}
	check(read(ends[0], &grandchild, sizeof(grandchild)) == sizeof(grandchild), "read");
	print_processes(grandchild);
	waitpid(child, NULL, 0);
}

/* ---- A lock of a file whose taker has ended ---- */

static void keep_file(void)
{
	int ends[2];
	pid_t child;
	char path[] = "/tmp/weft-test-XXXXXX";
	const int file = mkstemp(path);
	check(file >= 0 && pipe(ends) == 0, "mkstemp");
	if (fork() == 0) {
		const int own = open(path, O_RDWR);
		check(own >= 0 && flock(own, LOCK_EX) == 0, "flock");
		if ((child = fork()) == 0) {
			close(ends[1]);
			pause();
		}
		check(write(ends[1], &child, sizeof(child)) == sizeof(child), "write");
		_exit(0);
	}
	wait(NULL);
	check(read(ends[0], &child, sizeof(child)) == sizeof(child), "read");
	unlink(path);
	print_processes(child);
	flock(file, LOCK_EX);
}

/* ---- A signal for two children that have ended ---- */

/* Returns when that many children have ended; they are still to be waited for. */
static void begin_short_children(int count)
{
	siginfo_t info;
	while (count--) {
		const pid_t child = fork();
		if (child == 0)
			_exit(0);
		check(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) == 0, "waitid");
	}
}

static sigset_t child_signal(void)
{
	sigset_t signals;
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	return signals;
}

static sigset_t block_child_signal(void)
{
	const sigset_t signals = child_signal();
	sigset_t before;
	check(sigprocmask(SIG_BLOCK, &signals, &before) == 0, "sigprocmask");
	return before;
}

/* Waits for one child at each signal. */
static void lose_child_signal(void)
{
	int number;
	const sigset_t signals = child_signal();
	block_child_signal();
	begin_short_children(2);
	print_processes(0);
	for (int i = 0; i < 2; i++) {
		sigwait(&signals, &number);
		wait(NULL);
	}
}

static void reap_one(int number)
{
	(void)number;
	waitpid(-1, NULL, WNOHANG);
}

static void lose_handled_signal(void)
{
	const struct sigaction action = {.sa_handler = reap_one};
	sigaction(SIGCHLD, &action, NULL);
	const sigset_t before = block_child_signal();
	begin_short_children(2);
	print_processes(0);
	for (;;)
		sigsuspend(&before);
}

static void lose_read_signal(void)
{
	struct signalfd_siginfo info;
	const sigset_t signals = child_signal();
	block_child_signal();
	const int fd = signalfd(-1, &signals, 0);
	begin_short_children(2);
	print_processes(0);
	while (read(fd, &info, sizeof(info)) == sizeof(info))
		waitpid((pid_t)info.ssi_pid, NULL, 0);
}

/* The sound way: waits for all children that have ended. */
static void take_child_signal(void)
{
	int number;
	const sigset_t signals = child_signal();
	block_child_signal();
	begin_short_children(2);
	sigwait(&signals, &number);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	print_processes(0);
	sigwait(&signals, &number);
}

/* Waits for one child of three at a signal, and for the signal of one that begins then. */
static void begin_another_child(void)
{
	int number;
	sigset_t signals;
	block_child_signal();
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	begin_short_children(3);
	sigwait(&signals, &number);
	wait(NULL);
	const pid_t child = fork();
	if (child == 0)
		pause();
	print_processes(child);
	sigwait(&signals, &number);
}

/* ---- A child that is suspended ---- */

static void suspend_child(bool goes_on)
{
	int ends[2];
	char byte;
	siginfo_t info;
	check(pipe(ends) == 0, "pipe");
	const pid_t child = fork();
	if (child == 0) {
		close(ends[0]);
		check(write(ends[1], "x", 1) == 1, "write");
		raise(SIGSTOP);
		pause();
	}
	close(ends[1]);
	check(read(ends[0], &byte, 1) == 1, "read");
	check(waitid(P_PID, (id_t)child, &info, WSTOPPED) == 0, "waitid");
	if (goes_on)
		kill(child, SIGCONT);
	print_processes(child);
	check(read(ends[0], &byte, 1) == 1, "read");
}

static void leave_suspended(void)
{
	suspend_child(false);
}

static void let_go_on(void)
{
	suspend_child(true);
}

/* ---- A pool whose last task is lost ---- */

static pthread_cond_t one_done = PTHREAD_COND_INITIALIZER;
static int done;

static void *do_tasks(void *unused)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&inner);
		done++;
		pthread_cond_signal(&one_done);
		pthread_mutex_unlock(&inner);
	}
	return unused;
}

static void lose_task(void)
{
	pthread_join(begin(do_tasks, NULL, "pool"), NULL);
	print_processes(0);
	pthread_mutex_lock(&inner);
	while (done < 4)
		pthread_cond_wait(&one_done, &inner);
}

/* ---- A thread that ends with a lock ---- */

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;

static void *take_table(void *stays)
{
	if (stays)
		sem_post(&is_ready);
	pthread_mutex_lock(&table);
	return NULL;
}

static void end_with_lock(void)
{
	pthread_join(begin(take_table, NULL, "importer"), NULL);
	pthread_t exporter = begin(take_table, &table, "exporter");
	wait_for_ready(1);
	pthread_join(exporter, NULL);
}

/* ---- A signal that comes before the wait, without a state that says so ---- */

static pthread_cond_t started = PTHREAD_COND_INITIALIZER;

static void *start(void *unused)
{
	pthread_cond_signal(&started);
	return unused;
}

static void signal_early(void)
{
	pthread_join(begin(start, NULL, "server"), NULL);
	print_processes(0);
	pthread_mutex_lock(&table);
	pthread_cond_wait(&started, &table);
}

/* ---- A client that waits for a datagram, whose server waits for a lock ---- */

static void *refresh(void *unused)
{
	pthread_mutex_lock(&outer);
	sem_post(&is_taken);
	pause();
	return unused;
}

static void serve(int fd)
{
	char byte;
	sem_init(&is_taken, 0, 0);
	begin(refresh, NULL, "refresher");
	sem_wait(&is_taken);
	check(recv(fd, &byte, 1, 0) == 1, "recv");
	pthread_mutex_lock(&outer);
	_exit(1);
}

static int bound_socket(struct sockaddr_in *ret_address)
{
	const int fd = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t size = sizeof(*ret_address);
	*ret_address = (struct sockaddr_in){.sin_family = AF_INET};
	ret_address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	check(bind(fd, (struct sockaddr *)ret_address, size) == 0 &&
			  getsockname(fd, (struct sockaddr *)ret_address, &size) == 0,
		"bind");
	return fd;
}

static void send_to(int fd, const struct sockaddr_in *to)
{
	check(sendto(fd, "x", 1, 0, (const struct sockaddr *)to, sizeof(*to)) == 1, "sendto");
}

static void ask(bool connects)
{
	char byte = 'x';
	struct sockaddr_in address, own;
	const int server = bound_socket(&address), client = bound_socket(&own);
	const pid_t child = fork();
	if (child == 0)
		serve(server);
	close(server);
	if (connects)
		check(connect(client, (struct sockaddr *)&address, sizeof(address)) == 0 &&
				  send(client, &byte, 1, 0) == 1,
			"send");
	else
		send_to(client, &address);
	print_processes(child);
	check(recv(client, &byte, 1, 0) == 1, "recv");
}

/* Either server may answer. */
static void ask_two(void)
{
	char byte;
	struct sockaddr_in address, own, second;
	const int server = bound_socket(&address), client = bound_socket(&own);
	const pid_t child = fork();
	if (child == 0)
		serve(server);
	close(server);
	bound_socket(&second);
	send_to(client, &address);
	send_to(client, &second);
	print_processes(child);
	check(recv(client, &byte, 1, 0) == 1, "recv");
}

static void ask_once(void)
{
	ask(false);
}

static void ask_connected(void)
{
	ask(true);
}

int main(int count, char **arguments)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} parts[] = {{"eventfds", wait_by_eventfds}, {"with-lock", wait_with_lock},
		{"barrier", wait_at_barrier}, {"fork-lock", fork_at_lock}, {"own-lock", fork_with_lock},
		{"own-lock-twice", fork_twice_with_lock}, {"kept-file", keep_file},
		{"lost-child", lose_child_signal}, {"lost-handled", lose_handled_signal},
		{"lost-read", lose_read_signal}, {"all-children", take_child_signal},
		{"another-child", begin_another_child}, {"suspended", leave_suspended},
		{"continued", let_go_on}, {"lost-task", lose_task}, {"kept-pipe", keep_pipe},
		{"own-pipe", keep_own_pipe}, {"sendto", ask_once}, {"connected", ask_connected},
		{"two-servers", ask_two}, {"left-lock", end_with_lock}, {"early", signal_early}};
	for (size_t i = 0; count == 2 && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(arguments[1], parts[i].name) == 0) {
			parts[i].function();
			return 0;
		}
	return 2;
}
