/* SPDX-License-Identifier: ISC
 *
 * Signals as messages. Both sides know the sender's process id, the target and the number: the
 * receiver has them from its siginfo_t. The target is a thread if the sender named one (SI_TKILL),
 * otherwise a process.
 *
 * A process that a signal kills receives nothing, and its parent does not learn which process sent
 * it. So each signal to a process is a second message, without the sender, for the parent's wait.
 */
#include <string.h>
#include <sys/wait.h>
#include <weft/ends.h>

#define WEFT_CATEGORY always
#include "hooks/hooks.h"
#include "kernel/call.h"

static uint64_t key_of(pid_t sender, pid_t target, int number)
{
	uint64_t ends = (uint64_t)(uint32_t)sender << 32 | (uint32_t)target;
	return weft__hooks_key(WEFT__HOOKS_SIGNAL, weft__hooks_mix(ends) ^ (uint64_t)number);
}

static uint64_t death_key(pid_t process, int number)
{
	return weft__hooks_key(WEFT__HOOKS_KILLS, (uint64_t)(uint32_t)process << 32 | (uint32_t)number);
}

/* "SIGTERM from process 17" */
static void note(uint64_t task, int number, const char *preposition, pid_t target)
{
	struct weft__hooks_text text = {0};
	weft__hooks_append_signal(&text, number);
	weft__hooks_append(&text, preposition);
	if (target > 0)
		weft__hooks_append_number(&text, target);
	weft_note_n_as(task, text.bytes, text.size);
}

/* A signal handler that has interrupted a wait is a part of the thread's own task. */
static uint64_t sender(void)
{
	uint64_t own = weft__hooks_thread_task();
	return weft_current() != WEFT_TASK_NONE ? WEFT_TASK_CURRENT : own;
}

void weft__hooks_signal_sent(int number, pid_t process, pid_t thread)
{
	if (!weft__hooks_system_begin())
		return;
	pid_t own = weft__kernel_process();
	uint64_t task = sender();
	if (thread) {
		note(task, number, " to thread ", thread);
		weft_send_as(task, key_of(own, thread, number));
	} else {
		note(task, number, " to process ", process);
		weft_send_as(task, key_of(own, process, number));
		weft_send_as(task, death_key(process, number));
	}
	weft__hooks_system_end();
}

void weft__hooks_signal_failed(int error)
{
	struct weft__hooks_text text = {0};
	const char *name = strerrorname_np(error);
	weft__hooks_append(&text, "kill: ");
	weft__hooks_append(&text, name ? name : "error");
	weft_note_n_as(sender(), text.bytes, text.size);
}

void weft__hooks_signal_to_many(int number)
{
	note(sender(), number, " to several processes", 0);
}

/* The kernel itself sends signals, too: of timers, terminals, and errors of the program. */
void weft__hooks_signal_received(uint64_t task, int number, int code, pid_t sender)
{
	bool is_of_process = code == SI_USER || code == SI_QUEUE;
	bool has_sender = sender > 0 && (is_of_process || code == SI_TKILL || number == SIGCHLD);
	if (!weft__hooks_system_begin())
		return;
	if (is_of_process)
		weft_receive_as(task, key_of(sender, weft__kernel_process(), number));
	/* pthread_sigqueue has the code of sigqueue. */
	if (code == SI_TKILL || code == SI_QUEUE)
		weft_receive_as(task, key_of(sender, (pid_t)weft__hooks_thread.number, number));
	weft__hooks_system_end();
	note(task, number, has_sender ? " from process " : "", has_sender ? sender : 0);
}

void weft__hooks_killed(uint64_t task, pid_t child, int number)
{
	struct weft__hooks_text text = {0};
	weft__hooks_append(&text, "killed by ");
	weft__hooks_append_signal(&text, number);
	weft_receive_as(task, death_key(child, number));
	weft_tag_value_as(task, WEFT_TAG_KILLED, child);
	weft_note_n_as(task, text.bytes, text.size);
}
