/* SPDX-License-Identifier: ISC
 *
 * liburing's objects, as its library of the version 2 has them, and the requests that programs make
 * by them. Most of liburing is inlined into programs; the hooks stand in front of what is not,
 * which submits requests and waits. There, what lies in the queues is read: requests before the
 * call, completions after it.
 */
#ifndef WEFT_ADAPTERS_IO_URING_H
#define WEFT_ADAPTERS_IO_URING_H

#include <linux/io_uring.h>

#include "io/descriptors.h"

/* The members up to `pad` are the same in all releases of the library. */
struct io_uring_sq {
	unsigned *khead, *ktail, *kring_mask, *kring_entries, *kflags, *kdropped, *array;
	struct io_uring_sqe *sqes;
	unsigned sqe_head, sqe_tail; /* requests that the library has not yet passed to the kernel */
	size_t ring_sz;
	void *ring_ptr;
	unsigned pad[4];
};

struct io_uring_cq {
	unsigned *khead, *ktail, *kring_mask, *kring_entries, *kflags, *koverflow;
	struct io_uring_cqe *cqes;
	size_t ring_sz;
	void *ring_ptr;
	unsigned pad[4];
};

struct io_uring {
	struct io_uring_sq sq;
	struct io_uring_cq cq;
	unsigned flags;
	int ring_fd;
	unsigned pad[5];
};

/* ---- Operations (operation.c) ---- */

struct weft__io_operation {
	const char *name;
	bool has_fd;   /* `fd` of the request is a descriptor, or one of the ring's */
	uint8_t moves; /* 1: its result is bytes that were read, 2: written; 0: neither */
};

/* NULL: unknown. */
const struct weft__io_operation *weft__io_operation(unsigned opcode);

/* ---- Requests (request.c), with recording parts around them ----
 *
 * `ring` is an address that no other ring has.
 */

/* The request is about to be submitted: it becomes a task. */
void weft__io_request_begins(const void *ring, const struct io_uring_sqe *sqe);

/* A completion has come, which `reader` gets, if it is a task. If it `was_taken`, the program has
 * had it before, at an unknown time. */
void weft__io_request_ends(
	const void *ring, const struct io_uring_cqe *cqe, uint64_t reader, bool was_taken);

/* The ring goes, and with it its requests; or completions of it were missed, so that they end at an
 * unknown time. */
void weft__io_requests_forget(const void *ring, bool are_cancelled);

#endif
