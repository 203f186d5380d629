/* SPDX-License-Identifier: ISC
 *
 * Bursts of requests share three slots. One that finds none makes a promise of its turn, and gets
 * the slot of the one that is ready before it runs again. In the second program some requests fail,
 * and keep their slots until no other one gets any.
 */
#include "world.h"

#define REQUESTS 9 /* of a burst */
#define TIMES    4 /* that each needs a slot */
#define BURSTS   6

static uint64_t slots, queue[REQUESTS * BURSTS * TIMES];
static unsigned free_slots = 3, first, last, served;
static bool do_fail;
static struct request {
	uint64_t task, turn, line;
	unsigned times;
} requests[REQUESTS * BURSTS];
static unsigned count;

static void end_use(uint64_t number);

static void use(uint64_t number)
{
	struct request *it = &requests[number];
	weft_switch(it->task);
	if (it->turn)
		weft_read(it->turn);
	weft_switch(WEFT_TASK_NONE);
	after(about(4 * MS), end_use, number);
}

static void want(uint64_t number)
{
	struct request *it = &requests[number];
	it->turn = 0;
	if (free_slots > 0) {
		free_slots--;
		weft_acquire(slots);
		after(about(4 * MS), end_use, number);
		return;
	}
	it->turn = weft_create(WEFT_KIND_PROMISE);
	weft_try_read_as(it->turn, slots);
	weft_try_read(it->turn);
	queue[last++] = number;
}

static void give_back(void)
{
	weft_release(slots);
	if (first == last) {
		free_slots++;
		return;
	}
	struct request *next = &requests[queue[first]];
	weft_acquire_as(next->task, slots);
	weft_resolve(next->turn);
	after(100 * US, use, queue[first++]);
}

/* The client's next line has come. */
static void go_on(uint64_t number)
{
	struct request *it = &requests[number];
	weft_resolve_as(WEFT_TASK_NONE, it->line);
	weft_switch(it->task);
	weft_read(it->line);
	pass(20 * US);
	want(number);
	weft_switch(WEFT_TASK_NONE);
}

static void wait_for_line(uint64_t number)
{
	struct request *it = &requests[number];
	it->line = weft_create(WEFT_KIND_PROMISE);
	weft_try_read(it->line);
	after(about(it->times * 6 * MS), go_on, number);
}

static void end_use(uint64_t number)
{
	struct request *it = &requests[number];
	weft_switch(it->task);
	pass(20 * US);
	const bool fails = do_fail && ++served % 20 == 0;
	if (!fails)
		give_back();
	if (!fails && ++it->times < TIMES)
		wait_for_line(number);
	else
		weft_resolve(it->task);
	weft_switch(WEFT_TASK_NONE);
}

static void burst(uint64_t unused)
{
	(void)unused;
	for (unsigned i = 0; i < REQUESTS; i++, count++) {
		requests[count] = (struct request){.task = make(WEFT_KIND_TASK, "request")};
		weft_switch(requests[count].task);
		pass(20 * US);
		want(count);
		weft_switch(WEFT_TASK_NONE);
	}
}

static void run(bool fail, uint64_t every_ns)
{
	do_fail = fail;
	slots = make(WEFT_KIND_POOL, "slots");
	for (unsigned i = 0; i < BURSTS; i++)
		after(i * every_ns, burst, 0);
	run_loop();
}

void program_sound_limiter(void)
{
	run(false, 70 * MS);
}

void program_leaked_slots(void)
{
	run(true, 400 * MS);
	pass(2 * S);
	world_status = 15;
}
