/* SPDX-License-Identifier: ISC
 *
 * The members of the reader of xentrace files, and which vCPU runs where.
 */
#ifndef WEFT_FORMAT_XENTRACE_READER_H
#define WEFT_FORMAT_XENTRACE_READER_H

#include <weft/xentrace.h>

#include "format/format.h"
#include "format/xentrace/clock.h"
#include "format/xentrace/ids.h"
#include "format/xentrace/records.h"
#include "format/xentrace/windows.h"

/* A vCPU; domain WEFT_XENTRACE_UNKNOWN: not known. */
struct weft__xentrace_vcpu {
	uint32_t domain, vcpu;
};

/* The vCPU that runs on a pCPU. */
struct weft__xentrace_running {
	struct weft__xentrace_vcpu now, before_loss;
	bool is_in_loss;
	bool has_stopped; /* by the pCPU's last record: Xen records the next vCPU at once */
};

/* The kind of an id that was seen, and its name. */
struct weft__xentrace_known {
	uint32_t id, kind;
	const char *name;
};

#define WEFT__XENTRACE_KNOWN        256 /* a power of two */
#define WEFT__XENTRACE_THREAD_BYTES 24

struct weft__xentrace_reader {
	struct weft__reader base;
	struct weft__xentrace_windows windows;
	struct weft__xentrace_records records;
	struct weft__xentrace_clock clock;
	struct weft__xentrace_running *running; /* by pCPU */
	struct weft_trace_thread *threads;      /* of pCPUs, and the lanes of dom0's vCPUs */
	char (*thread_names)[WEFT__XENTRACE_THREAD_BYTES];
	uint32_t thread_capacity;
	uint32_t cpu_count;                 /* so far */
	struct weft__xentrace_whole *whole; /* NULL: no event was asked for yet */
	bool is_svm;                        /* the reasons of exits are AMD's */
	bool has_vendor;                    /* that is final: an exit told it, or none tells */
	struct weft__xentrace_known known[WEFT__XENTRACE_KNOWN];
};

static inline struct weft__xentrace_reader *weft__format_xentrace_of(struct weft__reader *base)
{
	return (struct weft__xentrace_reader *)base;
}

/* ---- xentrace/reader.c: the steps of opening a file, after its windows are found ---- */

/* 0 or WEFT_ERROR_MEMORY. */
int weft__format_xentrace_describe_cpus(struct weft__xentrace_reader *reader);
/* Room for so many threads, so that their descriptions stay where they are. 0 or an error. */
int weft__format_xentrace_reserve_threads(struct weft__xentrace_reader *reader, uint32_t capacity);
/* Describes one more thread, before the first event if there is no room for it. 0 or an error. */
int weft__format_xentrace_add_thread(struct weft__xentrace_reader *reader, const char *name,
	uint64_t tid, uint32_t buffer, uint32_t *ret_thread);
/* Describes the clock, and finds out whose numbers the exits have. 0 or WEFT_ERROR_MEMORY. */
int weft__format_xentrace_look_over(struct weft__xentrace_reader *reader);
/* Looks for an exit that tells whose numbers these are behind those that were looked over. */
void weft__format_xentrace_find_vendor(struct weft__xentrace_reader *reader);
/* Frees what the reader has, but not itself. */
void weft__format_xentrace_finish(struct weft__xentrace_reader *reader);
/* Describes the next record; false if it is the begin of a loss, which is not shown. */
bool weft__format_xentrace_show(struct weft__xentrace_reader *reader,
	const struct weft__xentrace_record *record, struct weft_xentrace_record *ret_record);

/* ---- xentrace/running.c ---- */

/* Looks up the kind and the name of an id. */
void weft__format_xentrace_learn(struct weft__xentrace_known *known, uint32_t id);

/* The kind and the name of an id. */
static inline const struct weft__xentrace_known *weft__format_xentrace_know(
	struct weft__xentrace_reader *reader, uint32_t id)
{
	uint32_t slot = (id ^ id >> 9 ^ id >> 16) % WEFT__XENTRACE_KNOWN;
	struct weft__xentrace_known *known = &reader->known[slot];
	if (known->id != id || !known->name)
		weft__format_xentrace_learn(known, id);
	return known;
}

/* True if the record before this one on the pCPU said that a vCPU stops, and the next vCPU's record
 * was left out. */
bool weft__format_xentrace_is_gap(const struct weft__xentrace_running *running, uint32_t kind,
	const struct weft__xentrace_record *record);

/* Changes which vCPU runs on the record's pCPU, as the record says. */
void weft__format_xentrace_follow(struct weft__xentrace_running *running, uint32_t kind,
	const struct weft__xentrace_record *record);

#endif
