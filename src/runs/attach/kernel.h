/* SPDX-License-Identifier: ISC
 *
 * Where a thread of another process is in the kernel, as /proc shows it now.
 */
#ifndef WEFT_RUNS_KERNEL_H
#define WEFT_RUNS_KERNEL_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct weft__runs_kernel {
	char name[32];   /* of the thread */
	char state;      /* 'S': it sleeps; 'D': it cannot be interrupted; 'R', 'T', … : proc(5) */
	bool has_call;   /* the system call is known: the process is of this user and machine */
	uint64_t number; /* of the call, as the machine's programs number them */
	uint64_t arguments[6];
	uint64_t stack,
		code;          /* its stack pointer and program counter; 0: unknown, as of one that runs */
	char function[64]; /* of the kernel, in which it sleeps; "": unknown */
};

/* The threads of a process, at most `most`: their numbers in our PID namespace. Returns how many
 * were stored; 0 if there is no such process. */
size_t weft__runs_kernel_threads(pid_t pid, uint64_t *ret_threads, size_t most);

/* False if the process has no such thread. `thread` is its number in our PID namespace. */
bool weft__runs_kernel_look(pid_t pid, uint64_t thread, struct weft__runs_kernel *ret_kernel);

/* True if the kernel shows us the calls of a thread: then its memory can be read, too. */
bool weft__runs_kernel_is_readable(pid_t pid, uint64_t thread);

#define WEFT__RUNS_DESCRIPTOR_BYTES 256

/* Writes what the process has open as a descriptor: "/dev/null", "inotify",
 * "tcp 127.0.0.1:80, listening". "": unknown. */
void weft__runs_kernel_descriptor(pid_t pid, int fd, char text[static WEFT__RUNS_DESCRIPTOR_BYTES]);

/* Parses an address of a line of /proc/net/tcp and its like: "0100007F:1F90", each 32 bits in the
 * kernel's byte order. Of version 4, the address is mapped into version 6. */
bool weft__runs_kernel_parse_address(
	const char *line, unsigned index, struct in6_addr *ret_address, uint16_t *ret_port);

#define WEFT__RUNS_ADDRESS_BYTES 64

/* Writes "127.0.0.1:80" or "[::1]:80". */
void weft__runs_kernel_format_address(
	const struct in6_addr *address, uint16_t port, char text[static WEFT__RUNS_ADDRESS_BYTES]);

/* Descriptors for which a call of poll(2) or ppoll(2) waits, at most `most`. Returns how many were
 * stored; the rest of the call's list is not read. */
size_t weft__runs_kernel_polled(
	pid_t pid, const struct weft__runs_kernel *kernel, int *ret_fds, size_t most);

/* The same for an epoll instance of the process. */
size_t weft__runs_kernel_watched(pid_t pid, int epoll, int *ret_fds, size_t most);

#endif
