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
#include "runs/processes/tracefs.h"

#define PAGE_BYTES_MAX (1u << 20)

/* Linux's limit of pids. Only what is used of the table of names takes memory. */
#define PIDS_MAX (1u << 22)

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
	char (*names)[WEFT__FTRACE_NAME_BYTES]; /* by pid: as the notes have them */
	uint8_t *page;
	weft__runs_take_note *take;
	void *context;
	bool has_failed; /* `take` was false */
};

/* ---- Notes ---- */

static void give(struct weft__runs_processes *p, uint32_t kind, uint64_t first, uint64_t second)
{
	const struct weft_xentrace_note note = {kind, {first, second}};
	if (!p->has_failed)
		p->has_failed = !p->take(p->context, &note);
}

static void give_moment(struct weft__runs_processes *p, const struct traced_cpu *cpu, uint32_t kind,
	uint64_t time, const uint32_t pids[2], bool has_ended)
{
	give(p, kind, time,
		pids[0] | (uint64_t)pids[1] << 24 | (uint64_t)cpu->number << 48 |
			(uint64_t)has_ended << 63);
}

/* A process has a name from its first switch on, and another one once it executes a program. */
static void give_name(
	struct weft__runs_processes *p, uint32_t pid, const char name[WEFT__FTRACE_NAME_BYTES])
{
	if (!pid || pid >= PIDS_MAX || !name[0] || strcmp(p->names[pid], name) == 0)
		return;
	memcpy(p->names[pid], name, sizeof(p->names[pid]));
	for (uint64_t part = 0; part < 2; part++) {
		uint64_t bytes = 0;
		for (unsigned i = 0; i < 8; i++)
			bytes |= (uint64_t)(unsigned char)name[8 * part + i] << 8 * i;
		if (bytes || !part)
			give(p, WEFT_XENTRACE_NOTE_NAME, pid | part << 32, bytes);
	}
}

static void forget_name(struct weft__runs_processes *p, uint32_t pid)
{
	if (pid < PIDS_MAX)
		memset(p->names[pid], 0, sizeof(p->names[pid]));
}

static void give_event(
	struct weft__runs_processes *p, struct traced_cpu *cpu, const struct weft__ftrace_event *event)
{
	const uint32_t pids[] = {event->pid, event->other};
	cpu->last = event->time;
	if (event->pid > WEFT_XENTRACE_PROCESS_MAX || event->other > WEFT_XENTRACE_PROCESS_MAX)
		return;
	if (event->is_fork) {
		forget_name(p, event->pid);
		give_moment(p, cpu, WEFT_XENTRACE_NOTE_FORK, event->time, pids, false);
		return;
	}
	give_name(p, event->other, event->other_name);
	give_name(p, event->pid, event->name);
	give_moment(p, cpu, WEFT_XENTRACE_NOTE_SWITCH, event->time, pids, event->has_ended);
	if (event->has_ended)
		forget_name(p, event->other);
}

/* The processor may have run anything since its last event. */
static void give_loss(struct weft__runs_processes *p, struct traced_cpu *cpu, uint64_t count)
{
	const uint32_t pids[] = {WEFT_XENTRACE_PROCESS_UNKNOWN,
		count < WEFT_XENTRACE_PROCESS_MAX ? (uint32_t)count : WEFT_XENTRACE_PROCESS_MAX};
	give_moment(p, cpu, WEFT_XENTRACE_NOTE_SWITCH, cpu->last, pids, false);
}

/* ---- Pages ---- */

static void read_page(struct weft__runs_processes *p, struct traced_cpu *cpu, size_t size)
{
	struct weft__ftrace_page page;
	struct weft__ftrace_event event;
	if (!weft__format_ftrace_begin(&p->formats, p->page, size, &page))
		return;
	if (page.has_lost)
		give_loss(p, cpu, page.lost);
	while (weft__format_ftrace_next(&p->formats, &page, &event))
		give_event(p, cpu, &event);
}

bool weft__runs_processes_read(
	struct weft__runs_processes *p, weft__runs_take_note *take, void *context)
{
	const size_t bytes = weft__format_ftrace_page_bytes(&p->formats);
	p->take = take;
	p->context = context;
	for (size_t i = 0; i < p->cpu_count && !p->has_failed; i++) {
		ssize_t size;
		while (!p->has_failed && (size = read(p->cpus[i].fd, p->page, bytes)) > 0)
			read_page(p, &p->cpus[i], (size_t)size);
	}
	return !p->has_failed;
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
		   learn(p, "events/sched/sched_switch/format", weft__format_ftrace_learn_switch) &&
		   learn(p, "events/sched/sched_process_fork/format", weft__format_ftrace_learn_fork) &&
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
		p->names = calloc(PIDS_MAX, sizeof(*p->names));
	}
	if (!p || !p->page || !p->names) {
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
	free(p->names);
	free(p->page);
	free(p);
}
