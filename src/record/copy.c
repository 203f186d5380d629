/* SPDX-License-Identifier: ISC
 *
 * How copies of the recorder in one process share state: see copy.h.
 *
 * Lock-free: a thread that changes the leader's state passes it to each follower, and then checks
 * that it is unchanged. So the last thread to pass it has passed the newest state. A new follower
 * first joins the list and then reads the state, like any thread that changes it.
 */
#include "record/copy.h"

#include "record/category.h"
#include "record/reserve.h"

/* Returns the calling thread's slot; runs in the leader. */
static struct weft_abi_slot *enter(uint64_t generation, bool for_event)
{
	struct weft__self *self = weft__record_self();
	if (weft__record_entered_generation(self) != generation &&
		!(for_event ? weft__record_enter(self) : weft__record_look(self)))
		return NULL;
	return weft__record_entered_generation(self) == generation ? self->slot : NULL;
}

struct weft__copy weft__copy = {
	.version = WEFT__COPY_VERSION,
	.recorder = &weft__recorder,
	.live = &weft__live,
	.start = weft__start,
	.stop = weft__stop,
	.enter = enter,
	.category = weft__record_category_number,
	.set_level = weft__record_set_level,
	.point = weft__record_categories_point,
};

static void notify(const struct weft__copy *leader, const struct weft__copy *follower)
{
	const struct weft__recorder *from = leader->recorder;
	struct weft__recorder *to = follower->recorder;
	uint64_t generation;
	bool (*resume)(bool for_event);
	const uint8_t *idle;
	do {
		generation = weft__load_acquire(&leader->live->generation);
		resume = weft__load(&from->resume);
		idle = weft__load(&from->idle);
		weft__store_release(&to->regions, weft__load(&from->regions));
		weft__store_release(&to->counters, weft__load(&from->counters));
		weft__store_release(&to->metrics, weft__load(&from->metrics));
		weft__store_release(&to->region, weft__load_acquire(&from->region));
		weft__store(&to->platform, weft__load(&from->platform));
		weft__store(&to->idle, idle);
		weft__store(&to->resume, resume);
		weft__store_release(&follower->live->generation, generation);
		weft__fence();
	} while (generation != weft__load(&leader->live->generation) ||
			 resume != weft__load(&from->resume) || idle != weft__load(&from->idle));
	follower->point();
}

void weft__copies_notify(void)
{
	weft__fence();
	for (struct weft__copy *copy = weft__load_acquire(&weft__recorder.followers); copy;
		 copy = copy->next)
		notify(&weft__copy, copy);
}

void weft__copy_follow(struct weft__copy *leader)
{
	struct weft__copy *head;
	weft__store(&weft__recorder.leader, leader);
	do {
		head = weft__load(&leader->recorder->followers);
		weft__copy.next = head;
	} while (!weft__compare_exchange(&leader->recorder->followers, head, &weft__copy));
	weft__fence();
	notify(leader, &weft__copy);
}

void weft__copy_bar(void)
{
	weft__store(&weft__recorder.is_barred, true);
}
