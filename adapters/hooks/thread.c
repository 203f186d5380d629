/* SPDX-License-Identifier: ISC
 *
 * The calling thread, and its task.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#define WEFT_CATEGORY always
#include "hooks/hooks.h"
#include "hooks/used.h"
#include "kernel/call.h"

__thread struct weft__hooks_thread weft__hooks_thread;

/* Changes in a forked child, which has a buffer of its own: ids of the parent mean nothing there.
 */
static uint32_t epoch = 1;

/* The numbers that the first thread of a forked process has had: in this process, last, and in
 * those that it was forked from, as long as it was the thread that forked. Full: some are left out.
 */
static struct {
	uint32_t numbers[8], count;
} first;

static uint32_t unborn;

uint32_t weft__hooks_unborn(int32_t change)
{
	return __atomic_add_fetch(&unborn, (uint32_t)change, __ATOMIC_RELAXED);
}

static bool has_been_first(uint32_t number)
{
	for (uint32_t i = 0; i < first.count; i++)
		if (first.numbers[i] == number)
			return true;
	return false;
}

static void add_first(uint32_t number)
{
	if (number && first.count < sizeof(first.numbers) / sizeof(first.numbers[0]))
		first.numbers[first.count++] = number;
}

/* The calling thread may have no number yet in the process that forks, and then has its last one.
 */
static void begin_child(void)
{
	const uint32_t number = weft__hooks_thread.number;
	epoch++;
	if (!has_been_first(number)) {
		first.count = 0;
		add_first(number);
	}
	add_first((uint32_t)weft__kernel_process());
	unborn = 0;
	weft__hooks_thread.inside = 0;
	weft__hooks_waits_no_longer();
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, begin_child);
}

uint32_t weft__hooks_epoch(void)
{
	return epoch;
}

int weft__hooks_begin(void)
{
	int saved = errno;
	weft__hooks_thread.inside = (uintptr_t)__builtin_dwarf_cfa();
	return saved;
}

void weft__hooks_end(int saved_errno)
{
	weft__hooks_count_recording();
	weft__hooks_thread.inside = 0;
	errno = saved_errno;
}

/* ---- Tasks by the numbers of threads ---- */

#define THREADS 16384

/* A thread has the entry of its number modulo the size; a later one with the same entry takes it.
 */
static struct entry {
	struct weft__hooks_alive alive;
	uint64_t waiter, blocked_on; /* a task that runs on the thread waits for another one */
	bool is_own;                 /* `blocked_on` was made for this wait, and ends with it */
	bool is_unnamed;             /* the task has no label yet */
	char inherited_name[16];
	uint32_t thread, epoch;
} threads[THREADS];
static uint64_t used[WEFT__HOOKS_USED(THREADS)];

/* NULL: the thread is unknown. */
static struct entry *entry_of(uint32_t thread)
{
	struct entry *it = &threads[thread % THREADS];
	bool is_known = __atomic_load_n(&it->thread, __ATOMIC_ACQUIRE) == thread && it->epoch == epoch;
	return is_known ? it : NULL;
}

uint32_t weft__hooks_thread_now(uint32_t thread)
{
	return has_been_first(thread) ? (uint32_t)weft__kernel_process() : thread;
}

bool weft__hooks_was_left_behind(uint32_t thread)
{
	const struct entry *it = &threads[thread % THREADS];
	return __atomic_load_n(&it->thread, __ATOMIC_ACQUIRE) == thread && it->epoch != epoch &&
		   !has_been_first(thread) &&
		   first.count < sizeof(first.numbers) / sizeof(first.numbers[0]);
}

uint64_t weft__hooks_task_of(uint32_t thread)
{
	const struct entry *it = entry_of(thread);
	return it ? it->alive.task : WEFT_TASK_NONE;
}

uint64_t weft__hooks_blocked_on(uint32_t thread)
{
	const struct entry *it = entry_of(thread);
	bool is_its_own = it && __atomic_load_n(&it->waiter, __ATOMIC_RELAXED) == it->alive.task;
	return is_its_own ? __atomic_load_n(&it->blocked_on, __ATOMIC_RELAXED) : WEFT_TASK_NONE;
}

void weft__hooks_set_blocked(uint64_t waiter, uint64_t source, bool is_own)
{
	struct entry *it = entry_of(weft__hooks_thread.number);
	if (!it)
		return;
	it->is_own = is_own;
	__atomic_store_n(&it->waiter, waiter, __ATOMIC_RELAXED);
	__atomic_store_n(&it->blocked_on, source, __ATOMIC_RELAXED);
}

uint64_t weft__hooks_own_call(void)
{
	const struct entry *it = entry_of(weft__hooks_thread.number);
	return it && it->is_own ? it->blocked_on : WEFT_TASK_NONE;
}

bool weft__hooks_may_know_thread(uint32_t thread)
{
	return threads[thread % THREADS].epoch == epoch;
}

/* ---- The calling thread ---- */

/* Another thread may name it from here on. `creators_name`: NULL if it has its label. */
static void set_task(const struct weft__hooks_alive *task, const char *creators_name)
{
	uint32_t number = (uint32_t)weft__kernel_thread();
	struct entry *it = &threads[number % THREADS];
	weft__hooks_thread.task = task->task;
	weft__hooks_thread.epoch = epoch;
	weft__hooks_thread.number = number;
	__atomic_store_n(&it->thread, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	it->alive = *task;
	it->blocked_on = WEFT_TASK_NONE;
	it->is_unnamed = creators_name != NULL;
	if (creators_name)
		memcpy(it->inherited_name, creators_name, sizeof(it->inherited_name));
	it->epoch = epoch;
	__atomic_store_n(&it->thread, number, __ATOMIC_RELEASE);
	weft__hooks_use(used, number % THREADS);
}

void weft__hooks_thread_begin(const struct weft__hooks_alive *task)
{
	set_task(task, NULL);
	weft_switch(task->task);
}

void weft__hooks_thread_begin_unnamed(
	const struct weft__hooks_alive *task, const char creators_name[16])
{
	set_task(task, creators_name);
	weft_switch(task->task);
	weft__hooks_thread.epoch = 0;
	weft__hooks_thread.unnamed_epoch = epoch;
}

/* `name`: that of the thread now. The thread itself and the end of the process may both call. */
static void name_entry(struct entry *it, const char *name)
{
	if (!__atomic_exchange_n(&it->is_unnamed, false, __ATOMIC_ACQ_REL))
		return;
	if (*name && strcmp(name, it->inherited_name) != 0)
		memcpy(it->alive.label, name, strlen(name) + 1);
	weft_label_n_as(it->alive.task, it->alive.label, strlen(it->alive.label));
}

void weft__hooks_name_thread(uint64_t task, const char *name)
{
	for (size_t i = 0; (i = weft__hooks_next_used(used, THREADS, i)) < THREADS; i++) {
		struct entry *it = &threads[i];
		if (!__atomic_load_n(&it->thread, __ATOMIC_ACQUIRE) || it->alive.task != task)
			continue;
		if (!__atomic_exchange_n(&it->is_unnamed, false, __ATOMIC_ACQ_REL) &&
			strcmp(it->alive.label, name) == 0)
			return;
		memcpy(it->alive.label, name, strlen(name) + 1);
	}
	weft_label_n_as(task, name, strlen(name));
}

void weft__hooks_renamed(void)
{
	char name[16] = "";
	uint64_t task = weft__hooks_thread_task();
	if (task != WEFT_TASK_NONE && task == weft__hooks_main_task() && epoch != 1)
		weft__hooks_title_named();
	if (task == WEFT_TASK_NONE || task == weft__hooks_main_task())
		return;
	weft__kernel_thread_name(name);
	weft__hooks_name_thread(task, name);
}

static void name_task(struct weft__hooks_thread *thread)
{
	char name[16] = "";
	struct entry *it = entry_of(thread->number);
	thread->epoch = epoch;
	thread->unnamed_epoch = 0;
	if (!it)
		return;
	weft__kernel_thread_name(name);
	name_entry(it, name);
}

/* The name of another thread of this process; empty if it has ended. */
static void read_name(uint32_t thread, char ret_name[16])
{
	struct weft__hooks_text path = {0};
	weft__hooks_append(&path, "/proc/self/task/");
	weft__hooks_append_number(&path, thread);
	weft__hooks_append(&path, "/comm");
	path.bytes[path.size] = '\0';
	int fd = weft__kernel_open(path.bytes, O_RDONLY | O_CLOEXEC, 0);
	long size = fd < 0 ? 0 : weft__kernel_read(fd, ret_name, 16);
	if (fd >= 0)
		weft__kernel_close(fd);
	ret_name[size > 0 ? size - 1 : 0] = '\0'; /* instead of a newline */
}

/* Some threads record nothing, such as those of OpenMP, which wait by system calls of their own. */
void weft__hooks_name_threads(void)
{
	char name[16];
	for (size_t i = 0; (i = weft__hooks_next_used(used, THREADS, i)) < THREADS; i++) {
		struct entry *it = &threads[i];
		uint32_t thread = __atomic_load_n(&it->thread, __ATOMIC_ACQUIRE);
		if (!thread || it->epoch != epoch || !__atomic_load_n(&it->is_unnamed, __ATOMIC_ACQUIRE))
			continue;
		read_name(thread, name);
		name_entry(it, name);
	}
}

/* A thread that is cancelled in a wait leaves it without a return: nobody else ends what was made
 * for it. */
uint64_t weft__hooks_thread_end(void)
{
	struct entry *it = entry_of(weft__hooks_thread.number);
	uint64_t source = it ? it->blocked_on : WEFT_TASK_NONE;
	if (source != WEFT_TASK_NONE && it->is_own)
		weft_cancel(source);
	if (it)
		__atomic_store_n(&it->thread, 0, __ATOMIC_RELEASE);
	weft_switch(WEFT_TASK_NONE);
	return source;
}

void weft__hooks_create_thread(struct weft__hooks_alive *ret, const struct weft__hooks_text *label)
{
	static uint64_t cache;
	uint16_t kind = weft__kind_in(&weft_category_thread, &cache, "thread");
	weft__hooks_create_in(&weft_category_thread, ret, WEFT_TASK_NONE, kind, label);
}

static void make_task(struct weft__hooks_thread *thread)
{
	char name[16] = "";
	struct weft__hooks_text label = {0};
	struct weft__hooks_alive task;
	weft__kernel_thread_name(name);
	weft__hooks_append(&label, name);
	weft__hooks_create_thread(&task, &label);
	set_task(&task, NULL);
	if (epoch != 1 && weft__hooks_main_task() == WEFT_TASK_NONE)
		weft__hooks_process_begins(task.task); /* a forked child has only this thread */
	if (weft_current() == WEFT_TASK_NONE)
		weft_switch(thread->task);
}

/* At the thread's first event, or when its name is known. */
static void find_task(void *of)
{
	struct weft__hooks_thread *thread = of;
	if (thread->unnamed_epoch == epoch)
		name_task(thread);
	else
		make_task(thread);
}

uint64_t weft__hooks_thread_task(void)
{
	struct weft__hooks_thread *thread = &weft__hooks_thread;
	if (likely(thread->epoch == epoch))
		return thread->task;
	if (!weft__hooks_system_begin())
		return WEFT_TASK_NONE;
	weft__hooks_aside(find_task, thread);
	weft__hooks_system_end();
	return thread->task;
}

static unsigned run_down(void)
{
	unsigned count = 0;
	for (size_t i = 0; (i = weft__hooks_next_used(used, THREADS, i)) < THREADS; i++) {
		const struct entry *it = &threads[i];
		weft__hooks_unuse(used, i);
		if (!__atomic_load_n(&it->thread, __ATOMIC_SEQ_CST) || it->epoch != epoch)
			continue;
		weft__hooks_use(used, i);
		weft__hooks_rundown_task(&it->alive, __atomic_load_n(&it->blocked_on, __ATOMIC_RELAXED));
		count++;
	}
	return count;
}

__attribute__((constructor)) static void offer_rundown(void)
{
	weft__hooks_rundown_add(run_down);
}
