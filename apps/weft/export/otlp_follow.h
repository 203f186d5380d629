/* SPDX-License-Identifier: ISC
 *
 * weft export --follow.
 */
#ifndef WEFT_APPS_EXPORT_OTLP_FOLLOW_H
#define WEFT_APPS_EXPORT_OTLP_FOLLOW_H

#include "otlp_file.h"

/* Writes the spans of a running program, a process or a ring, as they end. The exit status. */
int otlp_follow(char *operand, const struct otlp_arguments *arguments, const char *path);

#endif
