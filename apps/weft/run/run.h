/* SPDX-License-Identifier: ISC
 *
 * Runs a program, records it and shows it meanwhile: the parts of `weft run` and of
 * `weft serve --run`.
 */
#ifndef WEFT_APPS_RUN_H
#define WEFT_APPS_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "serve/serve.h"

/* How the trace is served to browsers. */
struct run_serving {
	struct serve_address address;
	const char *view; /* to append to the URL behind "#trace=all"; "": nothing */
	bool opens;       /* the URL in a browser */
	bool stays;       /* from the program's start until Ctrl-C, and no window is tried */
};

struct run_options {
	const char *command;           /* for messages: "run" */
	const char *adapters, *output; /* as for record_watched() */
	uint64_t size_bytes;
	bool wants_browser; /* even if a window could be opened */
	struct run_serving serving;
};

/* Returns the exit status. */
int run_show(char **program, const struct run_options *options);

/* ---- run/server.c ---- */

struct run_server;

/* Serves the rings in a run directory, and prints the URL. NULL after a message. */
struct run_server *run_server_start(const struct run_serving *serving, const char *directory);
/* Call several times a second. */
void run_server_tick(struct run_server *server);
/* The ring was saved as that file, which is served in its place. */
void run_server_saved(const char *ring, const char *file);
/* Serves on until Ctrl-C; without a terminal only for a short time, unless `stays` was set; not at
 * all if nothing was saved. Then destroys the server, which may be NULL. */
void run_server_finish(struct run_server *server, bool has_saved);

#endif
