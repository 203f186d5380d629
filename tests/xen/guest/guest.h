/* SPDX-License-Identifier: ISC
 *
 * A unikernel for tests: the least that a guest of Xen needs to record, paravirtualised or PVH. Its
 * parts:
 *
 *     entry.S     the entries
 *     pvh.c       the beginning of a PVH guest
 *     memory.c    frames, shared pages, grants; the functions that a compiler may call
 *     xenstore.c  reads and writes keys
 *     time.c      clocks, sleeping, event channels, the end
 *     main.c      records until it is told to do something else
 */
#ifndef WEFT_TESTS_XEN_GUEST_H
#define WEFT_TESTS_XEN_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xen/xen.h>

#define PAGE_BYTES 4096

extern const start_info_t *guest_info;
extern bool guest_is_pvh;
extern shared_info_t *guest_shared; /* the page that Xen updates */

static inline long hypercall(unsigned number, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	extern char hypercall_page[];
	long result;
	register uint64_t fourth __asm__("r10") = d;
	__asm__ volatile("call *%[target]"
					 : "=a"(result), "+D"(a), "+S"(b), "+d"(c), "+r"(fourth)
					 : [target] "r"(hypercall_page + number * 32)
					 : "rcx", "r8", "r9", "r11", "memory");
	return result;
}

/* ---- pvh.c ---- */

/* Replaces one of the guest's pages by a page of Xen: XENMAPSPACE_shared_info and so on. */
void pvh_map(void *page, unsigned space, uint64_t index);

/* ---- memory.c ---- */

void memory_init(void);
/* The frame of one of the guest's pages: the machine's, or a PVH guest's own. */
uint64_t memory_frame(const void *page);
/* The guest's page in that frame. */
void *memory_page(uint64_t frame);
/* 0: no entry is free. */
uint32_t memory_grant(uint16_t domain, uint64_t frame, bool is_writable);

/* ---- xenstore.c ---- */

void xenstore_init(void);
/* 0: done. */
int xenstore_write(const char *path, const char *value);
/* False: there is no such key. The value is cut, and ends with a NUL. */
bool xenstore_read(const char *path, char *value, size_t size);

/* ---- time.c ---- */

uint64_t time_now(void); /* Xen's system time in ns */
uint64_t time_unix(uint64_t now);
uint64_t time_tsc_hz(void);
/* Waits until the port has an event, or until that time. True if it has, which is then reset. */
bool time_await(uint32_t port, uint64_t until);
void time_sleep(uint64_t ns);
uint32_t time_listen(uint16_t domain); /* a new port, to which that domain can connect */
uint32_t time_connect(uint16_t domain, uint32_t its_port); /* a new port, connected to that one */
void time_notify(uint32_t port);
/* SHUTDOWN_poweroff and so on. */
_Noreturn void time_end(unsigned reason);

#endif
