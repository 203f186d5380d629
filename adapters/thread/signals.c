/* SPDX-License-Identifier: ISC
 *
 * Functions that send signals, and those that wait for them.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define WEFT_CATEGORY thread
#include "hooks/hooks.h"
#include "kernel/call.h"

/* ---- Sending ---- */

/* `thread`: 0 if the signal is for the process. Signal 0 only asks whether there is one. */
static void before_signal(int number, pid_t process, pid_t thread)
{
	if (!HOOKS_RECORD || number == 0 || thread < 0)
		return;
	int saved = weft__hooks_begin();
	weft__hooks_thread_task();
	if (!weft__hooks_is_this_process())
		;
	else if (process > 0 || thread > 0)
		weft__hooks_signal_sent(number, process, thread);
	else
		weft__hooks_signal_to_many(number);
	weft__hooks_end(saved);
}

/* The kernel's number of a thread is a part of the number of its clock. -1: it has ended. */
static pid_t number_of(pthread_t thread)
{
	clockid_t clock;
	return pthread_getcpuclockid(thread, &clock) == 0 ? ~(clock >> 3) : -1;
}

HOOK(kill)
int kill(pid_t process, int number)
{
	before_signal(number, process, 0);
	int result = NEXT(kill)(process, number);
	if (unlikely(result != 0) && number != 0 && HOOKS_RECORD) {
		int saved = weft__hooks_begin();
		weft__hooks_signal_failed(saved);
		weft__hooks_end(saved);
	}
	return result;
}

HOOK(killpg)
int killpg(pid_t group, int number)
{
	before_signal(number, 0, 0);
	return NEXT(killpg)(group, number);
}

HOOK(sigqueue)
int sigqueue(pid_t process, int number, const union sigval value)
{
	before_signal(number, process, 0);
	return NEXT(sigqueue)(process, number, value);
}

HOOK(tgkill)
int tgkill(pid_t process, pid_t thread, int number)
{
	before_signal(number, process, thread);
	return NEXT(tgkill)(process, thread, number);
}

HOOK(pthread_kill)
int pthread_kill(pthread_t thread, int number)
{
	if (HOOKS_RECORD)
		before_signal(number, 0, number_of(thread));
	return NEXT_VERSION(pthread_kill, "GLIBC_2.34")(thread, number);
}

HOOK(pthread_sigqueue)
int pthread_sigqueue(pthread_t thread, int number, const union sigval value)
{
	if (HOOKS_RECORD)
		before_signal(number, 0, number_of(thread));
	return NEXT_VERSION(pthread_sigqueue, "GLIBC_2.34")(thread, number, value);
}

HOOK(raise)
int raise(int number)
{
	if (HOOKS_RECORD)
		before_signal(number, 0, weft__kernel_thread());
	return NEXT(raise)(number);
}

/* ---- Waiting ---- */

/* "signal SIGTERM SIGINT", or "any signal" of many. The kernel's set is shorter than libc's. */
static WEFT__OWN_FRAME void append_signals(struct weft__hooks_text *text, const sigset_t *from)
{
	enum {
		NAMED = 3
	};
	int count = 0;
	sigset_t copy, *signals = &copy;
	sigemptyset(&copy);
	weft__hooks_copy(&copy, from, _NSIG / 8);
	for (int i = 1; i < _NSIG; i++)
		count += sigismember(signals, i) == 1;
	weft__hooks_append(text, count > NAMED ? "any signal" : "signal");
	for (int i = 1; i < _NSIG && count <= NAMED; i++)
		if (sigismember(signals, i) == 1) {
			weft__hooks_append(text, " ");
			weft__hooks_append_signal(text, i);
		}
}

static WEFT__OWN_FRAME uint64_t make_call(const sigset_t *signals)
{
	struct weft__hooks_text label = {0};
	if (signals)
		append_signals(&label, signals);
	else
		weft__hooks_append(&label, "any signal");
	return weft__hooks_call_task(&label, weft_kind("call"));
}

/* NULL: for any signal that has a handler. */
static void begin_wait(struct weft__hooks_wait *ret, const sigset_t *signals)
{
	int saved = weft__hooks_begin();
	weft__hooks_look_at_children();
	weft__hooks_wait_begin(ret, make_call(signals), true, "sigwait");
	weft__hooks_end(saved);
}

/* The members of a siginfo_t that are used. */
struct received {
	int number, code;
	pid_t sender;
};

static WEFT__OWN_FRAME bool read_received(struct received *ret, const siginfo_t *from)
{
	siginfo_t copy;
	if (!weft__hooks_copy(&copy, from, sizeof(copy)))
		return false;
	*ret = (struct received){copy.si_signo, copy.si_code, copy.si_pid};
	return true;
}

/* libc hides whether the signal was sent to this thread or to the process: SI_QUEUE means either.
 */
static WEFT__OWN_FRAME void receive(uint64_t task, const siginfo_t *info)
{
	struct received it;
	if (read_received(&it, info))
		weft__hooks_signal_received(
			task, it.number, it.code == SI_USER ? SI_QUEUE : it.code, it.sender);
}

/* `info`: NULL if there is none, or if the handler's stand-in has recorded it. */
static void end_wait(const struct weft__hooks_wait *wait, const siginfo_t *info, bool has_come)
{
	int saved = weft__hooks_begin();
	if (info && wait->source != WEFT_TASK_NONE)
		receive(wait->source, info);
	if (has_come)
		weft__hooks_wait_got(wait);
	else
		weft__hooks_wait_ended(wait);
	weft__hooks_end(saved);
}

HOOK(pause)
int pause(void)
{
	if (!HOOKS_RECORD)
		return NEXT(pause)();
	struct weft__hooks_wait wait;
	begin_wait(&wait, NULL);
	int result = NEXT(pause)();
	end_wait(&wait, NULL, true);
	return result;
}

HOOK(sigsuspend)
int sigsuspend(const sigset_t *mask)
{
	if (!HOOKS_RECORD)
		return NEXT(sigsuspend)(mask);
	struct weft__hooks_wait wait;
	begin_wait(&wait, NULL);
	int result = NEXT(sigsuspend)(mask);
	end_wait(&wait, NULL, true);
	return result;
}

HOOK(sigtimedwait)
int sigtimedwait(const sigset_t *restrict signals, siginfo_t *restrict info,
	const struct timespec *restrict time)
{
	siginfo_t own;
	struct timespec limit = {0, 0};
	bool waits = !time || (HOOKS_RECORD && weft__hooks_copy(&limit, time, sizeof(limit)) &&
							  (limit.tv_sec || limit.tv_nsec));
	if (!HOOKS_RECORD || !waits)
		return NEXT(sigtimedwait)(signals, info, time);
	struct weft__hooks_wait wait;
	begin_wait(&wait, signals);
	info = info ? info : &own;
	int result = NEXT(sigtimedwait)(signals, info, time);
	end_wait(&wait, result > 0 ? info : NULL, result > 0);
	return result;
}

HOOK(sigwaitinfo)
int sigwaitinfo(const sigset_t *restrict signals, siginfo_t *restrict info)
{
	siginfo_t own;
	if (!HOOKS_RECORD)
		return NEXT(sigwaitinfo)(signals, info);
	struct weft__hooks_wait wait;
	begin_wait(&wait, signals);
	info = info ? info : &own;
	int result = NEXT(sigwaitinfo)(signals, info);
	end_wait(&wait, result > 0 ? info : NULL, result > 0);
	return result;
}

/* As libc's: sigwait is not interrupted, returns the error, and leaves errno alone. */
HOOK(sigwait)
int sigwait(const sigset_t *restrict signals, int *restrict number)
{
	siginfo_t info;
	if (!HOOKS_RECORD)
		return NEXT(sigwait)(signals, number);
	struct weft__hooks_wait wait;
	begin_wait(&wait, signals);
	int result, saved = errno;
	do
		result = NEXT(sigwaitinfo)(signals, &info);
	while (result < 0 && errno == EINTR);
	int error = result < 0 ? errno : 0;
	end_wait(&wait, result > 0 ? &info : NULL, result > 0);
	errno = saved;
	if (result > 0)
		*number = result;
	return error;
}
