/* SPDX-License-Identifier: ISC
 *
 * Depth-first search whose only state is a list of choices. An execution follows the list to its
 * end and takes the first alternative from there on. Afterwards the last choice that has another
 * alternative takes it, and all choices behind it are removed.
 */
#include "machine.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define WORDS_MAX   4096 /* that threads touch */
#define SHARED_MAX  128
#define STORES_MAX  64 /* of one word in one execution */
#define CHOICES_MAX 4096
#define STEPS_MAX   20000 /* of one execution; more are an endless loop */
#define STACK_BYTES 65536
#define LATE_MAX    8
#define JOINED      32 /* words of a view at once; divides SHARED_MAX */
#define KEPT_BYTES  4096
#define REUSES_MAX  255 /* executions from one preparation */

/* For each shared word, the oldest store that may be read. */
struct view {
	uint8_t at[SHARED_MAX];
};

struct store {
	uint64_t value;
	unsigned writer;
	struct view view; /* what an acquiring load learns */
};

/* The facts about a word that hold over all executions. */
struct word {
	const void *address;
	uint8_t touched; /* a bit a thread */
	bool is_written;
	int16_t shared; /* its number; -1: no two threads need it */
};

struct thread {
	jmp_buf place; /* where it goes on */
	bool has_ended;
	struct view now;      /* what it may not read behind */
	struct view acquired; /* what a fence will add to that */
	struct view released; /* what its relaxed stores take along */
	struct machine_access late[LATE_MAX];
	unsigned late_count;
};

struct choice {
	unsigned taken, count;
};

/* A write to be undone. */
struct change {
	const void *address;
	unsigned size;
	uint64_t before;
};

static const struct machine_test *test;
static struct word words[WORDS_MAX];
static unsigned counts[SHARED_MAX]; /* of stores; 0: not yet touched in this execution */
/* The first store of each word, then the second of each: few are used, which then share the cache.
 */
static struct store stores[STORES_MAX][SHARED_MAX];
static unsigned shared_count;
static bool has_grown;

static struct thread threads[MACHINE_THREADS];
static jmp_buf beginnings[MACHINE_THREADS], outside;
static unsigned self, preemptions, old_loads, steps;
static void (*handler)(void);      /* of thread 0 */
static unsigned signals, handling; /* that may still come; that have not been handled */
static bool is_running, has_died;
static const char *failure;
static bool verbose; /* prints what happens */

static struct choice choices[CHOICES_MAX];
static unsigned choice_count, choice_at;

/* The prepared state, with which other executions begin. */
static struct change changes[STEPS_MAX];
static unsigned change_count, reuses;
static const struct machine_memory *plain;
static unsigned plain_count, prepared_signals;
static unsigned char kept[KEPT_BYTES];

void machine_fail(const char *text)
{
	if (!failure)
		failure = text;
}

unsigned machine_self(void)
{
	return self;
}

void machine_signal(void (*its_handler)(void), unsigned count)
{
	handler = its_handler;
	signals = count;
}

void machine_reuse(const struct machine_memory *memory, unsigned count)
{
	plain = memory;
	plain_count = count;
}

bool machine_handles(void)
{
	return self == 0 && handling > 0;
}

/* Unlike swapcontext, this makes no system call. It returns when another jump leads to `from`. */
static void jump(jmp_buf from, jmp_buf to)
{
	if (_setjmp(from) == 0)
		_longjmp(to, 1);
}

static void leave(void)
{
	jump(threads[self].place, outside);
}

static unsigned choose(unsigned count)
{
	if (count < 2)
		return 0;
	if (choice_at == CHOICES_MAX) {
		machine_fail("too many choices");
		return 0;
	}
	if (choice_at == choice_count)
		choices[choice_count++] = (struct choice){0, count};
	/* Executions may differ only in their choices. */
	if (choices[choice_at].count != count)
		machine_fail("the test itself is not the same each time");
	return choices[choice_at++].taken;
}

/* The next list of choices; false if all have been tried. */
static bool choose_otherwise(void)
{
	while (choice_count > 0) {
		struct choice *last = &choices[choice_count - 1];
		if (++last->taken < last->count)
			return true;
		choice_count--;
	}
	return false;
}

/* Threads. */

static unsigned runnable(unsigned *ret_threads)
{
	unsigned count = 0;
	for (unsigned i = 0; i < test->thread_count; i++)
		if (i != self && !threads[i].has_ended)
			ret_threads[count++] = i;
	return count;
}

static void go_to(unsigned thread)
{
	unsigned from = self;
	self = thread;
	jump(threads[from].place, threads[thread].place);
}

static void end_thread(void)
{
	unsigned others[MACHINE_THREADS];
	threads[self].has_ended = true;
	if (verbose)
		printf("# %u: ends\n", self);
	unsigned count = runnable(others);
	if (count == 0)
		leave();
	go_to(others[choose(count)]);
}

/* The outermost function of a thread's stack: each execution begins here again. */
static void run_thread(void)
{
	if (_setjmp(beginnings[self]) == 0)
		_longjmp(outside, 1);
	test->threads[self]();
	end_thread();
}

static void make_threads(void)
{
	static unsigned char stacks[MACHINE_THREADS][STACK_BYTES];
	ucontext_t context;
	for (self = 0; self < MACHINE_THREADS; self++) {
		getcontext(&context);
		context.uc_stack.ss_sp = stacks[self];
		context.uc_stack.ss_size = STACK_BYTES;
		makecontext(&context, run_thread, 0);
		if (_setjmp(outside) == 0)
			setcontext(&context);
	}
}

/* Called before an access to shared memory: another thread may come first, or this one may end
 * here. */
static void pause_here(void)
{
	unsigned others[MACHINE_THREADS], count = 0;
	if (++steps > STEPS_MAX) {
		machine_fail("a loop without end");
		leave();
	}
	if (preemptions < test->preemptions)
		count = runnable(others);
	bool may_die = test->first_may_die && self == 0 && !has_died;
	unsigned choice = choose(1 + count + may_die);
	if (choice == 0)
		return;
	if (choice > count) {
		has_died = true;
		end_thread(); /* never comes back */
	}
	preemptions++;
	go_to(others[choice - 1]);
}

/* Called before any access of the thread that has a handler. */
static void take_signals(void)
{
	while (self == 0 && signals > 0 && choose(2)) {
		signals--;
		handling++;
		if (verbose)
			printf("# 0: a signal comes\n");
		handler();
		handling--;
		if (verbose)
			printf("# 0: its handler returns\n");
	}
}

/* Memory. */

/* Accesses 1, 2, 4 or 8 bytes, little-endian like the buffer. Constant sizes become instructions,
 * not calls.
 */
static void copy_word(void *restrict to, const void *restrict from, unsigned size)
{
	if (size == 8)
		memcpy(to, from, 8);
	else if (size == 4)
		memcpy(to, from, 4);
	else
		memcpy(to, from, size == 2 ? 2 : 1);
}

static uint64_t read_plainly(const void *address, unsigned size)
{
	uint64_t value = 0;
	copy_word(&value, address, size);
	return value;
}

static void write_plainly(const void *address, unsigned size, uint64_t value)
{
	if (is_running) {
		struct change *change = &changes[change_count++ % STEPS_MAX];
		*change = (struct change){address, size, read_plainly(address, size)};
	}
	copy_word((void *)(uintptr_t)address, &value, size);
}

static struct word *word_of(const void *address)
{
	size_t i = ((uintptr_t)address >> 2) % WORDS_MAX; /* neighbours share cache lines */
	for (unsigned probes = 0; probes < WORDS_MAX; probes++, i = (i + 1) % WORDS_MAX) {
		if (!words[i].address)
			words[i] = (struct word){.address = address, .shared = -1};
		if (words[i].address == address)
			return &words[i];
	}
	machine_fail("too many words");
	return &words[0];
}

/* The number of the word if threads share it; else -1. Which words are shared is found out during
 * executions; then the search starts again, so that no choice is left out. */
static int shared_word(const void *address, bool writes)
{
	struct word *word = word_of(address);
	word->touched = (uint8_t)(word->touched | 1u << self);
	word->is_written |= writes;
	if (word->shared < 0 && word->is_written && (word->touched & (word->touched - 1))) {
		if (shared_count == SHARED_MAX) {
			machine_fail("too many shared words");
			return -1;
		}
		word->shared = (int16_t)shared_count++;
		has_grown = true;
		return -1; /* from the next execution on */
	}
	return has_grown ? -1 : word->shared;
}

static void join(struct view *restrict view, const struct view *restrict more)
{
	/* In blocks of a constant size, which compilers turn into vector instructions. */
	unsigned count = shared_count;
	for (unsigned i = 0; i < count; i += JOINED) {
		uint8_t *restrict to = &view->at[i];
		const uint8_t *restrict from = &more->at[i];
		for (unsigned j = 0; j < JOINED; j++)
			to[j] = to[j] < from[j] ? from[j] : to[j];
	}
}

/* The number of stores to the word in this execution, at least one. */
static unsigned store_count(int word, const struct machine_access *access)
{
	if (counts[word] == 0) { /* what was there before the threads began; its view stays empty */
		stores[0][word].value = read_plainly(access->address, access->size);
		stores[0][word].writer = MACHINE_THREADS;
		counts[word] = 1;
	}
	return counts[word];
}

static uint64_t load_from(int word, unsigned at, unsigned order)
{
	struct thread *thread = &threads[self];
	const struct store *store = &stores[at][word];
	if (thread->now.at[word] < at)
		thread->now.at[word] = (uint8_t)at;
	if (at > 0) /* what was there before the threads began brings no view */
		join(order & MACHINE_ACQUIRE ? &thread->now : &thread->acquired, &store->view);
	return store->value;
}

static uint64_t load_shared(int word, const struct machine_access *access)
{
	unsigned last = store_count(word, access) - 1, oldest = threads[self].now.at[word];
	unsigned back = old_loads < test->old_loads ? choose(last - oldest + 1) : 0;
	old_loads += back > 0;
	return load_from(word, last - back, access->order);
}

static void store_shared(int word, const struct machine_access *access, bool is_exchange)
{
	struct thread *thread = &threads[self];
	const unsigned count = store_count(word, access);
	if (count == STORES_MAX) {
		machine_fail("too many stores to one word");
		return;
	}
	struct store *store = &stores[count][word];
	thread->now.at[word] = (uint8_t)count;
	store->value = access->value;
	store->view = access->order & MACHINE_RELEASE ? thread->now : thread->released;
	store->view.at[word] = (uint8_t)count;
	/* A release sequence continues with the thread's own stores and with any thread's read-modify-
	 * writes. */
	const struct store *last = &stores[count - 1][word];
	if (is_exchange || last->writer == self)
		join(&store->view, &last->view);
	store->writer = self;
	counts[word]++;
	write_plainly(access->address, access->size, access->value);
}

static uint64_t trace_access(const struct machine_access *access, uint64_t value)
{
	static const char *const names[] = {"loads", "stores", "exchanges", "adds to"};
	if (verbose && access->operation == MACHINE_EXCHANGE && value != access->expected)
		printf("# %u: finds %llx in %s\n", self, (unsigned long long)value,
			test->describe(access->address));
	else if (verbose)
		printf("# %u: %s %s: %llx\n", self, names[access->operation],
			test->describe(access->address),
			(unsigned long long)(access->operation == MACHINE_LOAD ? value : access->value));
	return value;
}

/* Performs one access, which nothing interrupts. */
static uint64_t make(const struct machine_access *access)
{
	bool writes = access->operation != MACHINE_LOAD;
	if (is_running)
		take_signals();
	int word = is_running ? shared_word(access->address, writes) : -1;
	uint64_t found;
	if (word < 0) {
		found = read_plainly(access->address, access->size);
		if (is_running && handler)
			trace_access(access, found);
	} else {
		pause_here();
		if (access->operation == MACHINE_LOAD)
			return trace_access(access, load_shared(word, access));
		if (access->operation == MACHINE_STORE) {
			store_shared(word, access, false);
			return trace_access(access, 0);
		}
		found = load_from(word, store_count(word, access) - 1, access->order);
		trace_access(access, found);
	}
	if (access->operation == MACHINE_LOAD ||
		(access->operation == MACHINE_EXCHANGE && found != access->expected))
		return found;
	struct machine_access store = *access;
	if (access->operation == MACHINE_ADD)
		store.value = found + access->value;
	if (word < 0)
		write_plainly(store.address, store.size, store.value);
	else
		store_shared(word, &store, true);
	return found;
}

static void make_late(struct thread *thread)
{
	unsigned count = thread->late_count;
	thread->late_count = 0;
	for (unsigned i = 0; i < count; i++)
		make(&thread->late[i]);
}

static uint64_t make_torn(struct machine_access access)
{
	struct machine_access load = access;
	load.operation = MACHINE_LOAD;
	uint64_t found = make(&load);
	if (access.operation == MACHINE_EXCHANGE && found != access.expected)
		return found;
	if (access.operation == MACHINE_ADD)
		access.value += found;
	access.operation = MACHINE_STORE;
	make(&access);
	return found;
}

/* By reference: copying would wait for the parts that were just stored, which takes longer than the
 * rest.
 */
static uint64_t perform(struct machine_access *access)
{
	struct thread *thread = &threads[self];
	if (test && test->filter)
		test->filter(access);
	if (access->is_torn)
		return make_torn(*access);
	/* Stores of one thread to one word keep their order. */
	for (unsigned i = 0; i < thread->late_count; i++)
		if (access->address == thread->late[i].address && access->operation != MACHINE_LOAD)
			make_late(thread);
	if (access->is_late && thread->late_count < LATE_MAX) {
		thread->late[thread->late_count++] = *access;
		return 0;
	}
	uint64_t found = make(access);
	if (access->operation != MACHINE_LOAD && thread->late_count)
		make_late(thread);
	return found;
}

static uint64_t cut(uint64_t value, unsigned size)
{
	return size < 8 ? value & (((uint64_t)1 << 8 * size) - 1) : value;
}

/* A word that is written in halves anywhere is treated as halves everywhere. */
static bool is_halves(const void *address, unsigned size)
{
	return size == 8 && test && test->is_halves && test->is_halves(address);
}

static __attribute__((noinline)) uint64_t load_in_thread(
	const void *address, unsigned size, unsigned order)
{
	if (is_halves(address, size))
		return load_in_thread(address, 4, order) |
			   load_in_thread((const char *)address + 4, 4, order) << 32;
	return perform(&(struct machine_access){MACHINE_LOAD, address, size, order, 0, 0, 0, 0, 0});
}

/* Most loads of an execution are made before its threads begin: this is their fast path. */
uint64_t machine_load(const void *address, unsigned size, unsigned order)
{
	return is_running ? load_in_thread(address, size, order) : read_plainly(address, size);
}

void machine_store(void *address, unsigned size, unsigned order, uint64_t value)
{
	if (is_halves(address, size)) {
		machine_store(address, 4, order, value);
		machine_store((char *)address + 4, 4, order, value >> 32);
		return;
	}
	perform(&(struct machine_access){
		MACHINE_STORE, address, size, order, cut(value, size), 0, 0, 0, 0});
}

uint64_t machine_add(void *address, unsigned size, unsigned order, uint64_t value)
{
	return perform(&(struct machine_access){MACHINE_ADD, address, size, order, value, 0, 0, 0, 0});
}

bool machine_compare_exchange(
	void *address, unsigned size, unsigned order, uint64_t expected, uint64_t desired)
{
	expected = cut(expected, size);
	return perform(&(struct machine_access){MACHINE_EXCHANGE, address, size, order,
			   cut(desired, size), expected, 0, 0, 0}) == expected;
}

uint64_t machine_swap(void *address, unsigned size, unsigned order, uint64_t value)
{
	for (;;) {
		uint64_t found = machine_load(address, size, order);
		if (machine_compare_exchange(address, size, order, found, value))
			return found;
	}
}

void machine_fence(unsigned order)
{
	struct machine_access access = {MACHINE_FENCE, NULL, 0, order, 0, 0, 0, 0, 0};
	struct thread *thread = &threads[self];
	if (!is_running)
		return;
	if (test->filter)
		test->filter(&access);
	if (access.order & MACHINE_ACQUIRE)
		join(&thread->now, &thread->acquired);
	if (access.order & MACHINE_RELEASE)
		thread->released = thread->now;
}

void machine_barrier(void)
{
	struct machine_access access = {MACHINE_BARRIER, NULL, 0, 0, 0, 0, 0, 0, 0};
	if (!is_running)
		return;
	if (test->filter)
		test->filter(&access);
	pause_here();
	if (access.is_left_out)
		return;
	struct view all = threads[self].now;
	for (unsigned i = 0; i < test->thread_count; i++)
		join(&all, &threads[i].now);
	for (unsigned i = 0; i < test->thread_count; i++)
		threads[i].now = threads[i].acquired = threads[i].released = all;
}

void machine_step(void)
{
	if (is_running)
		pause_here();
}

void machine_settle(void)
{
	struct thread *thread = &threads[self];
	if (!is_running)
		return;
	for (unsigned i = 0; i < shared_count; i++)
		if (counts[i])
			thread->now.at[i] = (uint8_t)(counts[i] - 1);
}

bool machine_has_ended(unsigned thread)
{
	if (!is_running || thread >= test->thread_count || !threads[thread].has_ended)
		return false;
	join(&threads[self].now, &threads[thread].now);
	return true;
}

/* Executions. */

static void keep_plain(void)
{
	size_t used = 0;
	for (unsigned i = 0; i < plain_count; used += plain[i++].size) {
		if (plain[i].size > sizeof(kept) - used)
			abort();
		memcpy(kept + used, plain[i].bytes, plain[i].size);
	}
}

static void put_back(void)
{
	size_t used = 0;
	while (change_count > 0) {
		const struct change *change = &changes[--change_count];
		write_plainly(change->address, change->size, change->before);
	}
	for (unsigned i = 0; i < plain_count; used += plain[i++].size)
		memcpy(plain[i].bytes, kept + used, plain[i].size);
	signals = prepared_signals;
}

/* Preparing takes as long as most executions. It is repeated now and then: if the memory that is
 * put back were not all, the executions would no longer follow their choices. */
static void prepare(void)
{
	if (plain_count && change_count < STEPS_MAX && reuses < REUSES_MAX) {
		reuses++;
		put_back();
		return;
	}
	change_count = reuses = plain_count = signals = 0;
	handler = NULL;
	test->prepare();
	prepared_signals = signals;
	keep_plain();
}

static void run_once(void)
{
	for (unsigned i = 0; i < shared_count; i++)
		counts[i] = 0;
	choice_at = self = preemptions = old_loads = steps = handling = 0;
	has_died = has_grown = false;
	prepare();
	for (unsigned i = 0; i < test->thread_count; i++) {
		threads[i] = (struct thread){.has_ended = false};
		memcpy(threads[i].place, beginnings[i], sizeof(jmp_buf));
	}
	is_running = true;
	self = choose(test->thread_count);
	jump(outside, threads[self].place);
	is_running = false;
	if (!failure)
		test->check();
}

struct machine_result machine_run(const struct machine_test *what)
{
	struct machine_result result = {0, 0, NULL};
	make_threads();
	test = what;
	memset(words, 0, sizeof(words));
	shared_count = choice_count = plain_count = 0;
	failure = NULL;
	do {
		run_once();
		result.executions++;
		if (has_grown) {
			failure =
				NULL; /* half of this execution used plain memory, so it is not a possible one */
			choice_count = 0;
			result.executions = 0;
			continue;
		}
	} while (!failure && (has_grown || choose_otherwise()));
	if (failure && what->verbose) {
		verbose = true;
		run_once();
		verbose = false;
	}
	result.words = shared_count;
	result.failure = failure;
	return result;
}
