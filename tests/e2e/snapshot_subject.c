/* SPDX-License-Identifier: ISC
 *
 * The program that the tests of snapshots run. It carries out one command for each line of standard
 * input, then prints "done":
 *
 *     record N       records N numbered events
 *     request TEXT   asks for a snapshot
 *     signal         the same, in a signal handler
 *     loop N         records and asks for a snapshot, N times
 *     rule TEXT      gives a rule of its own
 *     queue N        a queue grows by N
 *     tag TEXT       a tag
 *     wait TEXT      a task of that label begins to wait
 *     tasks N        makes N tasks, each of which waits for the one before it
 *     look           two runtimes check for a request for a rundown, and answer it
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/weft.h>

static long recorded;

static void record(long events)
{
	for (long i = 0; i < events; i++)
		weft_tag_value("number", recorded++);
}

enum {
	TASKS_MAX = 100
};

static uint64_t tasks[TASKS_MAX];
static long task_count;

static void make_tasks(long count)
{
	for (; count > 0 && task_count < TASKS_MAX; count--) {
		char name[32];
		uint64_t task = tasks[task_count] = weft_create(WEFT_KIND_BIND);
		snprintf(name, sizeof(name), "task %ld", task_count);
		weft_label_as(task, name);
		if (task_count)
			weft_try_read_as(task, tasks[task_count - 1]);
		task_count++;
	}
}

static void make_waiting(const char *label)
{
	uint64_t source = weft_create(WEFT_KIND_PROMISE), task = weft_create(WEFT_KIND_BIND);
	weft_label_as(task, label);
	weft_try_read_as(task, source);
}

/* One runtime has the even tasks and knows their age. */
static void look(void)
{
	static uint32_t seen[2];
	for (long runtime = 0; runtime < 2; runtime++) {
		if (!weft_rundown_wanted(&seen[runtime]))
			continue;
		for (long i = runtime; i < task_count; i += 2) {
			char name[32];
			snprintf(name, sizeof(name), "task %ld", i);
			weft_rundown_task(tasks[i], WEFT_KIND_BIND, name,
				runtime ? WEFT_AGE_UNKNOWN : UINT64_C(3600000000000),
				i ? tasks[i - 1] : WEFT_TASK_NONE);
		}
	}
}

static void on_signal(int signal)
{
	(void)signal;
	weft_snapshot_request("in a handler");
}

static void act(const char *word, const char *rest)
{
	if (strcmp(word, "record") == 0)
		record(atol(rest));
	else if (strcmp(word, "request") == 0)
		weft_snapshot_request(rest);
	else if (strcmp(word, "tasks") == 0)
		make_tasks(atol(rest));
	else if (strcmp(word, "rule") == 0)
		weft_trigger(rest);
	else if (strcmp(word, "queue") == 0)
		weft_counter_add("queue", atol(rest));
	else if (strcmp(word, "tag") == 0)
		weft_tag(rest);
	else if (strcmp(word, "wait") == 0)
		make_waiting(rest);
	else if (strcmp(word, "look") == 0)
		look();
	else if (strcmp(word, "signal") == 0)
		raise(SIGUSR1);
	else if (strcmp(word, "loop") == 0)
		for (long i = atol(rest); i > 0; i--) {
			record(1);
			weft_snapshot_request("loop");
		}
}

int main(void)
{
	char line[256];
	const struct sigaction action = {.sa_handler = on_signal};
	sigaction(SIGUSR1, &action, NULL);
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		char *rest = strchr(line, ' ');
		if (rest)
			*rest++ = '\0';
		act(line, rest ? rest : "");
		puts("done");
		fflush(stdout);
	}
	return 0;
}
