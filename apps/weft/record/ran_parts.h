/* SPDX-License-Identifier: ISC
 *
 * The types and functions that the files of ran.h share.
 */
#ifndef WEFT_RECORD_RAN_PARTS_H
#define WEFT_RECORD_RAN_PARTS_H

#include <weft/buffer.h>

#include "outside/outside.h"

/* ---- The kernel's events (ran_kernel.c) ---- */

enum ran_type {
	RAN_SAMPLE,
	RAN_MAPPED, /* a file with code */
	RAN_FORKED,
	RAN_EXECUTED, /* the process has another program */
};

struct ran_event {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	enum ran_type type;
	pid_t pid, tid;
	/* RAN_SAMPLE */
	bool is_in_kernel;
	bool has_registers;
	uint64_t registers[WEFT__OUTSIDE_REGISTERS];
	/* RAN_MAPPED: [address, address + length) is at an offset of the file */
	uint64_t address, length, offset, inode;
	pid_t parent; /* RAN_FORKED */
	/* RAN_SAMPLE: the stack; RAN_MAPPED: the path with a NUL. */
	size_t size;
	unsigned char bytes[];
};

struct ran_kernel;

#define RAN_DENIED_BYTES 128

/* NULL: it is impossible, for this reason. */
struct ran_kernel *ran_kernel_open(pid_t process, unsigned hz, char ret_denied[RAN_DENIED_BYTES]);
void ran_kernel_close(struct ran_kernel *kernel);

/* False: samples are of time outside the kernel only. */
bool ran_kernel_has_kernel(const struct ran_kernel *kernel);

/* The events that were lost so far. */
uint64_t ran_kernel_lost(const struct ran_kernel *kernel);

/* Takes the events so far, in the order of time. `take` gets each, and owns it. */
void ran_kernel_take(
	struct ran_kernel *kernel, void (*take)(void *context, struct ran_event *event), void *context);

/* ---- Functions (ran_functions.c) ---- */

struct ran_functions {
	struct weft_buffer_code *list;
	uint32_t *first_callee, *next_sibling; /* 1 + the number; 0: none */
	uint32_t outermost;
	uint32_t count;
};

/* 1 + the number of a function that was called by another one; 0: there is no room. */
uint32_t ran_functions_find(struct ran_functions *functions, uint32_t caller, const char *function);
void ran_functions_finish(struct ran_functions *functions);

/* ---- Unwinding (ran_unwind.c) ---- */

struct ran_mapping {
	uint64_t start, end, offset, inode;
	char *path;
};

/* Samples of one process, with what it had mapped. */
struct ran_batch {
	pid_t pid;
	uid_t user;   /* only files of this user are read */
	time_t since; /* when the run began */
	struct ran_mapping *mappings;
	uint32_t mapping_count;
	struct ran_event **samples;
	uint32_t count;
	/* While a child unwinds them. */
	pid_t child;
	uint64_t used_ns; /* the child's processor time */
	struct stack_results *results;
	size_t results_bytes;
};

/* Starts the child. False if that is impossible. */
bool ran_batch_start(struct ran_batch *batch);

/* True if the child has ended; waits for it if `must_wait`. */
bool ran_batch_has_ended(struct ran_batch *batch, bool must_wait);

/* The functions of a sample, as ran_functions_find() returns them; 0: unknown. */
uint32_t ran_batch_functions(
	const struct ran_batch *batch, uint32_t sample, struct ran_functions *functions);

void ran_batch_finish(struct ran_batch *batch);

#endif
