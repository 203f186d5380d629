/* SPDX-License-Identifier: ISC
 *
 * A program that does not know libweft, and does what adapters could break. It prints the same with
 * and without them.
 *
 *     rough-subject sandbox | sandbox-all    a seccomp filter of one thread, or of all, ends it at
 *                                            other system calls than those that it makes itself
 *                   inherit                  executes a program in a sandbox that makes no files
 *                   descriptors              has no descriptor left
 *                   early                    calls functions before any constructor has run
 *                   vfork                    children that share its memory
 *                   signals                  a handler that calls functions which nobody has
 *                                            called yet
 *                   fork FILE                a child of a program with threads does it
 *                   cancel                   threads that are cancelled in each kind of wait
 *                   plugin FILE              loads a library that makes threads, and unloads it
 *                   once                     threads that wait for a function that runs once
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "asleep.h"

enum {
	SKIPPED = 77
};

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t posted;
static int ends[2]; /* of a pipe */
static atomic_int step;

static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(99);
}

static void wait_ms(long ms)
{
	nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

static pthread_t start(void *(*function)(void *), void *argument)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, function, argument))
		exit(98);
	return thread;
}

/* ---- A sandbox ---- */

#define ALLOW(number)                                    \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static void enter_sandbox(bool all_threads)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(__NR_read),
		ALLOW(__NR_write),
		ALLOW(__NR_futex),
		ALLOW(__NR_close),
		ALLOW(__NR_dup),
		ALLOW(__NR_clock_gettime),
		ALLOW(__NR_exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
	int flags = SECCOMP_FILTER_FLAG_TSYNC;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		exit(SKIPPED);
	if (all_threads ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program)
					: prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		exit(SKIPPED);
}

static void *wait_in_sandbox(void *is_confined)
{
	if (is_confined)
		enter_sandbox(false);
	atomic_fetch_add(&step, 1);
	pthread_mutex_lock(&shared); /* held by main */
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&shared);
	for (;;)
		sem_wait(&posted); /* to end a thread takes other system calls */
	return NULL;
}

static void sandbox(bool all_threads)
{
	char byte;
	sem_init(&posted, 0, 0);
	if (pipe(ends))
		exit(97);
	pthread_mutex_lock(&shared);
	start(wait_in_sandbox, all_threads ? NULL : &shared);
	while (atomic_load(&step) == 0)
		sched_yield();
	enter_sandbox(all_threads);
	for (int i = 0; i < 100; i++) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 1000000 - (until.tv_nsec > 998000000 ? 999000000 : 0);
		pthread_cond_timedwait(&changed, &shared, &until);
	}
	pthread_mutex_unlock(&shared);
	if (write(ends[1], "x", 1) != 1 || read(ends[0], &byte, 1) != 1)
		exit(96);
	close(dup(ends[0]));
	sem_post(&posted);
	say("survived\n");
}

#define REFUSE(number)                                   \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)

/* The sandbox of man(1) for its formatters is like this: files can be read, but none be made. */
static void inherit(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		REFUSE(__NR_flock),
		REFUSE(__NR_symlinkat),
#ifdef __NR_symlink
		REFUSE(__NR_symlink),
#endif
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_CREAT, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		exit(SKIPPED);
	execlp("echo", "echo", "inherited", (char *)NULL);
}

/* ---- No descriptors ---- */

static void *take_shared(void *unused)
{
	atomic_fetch_add(&step, 1);
	pthread_mutex_lock(&shared);
	pthread_mutex_unlock(&shared);
	return unused;
}

static void descriptors(void)
{
	struct rlimit none = {0, 0};
	getrlimit(RLIMIT_NOFILE, &none);
	none.rlim_cur = 3;
	setrlimit(RLIMIT_NOFILE, &none);
	printf("%d %d\n", open("/", O_RDONLY), errno);
	printf("%d %d\n", socket(AF_INET, SOCK_STREAM, 0), errno);
	printf("%d %d\n", epoll_create1(0), errno);
	pthread_mutex_lock(&shared);
	pthread_t thread = start(take_shared, NULL);
	while (atomic_load(&step) == 0)
		sched_yield();
	wait_ms(5);
	pthread_mutex_unlock(&shared);
	pthread_join(thread, NULL);
	printf("%d %d\n", poll(NULL, 0, 1), dup(0));
}

/* ---- Before constructors ---- */

static int early_result;

static void count_early(void)
{
	early_result += 100;
}

static void begin_early(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int fd = open("/dev/null", O_RDWR);
	char byte;
	pthread_mutex_lock(&shared);
	early_result += (int)read(fd, &byte, 1) + (int)write(fd, "x", 1);
	pthread_mutex_unlock(&shared);
	pthread_once(&once, count_early);
	early_result += poll(NULL, 0, 0);
	close(fd);
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(void) = begin_early;

/* ---- vfork ---- */

static pid_t vfork_once(int number)
{
	pid_t child = vfork();
	if (child == 0) {
		close(ends[0]);
		dup2(ends[1], STDOUT_FILENO);
		close(ends[1]);
		if (number % 2)
			_exit(number);
		execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
		_exit(120);
	}
	return child;
}

static int wait_for(pid_t child)
{
	int status = 0;
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 121;
}

static void vfork_often(void)
{
	char shell[] = "sh", option[] = "-c", line[] = "exit 5", byte = 0;
	char *const words[] = {shell, option, line, NULL};
	int sum = 0;
	pid_t child;
	if (pipe(ends))
		exit(97);
	for (int i = 0; i < 20; i++)
		sum += wait_for(vfork_once(i));
	if (posix_spawn(&child, "/bin/sh", NULL, NULL, words, NULL))
		exit(95);
	sum += wait_for(child);
	if (write(ends[1], "y", 1) != 1 || read(ends[0], &byte, 1) != 1)
		exit(96);
	printf("%d %c\n", sum, byte);
}

/* ---- Signal handlers ---- */

static volatile sig_atomic_t handled;

static void handle(int number)
{
	int saved = errno;
	char byte;
	struct pollfd input = {ends[0], POLLIN, 0};
	(void)number;
	if (write(ends[1], "z", 1) == 1 && poll(&input, 1, 0) == 1 && read(ends[0], &byte, 1) == 1)
		handled++;
	sem_post(&posted);
	fsync(-1);
	fcntl(ends[0], F_GETFL);
	errno = saved;
}

static void signals(void)
{
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
	struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
	int got = 0, before = 0;
	sem_init(&posted, 0, 0);
	if (pipe(ends) || sigaction(SIGALRM, &action, NULL))
		exit(97);
	setitimer(ITIMER_REAL, &often, NULL);
	errno = EDOM;
	while (handled < 100) {
		pthread_mutex_lock(&shared);
		pthread_mutex_unlock(&shared);
		sem_wait(&posted);
		got++;
	}
	int error = errno;
	setitimer(ITIMER_REAL, &never, NULL);
	sem_getvalue(&posted, &before);
	printf("%d %d\n", handled == got + before, error == EDOM);
}

/* ---- fork ---- */

static void *load_for_ever(void *name)
{
	for (int i = 0; !atomic_load(&step) || i < 3; i++) {
		void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
		if (library)
			dlclose(library);
	}
	return NULL;
}

/* The other thread often holds the dynamic linker's lock, which nobody frees in the child. */
static void fork_often(const char *plugin)
{
	pthread_t thread = start(load_for_ever, (void *)(uintptr_t)plugin);
	int sum = 0;
	for (int i = 0; i < 50; i++) {
		pid_t child = fork();
		if (child == 0) {
			struct pollfd none = {-1, POLLIN, 0};
			sem_t own;
			alarm(20);
			poll(&none, 1, 0);
			sem_init(&own, 0, 1);
			sem_wait(&own);
			flock(-1, LOCK_SH);
			_exit(1);
		}
		sum += wait_for(child);
	}
	atomic_store(&step, 1);
	pthread_join(thread, NULL);
	printf("%d\n", sum);
}

/* ---- Cancellation ---- */

static void unlock(void *mutex)
{
	pthread_mutex_unlock(mutex);
}

static void *in_read(void *unused)
{
	char byte;
	return read(ends[0], &byte, 1) ? unused : NULL;
}

static void *in_condition(void *unused)
{
	pthread_mutex_lock(&shared);
	pthread_cleanup_push(unlock, &shared);
	for (;;)
		pthread_cond_wait(&changed, &shared);
	pthread_cleanup_pop(1);
	return unused;
}

static void *in_semaphore(void *unused)
{
	sem_wait(&posted);
	return unused;
}

/* Some are cancellation points also if they need not wait. */
static void *at_free_semaphore(void *which)
{
	struct timespec until = {.tv_sec = 1};
	sem_t own;
	sem_init(&own, 0, 1);
	pthread_cancel(pthread_self());
	if (which == &changed)
		sem_timedwait(&own, &until);
	else if (which == &shared)
		sem_clockwait(&own, CLOCK_MONOTONIC, &until);
	else
		sem_wait(&own);
	return NULL;
}

/* A free semaphore does not excuse a time or clock that is none. */
static void wait_until_no_time(void)
{
	const struct timespec never = {0, 1000000000}, until = {1, 0};
	sem_t own;
	sem_init(&own, 0, 1);
	printf("%d\n", sem_timedwait(&own, &never) == -1 && errno == EINVAL);
	printf("%d\n", sem_clockwait(&own, CLOCK_PROCESS_CPUTIME_ID, &until) == -1 && errno == EINVAL);
	printf("%d\n", sem_timedwait(&own, &until) == 0);
}

static void *in_sleep(void *unused)
{
	sleep(100);
	return unused;
}

static void *in_poll(void *unused)
{
	struct pollfd input = {ends[0], POLLIN, 0};
	poll(&input, 1, -1);
	return unused;
}

static void close_loop(void *loop)
{
	close(*(int *)loop);
}

static void *in_epoll(void *unused)
{
	struct epoll_event event = {.events = EPOLLIN};
	int loop = epoll_create1(0);
	epoll_ctl(loop, EPOLL_CTL_ADD, ends[0], &event);
	pthread_cleanup_push(close_loop, &loop);
	epoll_wait(loop, &event, 1, -1);
	pthread_cleanup_pop(1);
	return unused;
}

static void *in_join(void *unused)
{
	pthread_t sleeper = start(in_sleep, NULL);
	pthread_detach(sleeper);
	pthread_t other = start(in_sleep, NULL);
	pthread_join(other, NULL);
	return unused;
}

static void cancel(void)
{
	void *(*const waits[])(void *) = {
		in_read, in_condition, in_semaphore, in_sleep, in_poll, in_epoll, in_join};
	void *const semaphores[] = {NULL, &changed, &shared};
	sem_init(&posted, 0, 0);
	if (pipe(ends))
		exit(97);
	wait_until_no_time();
	for (size_t i = 0; i < sizeof(semaphores) / sizeof(semaphores[0]); i++) {
		void *result = NULL;
		pthread_join(start(at_free_semaphore, semaphores[i]), &result);
		printf("%d\n", result == PTHREAD_CANCELED);
	}
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		void *result = NULL;
		pthread_t thread = start(waits[i], NULL);
		wait_ms(5);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		printf("%d\n", result == PTHREAD_CANCELED);
	}
	pthread_mutex_lock(&shared); /* the condition's waiter has given it back */
	for (int i = 0; i < 100; i++)
		pthread_cond_signal(&changed);
	pthread_mutex_unlock(&shared);
	printf("%d\n", sem_trywait(&posted));
}

/* ---- Plugins ---- */

static void plugin(const char *path)
{
	int sum = 0;
	for (int i = 0; i < 20; i++) {
		void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (!library)
			exit(94);
		int (*work)(void);
		*(void **)&work = dlsym(library, "rough_work");
		sum += work();
		dlclose(library);
	}
	printf("%d\n", sum);
}

/* ---- Functions that run once ---- */

static pthread_once_t table_once = PTHREAD_ONCE_INIT;
static once_flag list_once = ONCE_FLAG_INIT;
static atomic_int second; /* the number of the thread that waits; 0: it has not come */
static atomic_bool is_loading;
static int tables;

static void load_table(void)
{
	atomic_store(&is_loading, true);
	while (atomic_load(&second) == 0)
		wait_ms(1);
	await_sleep(second);
	tables++;
}

/* The second of two threads goes on when the function runs. */
static void come(void)
{
	if (atomic_fetch_add(&step, 1) != 1)
		return;
	while (!atomic_load(&is_loading))
		;
	atomic_store(&second, gettid());
}

static void *use_table(void *unused)
{
	come();
	pthread_once(&table_once, load_table);
	return unused;
}

static void *use_list(void *unused)
{
	come();
	call_once(&list_once, load_table);
	return unused;
}

static void once(void)
{
	void *(*const uses[])(void *) = {use_table, use_list};
	for (int i = 0; i < 2; i++) {
		pthread_t thread[2];
		atomic_store(&step, 0);
		atomic_store(&second, 0);
		atomic_store(&is_loading, false);
		for (int j = 0; j < 2; j++)
			thread[j] = start(uses[i], NULL);
		for (int j = 0; j < 2; j++)
			pthread_join(thread[j], NULL);
		use_table(NULL);
	}
	printf("%d\n", tables);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	if (strcmp(mode, "sandbox") == 0 || strcmp(mode, "sandbox-all") == 0)
		sandbox(mode[7]);
	else if (strcmp(mode, "inherit") == 0)
		inherit();
	else if (strcmp(mode, "descriptors") == 0)
		descriptors();
	else if (strcmp(mode, "early") == 0)
		printf("%d\n", early_result);
	else if (strcmp(mode, "vfork") == 0)
		vfork_often();
	else if (strcmp(mode, "signals") == 0)
		signals();
	else if (strcmp(mode, "cancel") == 0)
		cancel();
	else if (strcmp(mode, "fork") == 0 && argc > 2)
		fork_often(argv[2]);
	else if (strcmp(mode, "plugin") == 0 && argc > 2)
		plugin(argv[2]);
	else if (strcmp(mode, "once") == 0)
		once();
	else
		return 2;
	return 0;
}
