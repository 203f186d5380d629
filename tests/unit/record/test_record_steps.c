/* SPDX-License-Identifier: ISC
 *
 * Interrupts recording at each instruction in turn: by a signal whose handler records, by a handler
 * that never returns, by the end of the program. The processor single-steps once through a body, to
 * learn the addresses of its instructions; then a breakpoint stops it at one of them, which takes a
 * thousandth of the traps. WEFT_EVERY_STEP tests all instructions, where a part is tested
 * otherwise.
 */
#include "record_trace.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define SIZE      ((size_t)64 << 10) /* the smallest: 13 packets */
#define IN_PACKET ((4096 - 128) / 16)

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define CAN_STEP  1
#define TRAP_FLAG 0x100

#define PATH_MAX   65536
#define BREAKPOINT 0xcc /* the instruction int3 */

/* The addresses of a body's instructions, in the order in which they run. Children share it. */
static struct path {
	unsigned char *at[PATH_MAX];
	long count;
	uint64_t sum; /* tells paths apart */
	const unsigned char *begin;
	greg_t stack; /* at the beginning */
	bool is_recorded;
	unsigned long tries, hits; /* of breakpoints */
} * path;

static struct {
	unsigned char *address, instruction; /* the breakpoint, and the byte that it replaces */
	volatile long visits, steps;         /* of the breakpoint, then from there, until it happens */
	volatile enum {
		IDLE,
		SET,
		PASSING,
		STEPPING
	} state;
	volatile bool happened;
	void (*happen)(void);
	unsigned repeats; /* of a try that did not happen */
} step;

static void set_stepping(greg_t *registers, bool on)
{
	registers[REG_EFL] = on ? registers[REG_EFL] | TRAP_FLAG : registers[REG_EFL] & ~TRAP_FLAG;
}

static void on_start(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	set_stepping(((ucontext_t *)context)->uc_mcontext.gregs, true);
}

static void record_path(greg_t *registers)
{
	unsigned char *next = (unsigned char *)registers[REG_RIP];
	if (!path->count && next == path->begin)
		path->stack = registers[REG_RSP];
	if (path->count && registers[REG_RSP] > path->stack)
		path->is_recorded = false; /* the body has returned */
	if (!path->is_recorded)
		set_stepping(registers, false);
	else if ((path->count || next == path->begin) && path->count < PATH_MAX)
		path->at[path->count++] = next;
}

static void interrupt(greg_t *registers)
{
	set_stepping(registers, false);
	step.state = IDLE;
	step.happened = true;
	path->hits++;
	step.happen();
}

static void hit_breakpoint(greg_t *registers)
{
	registers[REG_RIP] = (greg_t)step.address;
	*step.address = step.instruction;
	step.state = --step.visits > 0 ? PASSING : STEPPING;
	if (step.state == STEPPING && step.steps == 0)
		interrupt(registers);
	else
		set_stepping(registers, true);
}

static void on_step(int signal, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	(void)signal;
	(void)info;
	switch (step.state) {
	case IDLE:
		record_path(registers);
		break;
	case SET:
		hit_breakpoint(registers);
		break;
	case PASSING:
		*step.address = BREAKPOINT;
		step.state = SET;
		set_stepping(registers, false);
		break;
	case STEPPING:
		if (--step.steps == 0)
			interrupt(registers);
	}
}

static int set_up(void **state)
{
	struct sigaction action = {.sa_sigaction = on_start, .sa_flags = SA_SIGINFO | SA_NODEFER};
	sigaction(SIGUSR1, &action, NULL);
	action.sa_sigaction = on_step;
	sigaction(SIGTRAP, &action, NULL);
	path = mmap(NULL, sizeof(*path), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*state = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return path == MAP_FAILED || *state == MAP_FAILED;
}

static unsigned long all_tries, all_hits;

static int tear_down(void **state)
{
	weft_stop();
	all_tries += path->tries;
	all_hits += path->hits;
	return munmap(path, sizeof(*path)) || munmap(*state, SIZE);
}

/* Some paths depend on the clock: a loop reads it until two readings are near, or divides by their
 * difference. Under load one test missed more than half of its breakpoints. */
static void most_breakpoints_are_hit(void **state)
{
	(void)state;
	assert_true(all_hits >= all_tries / 2 && all_hits > 100);
}

/* With clang's address sanitizer a step costs many times as much, and there are more of them. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STRIDE_FACTOR 23
#endif
#endif
#ifndef STRIDE_FACTOR
#define STRIDE_FACTOR 1
#endif

static long stride(long usual)
{
	return getenv("WEFT_EVERY_STEP") ? 1 : usual * STRIDE_FACTOR;
}

static void record_body(void (*body)(void))
{
	path->count = 0;
	path->sum = 0;
	path->begin = (const unsigned char *)(uintptr_t)body;
	path->is_recorded = true;
	raise(SIGUSR1);
	body();
	path->is_recorded = false;
	assert_in_range(path->count, 1, PATH_MAX - 1);
	for (long i = 0; i < path->count; i++)
		path->sum = path->sum * 31 + (uintptr_t)path->at[i];
}

/* False for the kernel's own instructions, which read the clock. */
static bool make_writable(const unsigned char *instruction)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	return !mprotect(
		(void *)((uintptr_t)instruction & ~(page - 1)), page, PROT_READ | PROT_WRITE | PROT_EXEC);
}

/* At this instruction of the path, or at the last one before it that can be replaced. */
static void set_breakpoint(long instruction)
{
	long from = instruction - 1;
	while (!make_writable(path->at[from]) && from > 0)
		from--;
	step.address = path->at[from];
	step.steps = instruction - 1 - from;
	step.visits = 0;
	for (long i = 0; i <= from; i++)
		step.visits += path->at[i] == step.address;
	step.instruction = *step.address;
	*step.address = BREAKPOINT;
	step.state = SET;
	path->tries++;
}

/* Runs `body`, and `happen` before this instruction of its path; false if the path was another one
 * this time. */
static bool run_to(void (*body)(void), void (*happen)(void), long instruction)
{
	step.happen = happen;
	step.happened = false;
	set_breakpoint(instruction);
	body();
	if (step.state == SET)
		*step.address = step.instruction;
	step.state = IDLE;
	return step.happened;
}

/* The instruction to try next. What did not happen is tried again: under load the clock leaps,
 * which changes the path. */
static long go_on(long instruction, long stride, bool happened)
{
	if (!happened && ++step.repeats < 10) {
		path->tries--;
		return instruction;
	}
	step.repeats = 0;
	return instruction + stride;
}

/* ---- Events, numbered ---- */

static volatile uint64_t begun, ended;

/* 16 bytes: the sums over packets show it. */
static void record_one(void)
{
	begun++;
	weft_tag_value("one", (int64_t)begun - 1);
	ended = begun;
}

static void record_many(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		record_one();
}

static void record_sizes(void)
{
	weft_tag("8 bytes");
	ended++;
	weft_tag_value_as(7, "24 bytes", 1);
	ended++;
	weft_mark("40 bytes", "a", 1, "b", 2, "c", 3);
	ended++;
}

static void start(void *buffer)
{
	begun = ended = 0;
	weft_stop();
	assert_int_equal(weft_start(buffer, SIZE, NULL), 0);
}

static void do_nothing(void)
{
}

/* True if the body takes its path again; its breakpoint is not one of those that are counted. */
static bool is_path_taken(void (*body)(void))
{
	unsigned long tries = path->tries, hits = path->hits;
	bool is_taken = run_to(body, do_nothing, path->count);
	path->tries = tries;
	path->hits = hits;
	return is_taken;
}

static bool contains(const uint64_t *sums, long count, uint64_t sum)
{
	for (long i = 0; i < count; i++)
		if (sums[i] == sum)
			return true;
	return false;
}

/* Stepping takes so long that the clock may leap, so the same path has to come twice, and once more
 * without stepping. */
static void learn_path(void *buffer, uint64_t before, void (*body)(void))
{
	uint64_t sums[100];
	bool is_learnt = false;
	for (long tries = 0; tries < 100 && !is_learnt; tries++) {
		start(buffer);
		record_many(before);
		record_body(body);
		bool has_come = contains(sums, tries, path->sum);
		sums[tries] = path->sum;
		start(buffer);
		record_many(before);
		is_learnt = has_come && is_path_taken(body);
	}
}

static int64_t last;

/* The number of readable events; those of record_one are in order, with at most `gaps` gaps. */
static uint64_t count_events(struct trace *t, uint64_t gaps)
{
	uint64_t count = 0;
	last = -1;
	for (; trace_next(t); count++) {
		if (t->event.type != WEFT_EVENT_TAG || t->event.text.size != 3)
			continue;
		if (last >= 0 && t->event.value != last + 1)
			assert_true(t->event.value > last && gaps-- > 0);
		last = t->event.value;
	}
	return count;
}

/* ---- A handler that records ---- */

static void record_in_handler(void)
{
	weft_note("handler");
}

static const struct handler {
	void (*record)(void);
	uint64_t events;
} one_event = {record_in_handler, 1};

static void check_handler(const struct handler *handler, void *buffer, uint64_t before,
	void (*body)(void), uint64_t events, long usual_stride)
{
	learn_path(buffer, before, body);
	bool happened = false;
	for (long at = 1; at <= path->count; at = go_on(at, stride(usual_stride), happened)) {
		struct trace t;
		start(buffer);
		record_many(before);
		happened = run_to(body, handler->record, at);
		weft_stop();
		trace_open(&t, buffer, SIZE);
		uint64_t known = count_events(&t, 1) + trace_loss(&t, WEFT_LOSS_OVERWRITTEN) +
						 trace_loss(&t, WEFT_LOSS_NESTED);
		assert_int_equal(known, before + events + (happened ? handler->events : 0));
		trace_close(&t);
	}
}

static void check_handlers(
	void *buffer, uint64_t before, void (*body)(void), uint64_t events, long usual_stride)
{
	check_handler(&one_event, buffer, before, body, events, usual_stride);
}

static void handlers_record_during_the_first_event(void **state)
{
	check_handlers(*state, 0, record_one, 1, 41);
}

static void handlers_record_during_any_event(void **state)
{
	check_handlers(*state, 5, record_sizes, 3, 11);
}

static void handlers_record_while_packets_change(void **state)
{
	check_handlers(*state, 13 * IN_PACKET, record_one, 1, 41);
}

/* ---- Moments, and a handler that records one ---- */

static void record_moments(void)
{
	weft_moment_begin();
	record_one();
	weft_moment_begin();
	record_one();
	weft_moment_end();
	record_one();
}

static void record_moments_of_all_sizes(void)
{
	weft_moment_begin();
	record_sizes();
	weft_moment_begin();
	record_sizes();
	weft_moment_end();
	record_one();
}

static void record_moment_in_handler(void)
{
	weft_moment_begin();
	weft_note("handler");
	weft_tag_value_as(7, "24 bytes", 1);
	weft_moment_end();
}

static const struct handler a_moment = {record_moment_in_handler, 2};

static void handlers_record_moments_while_a_thread_enters(void **state)
{
	check_handler(&a_moment, *state, 0, record_moments, 3, 41);
}

static void handlers_record_moments_during_any_moment(void **state)
{
	check_handler(&a_moment, *state, 5, record_moments, 3, 1);
}

static void handlers_record_moments_during_events_of_all_sizes(void **state)
{
	check_handler(&a_moment, *state, 5, record_moments_of_all_sizes, 7, 43);
}

/* Each of its events may find the packet full. */
static void handlers_record_moments_while_packets_change(void **state)
{
	for (uint64_t room = 0; room < 4; room++)
		check_handler(&a_moment, *state, 13 * IN_PACKET - room, record_moments, 3, 41);
}

/* ---- A handler that continues in another buffer, where its thread may or may not record ---- */

static unsigned char elsewhere[SIZE] __attribute__((aligned(64)));

static uint32_t nobody(void *context, char name[16])
{
	(void)context;
	name[0] = 0;
	return 0;
}

static void start_elsewhere(const struct weft_platform *platform)
{
	weft_stop();
	assert_int_equal(weft_start(elsewhere, SIZE, platform), 0);
	weft_note("handler");
}

static void go_where_it_is_refused(void)
{
	static const struct weft_platform platform = {.self = nobody, .ticks_hz = 1000000000};
	start_elsewhere(&platform);
}

static void go_elsewhere(void)
{
	start_elsewhere(NULL);
}

static uint64_t count_elsewhere(void)
{
	struct trace t;
	trace_open(&t, elsewhere, SIZE);
	uint64_t known = count_events(&t, 0);
	known += trace_loss(&t, WEFT_LOSS_FULL) + trace_loss(&t, WEFT_LOSS_NESTED);
	trace_close(&t);
	return known;
}

/* Each event is in one of the buffers, or counted there as lost. */
static void check_going(
	void *buffer, void (*go)(void), void (*body)(void), uint64_t events, long usual_stride)
{
	learn_path(buffer, 5, body);
	bool happened = false;
	for (long at = 1; at <= path->count; at = go_on(at, stride(usual_stride), happened)) {
		struct trace t;
		start(buffer);
		record_many(5);
		happened = run_to(body, go, at);
		weft_stop();
		uint64_t there = happened ? count_elsewhere() : 0;
		trace_open(&t, buffer, SIZE);
		uint64_t here = count_events(&t, 1) + trace_loss(&t, WEFT_LOSS_NESTED);
		assert_int_equal(here + there, 5 + events + happened);
		trace_close(&t);
	}
}

static void handlers_go_elsewhere_during_any_event(void **state)
{
	check_going(*state, go_where_it_is_refused, record_one, 1, 1);
	check_going(*state, go_elsewhere, record_one, 1, 1);
	check_going(*state, go_where_it_is_refused, record_sizes, 3, 7);
	check_going(*state, go_elsewhere, record_sizes, 3, 7);
}

static void handlers_go_elsewhere_during_any_moment(void **state)
{
	check_going(*state, go_where_it_is_refused, record_moments, 3, 1);
	check_going(*state, go_elsewhere, record_moments, 3, 1);
	check_going(*state, go_where_it_is_refused, record_moments_of_all_sizes, 7, 43);
	check_going(*state, go_elsewhere, record_moments_of_all_sizes, 7, 43);
}

/* ---- A handler that leaves ---- */

static sigjmp_buf away;

static void leave(void)
{
	siglongjmp(away, 1);
}

/* The thread records again, and its counts are still right. */
static void check_leaving(void *buffer, uint64_t before, void (*body)(void), long usual_stride)
{
	const uint64_t after = 65536 + 20 * IN_PACKET;
	learn_path(buffer, before, body);
	for (volatile long at = 1; at <= path->count; at += stride(usual_stride)) {
		struct trace t;
		start(buffer);
		record_many(before);
		if (sigsetjmp(away, 1) == 0)
			run_to(body, leave, at);
		const uint64_t returned = ended;
		record_many(after);
		weft_stop();
		trace_open(&t, buffer, SIZE);
		/* The abandoned packet may never be overwritten. */
		uint64_t known = count_events(&t, 2) + trace_loss(&t, WEFT_LOSS_OVERWRITTEN) +
						 trace_loss(&t, WEFT_LOSS_NESTED);
		assert_in_range(known, after + returned, after + returned + step.happened);
		assert_true(trace_loss(&t, WEFT_LOSS_OVERWRITTEN) > 0);
		trace_close(&t);
	}
}

static void handlers_leave_during_the_first_event(void **state)
{
	check_leaving(*state, 0, record_one, 41);
}

static void handlers_leave_during_any_event(void **state)
{
	check_leaving(*state, 5, record_sizes, 7);
}

static void handlers_leave_while_packets_change(void **state)
{
	check_leaving(*state, 13 * IN_PACKET, record_one, 43);
}

static unsigned char seen[1 << 18]; /* by id, from first_id on */
static uint64_t first_id;           /* of the present buffer */

static void create_one(void)
{
	uint64_t task = weft_create(WEFT_KIND_TASK);
	assert_in_range(task, first_id, first_id + sizeof(seen) - 1);
	assert_int_equal(seen[task - first_id]++, 0);
}

static void start_ids(void *buffer)
{
	start(buffer);
	memset(seen, 0, sizeof(seen));
	first_id = weft_create(WEFT_KIND_TASK);
}

static void ids_are_unique_whenever_a_handler_leaves(void **state)
{
	start_ids(*state);
	record_body(create_one);
	for (volatile long at = 1; at <= path->count; at += stride(1)) {
		start_ids(*state);
		if (sigsetjmp(away, 1) == 0)
			run_to(create_one, leave, at);
		for (int i = 0; i < 65536 + 1100; i++)
			create_one();
	}
}

/* ---- The end ---- */

static struct end {
	volatile uint64_t ended;
	volatile bool came;
} * the_end;

static void end_now(void)
{
	the_end->ended = ended;
	the_end->came = true;
	raise(SIGKILL);
}

static void two_events(void)
{
	record_many(2);
}

static void wait_for(pid_t child)
{
	assert_int_equal(waitpid(child, NULL, 0), child);
}

/* A new process takes other paths than this one. */
static void learn_path_of_child(void *buffer, uint64_t before)
{
	pid_t child = fork();
	if (child == 0) {
		learn_path(buffer, before, two_events);
		_exit(0);
	}
	wait_for(child);
}

static bool die_at(void *buffer, uint64_t before, long instruction)
{
	the_end->came = false;
	pid_t child = fork();
	if (child == 0) {
		start(buffer);
		record_many(before);
		run_to(two_events, end_now, instruction);
		_exit(0);
	}
	wait_for(child);
	return the_end->came;
}

static void check_ends(void *buffer, uint64_t before)
{
	the_end = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(the_end != MAP_FAILED);
	learn_path_of_child(buffer, before);
	const long usual_stride = before > IN_PACKET ? 31 : 1;
	bool happened = false;
	for (long at = 1; at <= path->count; at = go_on(at, stride(usual_stride), happened)) {
		struct trace t;
		happened = die_at(buffer, before, at);
		if (!happened)
			continue;
		trace_open(&t, buffer, SIZE);
		uint64_t count = count_events(&t, 0);
		uint64_t known = count + trace_loss(&t, WEFT_LOSS_OVERWRITTEN);
		/* All calls that had returned, and perhaps the one under way. */
		assert_in_range(known, the_end->ended, the_end->ended + 1);
		assert_int_equal(last, (int64_t)known - 1);
		assert_true(count >= 10 * IN_PACKET || count == known);
		trace_close(&t);
	}
	munmap((void *)the_end, 4096);
}

static void a_program_ends_during_a_common_event(void **state)
{
	check_ends(*state, 5);
}

static void a_program_ends_while_packets_change(void **state)
{
	check_ends(*state, 13 * IN_PACKET);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(handlers_record_during_the_first_event),
		CASE(handlers_record_during_any_event),
		CASE(handlers_record_while_packets_change),
		CASE(handlers_record_moments_while_a_thread_enters),
		CASE(handlers_record_moments_during_any_moment),
		CASE(handlers_record_moments_during_events_of_all_sizes),
		CASE(handlers_record_moments_while_packets_change),
		CASE(handlers_go_elsewhere_during_any_event),
		CASE(handlers_go_elsewhere_during_any_moment),
		CASE(handlers_leave_during_the_first_event),
		CASE(handlers_leave_during_any_event),
		CASE(handlers_leave_while_packets_change),
		CASE(ids_are_unique_whenever_a_handler_leaves),
		CASE(a_program_ends_during_a_common_event),
		CASE(a_program_ends_while_packets_change),
		cmocka_unit_test(most_breakpoints_are_hit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	puts("1..0 # SKIP not this processor, or a sanitizer's own instructions");
	return 0;
}

#endif
