/* SPDX-License-Identifier: ISC
 *
 * Traces in which tasks wait, such as a lost lookup in the manner of Lwt.
 */
#ifndef WEFT_TESTS_WAITS_MADE_H
#define WEFT_TESTS_WAITS_MADE_H

#include "loaded.h"

static inline uint32_t task_of(const struct loaded *loaded, uint64_t id)
{
	uint32_t task = weft_model_find_task(loaded->model, 0, id);
	assert_int_not_equal(task, WEFT_NONE);
	return task;
}

static inline uint64_t waits_for(const struct loaded *loaded, uint64_t id, uint64_t at)
{
	struct weft_story_wait wait;
	if (!weft_story_wait_at(&loaded->story, task_of(loaded, id), at, &wait))
		return 0;
	return wait.source == WEFT_NONE ? UINT64_MAX : loaded->model->tasks.id[wait.source];
}

/* A lookup in the manner of Lwt: each bind is created, tries to read and is then become. Task 1
 * becomes bind 26, which waits for binds 25 … 20. Bind 20 becomes try 31, which waits for task 30,
 * a waiter of condition 10. Nothing signals the condition after that; 2 runs until 1 ms. */
static inline struct loaded lost_lookup(void)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_BIND);
	make_create(&made, 0, 2, WEFT_KIND_BIND);
	make_switch(&made, 1);
	made.time = 1000;
	make_create(&made, 1, 10, WEFT_KIND_CONDITION);
	make_label(&made, 10, "answer");
	for (uint64_t id = 20; id <= 26; id++) {
		made.time += 10;
		make_create(&made, 1, id, WEFT_KIND_BIND);
		made.time += 10;
		if (id > 20)
			make_edge(&made, WEFT_EVENT_TRY_READ, id, id - 1);
	}
	made.time = 2000;
	make_edge(&made, WEFT_EVENT_BECOME, 1, 26);
	made.time = 3000;
	make_switch(&made, 2);
	made.time = 4000;
	make_signal(&made, 10, 2, true);
	made.time = 5000;
	make_switch(&made, 20);
	made.time = 6000;
	make_signal(&made, 10, 20, true);
	make_create(&made, 10, 30, WEFT_KIND_TASK);
	made.time = 6100;
	make_switch(&made, 20);
	make_create(&made, 20, 31, WEFT_KIND_TRY);
	made.time = 6200;
	make_edge(&made, WEFT_EVENT_TRY_READ, 31, 30);
	made.time = 6300;
	make_edge(&made, WEFT_EVENT_BECOME, 20, 31);
	made.time = 7000;
	make_switch(&made, 2);
	made.time = 1000000;
	make_switch(&made, WEFT_TASK_NONE);
	return make_end(&made);
}

/* Tasks 1 to `count`. Task 1 runs, and waits for task 3 from 100 ns on. */
static inline struct made begin_wait(uint64_t count)
{
	struct made made = make_begin();
	make_tasks(&made, count);
	make_switch(&made, 1);
	made.time = 100;
	make_edge(&made, WEFT_EVENT_TRY_READ, 1, 3);
	return made;
}

#endif
