/* SPDX-License-Identifier: ISC
 *
 * Programs get an environment in which they are recorded. The hooks of thread/process.c call these
 * functions in place of libc's. execv and execvp are those with an environment in libc, too.
 */
#include <alloca.h>
#include <spawn.h>
#include <unistd.h>

#define WEFT_CATEGORY always
#include "hooks/environment.h"
#include "hooks/layer.h"

/* For a child of vfork, which must not allocate: the memory is the calling function's. */
#define ADAPT(fits, environment)                                                \
	enum weft__hooks_fit weft__fit = (fits);                                    \
	size_t weft__bytes = weft__hooks_environment_bytes(weft__fit, environment); \
	if (weft__bytes)                                                            \
	environment = weft__hooks_environment(weft__fit, environment, alloca(weft__bytes))

HOOKS_LAYER(execve, execute);
HOOKS_LAYER(execv, execute_here);
HOOKS_LAYER(execvpe, execute_name);
HOOKS_LAYER(execvp, execute_name_here);
HOOKS_LAYER(fexecve, execute_descriptor);
HOOKS_LAYER(posix_spawn, spawn);
HOOKS_LAYER(posix_spawnp, spawn_name);

static int execute(const char *path, char *const arguments[], char *const *environment)
{
	ADAPT(weft__hooks_fit(path), environment);
	return BELOW(execve)(path, arguments, environment);
}

static int execute_here(const char *path, char *const arguments[])
{
	return execute(path, arguments, environ);
}

static int execute_name(const char *file, char *const arguments[], char *const *environment)
{
	ADAPT(weft__hooks_fit_of_name(file), environment);
	return BELOW(execvpe)(file, arguments, environment);
}

static int execute_name_here(const char *file, char *const arguments[])
{
	return execute_name(file, arguments, environ);
}

static int execute_descriptor(int fd, char *const arguments[], char *const *environment)
{
	ADAPT(weft__hooks_fit_of_descriptor(fd), environment);
	return BELOW(fexecve)(fd, arguments, environment);
}

static int spawn(pid_t *restrict ret_child, const char *restrict path,
	const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *restrict attributes,
	char *const arguments[restrict], char *const *environment)
{
	ADAPT(weft__hooks_fit(path), environment);
	return BELOW(posix_spawn)(ret_child, path, actions, attributes, arguments, environment);
}

static int spawn_name(pid_t *restrict ret_child, const char *restrict file,
	const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *restrict attributes,
	char *const arguments[restrict], char *const *environment)
{
	ADAPT(weft__hooks_fit_of_name(file), environment);
	return BELOW(posix_spawnp)(ret_child, file, actions, attributes, arguments, environment);
}
