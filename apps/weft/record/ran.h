/* SPDX-License-Identifier: ISC
 *
 * The functions that the threads of a run execute: samples that the kernel takes while they use a
 * processor. The programs are not changed, and get no signals: the kernel copies registers and
 * stack into memory that it shares with us.
 *
 *     ran_kernel.c     the kernel's events, in order of time
 *     ran.c            the processes of the run: what they have mapped, and their samples
 *     ran_unwind.c     finds the functions of samples, in a confined child
 *     ran_functions.c  functions with their callers, each of which is kept once
 *     ran_missing.c    stands for all of these where stacks cannot be unwound
 */
#ifndef WEFT_RECORD_RAN_H
#define WEFT_RECORD_RAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct record_ran;
struct weft__runs_sampler;
struct weft__runs_snapshots;

/* Samples what the process executes from its next exec on, with all threads and processes that it
 * starts, `hz` times in a second of processor time. If the kernel denies that, a message says so,
 * and there are no samples; NULL if there is no memory either. `sampler` is completed; it must stay
 * valid. */
struct record_ran *record_ran_start(pid_t process, unsigned hz, struct weft__runs_sampler *sampler);

/* Takes what the kernel has collected, and adds the samples whose functions were found to the rings
 * of the processes. Call it every WEFT__RUNS_LOOK_NS. */
void record_ran_look(struct record_ran *ran, struct weft__runs_snapshots *snapshots);

/* Ends the sampling, and finds the functions of all samples. */
void record_ran_end(struct record_ran *ran, struct weft__runs_snapshots *snapshots);

/* Adds the samples of a process to its saved trace, at whose end they are; or why there are none.
 */
void record_ran_save(struct record_ran *ran, pid_t process, const char *file);

/* How many samples could not be kept. */
uint64_t record_ran_lost(const struct record_ran *ran);

/* True if no samples could be taken. */
bool record_ran_is_denied(const struct record_ran *ran);

void record_ran_destroy(struct record_ran *ran);

#endif
