/* SPDX-License-Identifier: ISC
 *
 * The processes of dom0's Linux in the model: each is a task, which runs on a lane of the vCPU
 * while that has a pCPU. Numbers of processes count from 1; 0: not known.
 */
#ifndef WEFT_FORMAT_XENTRACE_PROCESSES_H
#define WEFT_FORMAT_XENTRACE_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/index.h"
#include "format/xentrace/moments.h"
#include "format/xentrace/vcpus.h"

struct weft__xentrace_process {
	uint32_t key;  /* its pid; of an idle one, a number above all pids */
	bool is_known; /* an event told of it */
	bool is_new;   /* an earlier one with its key has ended */
	bool has_ended;
	char name[WEFT_XENTRACE_PROCESS_NAME_BYTES];
	struct weft__xentrace_levels levels; /* its open spans while another one runs */
};

struct weft__xentrace_processes {
	struct weft__xentrace_process *list;
	size_t count, capacity;
	struct weft__index index; /* by key: the last one with it */
	uint32_t buffer;          /* 0: there are none yet */
};

struct weft__xentrace_meaning;
struct weft__xentrace_record;
struct weft__xentrace_task;

/* Describes the buffer of the processes and the lanes of the vCPUs that run them, before the first
 * event. 0 or an error. */
int weft__format_xentrace_describe_processes(
	struct weft__xentrace_meaning *meaning, const struct weft__xentrace_moments *moments);

/* Makes events of a moment, as those of xentrace/meaning.h. */
void weft__format_xentrace_meaning_moment(
	struct weft__xentrace_meaning *meaning, const struct weft__xentrace_moment *moment);

/* After the last record: switches that are missing since then have no later end. */
void weft__format_xentrace_end_processes(struct weft__xentrace_meaning *meaning);

/* dom0's vCPU has a pCPU, or none, from now on. Other tasks have no processes. */
void weft__format_xentrace_run_process(
	struct weft__xentrace_meaning *meaning, struct weft__xentrace_task task, bool is_on);

/* Before the record of an entry is looked at: after Linux has left the stack of the process before,
 * what it asks of Xen is for the one that runs now. */
void weft__format_xentrace_settle_process(struct weft__xentrace_meaning *meaning,
	struct weft__xentrace_state *vcpu, const struct weft__xentrace_record *record);

/* The task that enters Xen on the vCPU: its process, or the vCPU itself if that is not known. */
struct weft__xentrace_task weft__format_xentrace_actor(
	const struct weft__xentrace_meaning *meaning, const struct weft__xentrace_state *vcpu);

void weft__format_xentrace_processes_finish(struct weft__xentrace_processes *processes);

#endif
