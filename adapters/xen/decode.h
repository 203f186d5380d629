/* SPDX-License-Identifier: ISC
 *
 * Names what a program asks of Xen, by the numbers and structs that it passes to the kernel. The
 * caller copies the part of the program's memory that is named here.
 */
#ifndef WEFT_ADAPTERS_XEN_DECODE_H
#define WEFT_ADAPTERS_XEN_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WEFT__XEN_ARGUMENTS = 6,    /* the number of a hypercall, and its five arguments */
	WEFT__XEN_BYTES_MAX = 48,   /* of an ioctl's struct */
	WEFT__XEN_PART_BYTES = 40,  /* of a hypercall's buffer */
	WEFT__XEN_ENTRY_BYTES = 64, /* of a multicall's entry */
	WEFT__XEN_ENTRY_RESULT = 8, /* where Xen writes its 64-bit result */
};

enum weft__xen_device {
	WEFT__XEN_PRIVCMD,
	WEFT__XEN_GNTDEV,
	WEFT__XEN_EVTCHN,
};

/* An ioctl of these devices. */
struct weft__xen_request {
	const char *name; /* NULL: it is none */
	enum weft__xen_device device;
	uint8_t size; /* of its struct, WEFT__XEN_BYTES_MAX at most */
	bool is_hypercall;
	uint8_t domain, count, port; /* where they are, as operations.def says */
};

/* A part of the program's memory that says more about a hypercall; size 0: none does. */
struct weft__xen_part {
	uint64_t address;
	size_t size; /* WEFT__XEN_PART_BYTES at most */
};

struct weft__xen_call {
	const char *name; /* "domctl createdomain" */
	int64_t number;   /* of a hypercall or sub-command without a name; -1: it has one */
	int32_t domain;   /* -1: none, or none that a guest can have, such as DOMID_SELF */
	int64_t count;    /* of pages or grants; -1: none */
	int64_t port;     /* -1: none */
	uint64_t answer;  /* the address at which Xen's answer has the domain; 0: nowhere */
	uint64_t entry;   /* the address of the only entry of a multicall; 0: it is none */
	bool gives_port;  /* the call returns one */
};

struct weft__xen_request weft__xen_find_request(unsigned long request);

/* `bytes`: the struct of the ioctl, or NULL if it could not be copied. */
struct weft__xen_call weft__xen_decode_request(
	const struct weft__xen_request *request, const uint8_t *bytes);

/* The address of the entry of a multicall that has only one, or 0. libxencall makes these for calls
 * with results of 64 bits, such as memory_op. */
uint64_t weft__xen_find_entry(const uint64_t hypercall[static WEFT__XEN_ARGUMENTS]);

/* The hypercall of an entry. */
void weft__xen_take_entry(uint64_t ret_hypercall[static WEFT__XEN_ARGUMENTS],
	const uint8_t bytes[static WEFT__XEN_ENTRY_BYTES]);

struct weft__xen_part weft__xen_find_part(const uint64_t hypercall[static WEFT__XEN_ARGUMENTS]);

/* `bytes`: that part, or NULL if it could not be copied, or there is none. */
struct weft__xen_call weft__xen_decode_hypercall(
	const uint64_t hypercall[static WEFT__XEN_ARGUMENTS], const uint8_t *bytes);

/* The domain of these two bytes, or -1. */
int32_t weft__xen_domain(const uint8_t bytes[static 2]);

#endif
