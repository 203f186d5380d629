/* SPDX-License-Identifier: ISC
 *
 * Looks at threads that run: only the kernel knows their registers, and shows them when a thread is
 * stopped. Each is stopped three times with a pause, as briefly as possible: a thread that was in
 * one function each time is in a loop there, which one look could not show.
 *
 * A child process does it. The kernel lets threads go on when the process that has stopped them
 * ends, however it ends; so none stays stopped.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "parts.h"

#ifdef __x86_64__

enum {
	THREADS_MAX = 64, /* that are stopped */
	STACK_BYTES = 64 << 10,
	PAUSE_NS = 3000000,
	WAITS = 200, /* of 50 us, for the next thread to stop: one in the kernel may take longer */
	WAIT_NS = 50000,
	CALL_BYTES = 2, /* of the instruction `syscall` */
	CHILD_SECONDS = 5,
};

/* Where the child writes a look at a thread. */
struct look {
	uint64_t registers[WEFT__OUTSIDE_REGISTERS];
	struct weft__outside_context context;
	uint64_t size; /* of the stack; 0: the thread did not stop, or has ended */
	unsigned char stack[STACK_BYTES];
};

struct looks {
	pid_t pid;
	struct weft__outside_local local; /* where the threads' contexts are */
	uint32_t count;
	pid_t tids[THREADS_MAX];
	bool is_seized[THREADS_MAX];
	struct look looks[WEFT__OUTSIDE_LOOKS][THREADS_MAX];
};

/* In the order of DWARF's numbers. */
static void copy_registers(const struct user_regs_struct *from, uint64_t *to)
{
	const uint64_t registers[WEFT__OUTSIDE_REGISTERS] = {from->rax, from->rdx, from->rcx, from->rbx,
		from->rsi, from->rdi, from->rbp, from->rsp, from->r8, from->r9, from->r10, from->r11,
		from->r12, from->r13, from->r14, from->r15, from->rip};
	memcpy(to, registers, sizeof(registers));
}

/* Some calls end with EINTR when a thread is stopped in them, epoll_wait for example, although no
 * signal has come: the thread makes such a call again. */
static void repeat_call(pid_t pid, pid_t tid, struct user_regs_struct *registers)
{
	static const unsigned char call[CALL_BYTES] = {0x0f, 0x05};
	unsigned char code[CALL_BYTES];
	if ((int64_t)registers->rax != -EINTR || (int64_t)registers->orig_rax < 0 ||
		!weft__outside_read(pid, registers->rip - CALL_BYTES, code, sizeof(code)) ||
		memcmp(code, call, sizeof(code)) != 0)
		return;
	registers->rip -= CALL_BYTES;
	registers->rax = registers->orig_rax;
	(void)ptrace(PTRACE_SETREGS, tid, NULL, registers);
}

/* False as long as a thread has not stopped. `ret_signal` is the signal for which it has, which it
 * then gets; 0: it stopped for us; -1: it never will. */
static bool has_stopped(pid_t tid, int *ret_signal)
{
	int status = 0;
	const pid_t got = waitpid(tid, &status, __WALL | WNOHANG);
	if (got == 0)
		return false;
	*ret_signal = got != tid || !WIFSTOPPED(status)   ? -1
				  : status >> 16 == PTRACE_EVENT_STOP ? 0
													  : WSTOPSIG(status);
	return true;
}

/* Looks at a thread that has stopped, and lets it go on. */
static void look_at(const struct looks *all, pid_t tid, int signal, struct look *look)
{
	const pid_t pid = all->pid;
	struct user_regs_struct registers;
	if (ptrace(PTRACE_GETREGS, tid, NULL, &registers) == 0) {
		copy_registers(&registers, look->registers);
		weft__outside_read_thread_context(pid, registers.fs_base, &all->local, &look->context);
		look->size = weft__outside_read_up(pid, registers.rsp, look->stack, sizeof(look->stack));
		if (!signal)
			repeat_call(pid, tid, &registers);
	}
	(void)ptrace(PTRACE_CONT, tid, NULL, (void *)(intptr_t)signal);
}

/* Stops the threads, and looks at each as soon as it has stopped: one that is not on a processor
 * stops only when its turn comes. */
static void look_at_each(struct looks *all, struct look *looks)
{
	const struct timespec pause = {.tv_nsec = WAIT_NS};
	bool is_awaited[THREADS_MAX];
	uint32_t left = 0;
	int signal;
	for (uint32_t i = 0; i < all->count; i++) {
		is_awaited[i] =
			all->is_seized[i] && ptrace(PTRACE_INTERRUPT, all->tids[i], NULL, NULL) == 0;
		left += is_awaited[i];
	}
	for (int waits = 0; left && waits < WAITS; waits++) {
		for (uint32_t i = 0; i < all->count; i++) {
			if (!is_awaited[i] || !has_stopped(all->tids[i], &signal))
				continue;
			if (signal >= 0)
				look_at(all, all->tids[i], signal, &looks[i]);
			is_awaited[i] = false;
			left--;
			waits = 0;
		}
		if (left)
			nanosleep(&pause, NULL);
	}
}

static void run_child(struct looks *all)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	alarm(CHILD_SECONDS);
	for (uint32_t i = 0; i < all->count; i++)
		all->is_seized[i] = ptrace(PTRACE_SEIZE, all->tids[i], NULL, NULL) == 0;
	for (unsigned k = 0; k < WEFT__OUTSIDE_LOOKS; k++) {
		if (k)
			nanosleep(&pause, NULL);
		look_at_each(all, all->looks[k]);
	}
}

static void take(struct weft__outside_thread *thread, const struct look *look)
{
	struct weft__outside_stack *stack = &thread->stacks[thread->stack_count];
	const size_t size = look->size < STACK_BYTES ? look->size : STACK_BYTES;
	if (look->size)
		thread->context = look->context; /* the last look counts */
	stack->bytes = size ? malloc(size) : NULL;
	if (!stack->bytes)
		return;
	memcpy(stack->bytes, look->stack, size);
	memcpy(stack->registers, look->registers, sizeof(stack->registers));
	stack->size = size;
	stack->has_all = true;
	thread->stack_count++;
}

void weft__outside_look_at_running(struct weft__outside_process *process)
{
	struct weft__outside_thread *threads[THREADS_MAX];
	const uint64_t start = weft__outside_clock();
	int status;
	struct looks *all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (all == MAP_FAILED)
		return;
	all->pid = process->alive;
	all->local = process->local;
	for (uint32_t i = 0; i < process->count && all->count < THREADS_MAX; i++)
		if (process->threads[i].kernel.state == 'R' && process->threads[i].is_readable) {
			threads[all->count] = &process->threads[i];
			all->tids[all->count++] = process->threads[i].tid;
		}
	const uint32_t count = all->count;
	const pid_t child = count ? fork() : -1;
	if (child == 0) {
		run_child(all);
		_exit(0);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	const uint64_t end = weft__outside_clock();
	for (uint32_t i = 0; child > 0 && i < count; i++) {
		threads[i]->looks_ns = end - start;
		for (unsigned k = 0; k < WEFT__OUTSIDE_LOOKS; k++)
			take(threads[i], &all->looks[k][i]);
	}
	munmap(all, sizeof(*all));
}
#else
void weft__outside_look_at_running(struct weft__outside_process *process)
{
	(void)process; /* which registers a repeated call needs is not known here */
}
#endif
