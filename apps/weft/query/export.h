/* SPDX-License-Identifier: ISC
 *
 * weft export --to sqlite.
 */
#ifndef WEFT_APPS_QUERY_EXPORT_H
#define WEFT_APPS_QUERY_EXPORT_H

#include "cli/cli.h"

/* Copies all tables into a new database file, which appears when it is complete; `force` replaces
 * an existing one. Returns the exit status, after a message. */
int query_export(const struct cli_trace *trace, const char *file, bool force);

#endif
