/* SPDX-License-Identifier: ISC
 *
 * Sentences about threads that are seen from outside, as text and as JSON.
 */
#include "outside_words.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <weft/text.h>

#include "cli/cli.h"

enum {
	SHOWN_THREADS = 100, /* of a process, as text */
	SHOWN_FRAMES = 6,    /* in a sentence */
	CIRCLE_MAX = 20,     /* threads that are named */
};

/* ---- Words ---- */

static bool begins_with_any(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (strncmp(text, *list, strlen(*list)) == 0)
			return true;
	return false;
}

static bool is_of_libc(const struct weft__outside_frame *frame)
{
	static const char *const modules[] = {"libc.so", "ld-linux", NULL};
	return begins_with_any(frame->module, modules);
}

/* Parts of C++'s library, and all of Rust's, are in the program itself. */
bool outside_is_own(const struct weft__outside_frame *frame)
{
	static const char *const modules[] = {
		"libstdc++.so", "libgcc_s.so", "libweft.so", "libweft-adapters.so", NULL};
	static const char *const functions[] = {"std::", "void std::", "core::", "<core::", "alloc::",
		"<alloc::", "__gnu_cxx::", "__rust_", NULL};
	if (!frame->module[0])
		return frame->function[0];
	return !is_of_libc(frame) && !begins_with_any(frame->module, modules) && !frame->is_system &&
		   !begins_with_any(frame->function, functions);
}

static void add_shown(struct weft_text *text, const char *string)
{
	weft_text_add_shown(text, string, strlen(string));
}

static void add_thread_name(const struct weft__outside_thread *thread, struct weft_text *text)
{
	weft_text_add_string(text, "thread ");
	weft_text_add_i64(text, thread->tid);
	weft_text_add_string(text, " '");
	add_shown(text, thread->kernel.name);
	weft_text_add_string(text, "'");
}

void outside_add_frame(
	struct weft_text *text, const struct weft__outside_frame *frame, bool has_line)
{
	char number[32];
	if (frame->function[0]) {
		add_shown(text, frame->function);
	} else {
		add_shown(text, frame->module);
		snprintf(number, sizeof(number), "%s0x%" PRIx64, frame->module[0] ? "+" : "",
			frame->module[0] ? frame->offset : frame->code);
		weft_text_add_string(text, number);
	}
	if (!has_line || !frame->line)
		return;
	weft_text_add_string(text, " (");
	add_shown(text, frame->file);
	weft_text_add_string(text, ":");
	weft_text_add_u64(text, frame->line);
	weft_text_add_string(text, ")");
}

/* The library's function that the program's own code has called, where the rest of the sentence
 * does not name it: malloc for a lock, getaddrinfo for a poll. */
static const struct weft__outside_frame *called_by_own(const struct weft__outside_thread *thread)
{
	uint32_t first = 0;
	while (first < thread->frame_count && !outside_is_own(&thread->frames[first]))
		first++;
	if (first == 0 || first == thread->frame_count)
		return NULL;
	const struct weft__outside_frame *called = &thread->frames[first - 1];
	const bool is_unnamed = !is_of_libc(called) || thread->kind == WEFT__OUTSIDE_FUTEX ||
							thread->kind == WEFT__OUTSIDE_OTHER ||
							thread->kind == WEFT__OUTSIDE_RUNS;
	return is_unnamed && called->function[0] && !strstr(thread->about, called->function) ? called
																						 : NULL;
}

/* "take_second (FILE:7) ← main (FILE:20)", with `before` in front if there is any. Python's frames
 * instead of those of its interpreter. */
static void add_frames(struct weft_text *text, const struct weft__outside_thread *thread,
	const struct weft__outside_frame *called, const char *before, uint32_t most)
{
	const bool is_script = thread->script_count;
	const struct weft__outside_frame *frames = is_script ? thread->script : thread->frames;
	const uint32_t count = is_script ? thread->script_count : thread->frame_count;
	uint32_t own = 0, shown = 0;
	for (uint32_t i = 0; i < count; i++)
		own += is_script || outside_is_own(&frames[i]);
	for (uint32_t i = 0; i < count && shown < most; i++) {
		if (own && !is_script && !outside_is_own(&frames[i]) && &frames[i] != called)
			continue;
		weft_text_add_string(text, shown ? " ← " : before);
		shown++;
		outside_add_frame(text, &frames[i], true);
	}
	if (shown && (own ? own + (called != NULL) : count) > shown)
		weft_text_add_string(text, " ← …");
}

void outside_add_own_frames(struct weft_text *text, const struct weft__outside_thread *thread)
{
	add_frames(text, thread, NULL, ", in ", SHOWN_FRAMES);
	if (thread->is_guessed && !thread->script_count)
		weft_text_add_string(text, " [guessed]");
}

void outside_add_calls(struct weft_text *text, const struct weft__outside_thread *thread)
{
	add_frames(text, thread, called_by_own(thread), "", UINT32_MAX);
}

static void add_stack(const struct weft__outside_thread *thread, struct weft_text *text)
{
	const bool has_script = thread->script_count;
	add_frames(text, thread, has_script ? NULL : called_by_own(thread), ", in ", SHOWN_FRAMES);
	if (thread->is_guessed && !has_script)
		weft_text_add_string(text, " [guessed]");
	if (thread->kernel.state != 'R' || (!has_script && !thread->frame_count))
		return;
	weft_text_add_string(text, ": in all of ");
	weft_text_add_u64(text, has_script ? WEFT__OUTSIDE_LOOKS : thread->stack_count);
	weft_text_add_string(text, " looks within ");
	weft_text_add_u64(text, thread->looks_ns / 1000000 + 1);
	weft_text_add_string(text, " ms");
}

static void add_hexadecimal(struct weft_text *text, const unsigned char *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < size; i++) {
		weft_text_add(text, &digits[bytes[i] >> 4], 1);
		weft_text_add(text, &digits[bytes[i] & 15], 1);
	}
}

void outside_add_context(
	struct weft_text *text, const char *before, const struct weft__outside_context *context)
{
	if (!context->is_given)
		return;
	weft_text_add_string(text, before);
	weft_text_add_string(text, "works for span ");
	add_hexadecimal(text, context->span, sizeof(context->span));
	weft_text_add_string(text, " of trace ");
	add_hexadecimal(text, context->trace, sizeof(context->trace));
}

void outside_add_json_context(struct weft_text *text, const struct weft__outside_context *context)
{
	if (!context->is_given)
		return;
	weft_text_add_string(text, ",\"trace_id\":\"");
	add_hexadecimal(text, context->trace, sizeof(context->trace));
	weft_text_add_string(text, "\",\"span_id\":\"");
	add_hexadecimal(text, context->span, sizeof(context->span));
	weft_text_add_string(text, "\"");
}

/* "thread 7 'a' waits for mutex m (0x…), held by thread 8 'b'." */
static void add_sentence(const struct weft__outside_thread *thread, struct weft_text *text)
{
	add_thread_name(thread, text);
	weft_text_add_string(text, " ");
	add_shown(text, thread->about);
	if (thread->has_python_lock)
		weft_text_add_string(text, " and has the GIL");
	add_stack(thread, text);
	if (thread->outcome[0]) {
		weft_text_add_string(text, ": ");
		add_shown(text, thread->outcome);
	}
	outside_add_context(text, "; it ", &thread->context);
	weft_text_add_string(text, ".");
}

/* All frames, from the innermost one; Python's instead of its interpreter's. */
static void add_json_frames(struct outside_answer *a, const struct weft__outside_thread *thread)
{
	const bool has_script = thread->script_count;
	const struct weft__outside_frame *frames = has_script ? thread->script : thread->frames;
	const uint32_t count = has_script ? thread->script_count : thread->frame_count;
	for (uint32_t i = 0; i < count; i++) {
		cli_add_json(
			&a->text, i ? ",{\"function\":" : ",\"frames\":[{\"function\":", frames[i].function);
		if (frames[i].module[0]) {
			cli_add_json(&a->text, ",\"module\":", frames[i].module);
			cli_add_number(&a->text, ",\"offset\":", frames[i].offset);
		}
		if (frames[i].line) {
			cli_add_json(&a->text, ",\"file\":", frames[i].file);
			cli_add_number(&a->text, ",\"line\":", frames[i].line);
		}
		weft_text_add_string(&a->text, i + 1 < count ? "}" : "}]");
	}
}

static void add_thread(struct outside_answer *a, const struct weft__outside_process *process,
	const struct weft__outside_thread *thread)
{
	static const char *const kinds[] = {[WEFT__OUTSIDE_OTHER] = "call",
		[WEFT__OUTSIDE_RUNS] = "runs",
		[WEFT__OUTSIDE_SLEEP] = "sleep",
		[WEFT__OUTSIDE_MUTEX] = "mutex",
		[WEFT__OUTSIDE_RWLOCK] = "rwlock",
		[WEFT__OUTSIDE_JOIN] = "join",
		[WEFT__OUTSIDE_CONDITION] = "condition",
		[WEFT__OUTSIDE_SEMAPHORE] = "semaphore",
		[WEFT__OUTSIDE_BARRIER] = "barrier",
		[WEFT__OUTSIDE_ONCE] = "once",
		[WEFT__OUTSIDE_FUTEX] = "lock",
		[WEFT__OUTSIDE_PEER] = "peer",
		[WEFT__OUTSIDE_CONNECT] = "connect",
		[WEFT__OUTSIDE_FILE_LOCK] = "file_lock",
		[WEFT__OUTSIDE_CHILD] = "child",
		[WEFT__OUTSIDE_STOPPED] = "stopped",
		[WEFT__OUTSIDE_ENDED] = "ended"};
	struct weft_text sentence = {0};
	a->has_wait |= thread->other_count > 0 || thread->is_left;
	add_sentence(thread, &sentence);
	if (!a->json) {
		weft_text_add_string(&a->text, "  ");
		weft_text_add(&a->text, sentence.bytes, sentence.size);
		weft_text_add_string(&a->text, "\n");
		weft_text_finish(&sentence);
		return;
	}
	cli_add_number(&a->text, "{\"pid\":", (uint64_t)process->pid);
	cli_add_number(&a->text, ",\"tid\":", (uint64_t)thread->tid);
	cli_add_json(&a->text, ",\"name\":", thread->kernel.name);
	cli_add_json(&a->text, ",\"waits\":", kinds[thread->kind]);
	weft_text_add_string(&a->text, thread->is_stuck ? ",\"stuck\":true" : ",\"stuck\":false");
	for (uint32_t i = 0; i < thread->other_count; i++) {
		cli_add_number(
			&a->text, i ? ",{\"pid\":" : ",\"for\":[{\"pid\":", (uint64_t)thread->others[i].pid);
		if (thread->others[i].tid)
			cli_add_number(&a->text, ",\"tid\":", (uint64_t)thread->others[i].tid);
		weft_text_add_string(&a->text, i + 1 < thread->other_count ? "}" : "}]");
	}
	add_json_frames(a, thread);
	if (process->title[0])
		cli_add_json(&a->text, ",\"title\":", process->title);
	if (process->service[0])
		cli_add_json(&a->text, ",\"service\":", process->service);
	outside_add_json_context(&a->text, &thread->context);
	weft_text_add_string(&a->text, ",\"sentence\":");
	weft_text_add_json(&a->text, sentence.bytes, sentence.size);
	weft_text_add_string(&a->text, "}\n");
	weft_text_finish(&sentence);
}

/* ---- Rights ---- */

void outside_add_limits(struct weft_text *text, const struct weft__outside_process *process)
{
	char about[256] = "";
	if (process->is_kernel)
		snprintf(about, sizeof(about), "%s %d is a thread of the kernel.", process->name,
			(int)process->pid);
	else if (process->has_ended)
		snprintf(about, sizeof(about),
			"%s %d has ended, and its parent, process %d, has not asked how.", process->name,
			(int)process->pid, (int)process->parent);
	else if (process->denied && process->user != geteuid())
		snprintf(about, sizeof(about),
			"%" PRIu32 " of %" PRIu32
			" threads cannot be read: they run as another user; run as root.",
			process->denied, process->count);
	else if (process->denied)
		snprintf(about, sizeof(about),
			"%" PRIu32 " of %" PRIu32
			" threads cannot be read: the process is not dumpable, or this system forbids it; run as root.",
			process->denied, process->count);
	else if (process->is_foreign)
		snprintf(about, sizeof(about),
			"Its calls and functions are not known: it is a program for another kind of machine.");
	else if (process->no_frames)
		snprintf(about, sizeof(about), "No functions: %s.", process->no_frames);
	weft_text_add_string(text, about);
}

/* Prints why less is known of a process. */
static void add_denied(struct outside_answer *a, const struct weft__outside_process *process)
{
	struct weft_text about = {0};
	outside_add_limits(&about, process);
	if (about.size && a->json) {
		weft_text_add(&about, "", 1);
		cli_add_number(&a->text, "{\"pid\":", (uint64_t)process->pid);
		cli_add_number(&a->text, ",\"denied\":", process->denied);
		cli_add_json(&a->text, ",\"sentence\":", about.bytes);
		weft_text_add_string(&a->text, "}\n");
	} else if (about.size) {
		weft_text_add_string(&a->text, "  ");
		weft_text_add_shown(&a->text, about.bytes, about.size);
		weft_text_add_string(&a->text, "\n");
	}
	weft_text_finish(&about);
}

/* ---- Circles ---- */

/* The circle that a stuck thread leads to, from its thread with the lowest number on. Returns its
 * length; 0: it is not in the circle itself, or has not the lowest number. */
static uint32_t find_circle(const struct outside_answer *a,
	const struct weft__outside_thread *first, const struct weft__outside_thread *list[CIRCLE_MAX])
{
	const struct weft__outside_thread *thread = first;
	uint32_t length = 0;
	do {
		if (thread->tid < first->tid || length > WEFT__OUTSIDE_THREADS)
			return 0;
		if (length < CIRCLE_MAX)
			list[length] = thread;
		length++;
		thread = weft__outside_next_stuck(&a->host, thread);
	} while (thread && thread != first);
	return thread ? length : 0;
}

void outside_add_circle(struct outside_answer *a, const struct weft__outside_thread *first)
{
	const struct weft__outside_thread *list[CIRCLE_MAX];
	const uint32_t length = find_circle(a, first, list);
	struct weft_text sentence = {0};
	const bool has_timeout = first->has_timeout, is_hidden = first->is_hidden;
	if (!length)
		return;
	weft_text_add_string(&sentence, has_timeout || is_hidden ? "Circle: " : "Deadlock: ");
	for (uint32_t i = 0; i < length && i < CIRCLE_MAX; i++) {
		weft_text_add_string(&sentence, i ? ", which waits for " : "");
		add_thread_name(list[i], &sentence);
	}
	weft_text_add_string(&sentence, length > CIRCLE_MAX ? ", … which waits for "
									: length == 1       ? " waits for itself"
														: ", which waits for the first");
	if (length > CIRCLE_MAX)
		weft_text_add_string(&sentence, "the first");
	if (has_timeout)
		weft_text_add_string(&sentence, ", until a timeout ends a wait");
	if (is_hidden)
		weft_text_add_string(&sentence, ", unless a process that we may not see ends a wait");
	weft_text_add_string(&sentence, ".");
	if (a->json) {
		weft_text_add_string(&a->text, has_timeout || is_hidden
										   ? "{\"circle\":\"circle\",\"tids\":["
										   : "{\"circle\":\"deadlock\",\"tids\":[");
		for (uint32_t i = 0; i < length && i < CIRCLE_MAX; i++) {
			weft_text_add_string(&a->text, i ? "," : "");
			weft_text_add_i64(&a->text, list[i]->tid);
		}
		weft_text_add_string(&a->text, "],\"sentence\":");
		weft_text_add_json(&a->text, sentence.bytes, sentence.size);
		weft_text_add_string(&a->text, "}\n");
	} else {
		weft_text_add(&a->text, sentence.bytes, sentence.size);
		weft_text_add_string(&a->text, "\n");
	}
	weft_text_finish(&sentence);
}

/* ---- A process ---- */

void outside_add_process(struct outside_answer *a, const struct weft__outside_process *process)
{
	if (!a->json) {
		add_shown(&a->text, process->name);
		weft_text_add_string(&a->text, " ");
		weft_text_add_i64(&a->text, process->pid);
		if (process->title[0]) {
			weft_text_add_string(&a->text, ", titled '");
			add_shown(&a->text, process->title);
			weft_text_add_string(&a->text, "'");
		}
		if (process->service[0]) {
			weft_text_add_string(&a->text, ", service '");
			add_shown(&a->text, process->service);
			weft_text_add_string(&a->text, "'");
		}
		weft_text_add_string(&a->text, ":\n");
	}
	uint32_t count = 0;
	for (uint32_t i = 0; i < process->count; i++)
		if ((!a->waits_only || process->threads[i].other_count) &&
			(++count <= SHOWN_THREADS || a->json))
			add_thread(a, process, &process->threads[i]);
	if (!a->json && count > SHOWN_THREADS) {
		weft_text_add_string(&a->text, "  and ");
		weft_text_add_u64(&a->text, count - SHOWN_THREADS);
		weft_text_add_string(&a->text, " more threads\n");
	}
	add_denied(a, process);
}
