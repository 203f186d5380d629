/* SPDX-License-Identifier: ISC
 *
 * Uses the processor in functions that samples should name. Amounts are processor time, so that a
 * busy machine changes nothing.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEPT __attribute__((noinline))

static volatile unsigned long sum;

static double used(void)
{
	struct timespec time;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* The calls that lead here are no tail calls, because each does something afterwards. */
KEPT static void burn(double seconds)
{
	const double end = used() + seconds;
	while (used() < end)
		for (unsigned long i = 0; i < 100000; i++)
			sum += i * sum;
}

KEPT static void parse(void)
{
	burn(0.3);
	sum++;
}

KEPT static void in_child(void)
{
	for (const double end = used() + 0.3; used() < end;)
		for (unsigned long i = 0; i < 100000; i++)
			sum += i ^ sum;
}

KEPT static void after_exec(void)
{
	for (const double end = used() + 0.3; used() < end;)
		for (unsigned long i = 0; i < 100000; i++)
			sum -= i * sum;
}

KEPT static void recurse(unsigned depth)
{
	volatile char room[256];
	room[0] = (char)depth;
	if (depth)
		recurse(depth - 1);
	else
		burn(0.1);
	sum += (unsigned long)room[0];
}

static void *work(void *unused)
{
	(void)unused;
	burn(0.2);
	sum++;
	return NULL;
}

/* A list as runtimes write it for perf: of two functions at an address, the last one is there.
 * Lines that are damaged stand around. */
static int list_functions(unsigned long start, unsigned long size, int is_foreign)
{
	char path[64];
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	unlink(path);
	FILE *file = fopen(path, "wx");
	if (!file || (is_foreign && fchown(fileno(file), 65534, 65534) != 0))
		return 77;
	fprintf(file, "\n x\n%lx\n%lx %lx\nzz 10 a\n-1 10 b\n", start, start, size);
	fprintf(file, "%lx %lx JS:*earlier /srv/app.js:1:1\n", start, size);
	fprintf(file, "%lx %lx JS:*made\001 /srv/app.js:12:8\n", start, size);
	fprintf(file, "%lx %lx py::before:/srv/app.py\n", start - 1, 1ul);
	fprintf(file, "%lx %lx after\n%lx %lx cut", start + size, 1ul, start, size);
	return fclose(file);
}

/* Runs code that is in no file: it counts down, and returns. */
static int run_made(int is_foreign)
{
#ifdef __x86_64__
	static const unsigned char code[] = {
		0xb9, 0x00, 0x00, 0x10, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
	void *page =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return 77;
	memcpy((char *)page + 1024, code, sizeof(code));
	const int status = list_functions((unsigned long)page + 1024, sizeof(code), is_foreign);
	void (*const count_down)(void) = (void (*)(void))(unsigned long)((char *)page + 1024);
	for (const double end = used() + 0.3; !status && used() < end;)
		count_down();
	return status;
#else
	(void)list_functions, (void)is_foreign;
	return 77;
#endif
}

/* Long enough for the adapters' metrics, and until it is told to end. */
static int run_until_told(void)
{
	const struct timespec pause = {0, 150000000};
	nanosleep(&pause, NULL);
	parse();
	return getchar() == EOF ? 0 : 1;
}

static int run_thread(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, work, NULL);
	pthread_setname_np(thread, "worker");
	return pthread_join(thread, NULL);
}

/* With a second argument, programs run until their input ends. */
static void await_end(const char *is_told)
{
	while (is_told && getchar() != EOF)
		continue;
}

static int run_fork(const char *program, const char *is_told)
{
	const pid_t forked = fork();
	if (forked == 0) {
		in_child();
		run_thread(); /* something to record */
		await_end(is_told);
		_exit(0);
	}
	const pid_t executed = fork();
	if (executed == 0) {
		execl(program, program, "exec", is_told, NULL);
		_exit(1);
	}
	waitpid(forked, NULL, 0);
	waitpid(executed, NULL, 0);
	return 0;
}

/* Becomes a program for which the kernel has no perf events, as in many containers. */
static int run_denied(char **program)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filters = {sizeof(filter) / sizeof(filter[0]), filter};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filters) != 0)
		return 77;
	execv(program[0], program);
	return 1;
}

/* ---- What a program could notice ---- */

static volatile sig_atomic_t profiled, is_elsewhere;
static char *stack;

static void on_profile(int number)
{
	char here;
	(void)number;
	profiled++;
	is_elsewhere |= &here >= stack && &here < stack + 65536;
}

static int check(const char *name, int is_good)
{
	printf("%s %s\n", name, is_good ? "as ever" : "CHANGED");
	return !is_good;
}

/* The pause must be whole, and end without EINTR. */
static int check_pause(void)
{
	struct timespec pause = {0, 20000000};
	burn(0.02);
	return check("nanosleep", nanosleep(&pause, &pause) == 0);
}

static int check_dispositions(void)
{
	struct sigaction action;
	sigset_t mask;
	int failures = 0, changed = 0;
	for (int number = 1; number <= SIGRTMAX; number++)
		if (sigaction(number, NULL, &action) == 0 && number != SIGPROF &&
			action.sa_handler != SIG_DFL)
			changed++;
	failures += check("dispositions", changed == 0);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int number = 1; number <= SIGRTMAX; number++)
		changed += sigismember(&mask, number) == 1;
	return failures + check("mask", changed == 0);
}

static int run_checks(void)
{
	stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const stack_t alternate = {.ss_sp = stack, .ss_size = 65536};
	const struct itimerval often = {{0, 1000}, {0, 1000}}, off = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_profile, .sa_flags = SA_RESTART | SA_ONSTACK};
	int failures = check_dispositions() + check_pause();
	sigaltstack(&alternate, NULL);
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &often, NULL);
	while (!profiled)
		burn(0.01);
	setitimer(ITIMER_PROF, &off, NULL);
	failures += check("SIGPROF", profiled > 0 && is_elsewhere);
	errno = 77;
	burn(0.05);
	return failures + check("errno", errno == 77);
}

int main(int count, char **arguments)
{
	const char *mode = count > 1 ? arguments[1] : "";
	int status = 0;
	if (strcmp(mode, "burn") == 0)
		parse();
	else if (strcmp(mode, "wait") == 0)
		status = run_until_told();
	else if (strcmp(mode, "made") == 0)
		status = run_made(0);
	else if (strcmp(mode, "foreign") == 0)
		status = run_made(1);
	else if (strcmp(mode, "thread") == 0)
		status = run_thread();
	else if (strcmp(mode, "fork") == 0)
		status = run_fork(arguments[0], count > 2 ? arguments[2] : NULL);
	else if (strcmp(mode, "exec") == 0)
		after_exec();
	else if (strcmp(mode, "deep") == 0)
		recurse(2000);
	else if (strcmp(mode, "checks") == 0)
		status = run_checks();
	else if (strcmp(mode, "denied") == 0)
		return run_denied(arguments + 2);
	await_end(count > 2 ? arguments[2] : NULL);
	puts("done");
	return status;
}
