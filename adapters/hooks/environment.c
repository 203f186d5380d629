/* SPDX-License-Identifier: ISC
 *
 * The variables of executed programs.
 *
 * A user of `weft record` expects it to follow all programs, as strace does. So if a program cleans
 * the environment of another one, the variables that the process began with are added again. Where
 * the adapters cannot be loaded, the dynamic linker would refuse them or print a message: they are
 * taken out.
 */
#include <string.h>
#include <unistd.h>

#define WEFT_CATEGORY always
#include "hooks/environment.h"

#define KEPT_MAX   16
#define KEPT_BYTES 4096

/* Copies, since a program may overwrite the place where its environment was: WEFT_OUT=... */
static char *kept[KEPT_MAX];
static unsigned kept_count;

static void keep(const char *variable)
{
	static char bytes[KEPT_BYTES];
	static size_t at;
	size_t size = strlen(variable) + 1;
	if (kept_count == KEPT_MAX || size > sizeof(bytes) - at)
		return;
	kept[kept_count++] = memcpy(bytes + at, variable, size);
	at += size;
}

__attribute__((constructor(109))) static void keep_all(void)
{
	for (char **it = environ; it && *it; it++)
		if (strncmp(*it, "WEFT_", 5) == 0)
			keep(*it);
}

/* ---- Looking ---- */

/* The value if `variable` is NAME=VALUE. */
static const char *value_of(const char *variable, const char *name)
{
	size_t size = strlen(name);
	return strncmp(variable, name, size) == 0 && variable[size] == '=' ? variable + size + 1 : NULL;
}

const char *weft__hooks_variable(char *const environment[], const char *name)
{
	const char *value = NULL;
	for (char *const *it = environment; it && *it && !value; it++)
		value = value_of(*it, name);
	return value;
}

static const char *kept_value(const char *name)
{
	const char *value = NULL;
	for (unsigned i = 0; i < kept_count && !value; i++)
		value = value_of(kept[i], name);
	return value;
}

/* LD_PRELOAD's names are separated by colons or spaces. `*ret_size`: of the one at `at`. */
static const char *next_name(const char *at, size_t *ret_size)
{
	at += strspn(at, ": ");
	*ret_size = strcspn(at, ": ");
	return at;
}

static bool is_own(const char *name, size_t size)
{
	const char *own = weft__hooks_library_path();
	return strlen(own) == size && memcmp(own, name, size) == 0;
}

static bool has_own(const char *preload)
{
	size_t size = 0;
	for (const char *at = preload; at && *at; at += size) {
		at = next_name(at, &size);
		if (is_own(at, size))
			return true;
	}
	return false;
}

/* True if the variables of this recording are to be added: those of another one stay. */
static bool is_to_add(char *const environment[])
{
	const char *out = weft__hooks_variable(environment, "WEFT_OUT"), *own = kept_value("WEFT_OUT");
	if (!own || !kept_value("WEFT_ADAPTERS"))
		return false;
	return !out || (strcmp(out, own) == 0 && weft__hooks_variable(environment, "WEFT_ADAPTERS") &&
					   !has_own(weft__hooks_variable(environment, "LD_PRELOAD")));
}

static bool is_to_remove(char *const environment[])
{
	return has_own(weft__hooks_variable(environment, "LD_PRELOAD")) ||
		   weft__hooks_variable(environment, "WEFT_ADAPTERS");
}

/* ---- Making ---- */

/* False if the kernel will refuse it: each text has to begin in memory. A process's own is one that
 * libc reads, too. */
static bool is_readable(char *const environment[])
{
	char *variable = NULL;
	for (size_t i = 0; environment && environment != environ; i++) {
		struct weft__hooks_text begin = {0};
		if (!weft__hooks_copy(&variable, &environment[i], sizeof(variable)))
			return false;
		if (!variable)
			return true;
		weft__hooks_append_copy(&begin, variable);
		if (begin.size == 0)
			return false;
	}
	return true;
}

/* The environment says whether the program is run. It has to be readable. */
static enum weft__hooks_fit fit_with(enum weft__hooks_fit fit, char *const environment[])
{
	bool is_listed = weft__hooks_variable(environment, "LD_TRACE_LOADED_OBJECTS");
	return is_listed && !weft__hooks_refuses(fit) ? WEFT__HOOKS_LISTED : fit;
}

size_t weft__hooks_environment_bytes(enum weft__hooks_fit fit, char *const environment[])
{
	if (!is_readable(environment))
		return 0;
	fit = fit_with(fit, environment);
	if (fit != WEFT__HOOKS_LOADS && !weft__hooks_refuses(fit))
		return 0;
	bool is_changed = fit == WEFT__HOOKS_LOADS ? is_to_add(environment) : is_to_remove(environment);
	const char *preload = weft__hooks_variable(environment, "LD_PRELOAD");
	size_t count = 0;
	while (environment && environment[count])
		count++;
	return is_changed ? (count + KEPT_MAX + 2) * sizeof(char *) + sizeof("LD_PRELOAD=:") +
							(preload ? strlen(preload) : 0) + strlen(weft__hooks_library_path())
					  : 0;
}

/* The names of `preload` without the adapters. */
static char *append_others(char *at, const char *preload)
{
	size_t size = 0;
	bool is_first = true;
	for (const char *name = preload; name && *name; name += size) {
		name = next_name(name, &size);
		if (size == 0 || is_own(name, size))
			continue;
		if (!is_first)
			*at++ = ':';
		is_first = false;
		at = mempcpy(at, name, size);
	}
	*at = '\0';
	return at;
}

/* LD_PRELOAD for the program, made at `to`. False: it needs none. */
static bool make_preload(char *to, enum weft__hooks_fit fit, const char *preload)
{
	char *names = stpcpy(to, "LD_PRELOAD="), *end = append_others(names, preload);
	if (weft__hooks_refuses(fit))
		return end != names;
	if (end != names)
		*end++ = ':';
	strcpy(end, weft__hooks_library_path());
	return true;
}

char *const *weft__hooks_environment(
	enum weft__hooks_fit fit, char *const environment[], void *memory)
{
	char **made = memory;
	size_t count = 0, given = 0;
	fit = fit_with(fit, environment);
	for (; environment && environment[given]; given++)
		if (!value_of(environment[given], "LD_PRELOAD") &&
			!(weft__hooks_refuses(fit) && value_of(environment[given], "WEFT_ADAPTERS")))
			made[count++] = environment[given];
	for (unsigned i = 0; fit == WEFT__HOOKS_LOADS && i < kept_count; i++) {
		char name[64] = "";
		memcpy(name, kept[i], strnlen(kept[i], sizeof(name) - 1));
		name[strcspn(name, "=")] = '\0';
		if (!weft__hooks_variable(environment, name))
			made[count++] = kept[i];
	}
	char *preload = (char *)(made + given + KEPT_MAX + 2);
	if (make_preload(preload, fit, weft__hooks_variable(environment, "LD_PRELOAD")))
		made[count++] = preload;
	made[count] = NULL;
	return made;
}
