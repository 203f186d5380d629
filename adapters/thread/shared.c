/* SPDX-License-Identifier: ISC
 *
 * See shared.h. All processes find the same number: of the file that is mapped, and the offset in
 * it. Memory that a fork shares has such a file, too.
 */
#include "thread/shared.h"

#include "hooks/maps.h"

#define NO_KEY 1

struct wanted {
	const void *address;
	uint64_t key;
};

static void find_key(void *of)
{
	struct wanted *wanted = of;
	struct weft__hooks_mapping mapping;
	if (!weft__hooks_system_begin())
		return;
	if (weft__hooks_find_mapping((uintptr_t)wanted->address, &mapping) && mapping.inode)
		wanted->key = weft__hooks_key(
			WEFT__HOOKS_SHARED, weft__hooks_mix(mapping.inode ^ weft__hooks_mix(mapping.device)) ^
									weft__hooks_mix(mapping.offset));
	weft__hooks_system_end();
}

static uint64_t key_of(struct weft__thread_object *object)
{
	if (!object->key) {
		struct wanted wanted = {object->address, NO_KEY};
		weft__hooks_aside(find_key, &wanted);
		object->key = wanted.key;
	}
	return object->key;
}

void weft__thread_shared_wait(struct weft__thread_object *object)
{
	const uint64_t key = key_of(object);
	if (key != NO_KEY)
		weft_send_as(WEFT_TASK_NONE, key);
}

void weft__thread_shared_woken(const struct weft__thread_object *object)
{
	if (object->key > NO_KEY)
		weft_receive_as(object->alive.task, object->key);
}

void weft__thread_shared_wake(const void *address, const struct weft__thread_origin *origin)
{
	weft__hooks_thread_task();
	struct weft__thread_object *object = weft__thread_object(address, origin);
	const uint64_t key = object ? key_of(object) : NO_KEY;
	if (key != NO_KEY)
		weft_send(key);
}
