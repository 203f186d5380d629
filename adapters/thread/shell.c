/* SPDX-License-Identifier: ISC
 *
 * Child processes that libc makes by functions of its own: of system, popen, forkpty and daemon.
 *
 * system does not tell the child's process id, so the two know each other by that of the parent.
 * If another thread makes a child meanwhile, the two children may be taken for each other.
 */
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/call.h"
#include "thread/children.h"

static uint64_t own_key(enum weft__hooks_channel channel)
{
	return weft__hooks_key(channel, (uint64_t)weft__kernel_process());
}

/* ---- system ---- */

/* A message that no child has taken would be taken by a later one: a send of no task removes it. */
static struct weft__hooks_wait begin_system(const char *command)
{
	struct weft__hooks_text label = {0};
	int saved = weft__hooks_begin();
	weft__hooks_append(&label, "system ");
	weft__hooks_append_copy(&label, command);
	weft__hooks_thread_task();
	weft__hooks_forked();
	weft_send(own_key(WEFT__HOOKS_CHILD_BEGINS));
	weft_send_as(WEFT_TASK_NONE, own_key(WEFT__HOOKS_CHILD_EXITS));
	struct weft__hooks_wait wait = weft__hooks_wait_outside(&label, weft_kind("call"), "system");
	weft__hooks_end(saved);
	return wait;
}

static void end_system(const struct weft__hooks_wait *wait)
{
	int saved = weft__hooks_begin();
	weft_send_as(WEFT_TASK_NONE, own_key(WEFT__HOOKS_CHILD_BEGINS));
	if (wait->source != WEFT_TASK_NONE)
		weft_receive_as(wait->source, own_key(WEFT__HOOKS_CHILD_EXITS));
	weft__hooks_wait_got(wait);
	weft__hooks_end(saved);
}

HOOK(system)
int system(const char *command)
{
	if (!HOOKS_RECORD || !command)
		return NEXT(system)(command);
	struct weft__hooks_wait wait = begin_system(command);
	int status = NEXT(system)(command);
	end_system(&wait);
	return status;
}

/* ---- popen ---- */

/* libc keeps the child's process id behind what it keeps of every stream: the public part, and the
 * address of a table. */
static pid_t child_of(const FILE *stream)
{
	pid_t child;
	memcpy(&child, (const char *)stream + sizeof(FILE) + sizeof(void *), sizeof(child));
	return child;
}

HOOK(popen)
FILE *popen(const char *command, const char *mode)
{
	FILE *stream = NEXT(popen)(command, mode);
	if (stream && HOOKS_RECORD)
		weft__thread_child_begins(child_of(stream));
	return stream;
}

HOOK(pclose)
int pclose(FILE *stream)
{
	if (!HOOKS_RECORD)
		return NEXT(pclose)(stream);
	pid_t child = child_of(stream);
	struct weft__hooks_wait wait = weft__thread_child_wait(child);
	int status = NEXT(pclose)(stream);
	weft__thread_child_ended(&wait, status < 0 ? -1 : child, status, false);
	return status;
}

/* ---- forkpty and daemon ---- */

HOOK(forkpty)
int forkpty(int *terminal, char *name, const struct termios *settings, const struct winsize *size)
{
	int child = NEXT(forkpty)(terminal, name, settings, size);
	if (child > 0 && HOOKS_RECORD)
		weft__thread_child_begins(child);
	return child;
}

/* The caller goes on in a child, and its process ends inside of libc. */
HOOK(daemon)
int daemon(int keeps_folder, int keeps_streams)
{
	if (!HOOKS_RECORD)
		return NEXT(daemon)(keeps_folder, keeps_streams);
	int saved = weft__hooks_begin();
	uint64_t begins = own_key(WEFT__HOOKS_CHILD_BEGINS);
	weft__hooks_thread_task();
	weft_send(begins);
	weft_send(own_key(WEFT__HOOKS_EXITS));
	weft__hooks_end(saved);
	int result = NEXT(daemon)(keeps_folder, keeps_streams);
	saved = weft__hooks_begin();
	if (result == 0)
		weft_receive_as(weft__hooks_thread_task(), begins);
	weft__hooks_end(saved);
	return result;
}
