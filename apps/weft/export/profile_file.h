/* SPDX-License-Identifier: ISC
 *
 * weft export --to collapsed and --to pprof.
 */
#ifndef WEFT_APPS_EXPORT_PROFILE_FILE_H
#define WEFT_APPS_EXPORT_PROFILE_FILE_H

#include "cli/cli.h"

/* Writes where in the code the trace's threads waited to the file at `path`, "-" for standard
 * output. The exit status. */
int profile_export(const struct cli_trace *trace, bool is_pprof, const char *path);

#endif
