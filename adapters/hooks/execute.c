/* SPDX-License-Identifier: ISC
 *
 * Programs get an environment in which they are recorded. The hooks of thread/process.c call these
 * functions in place of libc's. execv and execvp are those with an environment in libc, too.
 */
#include <alloca.h>
#include <spawn.h>
#include <string.h>
#include <unistd.h>

#define WEFT_CATEGORY thread
#include "hooks/environment.h"
#include "hooks/layer.h"
#include "hooks/unseen.h"

/* For a child of vfork, which must not allocate: the memory is the calling function's. */
#define ADAPT(target, environment)                                                 \
	size_t weft__bytes = weft__hooks_environment_bytes((target).fit, environment); \
	if (weft__bytes)                                                               \
	environment = weft__hooks_environment((target).fit, environment, alloca(weft__bytes))

/* ---- Programs that are not recorded ---- */

/* The key of unseen.def; NULL: the program is recorded, or it is not known why it would not be. */
static const char *key_of(enum weft__hooks_fit fit)
{
	static const char *const keys[] = {
		[WEFT__HOOKS_UNKNOWN] = NULL,
		[WEFT__HOOKS_LOADS] = NULL,
		[WEFT__HOOKS_STATIC] = "static",
		[WEFT__HOOKS_HAS_RIGHTS] = "rights",
		[WEFT__HOOKS_OTHER_MACHINE] = "machine",
		[WEFT__HOOKS_OTHER_LIBC] = "libc",
		[WEFT__HOOKS_UNREACHABLE] = "unreachable",
		[WEFT__HOOKS_LISTED] = NULL,
	};
	return keys[fit];
}

/* Records that the program is not recorded. A forked child that has recorded nothing yet gets a
 * task for that, which stops running: it is returned. */
static uint64_t report_target(const struct weft__hooks_target *target)
{
	uint64_t made = WEFT_TASK_NONE;
	if (!key_of(target->fit) || !HOOKS_RECORD)
		return made;
	int saved = weft__hooks_begin();
	if (weft__hooks_thread.epoch != weft__hooks_epoch()) {
		made = weft__hooks_thread_task();
		weft_switch(WEFT_TASK_NONE);
	}
	weft__hooks_unseen_here(key_of(target->fit), target->file);
	weft__hooks_end(saved);
	return made;
}

/* It could not be executed. */
static int take_back(const struct weft__hooks_target *target, uint64_t made, int result)
{
	char key[16] = "-";
	if (!key_of(target->fit) || !HOOKS_RECORD)
		return result;
	int saved = weft__hooks_begin();
	weft__hooks_unseen_here(strcat(key, key_of(target->fit)), target->file);
	if (made != WEFT_TASK_NONE)
		weft_switch(made);
	weft__hooks_end(saved);
	return result;
}

/* A macro, because the program is reported before `call` is evaluated, which returns only if it has
 * failed. */
#define EXECUTE(target, call)                           \
	__extension__({                                     \
		uint64_t weft__made = report_target(&(target)); \
		take_back(&(target), weft__made, (call));       \
	})

/* ---- Executing ---- */

HOOKS_LAYER(execve, execute);
HOOKS_LAYER(execv, execute_here);
HOOKS_LAYER(execvpe, execute_name);
HOOKS_LAYER(execvp, execute_name_here);
HOOKS_LAYER(fexecve, execute_descriptor);
HOOKS_LAYER(posix_spawn, spawn);
HOOKS_LAYER(posix_spawnp, spawn_name);

static int execute(const char *path, char *const arguments[], char *const *environment)
{
	struct weft__hooks_target target;
	weft__hooks_find_target(&target, path);
	ADAPT(target, environment);
	return EXECUTE(target, BELOW(execve)(path, arguments, environment));
}

static int execute_here(const char *path, char *const arguments[])
{
	return execute(path, arguments, environ);
}

static int execute_name(const char *file, char *const arguments[], char *const *environment)
{
	struct weft__hooks_target target;
	weft__hooks_find_target_by_name(&target, file);
	ADAPT(target, environment);
	return EXECUTE(target, BELOW(execvpe)(file, arguments, environment));
}

static int execute_name_here(const char *file, char *const arguments[])
{
	return execute_name(file, arguments, environ);
}

static int execute_descriptor(int fd, char *const arguments[], char *const *environment)
{
	struct weft__hooks_target target;
	weft__hooks_find_target_by_descriptor(&target, fd);
	ADAPT(target, environment);
	return EXECUTE(target, BELOW(fexecve)(fd, arguments, environment));
}

/* The child has been executed when these return. */
static int spawned(const struct weft__hooks_target *target, int error)
{
	if (!error)
		report_target(target);
	return error;
}

static int spawn(pid_t *restrict ret_child, const char *restrict path,
	const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *restrict attributes,
	char *const arguments[restrict], char *const *environment)
{
	struct weft__hooks_target target;
	weft__hooks_find_target(&target, path);
	ADAPT(target, environment);
	return spawned(
		&target, BELOW(posix_spawn)(ret_child, path, actions, attributes, arguments, environment));
}

static int spawn_name(pid_t *restrict ret_child, const char *restrict file,
	const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *restrict attributes,
	char *const arguments[restrict], char *const *environment)
{
	struct weft__hooks_target target;
	weft__hooks_find_target_by_name(&target, file);
	ADAPT(target, environment);
	return spawned(
		&target, BELOW(posix_spawnp)(ret_child, file, actions, attributes, arguments, environment));
}
