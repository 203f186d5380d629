/* SPDX-License-Identifier: ISC
 *
 * Calls that wait for time to pass: each is a timer. Sleeps of different lengths are not alike, and
 * one that is longer than others is not slow.
 */
#include <errno.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define WEFT_CATEGORY thread
#include "hooks/asked.h"
#include "hooks/vain.h"
#include "kernel/clock.h"

static uint64_t in_ns(const struct timespec *time)
{
	bool is_valid = time->tv_sec >= 0 && time->tv_sec < 1000000000 && time->tv_nsec >= 0;
	return is_valid ? (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec : 0;
}

/* 0: the kernel refuses that time, or there is none. */
static uint64_t ns_of(const struct timespec *time)
{
	struct timespec copy;
	return time && weft__hooks_copy(&copy, time, sizeof(copy)) ? in_ns(&copy) : 0;
}

static struct weft__hooks_wait begin_sleep(uint64_t ns)
{
	struct weft__hooks_text label = {0};
	int saved = weft__hooks_begin();
	weft__hooks_append(&label, "sleep ");
	weft__hooks_append_duration(&label, ns);
	struct weft__hooks_wait wait = weft__hooks_wait_outside(&label, WEFT_KIND_TIMER, "sleep");
	weft__hooks_end(saved);
	return wait;
}

static void end_wait(const struct weft__hooks_wait *wait, bool is_complete)
{
	int saved = weft__hooks_begin();
	if (is_complete)
		weft__hooks_wait_got(wait);
	else
		weft__hooks_wait_ended(wait);
	weft__hooks_end(saved);
}

/* A sleep of no time. Nothing is recorded, except that a thread does nothing else. */
#define NO_TIME(call)                                                      \
	__extension__({                                                        \
		const uint64_t began_ns = HOOKS_RECORD ? weft__hooks_now_ns() : 0; \
		const __typeof__(call) result = (call);                            \
		if (began_ns)                                                      \
			weft__hooks_vain("sleeps of 0", began_ns);                     \
		result;                                                            \
	})

HOOK(nanosleep)
int nanosleep(const struct timespec *duration, struct timespec *left)
{
	uint64_t ns = HOOKS_RECORD ? ns_of(duration) : 0;
	if (!ns)
		return NO_TIME(NEXT(nanosleep)(duration, left));
	struct weft__hooks_wait wait = begin_sleep(ns);
	int result = NEXT(nanosleep)(duration, left);
	end_wait(&wait, result == 0);
	return result;
}

/* By syscall(). 0 ns: nothing is recorded. */
static long ask_to_sleep(const struct weft__hooks_asked *it, uint64_t ns)
{
	if (!ns)
		return weft__hooks_ask(it);
	struct weft__hooks_wait wait = begin_sleep(ns);
	long result = weft__hooks_ask(it);
	end_wait(&wait, result == 0);
	return result;
}

HOOKS_ASKED(SYS_nanosleep, ask_nanosleep)
{
	return ask_to_sleep(it, HOOKS_RECORD ? ns_of(weft__hooks_pointer(it, 0)) : 0);
}

/* Until an absolute time: as long as it is from now. */
static uint64_t ns_until(clockid_t clock, const struct timespec *until)
{
	struct timespec now;
	uint64_t end = ns_of(until);
	if (!weft__kernel_read_clock(clock, &now) || in_ns(&now) >= end)
		return 0;
	return end - in_ns(&now);
}

static uint64_t ns_by_clock(clockid_t clock, int flags, const struct timespec *duration)
{
	if (!HOOKS_RECORD)
		return 0;
	return flags & TIMER_ABSTIME ? ns_until(clock, duration) : ns_of(duration);
}

HOOK(clock_nanosleep)
int clock_nanosleep(
	clockid_t clock, int flags, const struct timespec *duration, struct timespec *left)
{
	uint64_t ns = ns_by_clock(clock, flags, duration);
	if (!ns)
		return NO_TIME(NEXT(clock_nanosleep)(clock, flags, duration, left));
	struct weft__hooks_wait wait = begin_sleep(ns);
	int error = NEXT(clock_nanosleep)(clock, flags, duration, left);
	end_wait(&wait, error == 0);
	return error;
}

HOOKS_ASKED(SYS_clock_nanosleep, ask_clock_nanosleep)
{
	return ask_to_sleep(it,
		ns_by_clock((clockid_t)it->argument[0], (int)it->argument[1], weft__hooks_pointer(it, 2)));
}

HOOK(usleep)
int usleep(useconds_t us)
{
	if (!HOOKS_RECORD || !us)
		return NO_TIME(NEXT(usleep)(us));
	struct weft__hooks_wait wait = begin_sleep((uint64_t)us * 1000);
	int result = NEXT(usleep)(us);
	end_wait(&wait, result == 0);
	return result;
}

HOOK(sleep)
unsigned sleep(unsigned seconds)
{
	if (!HOOKS_RECORD || !seconds)
		return NO_TIME(NEXT(sleep)(seconds));
	struct weft__hooks_wait wait = begin_sleep((uint64_t)seconds * 1000000000);
	unsigned left = NEXT(sleep)(seconds);
	end_wait(&wait, left == 0);
	return left;
}

HOOK(thrd_sleep)
int thrd_sleep(const struct timespec *duration, struct timespec *left)
{
	uint64_t ns = HOOKS_RECORD ? ns_of(duration) : 0;
	if (!ns)
		return NO_TIME(NEXT(thrd_sleep)(duration, left));
	struct weft__hooks_wait wait = begin_sleep(ns);
	int result = NEXT(thrd_sleep)(duration, left);
	end_wait(&wait, result == 0);
	return result;
}
