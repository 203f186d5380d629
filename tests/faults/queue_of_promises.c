/* SPDX-License-Identifier: ISC
 *
 * A crawler's tasks share a limiter that is made of promises, as those of asyncio are: a task that
 * has to wait makes a promise, and one that has had its turn resolves it. Each sleeps while it has
 * its turn. With one slot, it is a lock. If a task does not resolve the next promise, the queue
 * stops.
 */
#include "world.h"

#define PAGES 41

static struct page {
	uint64_t task, turn, sleep;
} pages[PAGES];
static unsigned first, last, free_slots, stops_at = PAGES;

static void wake(uint64_t number);

/* The running task has its turn. */
static void fetch(uint64_t number)
{
	struct page *page = &pages[number];
	page->sleep = weft_create(WEFT_KIND_PROMISE);
	weft_label_as(page->sleep, "sleep at crawl.py:8");
	pass(20 * US);
	weft_try_read(page->sleep);
	weft_switch(WEFT_TASK_NONE);
	after(about(4 * MS), wake, number);
}

static void take_turn(uint64_t number)
{
	weft_switch(pages[number].task);
	weft_read(pages[number].turn);
	fetch(number);
}

static void wake(uint64_t number)
{
	struct page *page = &pages[number];
	weft_resolve_as(WEFT_TASK_NONE, page->sleep);
	weft_switch(page->task);
	weft_read(page->sleep);
	pass(20 * US);
	if (number == stops_at) {
		weft_note("gives up");
	} else if (first < last) {
		weft_resolve(pages[first].turn);
		after(0, take_turn, first++);
	} else {
		free_slots++;
	}
	weft_resolve(page->task);
	weft_switch(WEFT_TASK_NONE);
}

static void begin(uint64_t number)
{
	struct page *page = &pages[number];
	page->task = weft_create_as(WEFT_TASK_NONE, WEFT_KIND_TASK);
	weft_labelf_as(page->task, "fetch %d", (int)number);
	weft_switch(page->task);
	pass(5 * US);
	if (free_slots) {
		free_slots--;
		last = first = (unsigned)number + 1;
		fetch(number);
		return;
	}
	page->turn = weft_create(WEFT_KIND_PROMISE);
	weft_label_as(page->turn, "Lock.acquire at crawl.py:6");
	weft_try_read(page->turn);
	weft_switch(WEFT_TASK_NONE);
	last = (unsigned)number + 1;
}

static void crawl(unsigned slots)
{
	free_slots = slots;
	serve(300, MS, 500 * US);
	for (unsigned i = 0; i < PAGES; i++)
		after(10 * MS + i * 20 * US, begin, i);
	run_loop();
}

void program_queue_of_promises(void)
{
	crawl(1);
}

void program_queue_that_stops(void)
{
	stops_at = 20;
	crawl(1);
}

void program_queue_of_slots(void)
{
	crawl(3);
}
