/* SPDX-License-Identifier: ISC
 *
 * See crashes.h. If no thread of the program ran at its end, another process may have sent the
 * signal, as a watchdog does to a program that hangs: then that is a warning, and so is SIGPIPE,
 * which also ends programs whose reader has seen enough.
 */
#include "story/problems/crashes.h"

/* As numbered on Linux. */
static const struct fault {
	int signal_number;
	const char *name;
} faults[] = {{4, "SIGILL"}, {5, "SIGTRAP"}, {6, "SIGABRT"}, {7, "SIGBUS"}, {8, "SIGFPE"},
	{11, "SIGSEGV"}, {13, "SIGPIPE"}, {24, "SIGXCPU"}, {25, "SIGXFSZ"}, {31, "SIGSYS"}};

#define BROKEN_PIPE 13

/* NULL for other signals, and for programs that none killed. */
static const struct fault *fault_of(const struct weft_trace_buffer *buffer)
{
	const int signal_number = buffer->wait_status & 0x7f;
	for (size_t i = 0; signal_number && i < sizeof(faults) / sizeof(*faults); i++)
		if (faults[i].signal_number == signal_number)
			return &faults[i];
	return NULL;
}

/* The threads of a program that have not ended. */
struct threads {
	uint32_t first, running; /* WEFT_NONE: none */
	uint32_t running_count;
};

static struct threads threads_of(const struct weft_model *model, uint32_t buffer)
{
	const struct weft_tasks *t = &model->tasks;
	struct threads found = {WEFT_NONE, WEFT_NONE, 0};
	for (uint32_t task = 0; task < t->count; task++) {
		const uint32_t end = t->end_activation[task];
		if (t->kind[task] != WEFT_KIND_THREAD || t->buffer[task] != buffer ||
			t->flags[task] & WEFT_TASK_RESOLVED)
			continue;
		if (found.first == WEFT_NONE)
			found.first = task;
		if (end == t->first_activation[task] ||
			model->activations.end[end - 1] < weft__story_record_end(model, task))
			continue;
		found.running = task;
		found.running_count++;
	}
	return found;
}

static void report_crash(struct weft__findings *findings, uint32_t buffer,
	const struct fault *fault, const struct threads *threads)
{
	const struct weft_model *model = findings->story->model;
	const uint64_t end = weft__story_record_end(model, threads->first);
	const bool is_pipe = fault->signal_number == BROKEN_PIPE, is_one = threads->running_count == 1;
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_FAILED,
		is_pipe || !threads->running_count ? WEFT_SEVERITY_WARNING : WEFT_SEVERITY_ERROR, 1,
		(struct weft__case){is_one ? threads->running : threads->first, end, end});
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 9);
	weft__story_words_add_process(w, model, buffer);
	weft__story_words_add(w, " was killed by %s", fault->name);
	w = weft__story_clause(&s, 5);
	weft__story_words_add(w, " at ");
	weft__story_words_add_time(w, model, end);
	if (is_pipe) {
		weft__story_words_add(
			weft__story_clause(&s, 7), ": nobody read any more what it wrote to a pipe or socket");
	} else if (is_one) {
		w = weft__story_clause(&s, 7);
		weft__story_words_add(w, ", while ");
		weft__story_words_add_subject(w, model, threads->running, 32);
		weft__story_words_add(w, " ran");
	}
	weft__story_find(findings, &problem, 1, &s);
}

void weft__story_find_crashes(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	for (uint32_t buffer = 0; buffer < model->buffer_count; buffer++) {
		const struct fault *fault = fault_of(&model->buffers[buffer]);
		if (!fault)
			continue;
		const struct threads threads = threads_of(model, buffer);
		if (threads.first != WEFT_NONE)
			report_crash(findings, buffer, fault, &threads);
	}
}
