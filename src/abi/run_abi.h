/* SPDX-License-Identifier: ISC
 *
 * The run directory of `weft record`: the names by which the recorder and the readers find what the
 * other has left there. A process records into
 *
 *     PROG-PID.weft      its ring, a regular file; with WEFT_IN_PLACE a symbolic link to it
 *     PROG-PID.2.weft    the ring of the next program PROG that the same process has become (exec)
 *     PROG-PID.metrics   the values of its metrics (metric_abi.h), if it has some; if an agent
 *                        collects them, only their header, which says where they are
 *     PROG-PID.counters  the values of its counters (counter_abi.h), if it records from its start
 * on PROG-PID.failed    no ring: a symbolic link whose target is the reason total 64-bit words: the
 * bound on all rings together, then the size of each; a size with the highest bit: that many bytes
 * are free again first              made by the first process that records, which may take half of
 * the room orphaned           made when the run was first found abandoned; its age is counted from
 * then output             a symbolic link to the directory in which the traces will be saved, if
 * the user named one
 *
 * The environment passes the rest from `weft record` to the program.
 */
#ifndef WEFT_ABI_RUN_ABI_H
#define WEFT_ABI_RUN_ABI_H

#define WEFT_ABI_RUN_RING     ".weft"
#define WEFT_ABI_RUN_METRICS  ".metrics"
#define WEFT_ABI_RUN_COUNTERS ".counters"
#define WEFT_ABI_RUN_FAILED   ".failed"
#define WEFT_ABI_RUN_TOTAL    "total"
#define WEFT_ABI_RUN_FIRST    "first"
#define WEFT_ABI_RUN_ORPHANED "orphaned"
#define WEFT_ABI_RUN_OUTPUT   "output"

#define WEFT_ABI_RUN_OUT      "WEFT_OUT"
#define WEFT_ABI_RUN_XEN      "xen:" /* before the number of a domain in WEFT_OUT */
#define WEFT_ABI_RUN_SIZE     "WEFT_SIZE"
#define WEFT_ABI_RUN_IN_PLACE "WEFT_IN_PLACE"
/* The adapters that record a program which nobody changed; auto: see adapters/hooks/start.c. */
#define WEFT_ABI_RUN_ADAPTERS "WEFT_ADAPTERS"
/* 1: the size of a ring depends on the free room, if WEFT_SIZE is not set. */
#define WEFT_ABI_RUN_FIT "WEFT_FIT"

/* The size of a ring if WEFT_SIZE is not set. */
#define WEFT_ABI_RUN_RING_BYTES ((uint64_t)16 << 20)
/* The most of it for processes that are not the first of their run: allocating 16 MiB takes 9 ms of
 * processor time, several times as much as a short process needs. */
#define WEFT_ABI_RUN_OTHER_RING_BYTES ((uint64_t)4 << 20)
/* The same of a buffer that is shared with a domain of Xen: Linux shares 4 MiB of all processes
 * together, unless it is told otherwise. */
#define WEFT_ABI_RUN_XEN_BYTES ((uint64_t)1 << 20)

#define WEFT_ABI_RUN_RELEASED ((uint64_t)1 << 63)

#endif
