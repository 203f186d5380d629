/* SPDX-License-Identifier: ISC
 *
 * weft metrics NAME --over or --since: from the database of weft agent.
 */
#ifndef WEFT_APPS_METRICS_WINDOW_H
#define WEFT_APPS_METRICS_WINDOW_H

#include <stdbool.h>

/* Options as they were given; NULL if they were not. */
struct metrics_window {
	const char *over, *since, *by, *data;
	bool is_json;
};

/* Prints the answer for each metric. An exit status. */
int metrics_show_window(
	const char *command, const struct metrics_window *window, char *const *names, int count);

#endif
