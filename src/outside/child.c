/* SPDX-License-Identifier: ISC
 *
 * Children for which a process waits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/field.h"
#include "parts.h"

enum {
	SHOWN = 3
};

pid_t weft__outside_inner(pid_t pid)
{
	FILE *file = weft__outside_open(pid, 0, "status");
	char line[256];
	uint64_t number = (uint64_t)pid;
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, "NSpid:", 6) == 0)
			for (unsigned i = 1; weft__field_number(line, i, INT32_MAX, &number); i++)
				continue;
	if (file)
		fclose(file);
	return (pid_t)number;
}

/* Adds one child; `is_first` is for the words. */
static void add_child(struct weft__outside_thread *thread, pid_t pid)
{
	char name[32];
	weft__outside_name(pid, name);
	if (thread->other_count < SHOWN)
		weft__outside_add(thread, "%s%s %d", thread->other_count ? ", " : " ", name, (int)pid);
	else if (thread->other_count == SHOWN)
		weft__outside_add(thread, " and more");
	weft__outside_add_other(thread, pid, 0);
}

/* The children of one thread, which the kernel lists in a line. */
static void add_children(const struct weft__outside_process *process, pid_t tid,
	struct weft__outside_thread *thread, pid_t wanted)
{
	FILE *file = weft__outside_open(process->pid, tid, "children");
	char *line = NULL;
	size_t room = 0;
	uint64_t number;
	if (file && getline(&line, &room, file) > 0)
		for (unsigned i = 0; i < 1000 && weft__field_number(line, i, INT32_MAX, &number); i++)
			if (!wanted || weft__outside_inner((pid_t)number) == wanted)
				add_child(thread, (pid_t)number);
	free(line);
	if (file)
		fclose(file);
}

void weft__outside_resolve_child(
	const struct weft__outside_process *process, struct weft__outside_thread *thread, pid_t wanted)
{
	thread->kind = WEFT__OUTSIDE_CHILD;
	thread->is_complete = true;
	weft__outside_add(thread, "waits for the end of child");
	for (uint32_t i = 0; i < process->count; i++)
		add_children(process, process->threads[i].tid, thread, wanted);
	if (!thread->other_count) {
		thread->is_complete = false;
		weft__outside_add(thread, wanted ? " %d" : " processes", (int)wanted);
	}
}
