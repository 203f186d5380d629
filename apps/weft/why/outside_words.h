/* SPDX-License-Identifier: ISC
 *
 * Sentences about threads that are seen from outside.
 */
#ifndef WEFT_APPS_WHY_OUTSIDE_WORDS_H
#define WEFT_APPS_WHY_OUTSIDE_WORDS_H

#include <weft/text.h>

#include "outside/outside.h"

/* True for the program's own frames. The C library's are left out: its functions are in the
 * sentence already. So is code that is in no file, if its name is not known. */
bool outside_is_own(const struct weft__outside_frame *frame);

/* Adds "take_second (FILE:7)", without its line "take_second"; an address if it has no name. */
void outside_add_frame(
	struct weft_text *text, const struct weft__outside_frame *frame, bool has_line);

/* Adds ", in take_second (FILE:7) ← main (FILE:20)", from its innermost own frame: of Python's
 * frames, if it has any. */
void outside_add_own_frames(struct weft_text *text, const struct weft__outside_thread *thread);

/* Adds "take_second (FILE:7) ← main (FILE:20)", all of it. */
void outside_add_calls(struct weft_text *text, const struct weft__outside_thread *thread);

struct outside_answer {
	struct weft__outside_host host;
	struct weft_text text;
	bool json;
	bool waits_only; /* threads that wait for no other are left out */
	bool has_wait;   /* a thread waits for another, for a process, or for a lock that was left */
};

/* Adds why less is known of a process: "2 of 5 threads cannot be read: …"; often nothing. */
void outside_add_limits(struct weft_text *text, const struct weft__outside_process *process);

/* Adds a process, and a line for each of its threads. */
void outside_add_process(struct outside_answer *a, const struct weft__outside_process *process);

/* Adds the circle in which a stuck thread is; once, from the thread with the lowest number. */
void outside_add_circle(struct outside_answer *a, const struct weft__outside_thread *first);

/* "; it works for span 00f067aa0ba902b7 of trace 4bf92f3577b34da6a3ce929d0e0e4736", with what
 * stands before "works"; nothing without a context. */
void outside_add_context(
	struct weft_text *text, const char *before, const struct weft__outside_context *context);
void outside_add_json_context(struct weft_text *text, const struct weft__outside_context *context);

#endif
