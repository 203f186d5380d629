/* SPDX-License-Identifier: ISC
 *
 * weft export --to perfetto.
 */
#ifndef WEFT_APPS_EXPORT_PERFETTO_FILE_H
#define WEFT_APPS_EXPORT_PERFETTO_FILE_H

#include "cli/cli.h"

/* Writes the trace to the file at `path`, "-" for standard output. The exit status. */
int perfetto_export(const struct cli_trace *trace, const char *path);

#endif
