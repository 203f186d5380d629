/* SPDX-License-Identifier: ISC
 *
 * Survives the loss of a ring's pages: if the file is shortened, or its disk fails, the next event
 * would end the program by SIGBUS.
 *
 * A handler is installed only for rings on a disk, and acts only on faults inside the ring. It
 * replaces the ring by zeroed private memory, because threads are in the middle of events: they
 * find slots without packets, as at the beginning. Then it stops recording. Any other SIGBUS goes
 * to the handler that was set before.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernel/call.h"
#include "platform/linux.h"
#include "record/atomics.h"
#include "record/copy.h"

static struct {
	uintptr_t start; /* 0: no ring */
	size_t size;
	uint32_t is_replaced; /* or being replaced */
	const char *path;
} ring;

static struct sigaction previous;

/* Zeroed memory is a buffer whose slots have no packets. */
static void replace(void)
{
	mmap((void *)ring.start, ring.size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* Stores the reason in the file's header, if that still exists, and returns it as a text. A store
 * into the mapping may fault again, so this uses pwrite. */
static const char *write_reason(void)
{
	const uint32_t reason = EIO, stopped = 1;
	struct stat status;
	const char *what = "its disk failed";
	int fd = weft__kernel_open(ring.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
	if (fd < 0)
		return what;
	bool known = weft__kernel_stat(fd, &status) == 0;
	if (known && status.st_size < (off_t)ring.size)
		what = "the file was shortened";
	if (known && status.st_size >= (off_t)sizeof(struct weft_abi_buffer) &&
		weft__kernel_write_at(
			fd, &reason, sizeof(reason), offsetof(struct weft_abi_buffer, stop_reason)) > 0 &&
		weft__kernel_write_at(
			fd, &stopped, sizeof(stopped), offsetof(struct weft_abi_buffer, stopped)) < 0)
		what = "its disk failed";
	weft__kernel_close(fd);
	return what;
}

static bool is_ours(const siginfo_t *info)
{
	uintptr_t address = (uintptr_t)info->si_addr, start = weft__load_acquire(&ring.start);
	return info->si_code == BUS_ADRERR && start && address >= start && address - start < ring.size;
}

/* Replaces the ring and stops recording, in one of the threads that fault. The others return from
 * the handler and retry their access, until it succeeds. */
static void give_up(void)
{
	if (!weft__compare_exchange(&ring.is_replaced, 0, 1))
		return;
	replace();
	weft__stop();
	weft__platform_linux_report(ring.path, write_reason());
}

/* Does what the system does by default. */
static void take_default(const siginfo_t *info)
{
	const struct sigaction normal = {.sa_handler = SIG_DFL};
	sigaction(SIGBUS, &normal, NULL);
	/* A real fault repeats when the handler returns; a sent signal has to be sent again. */
	if (info->si_code <= 0)
		weft__kernel_call(
			SYS_tgkill, weft__kernel_process(), weft__kernel_thread(), SIGBUS, 0, 0, 0);
}

static void pass_on(int number, siginfo_t *info, void *context)
{
	struct sigaction action = previous;
	bool is_fault = info->si_code > 0;
	if (!(action.sa_flags & SA_SIGINFO)) {
		if (action.sa_handler == SIG_IGN && !is_fault)
			return;
		if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) {
			take_default(info);
			return;
		}
	}
	if (action.sa_flags & SA_RESETHAND)
		previous = (struct sigaction){.sa_handler = SIG_DFL};
	/* Blocks the signals that the previous handler expects, no more. The kernel's signal set is
	 * shorter than the library's. */
	const ucontext_t *interrupted = context;
	sigset_t blocked = action.sa_mask;
	for (int i = 1; i < NSIG; i++)
		if (sigismember(&interrupted->uc_sigmask, i) == 1)
			sigaddset(&blocked, i);
	if (!(action.sa_flags & SA_NODEFER))
		sigaddset(&blocked, number);
	sigprocmask(SIG_SETMASK, &blocked, NULL); /* returning from our handler restores the mask */
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
}

static void on_sigbus(int number, siginfo_t *info, void *context)
{
	int saved = errno;
	if (is_ours(info))
		give_up();
	else
		pass_on(number, info, context);
	errno = saved;
}

void weft__platform_sigbus_guard(void *buffer, size_t size, const char *path)
{
	static bool is_installed;
	struct sigaction action = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	weft__store(&ring.start, 0);
	ring.size = size;
	ring.path = path;
	weft__store(&ring.is_replaced, 0);
	weft__store_release(&ring.start, (uintptr_t)buffer);
	if (is_installed) /* perhaps inherited by fork */
		return;
	/* No other handler may run while the ring is being replaced. */
	sigfillset(&action.sa_mask);
	sigaction(SIGBUS, NULL, &previous); /* neither call can fail */
	action.sa_flags |= previous.sa_flags & SA_RESTART;
	sigaction(SIGBUS, &action, NULL);
	is_installed = true;
}
