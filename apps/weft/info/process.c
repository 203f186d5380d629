/* SPDX-License-Identifier: ISC
 *
 * weft info PID: what a process tells other processes of itself by OpenTelemetry's proposals.
 */
#include "info.h"

#include <stdio.h>
#include <string.h>

#include "outside/outside.h"
#include "why/outside_words.h"

static void add_shown(struct weft_text *text, const char *string)
{
	weft_text_add_shown(text, string, strlen(string));
}

static uint32_t count_contexts(const struct weft__outside_process *process)
{
	uint32_t given = 0;
	for (uint32_t i = 0; i < process->count; i++)
		given += process->threads[i].context.is_given;
	return given;
}

static void write_text(const struct weft__outside_process *process, struct weft_text *text)
{
	weft_text_add_string(text, "process     ");
	add_shown(text, process->name);
	cli_add_number(text, " ", (uint64_t)process->pid);
	weft_text_add_string(text, "\nservice     ");
	add_shown(text, process->service[0] ? process->service : "the process publishes none");
	weft_text_add_string(text, "\ncontexts    ");
	if (!process->local.is_known)
		weft_text_add_string(text, "its threads publish none");
	else
		cli_add_number(text, "", count_contexts(process));
	if (process->local.is_known) {
		cli_add_number(text, " of ", process->count);
		weft_text_add_string(text, process->count == 1 ? " thread" : " threads");
	}
	if (process->denied)
		cli_add_number(text, "; not allowed to be read: ", process->denied);
	weft_text_add_string(text, "\n");
	for (uint32_t i = 0; i < process->count; i++) {
		const struct weft__outside_thread *thread = &process->threads[i];
		if (!thread->context.is_given)
			continue;
		cli_add_number(text, "            thread ", (uint64_t)thread->tid);
		weft_text_add_string(text, " '");
		add_shown(text, thread->kernel.name);
		outside_add_context(text, "' ", &thread->context);
		weft_text_add_string(text, "\n");
	}
}

static void write_json(const struct weft__outside_process *process, struct weft_text *text)
{
	cli_add_number(text, "{\"pid\":", (uint64_t)process->pid);
	cli_add_json(text, ",\"name\":", process->name);
	if (process->service[0])
		cli_add_json(text, ",\"service\":", process->service);
	cli_add_number(text, ",\"denied\":", process->denied);
	weft_text_add_string(text, ",\"threads\":[");
	for (uint32_t i = 0; i < process->count; i++) {
		const struct weft__outside_thread *thread = &process->threads[i];
		cli_add_number(text, i ? ",{\"tid\":" : "{\"tid\":", (uint64_t)thread->tid);
		cli_add_json(text, ",\"name\":", thread->kernel.name);
		outside_add_json_context(text, &thread->context);
		weft_text_add_string(text, "}");
	}
	weft_text_add_string(text, "]}\n");
}

bool info_shows_context(pid_t pid)
{
	struct weft__outside_host host = {0};
	const struct weft__outside_process *process = weft__outside_look(&host, pid, false);
	const bool shows = process && (process->service[0] || process->local.is_known);
	weft__outside_finish(&host);
	return shows;
}

int info_process(pid_t pid, bool json)
{
	struct weft__outside_host host = {0};
	struct weft_text text = {0};
	const struct weft__outside_process *process = weft__outside_look(&host, pid, true);
	if (!process)
		cli_inform("no process has the number %d", (int)pid);
	else if (json)
		write_json(process, &text);
	else
		write_text(process, &text);
	cli_write(&text);
	weft_text_finish(&text);
	weft__outside_finish(&host);
	return process ? CLI_DONE : CLI_UNREADABLE;
}
