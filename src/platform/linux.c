/* SPDX-License-Identifier: ISC
 *
 * Linux: clock, threads, identity.
 *
 * All functions may run in a signal handler: they use plain system calls and restore errno.
 */
#include "platform/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include <weft/error.h>

#include "kernel/call.h"
#include "kernel/clock.h"
#include "kernel/filter.h"
#include "record/counters.h"
#include "record/metrics.h"
#include "record/recorder.h"

/* Not every C library ships linux/futex.h. */
#ifndef FUTEX_WAKE
#define FUTEX_WAKE 1
#endif
#define MEMBARRIER_PRIVATE_EXPEDITED          (1 << 3)
#define MEMBARRIER_REGISTER_PRIVATE_EXPEDITED (1 << 4)

/* Two clock readings at least this far apart give the clock's rate within 1:10,000, since each
 * reading is off by tens of ns. */
#define RATE_BASE_NS 500000

_Thread_local struct weft__self weft__self_here = {.ticket = WEFT__OUTSIDE};

static struct weft_abi_clock_reading first;

/* WEFT_SYSCALLS=none: only a thread's first event may make system calls. */
static bool is_quiet;

/* The process that owns this memory. A child made by vfork runs in it too, but is another process.
 */
static pid_t process;

bool weft__platform_clock(unsigned clock, uint64_t *ret_ns)
{
	static const clockid_t ids[] = {[WEFT_CLOCK_MONOTONIC] = CLOCK_MONOTONIC,
		[WEFT_CLOCK_REALTIME] = CLOCK_REALTIME,
		[WEFT_CLOCK_BOOTTIME] = CLOCK_BOOTTIME,
		[WEFT_CLOCK_MONOTONIC_RAW] = CLOCK_MONOTONIC_RAW,
		[WEFT_CLOCK_TAI] = CLOCK_TAI};
	if (clock == WEFT_CLOCK_RECORDER || clock >= sizeof(ids) / sizeof(ids[0]))
		return false;
	*ret_ns = weft__kernel_clock_ns(ids[clock]);
	return true;
}

static uint64_t monotonic_ticks(void *context)
{
	(void)context;
	return weft__kernel_clock_ns(CLOCK_MONOTONIC);
}

/* Called whenever a packet is opened, so also the place to look for reports of children. */
static void read_clocks(void *context, uint64_t *ret_monotonic_ns, uint64_t *ret_unix_ns)
{
	(void)context;
	weft__platform_children_collect(weft__record_header());
	*ret_monotonic_ns = weft__kernel_clock_ns(CLOCK_MONOTONIC);
	*ret_unix_ns = weft__kernel_clock_ns(CLOCK_REALTIME);
}

static uint32_t current_thread(void *context, char ret_name[16])
{
	(void)context;
	weft__kernel_thread_name(ret_name);
	return weft__kernel_process() == weft__load(&process) ? (uint32_t)weft__kernel_thread() : 0;
}

static bool thread_has_ended(void *context, uint32_t thread)
{
	(void)context;
	return weft__kernel_call(SYS_tgkill, weft__load(&process), thread, 0, 0, 0, 0) == -ESRCH;
}

/* A shared futex, because the followers are in other processes. */
static void wake_waiters(void *context, uint32_t *word)
{
	(void)context;
	weft__kernel_futex(word, FUTEX_WAKE, INT_MAX, NULL);
}

/* membarrier interrupts each processor that runs a thread of this process; on the others, the
 * context switch is a barrier. */
static bool pass_barrier(void *context)
{
	(void)context;
	return weft__kernel_call(SYS_membarrier, MEMBARRIER_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0) == 0;
}

/* A thread that loses the processor between the readings repeats them. */
#define OFF_CPU_TRIES 3
#define OFF_CPU_NS    5000 /* the readings take less */

/* The raw clock and the one of the thread's time run at the same rate; CLOCK_MONOTONIC is slewed.
 */
bool weft__platform_off_cpu(uint64_t *ret_ns)
{
	struct timespec cpu;
	uint64_t before, after;
	bool is_known;
	int tries = 0;
	do {
		before = weft__kernel_clock_ns(CLOCK_MONOTONIC_RAW);
		is_known = weft__kernel_read_clock(CLOCK_THREAD_CPUTIME_ID, &cpu);
		after = weft__kernel_clock_ns(CLOCK_MONOTONIC_RAW);
	} while (is_known && after - before > OFF_CPU_NS && ++tries < OFF_CPU_TRIES);
	*ret_ns = before - (uint64_t)cpu.tv_sec * 1000000000u - (uint64_t)cpu.tv_nsec;
	return is_known;
}

static struct weft_platform linux_platform = {
	.read_clocks = read_clocks,
	.self = current_thread,
	.has_ended = thread_has_ended,
	.wake = wake_waiters,
};

/* True if the counter runs at one rate, whatever the processor's state; aarch64's always does. */
static bool cpu_clock_is_steady(void)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned eax, ebx, ecx, edx;
	return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && (edx & 1u << 8);
#elif defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

/* The program's name as it was at the start. libc's pointer to it leads into the command line,
 * which servers later overwrite with a text about their state, perhaps with slashes. */
static char program[sizeof(((struct weft_abi_buffer *)NULL)->program)];

/* Runs as early as possible: keeps the program's name, chooses the clock, takes the first clock
 * reading, from which its rate is computed, and looks for another copy of the recorder. */
static void init(void)
{
	if (first.monotonic_ns)
		return;
	if (!cpu_clock_is_steady()) {
		linux_platform.ticks = monotonic_ticks;
		linux_platform.ticks_hz = 1000000000;
	}
	first = weft__record_read_clocks(&linux_platform);
	const char *name = program_invocation_short_name;
	strncpy(program, name && *name ? name : "program", sizeof(program) - 1);
	is_quiet = weft__platform_linux_is_quiet();
	weft__platform_linux_join();
}

const struct weft_platform *weft__platform_default(void)
{
	init();
	return &linux_platform;
}

const char *weft__platform_linux_program(void)
{
	init();
	return program;
}

/* Reads the first `size` bytes of a file of /proc. */
static size_t read_file(const char *path, char *bytes, size_t size)
{
	int fd = weft__kernel_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	long got = weft__kernel_read(fd, bytes, size);
	weft__kernel_close(fd);
	return got > 0 ? (size_t)got : 0;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void read_boot_id(uint8_t ret_id[16])
{
	char text[36];
	size_t size = read_file("/proc/sys/kernel/random/boot_id", text, sizeof(text));
	unsigned digits = 0;
	for (size_t i = 0; i < size && digits < 32; i++) {
		int digit = hex_digit(text[i]);
		if (digit < 0)
			continue;
		ret_id[digits / 2] = (uint8_t)(ret_id[digits / 2] << 4 | digit);
		digits++;
	}
}

static void describe_process(struct weft_abi_buffer *header)
{
	header->pid = (uint32_t)weft__load(&process);
	memcpy(header->program, program, sizeof(program));
	read_file("/proc/self/cmdline", header->command, sizeof(header->command) - 1);
	read_boot_id(header->boot_id);
	(void)gethostname(header->host, sizeof(header->host) - 1);
	/* GRND_NONBLOCK: without entropy the run has no uuid. */
	if (weft__kernel_call(
			SYS_getrandom, (long)header->uuid, sizeof(header->uuid), GRND_NONBLOCK, 0, 0, 0) < 0)
		memset(header->uuid, 0, sizeof(header->uuid));
}

/* Stores two clock readings, the first one and one of now, for which it waits until they are at
 * least RATE_BASE_NS apart. */
static void describe_rate(struct weft_abi_buffer *header)
{
	header->start = first;
	do
		header->second = weft__record_read_clocks(&linux_platform);
	while (header->second.monotonic_ns - first.monotonic_ns < RATE_BASE_NS);
}

/* Makes the kernel clear the recorder's state in a forked child. False if that is impossible: then
 * recording must not start, because a child would write into its parent's buffer. */
bool weft__platform_linux_begins_off(void)
{
	return madvise(&weft__live, sizeof(weft__live), MADV_WIPEONFORK) == 0;
}

int weft__platform_prepare(const struct weft__region *region, const struct weft_platform *platform)
{
	struct weft_abi_buffer *header = region->header;
	int saved = errno;
	int error = 0;
	weft__store(&process, weft__kernel_process());
	describe_process(header);
	weft__platform_linux_describe_machine(region);
	header->is_quiet = is_quiet;
	/* Kernels before 4.14 and some sandboxes lack membarrier, and others end the process; then no
	 * packets are taken from idle threads. */
	bool has_barrier = !weft__kernel_is_filtered() &&
					   weft__kernel_call(SYS_membarrier, MEMBARRIER_REGISTER_PRIVATE_EXPEDITED, 0,
						   0, 0, 0, 0) == 0;
	/* Atomic, because threads that still record in an earlier buffer read it. */
	weft__store(&linux_platform.barrier, has_barrier ? pass_barrier : NULL);
	if (platform == &linux_platform) {
		describe_rate(header);
		if (platform->ticks)
			header->clock = WEFT_ABI_CLOCK_MONOTONIC;
	}
	if (!weft__platform_linux_begins_off())
		error = WEFT_ERROR_UNSUPPORTED;
	errno = saved;
	return error;
}

/* This constructor is in a file that every recording program links: since nothing refers to a
 * constructor, the linker would leave out a member of a static library that has nothing else. It
 * runs before the program's own constructors, which may record. */
__attribute__((constructor(101))) static void at_start(void)
{
	int saved = errno;
	init();
	if (!weft__recorder.leader && !weft__recorder.is_barred) {
		/* Kernels before 4.14 cannot: there a forked child counts on from its parent's values. */
		madvise(&weft__counters.own, sizeof(weft__counters.own), MADV_WIPEONFORK);
		madvise(&weft__metrics.own, sizeof(weft__metrics.own), MADV_WIPEONFORK);
		weft__platform_linux_levels();
		weft__platform_linux_autostart();
		weft__platform_linux_offer();
	}
	errno = saved;
}

/* Stores when the program ended. Destructors that run later can still record. */
__attribute__((destructor(101))) static void at_end(void)
{
	if (weft__record_generation() && !weft__record_is_inside_event())
		weft__record_counters_put_all();
	if (weft__record_generation())
		weft__record_end_record(weft__record_header(), WEFT_ABI_ENDING_EXIT); /* reads the clocks */
}
