/* SPDX-License-Identifier: ISC
 *
 * The answers of weft why, as text and as JSON. Text is bounded: of a very long chain or list it
 * has the beginning.
 */
#include "why.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/chain.h>
#include <weft/problems.h>

#include "kernel.h"
#include "now.h"
#include "outside.h"

#define TEXT_HOPS   40
#define TEXT_GROUPS 100
#define LONG_RUN_NS UINT64_C(10000000)

struct answer {
	const struct why_options *options;
	const char *name;
	struct weft_story story;
	uint64_t at;
	struct weft_text text;
	struct weft__outside_host host; /* the running program, seen from outside */
};

/* ---- Parts ---- */

/* Appends a number, or null for UINT64_MAX. */
static void add_number(struct answer *a, const char *key, uint64_t number)
{
	weft_text_add_string(&a->text, key);
	if (number == UINT64_MAX)
		weft_text_add_string(&a->text, "null");
	else
		weft_text_add_u64(&a->text, number);
}

/* Appends `"task":5` and, if the trace has several buffers, `"task_buffer":1`. */
static void add_task(struct answer *a, const char *key, uint32_t task)
{
	const struct weft_tasks *t = &a->story.model->tasks;
	char name[64];
	snprintf(name, sizeof(name), ",\"%s\":", key);
	add_number(a, name, task == WEFT_NONE ? UINT64_MAX : t->id[task]);
	snprintf(name, sizeof(name), ",\"%s_buffer\":", key);
	if (a->story.model->buffer_count > 1 && task != WEFT_NONE)
		add_number(a, name, t->buffer[task]);
}

static void add_end_of_json(struct answer *a, const char *sentence)
{
	cli_add_json(&a->text, ",\"sentence\":", sentence);
	weft_text_add_string(&a->text, "}\n");
}

static void add_line(struct answer *a, const char *number, uint64_t time, const char *sentence)
{
	const uint64_t begin = a->story.model->summary.start;
	size_t start = a->text.size;
	weft_text_add_string(&a->text, number);
	weft_text_pad(&a->text, start, 6);
	if (time != UINT64_MAX)
		cli_add_seconds(&a->text, 5, time > begin ? time - begin : 0);
	weft_text_pad(&a->text, start, 23);
	weft_text_add_string(&a->text, sentence);
	weft_text_add_string(&a->text, "\n");
}

/* ---- A chain ---- */

static void find_now(struct answer *a, uint32_t task, char ret_now[static WEFT_CALLS_BYTES])
{
	if (a->options->live)
		why_now(&a->host, a->options->live, a->at, task, ret_now);
}

/* "in a (FILE:7) ← b", or where the thread is now: then it need not be at that wait any more. */
static void add_calls(struct answer *a, const char *calls, const char *now)
{
	size_t start = a->text.size;
	if (!*calls && !*now)
		return;
	weft_text_pad(&a->text, start, 23);
	weft_text_add_string(&a->text, *now ? "  now in " : "  in ");
	weft_text_add_string(&a->text, *now ? now : calls);
	weft_text_add_string(&a->text, "\n");
}

static void add_hop(struct answer *a, const struct weft_chain_hop *hop, uint32_t number)
{
	static const char *const steps[] = {[WEFT_CHAIN_WAITS] = "waits",
		[WEFT_CHAIN_HELD] = "held",
		[WEFT_CHAIN_RESOLVED] = "resolved",
		[WEFT_CHAIN_SIGNALLED] = "signalled",
		[WEFT_CHAIN_WOKEN] = "woken",
		[WEFT_CHAIN_OTHER_END] = "other_end",
		[WEFT_CHAIN_THREAD] = "thread",
		[WEFT_CHAIN_RECEIVES] = "receives",
		[WEFT_CHAIN_ELSEWHERE] = "elsewhere"};
	char sentence[WEFT_SENTENCE_BYTES], calls[WEFT_CALLS_BYTES] = "", now[WEFT_CALLS_BYTES] = "",
										cell[16];
	if (hop->step == WEFT_CHAIN_WAITS)
		weft_story_wait_calls(a->story.model, &hop->wait, calls, sizeof(calls));
	if (hop->step == WEFT_CHAIN_WAITS && hop->wait.until == UINT64_MAX)
		find_now(a, hop->wait.task, now);
	weft_chain_hop_sentence(&a->story, hop, sentence, sizeof(sentence));
	snprintf(cell, sizeof(cell), "%4" PRIu32, number);
	if (!a->options->json) {
		add_line(a, cell, hop->wait.since, sentence);
		add_calls(a, calls, now);
		return;
	}
	add_number(a, "{\"hop\":", number);
	cli_add_json(&a->text, ",\"step\":", steps[hop->step]);
	add_task(a, "task", hop->wait.task);
	add_task(a, "next", hop->wait.source);
	add_number(a, ",\"since\":", hop->wait.since);
	add_number(a, ",\"until\":", hop->wait.until);
	if (*calls)
		cli_add_json(&a->text, ",\"calls\":", calls);
	if (*now)
		cli_add_json(&a->text, ",\"now\":", now);
	add_end_of_json(a, sentence);
}

static void add_left_out(struct answer *a, uint32_t hops)
{
	char sentence[64];
	if (!hops)
		return;
	snprintf(sentence, sizeof(sentence), "%" PRIu32 " further hops are not shown.", hops);
	if (!a->options->json) {
		add_line(a, "", UINT64_MAX, sentence);
		return;
	}
	add_number(a, "{\"left_out\":", hops);
	add_end_of_json(a, sentence);
}

static void add_end(struct answer *a, const struct weft_chain *chain)
{
	static const char *const types[] = {[WEFT_CHAIN_RUNS] = "runs",
		[WEFT_CHAIN_IDLE] = "idle",
		[WEFT_CHAIN_UNRESOLVED] = "unresolved",
		[WEFT_CHAIN_OUTSIDE] = "outside",
		[WEFT_CHAIN_LATER] = "later",
		[WEFT_CHAIN_SENT] = "sent",
		[WEFT_CHAIN_STOPPED] = "stopped",
		[WEFT_CHAIN_OVER] = "over",
		[WEFT_CHAIN_CIRCLE] = "circle"};
	bool is_signal = chain->end.type != WEFT_CHAIN_SENT && chain->end.type != WEFT_CHAIN_STOPPED;
	uint32_t edge = is_signal ? chain->end.edge : WEFT_NONE;
	char sentence[WEFT_SENTENCE_BYTES];
	weft_chain_end_sentence(&a->story, chain, sentence, sizeof(sentence));
	if (!a->options->json) {
		add_line(a, " end", chain->end.since, sentence);
		return;
	}
	cli_add_json(&a->text, "{\"end\":", types[chain->end.type]);
	add_task(a, "task", chain->end.task);
	add_number(a, ",\"since\":", chain->end.since);
	add_number(a, ",\"until\":", chain->end.until);
	add_number(
		a, ",\"signalled\":", edge == WEFT_NONE ? UINT64_MAX : a->story.model->edges.time[edge]);
	add_number(a, ",\"signals\":", chain->end.signals);
	add_number(a, ",\"hops\":", chain->count);
	add_number(a, ",\"at\":", chain->at);
	add_end_of_json(a, sentence);
}

static bool is_in_chain(const struct weft_chain *chain, uint32_t task)
{
	for (uint32_t i = 0; i < chain->kept; i++)
		if (chain->hops[i].wait.task == task)
			return true;
	return task == chain->end.task;
}

static void add_problem(struct answer *a, const struct weft_problem *problem)
{
	char sentence[WEFT_SENTENCE_BYTES + 64];
	if (a->options->json) {
		cli_add_json(&a->text, "{\"problem\":", weft_problem_name(problem->type));
		add_task(a, "task", problem->task);
		add_end_of_json(a, problem->sentence);
		return;
	}
	snprintf(sentence, sizeof(sentence), "%s%s: %s", problem->reason == WEFT_NONE ? "" : "  ",
		weft_problem_name(problem->type), problem->sentence);
	add_line(a, "", problem->start, sentence);
}

/* Appends the problems of that time to which the chain's tasks belong, each after its reason. */
static int add_problems(struct answer *a, const struct weft_chain *chain)
{
	struct weft_problems *problems;
	bool is_part[WEFT_PROBLEMS_MAX] = {false};
	int error = weft_problems_create(&a->story, &problems);
	if (error)
		return error;
	for (uint32_t i = 0; i < problems->count; i++) {
		const struct weft_problem *problem = &problems->list[i];
		if (problem->task == WEFT_NONE || problem->counter != WEFT_NONE ||
			chain->at < problem->start || chain->at > problem->end ||
			!is_in_chain(chain, problem->task))
			continue;
		is_part[i] = true;
		if (problem->reason != WEFT_NONE)
			is_part[problem->reason] = true;
	}
	for (uint32_t i = 0; i < problems->count; i++)
		if (is_part[problems->by_gravity[i]])
			add_problem(a, &problems->list[problems->by_gravity[i]]);
	weft_problems_destroy(problems);
	return 0;
}

static void add_chain_end(struct answer *a, const struct weft_chain *chain)
{
	char sentence[WEFT_SENTENCE_BYTES];
	if (a->options->json) {
		add_end(a, chain);
		return;
	}
	weft_chain_end_sentence(&a->story, chain, sentence, sizeof(sentence));
	weft_text_add_string(&a->text, sentence);
	weft_text_add_string(&a->text, "\n");
}

/* Replaces the chain of a task that neither waits nor runs at the end by that of its longest wait.
 */
static int go_to_longest_wait(
	struct answer *a, uint32_t task, uint32_t limit, struct weft_chain **chain)
{
	const bool is_answer = (*chain)->count || (*chain)->end.type == WEFT_CHAIN_RUNS;
	if (a->options->has_time || is_answer ||
		!weft_chain_time(&a->story, task, 0, UINT64_MAX, &a->at))
		return 0;
	weft_chain_destroy(*chain);
	*chain = NULL;
	return weft_chain_create(&a->story, task, a->at, limit, chain);
}

/* Appends what the kernel says now about a thread of a running program, if that was still the
 * program after the look. */
static void add_kernel(struct answer *a, uint32_t thread)
{
	char sentence[WHY_KERNEL_BYTES];
	const uint64_t tid = a->story.model->threads[thread].tid;
	struct weft_text text = {0};
	if (!tid || !why_kernel_sentence(a->options->live->pid, tid, sentence))
		return;
	weft_text_add(&text, sentence, strlen(sentence) - 1); /* without the full stop */
	why_outside_add_frames(&a->host, a->options->live->pid, (pid_t)tid, &text);
	weft_text_add(&text, ".", 2);
	if (!text.error && !cli_live_is_replaced(a->options->live)) {
		if (a->options->json) {
			add_number(a, "{\"tid\":", tid);
			add_end_of_json(a, text.bytes);
		} else {
			weft_text_add_string(&a->text, text.bytes);
			weft_text_add_string(&a->text, "\n");
		}
	}
	weft_text_finish(&text);
}

/* The same about the thread on which a task runs, or whose own task it is. */
static int add_kernel_of(struct answer *a, uint32_t task)
{
	const struct weft_model *model = a->story.model;
	if (!a->options->live)
		return 0;
	struct weft_thread_state *list = malloc((model->thread_count + (size_t)1) * sizeof(*list));
	if (!list)
		return WEFT_ERROR_MEMORY;
	weft_thread_states(model, a->at, list);
	for (uint32_t i = 0; i < model->thread_count; i++)
		if (list[i].task == task)
			add_kernel(a, i);
	free(list);
	return 0;
}

static int answer_task(struct answer *a, uint32_t task, int *ret_status)
{
	uint32_t limit = a->options->json ? WEFT_CHAIN_HOPS : TEXT_HOPS;
	struct weft_chain *chain;
	char sentence[WEFT_SENTENCE_BYTES];
	int error = weft_chain_create(&a->story, task, a->at, limit, &chain);
	if (!error)
		error = go_to_longest_wait(a, task, limit, &chain);
	if (error)
		return error;
	for (uint32_t i = 0; i < chain->kept; i++) {
		bool is_last = i + 1 == chain->kept;
		if (is_last)
			add_left_out(a, chain->count - chain->kept);
		add_hop(a, &chain->hops[i], is_last ? chain->count : i + 1);
	}
	if (chain->count) {
		add_end(a, chain);
		error = add_problems(a, chain);
	} else if (chain->end.type == WEFT_CHAIN_RUNS || chain->end.type == WEFT_CHAIN_IDLE) {
		*ret_status = CLI_NO;
		add_chain_end(a, chain);
		error = add_problems(a, chain);
		if (!error)
			error = add_kernel_of(a, task);
	} else {
		*ret_status = CLI_NO;
		weft_chain_end_sentence(&a->story, chain, sentence, sizeof(sentence));
		cli_inform("%s: %s", a->name, sentence);
	}
	weft_chain_destroy(chain);
	return error;
}

/* ---- All that wait ---- */

static void add_group(
	struct answer *a, const struct weft_waiting *waiting, const struct weft_waiters *waiters)
{
	char sentence[WEFT_SENTENCE_BYTES], now[WEFT_CALLS_BYTES] = "";
	weft_waiters_sentence(&a->story, waiting, waiters, sentence, sizeof(sentence));
	find_now(a, waiters->first, now);
	if (!a->options->json) {
		weft_text_add_string(&a->text, sentence);
		weft_text_add_string(&a->text, "\n");
		add_calls(a, "", now);
		return;
	}
	add_number(a, "{\"waiting\":", waiters->count);
	add_task(a, "task", waiters->end);
	weft_text_add_string(&a->text, waiters->is_circle ? ",\"circle\":true" : ",\"circle\":false");
	add_number(a, ",\"ends\":", waiters->ends);
	add_task(a, "first", waiters->first);
	add_number(a, ",\"since\":", waiters->since);
	add_number(a, ",\"at\":", waiting->at);
	if (*now)
		cli_add_json(&a->text, ",\"now\":", now);
	add_end_of_json(a, sentence);
}

static void add_left_out_of_list(struct answer *a, uint32_t count, const char *things)
{
	char line[64];
	snprintf(line, sizeof(line), "%" PRIu32 " further %s are not shown.\n", count, things);
	weft_text_add_string(&a->text, line);
}

/* Beside tasks that wait, only what runs for long may be a reason. */
static bool is_worth_a_line(
	const struct answer *a, const struct weft_thread_state *thread, bool is_alone)
{
	bool is_long = a->at > thread->since && a->at - thread->since >= LONG_RUN_NS;
	return thread->task != WEFT_NONE && (is_alone || (thread->is_running && is_long));
}

static int add_thread(struct answer *a, const struct weft_thread_state *state, uint32_t thread)
{
	struct weft_chain *chain;
	int error = weft_chain_create(&a->story, state->task, a->at, 1, &chain);
	if (error)
		return error;
	if (!chain->count) {
		add_chain_end(a, chain);
		if (a->options->live)
			add_kernel(a, thread);
	}
	weft_chain_destroy(chain);
	return 0;
}

/* Appends what each thread does. `is_alone`: no task waits. */
static int add_threads(struct answer *a, bool is_alone)
{
	const struct weft_model *model = a->story.model;
	struct weft_thread_state *list = malloc((model->thread_count + (size_t)1) * sizeof(*list));
	uint32_t count = 0;
	int error = 0;
	if (!list)
		return WEFT_ERROR_MEMORY;
	weft_thread_states(model, a->at, list);
	for (uint32_t i = 0; !error && i < model->thread_count; i++)
		if (is_worth_a_line(a, &list[i], is_alone) && count++ < TEXT_GROUPS)
			error = add_thread(a, &list[i], i);
	if (count > TEXT_GROUPS && !a->options->json)
		add_left_out_of_list(a, count - TEXT_GROUPS, "threads");
	free(list);
	return error;
}

static int answer_all(struct answer *a, int *ret_status)
{
	struct weft_waiting *waiting;
	int error = weft_waiting_create(&a->story, a->at, &waiting);
	if (error)
		return error;
	uint32_t most = a->options->json ? UINT32_MAX : TEXT_GROUPS;
	for (uint32_t i = 0; i < waiting->count && i < most; i++)
		add_group(a, waiting, &waiting->list[i]);
	if (!waiting->count) {
		*ret_status = CLI_NO;
		const char *verb = a->story.model->summary.read_end ? "is known to wait" : "waits";
		cli_inform("%s: no task %s for another %s", a->name, verb,
			a->options->has_time ? "at that time"
								 : "at the end; --at TIME asks about another time");
	} else if (waiting->count > most) {
		add_left_out_of_list(a, waiting->count - most, "groups");
	}
	error = add_threads(a, !waiting->count);
	weft_waiting_destroy(waiting);
	return error;
}

/* ---- Both ---- */

/* Chooses among tasks with one label: the one that waits at the time and has waited longest. */
static uint32_t choose(const struct answer *a, uint32_t first)
{
	const struct weft_tasks *t = &a->story.model->tasks;
	struct weft_story_wait wait;
	uint64_t since = UINT64_MAX;
	uint32_t found = first;
	for (uint32_t task = first; task < t->count; task++) {
		if (t->label[task] != t->label[first] ||
			!weft_story_wait_at(&a->story, task, a->at, &wait) || wait.since >= since)
			continue;
		since = wait.since;
		found = task;
	}
	return found;
}

/* WEFT_NONE after a message. */
static uint32_t find_task(const struct answer *a, const char *name)
{
	uint32_t count, task = cli_find_task_named(a->name, a->story.model, name, &count);
	if (task == WEFT_NONE || count < 2)
		return task;
	task = choose(a, task);
	cli_inform("%s: %" PRIu32 " tasks are called %s; this is about task:%" PRIu64, a->name, count,
		name, a->story.model->tasks.id[task]);
	return task;
}

static int answer(struct answer *a, int *ret_status)
{
	int error = 0;
	if (!a->options->task_count)
		return answer_all(a, ret_status);
	for (int i = 0; !error && i < a->options->task_count; i++) {
		uint32_t task = find_task(a, a->options->tasks[i]);
		if (i && a->text.size && !a->options->json)
			weft_text_add_string(&a->text, "\n");
		if (task != WEFT_NONE)
			error = answer_task(a, task, ret_status);
		else
			*ret_status = CLI_NO;
	}
	return error;
}

int why_answer(const struct why_options *options, const char *name, const struct weft_model *model)
{
	struct answer a = {
		.options = options, .name = name, .story = {.model = model}, .at = model->summary.end};
	struct weft_story_index *index = NULL;
	int status = CLI_DONE;
	if (options->has_time)
		a.at = cli_time_on_clock(options->time, model->summary.start);
	int error = weft_story_index_create(model, &index);
	a.story.index = index;
	if (!error)
		error = answer(&a, &status);
	if (!error && a.text.size)
		cli_write(&a.text);
	weft_text_finish(&a.text);
	weft__outside_finish(&a.host);
	weft_story_index_destroy(index);
	if (!error)
		return status;
	cli_trace_explain(name, error);
	return CLI_UNREADABLE;
}
