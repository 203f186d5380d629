/* SPDX-License-Identifier: ISC
 *
 * Signals, without libweft. The part "exact" checks that dispositions are as the program has set
 * them; in each other part, a process or thread waits for a signal that another one sends.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void check_at(bool is_good, const char *what, int line)
{
	if (is_good)
		return;
	fprintf(stderr, "line %d: %s: %s\n", line, what, strerror(errno));
	exit(1);
}
#define CHECK(it) check_at(it, #it, __LINE__)

static void work(void)
{
	const struct timespec time = {.tv_nsec = 20000000};
	nanosleep(&time, NULL);
}

/* ---- Dispositions ---- */

static volatile sig_atomic_t count, got_pid, got_code, was_on_stack;
static char stack[65536];
static sigjmp_buf place;

static void on_plain(int number)
{
	count += number == SIGUSR1;
	errno = ENOENT;
}

static void on_other(int number)
{
	count += 100 * (number == SIGUSR1);
}

static void on_info(int number, siginfo_t *info, void *context)
{
	char here;
	count += number == SIGUSR2 && context;
	got_pid = info->si_pid;
	got_code = info->si_code;
	was_on_stack = &here >= stack && &here < stack + sizeof(stack);
}

static void on_jump(int number)
{
	siglongjmp(place, number);
}

static void check_signal(void)
{
	CHECK(signal(SIGUSR1, on_plain) == SIG_DFL);
	CHECK(signal(SIGUSR1, on_other) == on_plain);
	CHECK(raise(SIGUSR1) == 0 && count == 100);
	CHECK(signal(SIGUSR1, SIG_IGN) == on_other);
	CHECK(raise(SIGUSR1) == 0 && count == 100);
	CHECK(signal(SIGUSR1, on_plain) == SIG_IGN);
	CHECK(signal(0, on_plain) == SIG_ERR && errno == EINVAL);
	CHECK(signal(SIGKILL, on_plain) == SIG_ERR && errno == EINVAL);
	CHECK(raise(SIGUSR1) == 0 && count == 101);
}

static void check_plain(void)
{
	struct sigaction old;
	CHECK(sigaction(SIGUSR1, NULL, &old) == 0 && old.sa_handler == on_plain);
	CHECK((old.sa_flags & (SA_SIGINFO | SA_RESTART | (int)SA_RESETHAND)) == SA_RESTART);
	CHECK(sigismember(&old.sa_mask, SIGUSR1) == 1 && sigismember(&old.sa_mask, SIGUSR2) == 0);
	CHECK(sigaction(SIGUSR1, &old, NULL) == 0);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	CHECK(siginterrupt(SIGUSR1, 1) == 0 && signal(SIGUSR1, on_plain) == on_plain);
	CHECK(sigaction(SIGUSR1, NULL, &old) == 0 && !(old.sa_flags & SA_RESTART));
	CHECK(siginterrupt(SIGUSR1, 0) == 0 && signal(SIGUSR1, on_plain) == on_plain);
	CHECK(sigaction(SIGUSR1, NULL, &old) == 0 && old.sa_flags & SA_RESTART);
	CHECK(sigset(SIGUSR1, on_other) == on_plain && sigset(SIGUSR1, on_plain) == on_other);
#pragma GCC diagnostic pop
	CHECK(sysv_signal(SIGUSR1, on_other) == on_plain);
	CHECK(raise(SIGUSR1) == 0 && count == 201);
	CHECK(signal(SIGUSR1, on_plain) == SIG_DFL);
	CHECK(sigaction(SIGKILL, &old, NULL) == -1 && errno == EINVAL);
}

static void check_info(void)
{
	struct sigaction new = {.sa_sigaction = on_info}, old;
	const stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
	CHECK(sigaltstack(&other, NULL) == 0);
	new.sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND;
	CHECK(sigaction(SIGUSR2, &new, &old) == 0 && old.sa_handler == SIG_DFL);
	CHECK(sigaction(SIGUSR2, NULL, &old) == 0 && old.sa_sigaction == on_info);
	CHECK((old.sa_flags & (SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND)) == new.sa_flags);
	count = 0;
	CHECK(kill(getpid(), SIGUSR2) == 0 && count == 1 && was_on_stack);
	CHECK(got_pid == getpid() && got_code == SI_USER);
	CHECK(sigaction(SIGUSR2, NULL, &old) == 0 && old.sa_handler == SIG_DFL);
}

/* The stack is little larger than the system's minimum, which is enough for this handler. */
static void check_small_stack(void)
{
	struct sigaction new = {.sa_handler = on_plain, .sa_flags = SA_ONSTACK};
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 1024;
	size_t pages = (size + page - 1) / page * page;
	char *memory =
		mmap(NULL, page + pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED && mprotect(memory, page, PROT_NONE) == 0);
	const stack_t small = {.ss_sp = memory + page, .ss_size = size};
	CHECK(sigaltstack(&small, NULL) == 0 && sigaction(SIGUSR1, &new, NULL) == 0);
	count = 0;
	CHECK(kill(getpid(), SIGUSR1) == 0 && count == 1);
}

static void check_return(void)
{
	struct sigaction new = {.sa_handler = on_jump};
	CHECK(sigaction(SIGUSR2, &new, NULL) == 0);
	for (volatile int i = 0; i < 3; i++)
		if (sigsetjmp(place, 1) == 0) {
			raise(SIGUSR2);
			CHECK(false);
		}
	errno = 0;
	CHECK(kill(getpid(), SIGUSR1) == 0);
	CHECK(errno == ENOENT); /* on_plain's */
}

static void use_exact(void)
{
	check_signal();
	check_plain();
	check_info();
	check_return();
	check_small_stack();
}

/* ---- Edges ---- */

static void block(int number)
{
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, number);
	CHECK(pthread_sigmask(SIG_BLOCK, &one, NULL) == 0);
}

static void reap(pid_t child)
{
	int status;
	CHECK(waitpid(child, &status, 0) == child);
}

/* The child sends SIGUSR1 to this process, which has blocked it. */
static pid_t begin_sender(void)
{
	block(SIGUSR1);
	pid_t child = fork();
	if (child == 0) {
		work();
		kill(getppid(), SIGUSR1);
		_exit(0);
	}
	CHECK(child > 0);
	return child;
}

static void use_handler(void)
{
	sigset_t none;
	CHECK(signal(SIGUSR1, on_plain) == SIG_DFL);
	pid_t child = begin_sender();
	sigemptyset(&none);
	CHECK(sigsuspend(&none) == -1 && errno == EINTR && count == 1);
	reap(child);
}

static void use_wait(void)
{
	sigset_t one;
	siginfo_t info;
	pid_t child = begin_sender();
	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	CHECK(sigwaitinfo(&one, &info) == SIGUSR1 && info.si_pid == child);
	reap(child);
}

static void use_descriptor(void)
{
	sigset_t one;
	struct signalfd_siginfo info;
	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	int fd = signalfd(-1, &one, 0);
	pid_t child = begin_sender();
	CHECK(read(fd, &info, sizeof(info)) == sizeof(info) && info.ssi_pid == (uint32_t)child);
	close(fd);
	reap(child);
}

static void *await(void *unused)
{
	int number;
	sigset_t both;
	(void)unused;
	sigemptyset(&both);
	sigaddset(&both, SIGUSR1);
	sigaddset(&both, SIGUSR2);
	CHECK(sigwait(&both, &number) == 0 && number == SIGUSR1);
	return NULL;
}

static void use_thread(void)
{
	pthread_t thread;
	block(SIGUSR1);
	block(SIGUSR2);
	CHECK(pthread_create(&thread, NULL, await, NULL) == 0);
	work();
	CHECK(pthread_kill(thread, SIGUSR1) == 0 && pthread_join(thread, NULL) == 0);
}

/* No process has that number. */
static void use_failure(void)
{
	CHECK(kill(INT_MAX, SIGCONT) == -1 && errno == ESRCH);
}

static void use_kill(void)
{
	int status;
	pid_t child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	pid_t killer = fork();
	if (killer == 0) {
		work();
		kill(child, SIGTERM);
		_exit(0);
	}
	CHECK(
		waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	reap(killer);
}

static void use_alarm(void)
{
	CHECK(signal(SIGALRM, on_plain) == SIG_DFL);
	alarm(1);
	CHECK(pause() == -1 && errno == EINTR);
}

/* A handler leaves a wait, and the next wait is another one. */
static void use_jump(void)
{
	const struct itimerval soon = {.it_value.tv_usec = 20000};
	CHECK(signal(SIGALRM, on_jump) == SIG_DFL && setitimer(ITIMER_REAL, &soon, NULL) == 0);
	if (sigsetjmp(place, 1) == 0) {
		sleep(100);
		CHECK(false);
	}
	work();
}

int main(int argument_count, char **arguments)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} parts[] = {{"exact", use_exact}, {"handler", use_handler}, {"wait", use_wait},
		{"descriptor", use_descriptor}, {"thread", use_thread}, {"kill", use_kill},
		{"failure", use_failure}, {"alarm", use_alarm}, {"jump", use_jump}};
	for (size_t i = 0; argument_count == 2 && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(arguments[1], parts[i].name) == 0) {
			parts[i].function();
			return 0;
		}
	return 2;
}
