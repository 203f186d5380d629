/* SPDX-License-Identifier: ISC
 *
 * weft export --to collapsed and --to pprof.
 */
#ifndef WEFT_APPS_EXPORT_PROFILE_FILE_H
#define WEFT_APPS_EXPORT_PROFILE_FILE_H

#include "cli/cli.h"
#include "flame/profiles.h"

/* Writes where in the code the trace's threads waited, or what they ran, to the file at `path`, "-"
 * for standard output. The exit status. */
int profile_export(
	const struct cli_trace *trace, enum flame_source source, bool is_pprof, const char *path);

/* Collapsed stacks of two traces, with two numbers in each line. The exit status. */
int profile_export_difference(char **files, enum flame_source source, const char *path);

#endif
