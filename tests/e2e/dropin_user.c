/* SPDX-License-Identifier: ISC
 *
 * A program that has the recorder as source. C, and C++ from C++11 on; with WEFT_FREESTANDING it
 * brings the clock.
 *
 *     dropin-user          records a little, under `weft record`
 *     dropin-user FILE     … into its own buffer, and writes that to FILE
 */
#include <stdio.h>

#include "weft.h"

static union {
	uint64_t alignment[8];
	unsigned char bytes[65536 + 64];
} memory;

WEFT_CATEGORY_DEFINE(part, "part", "a part of the program");
WEFT_CATEGORY_DEFINE(late, "late", "one that is first used when something records");

/* True if exactly the calls of `level` and of more important levels are recorded. */
static bool is_at(enum weft_level level)
{
	return weft_category_enabled(part, level) &&
		   (level == WEFT_LEVEL_TRACE || !weft_category_enabled(part, level + 1));
}

static bool levels_are_heard(void)
{
	bool good = is_at(WEFT_LEVEL_INFO) && weft_category_enabled(late, WEFT_LEVEL_DEBUG);
	weft_set_level("pa*", WEFT_LEVEL_TRACE);
	good = good && is_at(WEFT_LEVEL_TRACE);
	weft_set_level("*", WEFT_LEVEL_OFF);
	good =
		good && !weft_category_enabled(part, WEFT_LEVEL_ERROR) && !weft_enabled(WEFT_LEVEL_ERROR);
	weft_set_level("*", WEFT_LEVEL_INFO);
	return good && is_at(WEFT_LEVEL_INFO);
}

#ifdef WEFT_FREESTANDING
static uint64_t count(void *context)
{
	uint64_t *ticks = (uint64_t *)context;
	return *ticks += 1000;
}
#endif

static void record(int argc)
{
	uint64_t task = weft_create(WEFT_KIND_TASK), other = weft_create(WEFT_KIND_BIND);
	weft_label_as(task, "drop-in");
	weft_switch(task);
	weft_try_read(other);
	weft_notef("%d argument, %s", argc, "and a text");
	weft_mark("values", "n", INT64_C(-5000000000), "f", 0.5, "s", "text");
	weft_counter_add("bytes", 7);
	weft_resolve_as(other, task);
	weft_switch(WEFT_TASK_NONE);
}

int main(int argc, char **argv)
{
	unsigned char *buffer = memory.bytes;
	buffer += 63 - ((uintptr_t)buffer + 63) % 64;
	if (argc < 2) {
		record(argc);
		return 0;
	}
	weft_set_level("late", WEFT_LEVEL_DEBUG);
	if (weft_category_enabled(part, WEFT_LEVEL_ERROR))
		return 4;
#ifdef WEFT_FREESTANDING
	static uint64_t ticks;
	static struct weft_platform platform;
	platform.context = &ticks;
	platform.ticks = count;
	platform.ticks_hz = 1000000000;
	if (weft_start(buffer, 65536, &platform))
		return 2;
#else
	if (weft_start(buffer, 65536, NULL) != 0)
		return 2;
	if (weft_start(buffer, 65536, NULL) != WEFT_ERROR_STATE)
		return 3;
#endif
	if (!levels_are_heard())
		return 5;
	record(1);
	weft_stop();
	if (weft_category_enabled(part, WEFT_LEVEL_ERROR))
		return 6;
	FILE *file = fopen(argv[1], "wb");
	if (!file || fwrite(buffer, 65536, 1, file) != 1 || fclose(file))
		return 1;
	return 0;
}
