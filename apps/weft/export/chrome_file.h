/* SPDX-License-Identifier: ISC
 *
 * weft export --to chrome.
 */
#ifndef WEFT_APPS_CHROME_FILE_H
#define WEFT_APPS_CHROME_FILE_H

#include "cli/cli.h"

/* Writes the trace into a file (`-`: standard output), which appears when it is complete. Returns
 * the exit status, after a message. */
int chrome_export(const struct cli_trace *trace, const char *path);

#endif
