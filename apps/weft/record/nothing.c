/* SPDX-License-Identifier: ISC
 *
 * Says why a program recorded nothing, as far as its file tells, and what to do.
 */
#include "record.h"

#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "runs/executable.h"
#include "runs/message.h"

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

static void explain_unlinked(const char *name, const struct weft__runs_executable *it)
{
	char words[PATH_MAX + 64];
	const char *how = it->is_dynamic ? "dynamically linked" : "statically linked";
	const char *is_static = it->is_dynamic || it->is_script ? "" : "--static ";
	subject(it, words);
	if (it->machine)
		cli_error("%s recorded nothing: %s is a program for %s without libweft; link it with a "
				  "libweft that was built for %s",
			name, words, it->machine, it->machine);
	else if (it->privilege)
		cli_error("%s recorded nothing: %s is %s and not linked with libweft, and programs that it "
				  "starts may not get its environment; start `weft record` through it instead",
			name, words, it->privilege);
	else if (it->is_go)
		cli_error("%s recorded nothing: %s is a Go program without libweft, and it started no "
				  "program that is linked with libweft; call libweft through cgo",
			name, words);
	else
		cli_error(
			"%s recorded nothing: %s is %s without libweft, and it started no program that "
			"is linked with libweft; link the program to record with `pkg-config %s--cflags --libs weft`",
			name, words, how, is_static);
}

void record_report_nothing(const char *program)
{
	struct weft__runs_executable it;
	weft__runs_executable_examine(program, &it);
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
	else
		explain_unlinked(name, &it);
}
