/* SPDX-License-Identifier: ISC
 *
 * A program that hangs in a way that its argument chooses:
 *
 *     why-subject lookup | deadlock | lock | alike | poll | live
 *
 * lookup: a condition is signalled just before a task begins to wait for it, at the end of a chain
 * of binds. deadlock: two workers want each other's lock. lock: 20 clients want a lock that a
 * worker holds. poll: an event loop that does not switch to no task before it polls. live: as lock,
 * and then it runs until it is killed.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <weft/weft.h>

static uint64_t make(uint16_t kind, const char *label)
{
	uint64_t task = weft_create(kind);
	weft_label_as(task, label);
	return task;
}

/* In the manner of Lwt: a bind is created, tries to read, and the running task becomes it. */
static void lookup(void)
{
	uint64_t connect = make(WEFT_KIND_TASK, "connect"), input = make(WEFT_KIND_TASK, "input");
	weft_switch(connect);
	uint64_t answer = make(WEFT_KIND_CONDITION, "answer"), bind = weft_create(WEFT_KIND_BIND);
	uint64_t inner = bind;
	for (int i = 0; i < 5; i++) {
		uint64_t outer = weft_create(WEFT_KIND_BIND);
		weft_try_read_as(outer, inner);
		inner = outer;
	}
	weft_label_as(inner, "lookup");
	weft_become(inner);
	weft_switch(input);
	weft_signal(answer);
	weft_switch(input);
	usleep(1000);
	weft_switch(bind);
	weft_signal(answer);
	uint64_t waiter = weft_create(WEFT_KIND_TASK);
	weft_switch(bind);
	uint64_t last = weft_create(WEFT_KIND_TRY);
	weft_try_read_as(last, waiter);
	weft_become(last);
	weft_switch(input);
	usleep(50000);
}

static void deadlock(void)
{
	uint64_t a = make(WEFT_KIND_LOCK, "a"), b = make(WEFT_KIND_LOCK, "b");
	uint64_t one = make(WEFT_KIND_TASK, "one"), two = make(WEFT_KIND_TASK, "two");
	weft_switch(one);
	weft_acquire(a);
	weft_switch(two);
	weft_acquire(b);
	weft_try_read(a);
	weft_switch(one);
	weft_try_read(b);
}

static void lock(void)
{
	uint64_t db = make(WEFT_KIND_LOCK, "db lock"), worker = make(WEFT_KIND_TASK, "worker");
	weft_switch(worker);
	weft_acquire(db);
	for (int i = 0; i < 20; i++) {
		char name[16];
		snprintf(name, sizeof(name), "client %d", i);
		weft_switch(make(WEFT_KIND_TASK, name));
		weft_try_read(db);
	}
}

/* Four tasks have one name: the third waits longest, and the first one does not wait. */
static void alike(void)
{
	static const int order[] = {2, 3, 1};
	uint64_t db = make(WEFT_KIND_LOCK, "db lock"), worker = make(WEFT_KIND_TASK, "worker"), jobs[4];
	for (int i = 0; i < 4; i++)
		jobs[i] = make(WEFT_KIND_TASK, "job");
	weft_switch(worker);
	weft_acquire(db);
	for (int i = 0; i < 3; i++) {
		weft_switch(jobs[order[i]]);
		weft_try_read(db);
		usleep(1000);
	}
	weft_switch(jobs[0]);
	usleep(1000);
}

/* main waits for a reply and is the task that ran before each poll. */
static void poll_loop(void)
{
	uint64_t loop = make(WEFT_KIND_TASK, "main"), timer = make(WEFT_KIND_TASK, "timer");
	uint64_t reply = make(WEFT_KIND_WAIT, "reply");
	weft_switch(loop);
	weft_try_read(reply);
	for (int i = 0; i < 5; i++) {
		weft_band_begin(WEFT_BAND_IDLE, "poll");
		usleep(2000);
		weft_band_end(WEFT_BAND_IDLE, "poll");
		if (i == 3) /* before that, nothing was ready */
			weft_switch(timer);
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	if (strcmp(how, "lookup") == 0)
		lookup();
	else if (strcmp(how, "deadlock") == 0)
		deadlock();
	else if (strcmp(how, "alike") == 0)
		alike();
	else if (strcmp(how, "poll") == 0)
		poll_loop();
	else
		lock();
	if (strcmp(how, "poll") != 0)
		weft_switch(WEFT_TASK_NONE);
	if (strcmp(how, "live") == 0)
		sleep(600);
	return 0;
}
