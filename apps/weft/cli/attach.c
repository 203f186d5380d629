/* SPDX-License-Identifier: ISC
 *
 * Attaches to a process for the time that a command runs.
 */
#include "attach.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "runs/attach/attach.h"
#include "runs/attach/page.h"
#include "runs/directory/directory.h"

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

void cli_catch_interrupts(void)
{
	static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaction(caught[i], &action, NULL);
}

bool cli_is_interrupted(void)
{
	return interrupted;
}

static bool goes_on(void *context)
{
	(void)context;
	return !interrupted;
}

static void remove_directory(const char *directory)
{
	struct weft__runs_rings rings = {0};
	weft__runs_rings_find(directory, 1, &rings);
	weft__runs_directory_remove(directory, &rings, false);
	weft__runs_rings_finish(&rings);
}

bool cli_attach(pid_t pid, uint64_t size_bytes, struct weft__runs_found *ret_found,
	struct cli_attached *ret_attached)
{
	const struct weft__runs_attach_options options = {
		.pid = pid, .size_bytes = size_bytes, .goes_on = goes_on};
	struct weft__runs_rings rings = {0};
	pid_t own_pid;
	cli_catch_interrupts();
	ret_attached->directory[0] = '\0';
	bool good = weft__runs_attach(&options, ret_attached->directory, &own_pid) &&
				weft__runs_rings_find(ret_attached->directory, own_pid, &rings) && rings.count;
	if (good) {
		ret_found->ring = rings.list[0];
		snprintf(ret_found->path, sizeof(ret_found->path), "%s%s", ret_attached->directory,
			rings.list[0].name);
	}
	weft__runs_rings_finish(&rings);
	return good;
}

char *cli_attach_path(
	char *operand, struct weft__runs_found *ret_found, struct cli_attached *ret_attached)
{
	pid_t pid = weft__runs_parse_pid(operand);
	ret_attached->directory[0] = '\0';
	if (!pid || !weft__runs_has_page(pid) ||
		(weft__runs_look_for(pid, ret_found) && ret_found->ring.is_running))
		return weft__runs_path(operand, ret_found);
	return cli_attach(pid, 0, ret_found, ret_attached) ? ret_found->path : NULL;
}

void cli_detach(const struct cli_attached *attached)
{
	if (!attached->directory[0])
		return;
	struct weft__runs_detached *detached = weft__runs_detach(attached->directory);
	remove_directory(attached->directory);
	weft__runs_detached_finish(detached, true);
}
