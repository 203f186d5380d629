/* SPDX-License-Identifier: ISC
 *
 * Names of threads: that of the function that pthread_create gets. For std::thread that is one of
 * libstdc++, whose argument is an object with the program's function in it.
 */
#include <malloc.h>
#include <string.h>

#include "thread/names.h"

/* Words of the object that are examined. */
#define WORDS_MAX 16

/* True for the function that libstdc++ runs; the library may be stripped. */
static bool is_std_thread(const struct weft__hooks_text *name)
{
	static const char *const beginnings[] = {"execute_native_thread_routine", "libstdc++.so"};
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		size_t size = strlen(beginnings[i]);
		if (name->size >= size && memcmp(name->bytes, beginnings[i], size) == 0)
			return true;
	}
	return false;
}

/* The object has its arguments in reverse order, so the function comes last. */
static bool append_function_in(struct weft__hooks_text *text, void *const *object)
{
	size_t words = malloc_usable_size((void *)(uintptr_t)object) / sizeof(void *);
	for (size_t i = words < WORDS_MAX ? words : WORDS_MAX; i > 1; i--) {
		struct weft__hooks_text name = {0};
		if (!weft__hooks_append_symbol(&name, object[i - 1]) || memchr(name.bytes, '+', name.size))
			continue;
		*text = name;
		return true;
	}
	return false;
}

/* The class of the object is made for each thread function: a lambda is in the name of its _M_run,
 * which is the third entry of the table of virtual functions (the first two destroy it). */
static bool append_std_thread(struct weft__hooks_text *text, void *const *object)
{
	void *const *table = object[0];
	struct weft__hooks_text name = {0};
	weft__hooks_append_symbol(&name, table[2]);
	if (memmem(name.bytes, name.size, "{lambda}", 8)) {
		*text = name;
		return true;
	}
	return append_function_in(text, object);
}

void weft__thread_append_name(
	struct weft__hooks_text *text, const void *function, void *const *argument)
{
	struct weft__hooks_text name = {0};
	weft__hooks_append_symbol(&name, function);
	if (!is_std_thread(&name) || !argument || !append_std_thread(text, argument))
		*text = name;
}
