/* SPDX-License-Identifier: ISC
 *
 * Threads that get a name: it tells the threads of a pool apart, which run the same function. The
 * main thread keeps the program's name. prctl names a thread, too (hooks/sandbox.c).
 */
#include <pthread.h>
#include <string.h>

#define WEFT_CATEGORY thread
#include "thread/births.h"

static void name_task(pthread_t thread, const char *name)
{
	const struct weft__thread_birth *birth = weft__thread_birth_await(thread);
	if (birth && birth->epoch == weft__hooks_epoch())
		weft__hooks_name_thread(birth->alive.task, name);
	else if (pthread_equal(thread, pthread_self()))
		weft__hooks_renamed();
}

HOOK(pthread_setname_np)
int pthread_setname_np(pthread_t thread, const char *name)
{
	char copy[16] = "";
	memcpy(copy, name, strnlen(name, sizeof(copy) - 1)); /* which libc reads in this way, too */
	int error = NEXT_VERSION(pthread_setname_np, "GLIBC_2.34")(thread, name);
	if (error || !*copy || !HOOKS_RECORD)
		return error;
	int saved = weft__hooks_begin();
	name_task(thread, copy);
	weft__hooks_end(saved);
	return error;
}
