/* SPDX-License-Identifier: ISC
 *
 * Calls functions of libc with arguments that are chosen at random, mostly wrong ones, and prints
 * what each call did. tests/e2e/rough_fuzz.py compares that with the same program recorded.
 *
 *     rough-calls MODE SEED COUNT FUNCTION…
 *
 *     MODE  plain    the calls one after the other
 *           stack    on a stack of 12 KiB
 *           signals  while a timer's handler interrupts them
 *           cancel   in a thread that is cancelled meanwhile
 *
 * A child makes the calls, and another one goes on after the call that ended it. A call that does
 * not return is ended by SIGALRM, or by the parent if it has blocked that. All descriptors and
 * memory are made anew for each call.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	ARGUMENTS = 6,
	STACK = 12288,
	LATE_US = 200000,
	PATIENCE_S = 2,
	FIRST_FD = 10
};

typedef long (*function)(long, long, long, long, long, long);

/* Shared with the child. */
static struct {
	long next; /* the call that is being made */
	struct outcome {
		long result;
		int error, status;
	} outcomes[];
} * shared;

static const char *mode;
static int names_count;
static char **names;
static unsigned char *pages;

/* ---- Choices ---- */

static uint64_t state;

static uint32_t pick(uint32_t count)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % count;
}

/* Three pages with contents, one without rights, one that cannot be written. */
static void make_memory(void)
{
	munmap(pages, 5 * PAGE);
	pages = mmap(pages, 5 * PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (pages == MAP_FAILED)
		_exit(98);
	memset(pages + PAGE, 0x5a, PAGE);
	for (size_t i = 0; i < PAGE / sizeof(void *); i++)
		((void **)(void *)(pages + 2 * PAGE))[i] = pages;
	strcpy((char *)pages + 64, "/dev/null");
	strcpy((char *)pages + 96, "no such file");
	mprotect(pages + 3 * PAGE, PAGE, PROT_NONE);
	mprotect(pages + 4 * PAGE, PAGE, PROT_READ);
}

static void put(int fd, int at)
{
	if (fd < 0 || fd == at)
		return;
	syscall(SYS_dup3, fd, at, 0);
	syscall(SYS_close, fd);
}

static void make_descriptors(void)
{
	int ends[2], sockets[2];
	syscall(SYS_close_range, 3, 300, 0);
	if (pipe2(ends, O_NONBLOCK) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets))
		_exit(97);
	put(ends[0], FIRST_FD);
	put(ends[1], FIRST_FD + 1);
	put(sockets[0], FIRST_FD + 2);
	put(sockets[1], FIRST_FD + 3);
	put(open("/dev/null", O_RDWR), FIRST_FD + 4);
	put(eventfd(0, EFD_NONBLOCK), FIRST_FD + 5);
	put(epoll_create1(0), FIRST_FD + 6);
	put(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), FIRST_FD + 7);
	put(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), FIRST_FD + 8);
	put((int)syscall(SYS_memfd_create, "file", 0), FIRST_FD + 9);
}

static long choose(void)
{
	static const long numbers[] = {-1, 0, 1, 2, 3, 8, 64, 100, 4096, 65536, 1L << 31, 1L << 62};
	switch (pick(4)) {
	case 0:
		return numbers[pick(sizeof(numbers) / sizeof(numbers[0]))];
	case 1:
		return FIRST_FD + (long)pick(12);
	case 2: {
		const long offsets[] = {0, 64, 96, 1024, PAGE, 2 * PAGE, 3 * PAGE - 1, 3 * PAGE, 4 * PAGE};
		return (long)(uintptr_t)pages + offsets[pick(9)];
	}
	default:
		return pick(3) ? 0 : 16;
	}
}

/* ---- A call ---- */

static struct call {
	function function;
	long arguments[ARGUMENTS];
	long result;
	int error;
	bool is_void;
} call;

static void make_call(void)
{
	const long *a = call.arguments;
	errno = 0;
	call.result = call.function(a[0], a[1], a[2], a[3], a[4], a[5]);
	call.error = errno;
	if (call.is_void)
		call.result = 0;
	else if ((unsigned long)call.result <=
			 UINT32_MAX) /* most return an int: the upper half is anything */
		call.result = (int)call.result;
}

static void *run_thread(void *unused)
{
	make_call();
	return unused;
}

static void ignore(int number)
{
	(void)number;
}

static void call_on_stack(void)
{
	static ucontext_t here, there;
	unsigned char *stack =
		mmap(NULL, STACK + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(stack, PAGE, PROT_NONE);
	getcontext(&there);
	there.uc_stack.ss_sp = stack + PAGE;
	there.uc_stack.ss_size = STACK;
	there.uc_link = &here;
	makecontext(&there, make_call, 0);
	swapcontext(&here, &there);
	munmap(stack, STACK + PAGE);
}

static void call_in_thread(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, run_thread, NULL))
		_exit(96);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	call.result = call.error = 0; /* it may have been made or not */
}

/* The kernel's form of a signal's action. */
struct kernel_action {
	void *handler;
	unsigned long flags;
	void *restorer;
	uint64_t mask;
};

/* Earlier calls may have set handlers, and blocked signals. */
static void reset_signals(void)
{
	const struct kernel_action usual = {0};
	const uint64_t none = 0;
	for (int signal = 1; signal < 32; signal++) /* the next ones are libc's own */
		syscall(SYS_rt_sigaction, signal, &usual, NULL, sizeof(none));
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none));
}

/* So that no call waits for long: SIGALRM ends the child. */
static void set_alarm(long us)
{
	const struct itimerval timer = {{0, 0}, {0, us}};
	syscall(SYS_setitimer, ITIMER_REAL, &timer, NULL);
}

static void make_interrupted(void)
{
	const struct sigaction action = {.sa_handler = ignore};
	const struct itimerval timer = {{0, 300}, {0, 300}};
	sigaction(SIGVTALRM, &action, NULL);
	setitimer(ITIMER_VIRTUAL, &timer, NULL);
	make_call();
	setitimer(ITIMER_VIRTUAL, &(const struct itimerval){{0, 0}, {0, 0}}, NULL);
	call.result = call.error = 0; /* it may have been interrupted or not */
}

static void prepare(long index, uint64_t seed)
{
	state = seed ^ (uint64_t)index * UINT64_C(0x9e3779b97f4a7c15);
	pick(1);
	const char *name = names[pick((uint32_t)names_count)];
	call.is_void =
		strcmp(name, "closefrom") == 0 || strstr(name, "nd_destroy") || strstr(name, "mtx_destroy");
	*(void **)&call.function = dlsym(RTLD_DEFAULT, name);
	if (!call.function)
		_exit(95);
	make_memory();
	make_descriptors();
	for (int i = 0; i < ARGUMENTS; i++)
		call.arguments[i] = choose();
	/* Any other number could do anything. */
	static const long numbers[] = {SYS_read, SYS_futex, SYS_poll, SYS_recvmsg, 9999};
	if (strcmp(name, "syscall") == 0)
		call.arguments[0] = numbers[pick(5)];
}

static void make_calls(long count, uint64_t seed)
{
	for (long i = shared->next; i < count; i++) {
		shared->next = i;
		prepare(i, seed);
		reset_signals();
		set_alarm(LATE_US);
		if (strcmp(mode, "stack") == 0)
			call_on_stack();
		else if (strcmp(mode, "cancel") == 0)
			call_in_thread();
		else if (strcmp(mode, "signals") == 0)
			make_interrupted();
		else
			make_call();
		set_alarm(0);
		shared->outcomes[i] = (struct outcome){call.result, call.error, 0};
	}
	shared->next = count;
	_exit(0);
}

/* Waits for the child's end. A call with a mask of signals may have blocked SIGALRM. */
static int await(pid_t child, int *ret_status)
{
	const struct timespec patience = {PATIENCE_S, 0};
	sigset_t ended;
	long seen = -1;
	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	while (waitpid(child, ret_status, WNOHANG) == 0) {
		if (sigtimedwait(&ended, NULL, &patience) >= 0 || seen != shared->next) {
			seen = shared->next;
			continue;
		}
		kill(child, SIGKILL);
		if (waitpid(child, ret_status, 0) != child)
			return -1;
		*ret_status = SIGALRM;
		return 0;
	}
	return 0;
}

/* ---- Results ---- */

static void print(long index, uint64_t seed)
{
	const struct outcome *it = &shared->outcomes[index];
	state = seed ^ (uint64_t)index * UINT64_C(0x9e3779b97f4a7c15);
	pick(1);
	const char *name = names[pick((uint32_t)names_count)];
	if (it->status && WIFSIGNALED(it->status))
		printf("%ld %s: signal %d\n", index, name, WTERMSIG(it->status));
	else if (it->status)
		printf("%ld %s: exit %d\n", index, name, WEXITSTATUS(it->status));
	else if (it->result > 4096 || it->result < -4096)
		printf("%ld %s: something\n", index, name); /* a pointer */
	else
		printf("%ld %s: %ld, %d\n", index, name, it->result, it->result < 0 ? it->error : 0);
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	mode = argv[1];
	uint64_t seed = strtoull(argv[2], NULL, 10);
	long count = strtol(argv[3], NULL, 10);
	names = argv + 4;
	names_count = argc - 4;
	pages = (unsigned char *)UINT64_C(0x100000000000);
	shared = mmap(NULL, sizeof(*shared) + (size_t)count * sizeof(shared->outcomes[0]),
		PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	setrlimit(RLIMIT_CORE, &(const struct rlimit){0, 0});
	while (shared != MAP_FAILED && shared->next < count) {
		int status;
		sigset_t ended;
		sigemptyset(&ended);
		sigaddset(&ended, SIGCHLD);
		sigprocmask(SIG_BLOCK, &ended, NULL);
		pid_t child = fork();
		if (child == 0) {
			sigprocmask(SIG_UNBLOCK, &ended, NULL);
			for (int fd = 0; fd < 3; fd++)
				put(open("/dev/null", O_RDWR), fd);
			make_calls(count, seed);
		}
		if (child < 0 || await(child, &status) != 0)
			return 1;
		if (shared->next < count)
			shared->outcomes[shared->next++].status = status ? status : 1 << 8;
	}
	for (long i = 0; i < count; i++)
		print(i, seed);
	return 0;
}
