/* SPDX-License-Identifier: ISC
 *
 * A plug-in with a recorder of its own, one of several in a process. See copies.py.
 */
#include <weft/weft.h>

#define EXPORT __attribute__((visibility("default")))

/* Records notes, each by a new task; returns the first task's id. */
EXPORT uint64_t plugin_record(int notes);
EXPORT int plugin_start(void *buffer, size_t size);
EXPORT void plugin_stop(void);
EXPORT bool plugin_is_recording(void);

uint64_t plugin_record(int notes)
{
	uint64_t first = 0;
	for (int i = 0; i < notes; i++) {
		uint64_t task = weft_create(WEFT_KIND_TASK);
		first = first ? first : task;
		weft_note_as(task, PLUGIN);
	}
	return first;
}

int plugin_start(void *buffer, size_t size)
{
	return weft_start(buffer, size, NULL);
}

void plugin_stop(void)
{
	weft_stop();
}

bool plugin_is_recording(void)
{
	return weft_is_recording();
}
