/* SPDX-License-Identifier: ISC
 *
 * The part of Xen that a reader of guests needs: XenStore, grants, and two questions to the
 * hypervisor. The one real implementation is library.c; tests have another.
 */
#ifndef WEFT_XEN_ACCESS_H
#define WEFT_XEN_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT__XEN_PAGE_BYTES 4096

/* The state of a domain, as the hypervisor sees it. */
enum weft__xen_domain {
	WEFT__XEN_UNKNOWN, /* it could not be asked */
	WEFT__XEN_RUNS,    /* or is paused, or suspended */
	WEFT__XEN_SHUT,    /* it has shut down, and is preserved or about to be removed */
	WEFT__XEN_CRASHED, /* the same after a crash */
	WEFT__XEN_GONE,    /* no such domain; or all that is left of it is memory that others map */
};

/* The figures that the hypervisor has of a domain. */
struct weft__xen_usage {
	uint64_t cpu_ns;           /* for which its vCPUs ran; those that it has no more count, too */
	uint64_t memory_bytes;     /* that it has now */
	uint64_t memory_max_bytes; /* 0: it has no limit */
	uint32_t vcpu_end;         /* the numbers of its vCPUs are below this */
};

enum weft__xen_vcpu_state {
	WEFT__XEN_VCPU_RUNNING,
	WEFT__XEN_VCPU_RUNNABLE, /* it waits for a pCPU, or its domain is paused */
	WEFT__XEN_VCPU_BLOCKED,
	WEFT__XEN_VCPU_OFFLINE,
	WEFT__XEN_VCPU_STATES
};

struct weft__xen_vcpu {
	uint64_t cpu_ns;
	enum weft__xen_vcpu_state state;
};

struct weft__xen_access {
	/* The value of a key, with a NUL after it. NULL with errno, ENOENT if there is no such key. The
	 * caller frees it. */
	char *(*read)(void *context, const char *path, size_t *ret_size);
	/* The names of the keys below a key. NULL with errno. The caller frees it, as one block. */
	char **(*list)(void *context, const char *path, size_t *ret_count);
	/* Maps granted pages one after the other, for reading only, or for writing, too. NULL with
	 * errno. */
	void *(*map)(void *context, uint32_t domain, const uint32_t *references, uint32_t count,
		bool is_writable);
	void (*unmap)(void *context, void *pages, uint32_t count);
	enum weft__xen_domain (*look)(void *context, uint32_t domain);
	/* How much a domain, or its vCPU of that number, has used. False: there is none, or Xen does
	 * not say. */
	bool (*measure)(void *context, uint32_t domain, struct weft__xen_usage *ret_usage);
	bool (*measure_vcpu)(
		void *context, uint32_t domain, uint32_t vcpu, struct weft__xen_vcpu *ret_vcpu);
	/* Xen's system time now. False if Xen does not say. */
	bool (*now)(void *context, uint64_t *ret_ns);
	/* The rate of the processors' counter. False if Xen does not say. */
	bool (*rate)(void *context, uint64_t *ret_hz);
	/* Turns Xen's own trace off. */
	bool (*end_trace)(void *context);
	/* Gives Xen's own trace buffers of this many pages for each pCPU. False with errno. */
	bool (*size_trace)(void *context, uint32_t pages);
	/* Watches a key and those below it: from now on `changed` notices. False with errno. */
	bool (*watch)(void *context, const char *path);
	void (*unwatch)(void *context, const char *path);
	/* True if a watched key may have changed since the last call; at once, without waiting. */
	bool (*changed)(void *context);
	/* True if the domain reads the processors' counter as it is: not an emulated one, and not with
	 * an offset. */
	bool (*has_counter)(void *context, uint32_t domain);
	void (*close)(void *context);
	void *context;
};

/* library.c: connects to Xen. False with a reason if this is no domain that may read others. */
bool weft__xen_access_open(struct weft__xen_access *ret_access, char *reason, size_t size);

#endif
