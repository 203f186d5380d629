/* SPDX-License-Identifier: ISC
 *
 * The kernel keeps a ring of pages for each processor. A read returns the next page that was not
 * read, if it is full, or what is new in the page that is being filled.
 */
#include "runs/processes/processes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/ftrace/page.h"
#include "runs/processes/notes.h"
#include "runs/processes/tracefs.h"

#define PAGE_BYTES_MAX (1u << 20)

/* A processor of this machine, which is the vCPU of that number. */
struct traced_cpu {
	int fd;
	uint32_t number;
	uint64_t last; /* the time of its last event */
};

struct weft__runs_processes {
	struct weft__runs_tracefs tracefs;
	struct weft__ftrace_formats formats;
	struct traced_cpu *cpus;
	size_t cpu_count;
	struct weft__runs_notes notes;
	uint8_t *page;
};

/* ---- Pages ---- */

static void read_page(struct weft__runs_processes *p, struct traced_cpu *cpu, size_t size)
{
	struct weft__ftrace_page page;
	struct weft__ftrace_event event;
	if (!weft__format_ftrace_begin(&p->formats, p->page, size, &page))
		return;
	if (page.has_lost) {
		const struct weft__ftrace_event loss = {.time = cpu->last,
			.kind = WEFT__FTRACE_LOSS,
			.other = page.lost < UINT32_MAX ? (uint32_t)page.lost : UINT32_MAX};
		weft__runs_notes_add(&p->notes, cpu->number, &loss);
	}
	while (weft__format_ftrace_next(&p->formats, &page, &event)) {
		cpu->last = event.time;
		weft__runs_notes_add(&p->notes, cpu->number, &event);
	}
}

bool weft__runs_processes_read(
	struct weft__runs_processes *p, weft__runs_take_note *take, void *context)
{
	const size_t bytes = weft__format_ftrace_page_bytes(&p->formats);
	p->notes.take = take;
	p->notes.context = context;
	for (size_t i = 0; i < p->cpu_count && !p->notes.has_failed; i++) {
		ssize_t size;
		while (!p->notes.has_failed && (size = read(p->cpus[i].fd, p->page, bytes)) > 0)
			read_page(p, &p->cpus[i], (size_t)size);
	}
	return !p->notes.has_failed;
}

/* ---- Begin and end ---- */

static bool learn(struct weft__runs_processes *p, const char *path,
	bool (*take)(struct weft__ftrace_formats *formats, const char *text, size_t size))
{
	char text[8192];
	const ssize_t size = weft__runs_tracefs_load(&p->tracefs, path, text, sizeof(text));
	return size > 0 && take(&p->formats, text, (size_t)size);
}

static bool learn_formats(struct weft__runs_processes *p)
{
	return learn(p, "events/header_page", weft__format_ftrace_learn_page) &&
		   learn(p, "events/sched/sched_switch/format", weft__format_ftrace_learn_event) &&
		   learn(p, "events/sched/sched_process_fork/format", weft__format_ftrace_learn_event) &&
		   weft__format_ftrace_page_bytes(&p->formats) <= PAGE_BYTES_MAX;
}

static bool open_cpus(struct weft__runs_processes *p)
{
	const long count = sysconf(_SC_NPROCESSORS_CONF);
	char path[64];
	p->cpus = calloc((size_t)(count > 0 ? count : 1), sizeof(*p->cpus));
	for (long i = 0; i < count && p->cpus; i++) {
		snprintf(path, sizeof(path), "per_cpu/cpu%ld/trace_pipe_raw", i);
		int fd = weft__runs_tracefs_open(&p->tracefs, path, O_RDONLY | O_NONBLOCK);
		if (fd >= 0)
			p->cpus[p->cpu_count++] = (struct traced_cpu){.fd = fd, .number = (uint32_t)i};
	}
	return p->cpu_count > 0;
}

/* Xen gives a virtual machine's counter an offset. Kernels before 4.13 do not say what they are. */
static bool is_virtual_machine(void)
{
	char type[3];
	FILE *file = fopen("/sys/hypervisor/guest_type", "re");
	const size_t size = file ? fread(type, 1, sizeof(type), file) : 0;
	if (file)
		fclose(file);
	return size == sizeof(type) && memcmp(type, "PV\n", sizeof(type)) != 0;
}

/* Why it failed; NULL: it did not. */
static const char *start(struct weft__runs_processes *p)
{
	if (is_virtual_machine())
		return "dom0 is a virtual machine, whose counter is not that of Xen's trace";
	if (!learn_formats(p))
		return "the formats of the kernel's scheduler events cannot be read";
	if (!weft__runs_tracefs_store(&p->tracefs, "trace_clock", "x86-tsc"))
		return "the kernel's tracing lacks the clock x86-tsc, which is that of Xen's trace";
	if (!open_cpus(p) ||
		!weft__runs_tracefs_store(&p->tracefs, "events/sched/sched_process_fork/enable", "1") ||
		!weft__runs_tracefs_store(&p->tracefs, "events/sched/sched_switch/enable", "1"))
		return "the kernel's tracing cannot be turned on";
	return NULL;
}

struct weft__runs_processes *weft__runs_processes_start(char reason[WEFT__RUNS_PROCESSES_REASON])
{
	struct weft__runs_processes *p = calloc(1, sizeof(*p));
	if (p) {
		p->tracefs.instance = -1;
		p->page = malloc(PAGE_BYTES_MAX);
	}
	if (!p || !p->page || !weft__runs_notes_init(&p->notes)) {
		snprintf(reason, WEFT__RUNS_PROCESSES_REASON, "%s", strerror(ENOMEM));
	} else if (weft__runs_tracefs_begin(&p->tracefs, reason)) {
		const char *failed = start(p);
		if (!failed)
			return p;
		snprintf(reason, WEFT__RUNS_PROCESSES_REASON, "%s", failed);
	}
	weft__runs_processes_close(p);
	return NULL;
}

void weft__runs_processes_stop(struct weft__runs_processes *p)
{
	(void)weft__runs_tracefs_store(&p->tracefs, "tracing_on", "0");
}

void weft__runs_processes_close(struct weft__runs_processes *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->cpu_count; i++)
		close(p->cpus[i].fd);
	weft__runs_tracefs_end(&p->tracefs);
	free(p->cpus);
	weft__runs_notes_finish(&p->notes);
	free(p->page);
	free(p);
}
