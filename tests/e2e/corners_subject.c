/* SPDX-License-Identifier: ISC
 *
 * A program that records at unusual times of a process's life; corners.py checks the result.
 *
 *     corners-subject CORNER [LIBRARY]
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

extern char **environ;

static const char *own_path, *library;

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "corners-subject: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void record(const char *text, int notes)
{
	for (int i = 0; i < notes; i++)
		weft_note(text);
}

static void wait_for(pid_t child)
{
	check(child > 0, "child");
	check(waitpid(child, NULL, 0) == child, "waitpid");
}

/* ---- Children ---- */

static void by_vfork(void)
{
	record("parent", 3);
	pid_t child = vfork();
	if (child == 0) {
		record("child", 4);
		_exit(0);
	}
	wait_for(child);
	record("parent", 3);
}

static void by_raw_clone(void)
{
	record("parent", 3);
	long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
	if (child == 0) {
		record("child", 4);
		_exit(0);
	}
	wait_for((pid_t)child);
	record("parent", 3);
}

static int in_shared_memory(void *argument)
{
	record(argument, 4);
	return 0;
}

/* Another process in the same memory; its parent waits, since it has no thread memory of its own.
 */
static void by_clone_in_shared_memory(void)
{
	enum {
		STACK = 1 << 20
	};
	char child[] = "child";
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(stack != MAP_FAILED, "mmap");
	record("parent", 3);
	wait_for(clone(in_shared_memory, stack + STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, child));
	record("parent", 3);
}

static void by_spawn(void)
{
	pid_t child;
	char name[] = "spawned", what[] = "note";
	char *const arguments[] = {name, what, NULL};
	record("parent", 3);
	check(posix_spawn(&child, own_path, NULL, NULL, arguments, environ) == 0, "posix_spawn");
	wait_for(child);
}

static void note(void)
{
	record("spawned", 4);
}

/* One process is four programs. */
static void by_exec(void)
{
	const char *left = getenv("CORNERS_LEFT");
	int programs = left ? atoi(left) : 3;
	char number[16];
	record("program", programs + 1);
	if (programs == 0)
		return;
	snprintf(number, sizeof(number), "%d", programs - 1);
	setenv("CORNERS_LEFT", number, 1);
	execl(own_path, "corners-subject", "by_exec", (char *)NULL);
	check(false, "exec");
}

static void as_a_daemon(void)
{
	int done[2];
	char byte;
	check(pipe(done) == 0, "pipe");
	record("parent", 3);
	pid_t first = fork();
	if (first == 0) {
		setsid();
		if (fork() != 0)
			_exit(0);
		check(chdir("/") == 0, "chdir");
		for (int fd = 0; fd < 64; fd++)
			if (fd != done[1])
				close(fd);
		record("daemon", 4);
		_exit(0);
	}
	wait_for(first);
	close(done[1]);
	check(read(done[0], &byte, 1) == 0, "read");
}

static void *record_in_thread(void *text)
{
	record(text, 2);
	return NULL;
}

static void threads_of_a_child(void)
{
	char text[] = "thread";
	record("parent", 3);
	pid_t child = fork();
	if (child == 0) {
		pthread_t threads[4];
		for (int i = 0; i < 4; i++)
			check(pthread_create(&threads[i], NULL, record_in_thread, text) == 0, "thread");
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
		exit(0);
	}
	wait_for(child);
}

/* ---- Children that cannot make a buffer ---- */

static void with_child(void (*confine)(void))
{
	record("parent", 3);
	pid_t child = fork();
	if (child == 0) {
		confine();
		record("child", 4);
		_exit(0);
	}
	wait_for(child);
}

static void lock_in(void)
{
	check(chroot(library) == 0 && chdir("/") == 0, "chroot");
}

static void in_a_chroot(void)
{
	with_child(lock_in);
}

static void refuse_files(void)
{
#define REFUSED(call)                                      \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES)
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), REFUSED(openat),
		REFUSED(symlinkat),
#ifdef SYS_open
		REFUSED(open), REFUSED(symlink),
#endif
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	const struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
	check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
	check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "seccomp");
}

static void under_seccomp(void)
{
	with_child(refuse_files);
}

static void drop_rights(void)
{
	check(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0, "setresuid");
}

static void without_rights(void)
{
	with_child(drop_rights);
}

/* More children than a buffer can list. */
static void many_in_a_chroot(void)
{
	record("parent", 3);
	for (int i = 0; i < 10; i++) {
		pid_t child = fork();
		if (child == 0) {
			lock_in();
			record("child", 4);
			_exit(0);
		}
		wait_for(child);
	}
}

/* ---- Threads ---- */

static pthread_key_t key;

/* Called again while it sets the key again. */
static void on_thread_end(void *value)
{
	int round = *(int *)value;
	record("destructor", 1);
	if (round > 1) {
		*(int *)value = round - 1;
		pthread_setspecific(key, value);
	}
}

static void *end_with_destructors(void *unused)
{
	static _Thread_local int rounds = 3;
	pthread_setspecific(key, &rounds);
	return unused;
}

/* The thread's first event is in the destructor. */
static void keys_of_threads(void)
{
	check(pthread_key_create(&key, on_thread_end) == 0, "key");
	for (int i = 0; i < 100; i++) {
		pthread_t thread;
		check(pthread_create(&thread, NULL, end_with_destructors, NULL) == 0, "thread");
		pthread_join(thread, NULL);
	}
}

static atomic_int progress;

/* Records until the thread is cancelled, or until the loop ends on a busy machine. The events of
 * all such threads fit into the test's ring. */
static void *record_until_cancelled(void *is_async)
{
	int unused;
	if (is_async)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &unused);
	for (int i = 0; i < 10000; i++) {
		weft_tag_value("cancelled", i);
		atomic_store(&progress, i);
		if (!is_async)
			pthread_testcancel();
	}
	for (;;)
		pause();
	return NULL;
}

/* A thread may end at any step; the next one continues in its packet. */
static void cancelled(void)
{
	for (int i = 0; i < 200; i++) {
		pthread_t thread;
		void *result;
		atomic_store(&progress, 0);
		check(pthread_create(&thread, NULL, record_until_cancelled, i % 2 ? &key : NULL) == 0,
			"thread");
		while (atomic_load(&progress) < 100)
			sched_yield();
		pthread_cancel(thread);
		pthread_join(thread, &result);
		check(result == PTHREAD_CANCELED, "cancel");
	}
	record("after", 5);
}

/* ---- Signals ---- */

static sigjmp_buf back;
static volatile sig_atomic_t jumps;

static void jump(int number)
{
	(void)number;
	weft_note("handler");
	jumps = jumps + 1;
	siglongjmp(back, 1);
}

/* A signal handler that jumps out of an unfinished event. */
static void jumps_out_of_handlers(void)
{
	const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	static volatile long recorded;
	signal(SIGALRM, jump);
	sigsetjmp(back, 1);
	if (jumps < 500) {
		setitimer(ITIMER_REAL, &often, NULL);
		for (;;) {
			weft_tag_value("interrupted", recorded);
			recorded = recorded + 1;
		}
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	record("mending", 100000); /* at most this many are refused, then the guard is repaired */
	record("after", 5);
}

static void record_in_handler(int number)
{
	weft_note("handler");
	weft_notef("signal %d", number);
}

/* The alignment that a program would give it; sanitizers put space between variables. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STACK_BYTES 65536
#endif
#endif
#ifndef STACK_BYTES
#define STACK_BYTES 8192
#endif

static void use_alternate_stack(void)
{
	const stack_t stack = {.ss_sp = malloc(STACK_BYTES), .ss_size = STACK_BYTES};
	struct sigaction action = {.sa_handler = record_in_handler, .sa_flags = SA_ONSTACK};
	check(stack.ss_sp && sigaltstack(&stack, NULL) == 0, "sigaltstack");
	check(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction");
}

/* A child's buffer is made on that stack, too. */
static void on_an_alternate_stack(void)
{
	use_alternate_stack();
	raise(SIGUSR1);
	pid_t child = fork();
	if (child == 0) {
		raise(SIGUSR1);
		_exit(0);
	}
	wait_for(child);
}

/* ---- Ends ---- */

static void at_the_end(void)
{
	record("at end", 1);
}

static void by_quick_exit(void)
{
	check(at_quick_exit(at_the_end) == 0, "at_quick_exit");
	record("main", 3);
	quick_exit(0);
}

static void by_abort(void)
{
	record("main", 3);
	abort();
}

static void by_underscore_exit(void)
{
	check(atexit(at_the_end) == 0, "atexit");
	record("main", 3);
	_exit(0);
}

static void by_a_fault(void)
{
	static int *volatile nowhere;
	signal(SIGSEGV, SIG_DFL);
	record("main", 3);
	*nowhere = 1;
}

static void *exit_program(void *unused)
{
	record("main", 3);
	exit(0);
	return unused;
}

static void by_another_thread(void)
{
	pthread_t thread;
	check(atexit(at_the_end) == 0, "atexit");
	check(pthread_create(&thread, NULL, exit_program, NULL) == 0, "thread");
	pthread_join(thread, NULL);
}

/* ---- Libraries ---- */

static int count_lines(const char *path)
{
	int lines = 0;
	FILE *file = fopen(path, "r");
	check(file, path);
	for (int c; (c = getc(file)) != EOF;)
		lines += c == '\n';
	fclose(file);
	return lines;
}

/* Its literals have other addresses each time, or those of an earlier library's literals. */
static void loaded_and_unloaded(void)
{
	int before = 0;
	for (int i = 0; i < 1000; i++) {
		void *object = dlopen(library, RTLD_NOW | RTLD_LOCAL);
		check(object, library);
		void (*run)(void);
		*(void **)&run = dlsym(object, "corners_run");
		check(run, "corners_run");
		run();
		check(dlclose(object) == 0, "dlclose");
		check(!dlopen(library, RTLD_NOW | RTLD_NOLOAD), "it stays loaded");
		if (i == 10)
			before = count_lines("/proc/self/maps");
	}
	check(count_lines("/proc/self/maps") <= before + 2, "mappings are left behind");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} corners[] = {{"by_vfork", by_vfork}, {"by_raw_clone", by_raw_clone},
		{"by_clone_in_shared_memory", by_clone_in_shared_memory}, {"by_spawn", by_spawn},
		{"note", note}, {"by_exec", by_exec}, {"as_a_daemon", as_a_daemon},
		{"threads_of_a_child", threads_of_a_child}, {"keys_of_threads", keys_of_threads},
		{"in_a_chroot", in_a_chroot}, {"under_seccomp", under_seccomp},
		{"without_rights", without_rights}, {"many_in_a_chroot", many_in_a_chroot},
		{"cancelled", cancelled}, {"jumps_out_of_handlers", jumps_out_of_handlers},
		{"on_an_alternate_stack", on_an_alternate_stack}, {"by_quick_exit", by_quick_exit},
		{"by_abort", by_abort}, {"by_underscore_exit", by_underscore_exit},
		{"by_a_fault", by_a_fault}, {"by_another_thread", by_another_thread},
		{"loaded_and_unloaded", loaded_and_unloaded}};
	own_path = "/proc/self/exe";
	library = argc > 2 ? argv[2] : "";
	for (size_t i = 0; argc > 1 && i < sizeof(corners) / sizeof(corners[0]); i++) {
		if (strcmp(argv[1], corners[i].name) == 0) {
			corners[i].run();
			return 0;
		}
	}
	return 2;
}
