/* SPDX-License-Identifier: ISC
 *
 * Names of threads: that of the function that pthread_create gets. For std::thread that is one of
 * libstdc++, whose argument is an object with the program's function in it.
 */
#include <string.h>

#include "thread/names.h"
#include "thread/tuple.h"

/* True for the function that libstdc++ runs; the library may be stripped. */
static bool is_std_thread(const struct weft__hooks_text *name)
{
	static const char routine[] = "execute_native_thread_routine", library[] = "libstdc++.so";
	size_t size = sizeof(routine) - 1, begin = sizeof(library) - 1;
	return (name->size == size && memcmp(name->bytes, routine, size) == 0) ||
		   (name->size >= begin && memcmp(name->bytes, library, begin) == 0);
}

/* The class of a std::thread's object: its name, if the program was compiled with it, and the table
 * of its virtual functions. Objects point to the first function, of two that destroy them. */
struct table {
	const struct {
		const void *table;
		const char *name;
	} * type;
	const void *destroy[2], *run;
};

static bool append_function(struct weft__hooks_text *text, const void *function)
{
	struct weft__hooks_text name = {0};
	if (!weft__hooks_append_symbol(&name, function) || memchr(name.bytes, '+', name.size))
		return false;
	*text = name;
	return true;
}

/* The class of the object is made for each thread function: a lambda is in the name of its _M_run.
 */
static bool append_std_thread(struct weft__hooks_text *text, void *const *object)
{
	const struct table *table =
		(const void *)((const char *)object[0] - offsetof(struct table, destroy));
	struct weft__hooks_text name = {0};
	weft__hooks_append_symbol(&name, table->run);
	if (memmem(name.bytes, name.size, "{lambda}", 8)) {
		*text = name;
		return true;
	}
	size_t at = table->type ? weft__thread_function_in(table->type->name) : 0;
	return at && append_function(text, object[at]);
}

void weft__thread_append_name(
	struct weft__hooks_text *text, const void *function, void *const *argument)
{
	struct weft__hooks_text name = {0};
	weft__hooks_append_symbol(&name, function);
	if (!is_std_thread(&name) || !argument || !append_std_thread(text, argument))
		*text = name;
}
