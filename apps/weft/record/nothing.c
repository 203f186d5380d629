/* SPDX-License-Identifier: ISC
 *
 * Says why a program recorded nothing, as far as its file tells, and what to do.
 */
#include "record.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "runs/message.h"
#include "runs/program/executable.h"
#include "runs/program/libraries.h"

/* A script's interpreter is named in each message about its file. */
static const char *subject(const struct weft__runs_executable *it, char text[PATH_MAX + 64])
{
	if (it->is_script)
		snprintf(text, PATH_MAX + 64, "it is a script, and its interpreter %s",
			weft__runs_shown(it->path));
	else
		strcpy(text, "it");
	return text;
}

static void explain_linked(const char *name, const struct weft__runs_executable *it)
{
	char words[PATH_MAX + 64];
	if (it->privilege)
		cli_error("%s recorded nothing: %s is %s, so libweft ignores its environment; run it as "
				  "its owner, or record a copy without that permission",
			name, subject(it, words), it->privilege);
	else
		cli_error(
			"%s recorded nothing: %s is linked with libweft but made no buffer; check that "
			"its libraries are found (`ldd`), that nothing clears WEFT_OUT in its environment, "
			"and that it runs long enough for libweft's constructor",
			name, subject(it, words));
}

static bool is_unloadable(const struct weft__runs_executable *it)
{
	return !it->is_dynamic || it->machine || it->privilege || it->is_go;
}

/* Programs into which adapters cannot be loaded. */
static void explain_unloadable(
	const struct weft__runs_executable *it, char text[RECORD_HINDRANCE_BYTES])
{
	char words[PATH_MAX + 64];
	subject(it, words);
	if (it->machine)
		snprintf(text, RECORD_HINDRANCE_BYTES,
			"%s is a program for %s; link it with a libweft that was built for %s", words,
			it->machine, it->machine);
	else if (it->privilege)
		snprintf(text, RECORD_HINDRANCE_BYTES,
			"%s is %s, so the dynamic linker loads no adapters into it, and programs that it "
			"starts may not get its environment; run it as its owner, record a copy without that "
			"permission, or start `weft record` through it instead",
			words, it->privilege);
	else if (it->is_go)
		snprintf(text, RECORD_HINDRANCE_BYTES,
			"%s is a Go program, which calls the kernel instead of libraries, so adapters see "
			"nothing of it; call libweft through cgo",
			words);
	else
		snprintf(text, RECORD_HINDRANCE_BYTES,
			"%s is statically linked, so adapters cannot be loaded into it; link it dynamically, "
			"or with `pkg-config --static --cflags --libs weft`",
			words);
}

bool record_hindrance(const struct weft__runs_executable *it, char text[RECORD_HINDRANCE_BYTES])
{
	char words[PATH_MAX + 64];
	if (it->has_libweft)
		return false;
	if (is_unloadable(it)) {
		explain_unloadable(it, text);
		return true;
	}
	if (!weft__runs_libraries_is_foreign(it->path))
		return false;
	snprintf(text, RECORD_HINDRANCE_BYTES,
		"%s uses another C library than glibc, so adapters cannot be loaded into it; link it with "
		"`pkg-config --cflags --libs weft`",
		subject(it, words));
	return true;
}

/* A program that adapters could record. */
static void explain_unlinked(
	const char *name, const struct weft__runs_executable *it, bool has_adapters)
{
	char words[PATH_MAX + 64];
	subject(it, words);
	if (!has_adapters)
		cli_error(
			"%s recorded nothing: %s is not linked with libweft, and adapters are left out "
			"(-a none); use -a auto, or link the program with `pkg-config --cflags --libs weft`",
			name, words);
	else
		cli_error("%s recorded nothing, and the adapters were not loaded into it: %s may "
				  "clear LD_PRELOAD or WEFT_OUT in its environment, or end "
				  "before its libraries begin; link it with `pkg-config --cflags --libs weft`",
			name, words);
}

void record_report_nothing(const char *program, bool has_adapters)
{
	struct weft__runs_executable it;
	char hindrance[RECORD_HINDRANCE_BYTES];
	weft__runs_executable_examine(program, &it);
	weft__runs_executable_search(&it);
	const char *name = weft__runs_shown(program);
	if (it.error)
		cli_error("%s recorded nothing, and %s cannot be read to find out why: %s", name,
			weft__runs_shown(it.path), strerror(it.error));
	else if (!it.is_elf)
		cli_error("%s recorded nothing: %s is not an ELF file, and it started no program that is "
				  "linked with libweft",
			name, weft__runs_shown(it.path));
	else if (it.has_libweft)
		explain_linked(name, &it);
	else if (record_hindrance(&it, hindrance))
		cli_error("%s recorded nothing: %s", name, hindrance);
	else
		explain_unlinked(name, &it, has_adapters);
}
