/* SPDX-License-Identifier: ISC
 *
 * Functions that the files of the Linux platform share.
 */
#ifndef WEFT_PLATFORM_LINUX_H
#define WEFT_PLATFORM_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Starts recording if the environment says so. */
void weft__platform_linux_autostart(void);

/* Lets other processes read the counters of this one, and if it does not record, ask it to, unless
 * the environment forbids it. */
void weft__platform_linux_offer(void);

/* Sets the levels that the environment wants, before recording starts. */
void weft__platform_linux_levels(void);

/* True if the environment wants no system call after a thread's first event. */
bool weft__platform_linux_is_quiet(void);

/* True if the program or a library of its own uses this recorder, not only preloaded adapters. */
bool weft__platform_linux_is_linked(void);

/* The path of the file with that suffix beside this process's ring in a run directory; NULL: there
 * is no such ring. Valid until the next call. */
const char *weft__platform_linux_beside(const char *suffix);

/* Reports what is not recorded, and why: to the run directory, if there is one, and to standard
 * error if no `weft record` prints it. */
void weft__platform_linux_report(const char *what, const char *reason);

/* Makes this copy of the recorder start switched off in forked children. False if that is
 * impossible. */
bool weft__platform_linux_begins_off(void);

/* Finds out whether another copy of the recorder leads in this process. */
void weft__platform_linux_join(void);

/* The program's name as it is used for files: without directory, never empty. */
const char *weft__platform_linux_program(void);

/* A logger for libraries of Xen, which would write to standard error; it writes nothing. */
void *weft__platform_xen_quiet(void);

/* ---- machine.c ---- */

struct weft__region;

/* Fills the buffer's table `machine`. */
void weft__platform_linux_describe_machine(const struct weft__region *region);

/* The number of processors in a list of Linux, such as "0-3,6". */
uint32_t weft__platform_count_processors(const char *list);

/* ---- memory.c ---- */

/* Memory that other processes read. */
struct weft__shared_memory {
	const char *name;
	size_t bytes;
	int fd; /* for reading; -1: none */
	dev_t device;
	ino_t inode;
};

/* Maps new memory of that name and size for writing, and opens a descriptor for those who read it.
 * NULL if that is impossible. */
void *weft__platform_memory_make(struct weft__shared_memory *memory);

/* Before any of the others, and before the caller registers handlers of fork() that make memory. */
void weft__platform_memory_begin(void);

/* Maps a file for writing, or private memory if `fd` is -1. NULL if that fails, or if forked
 * children would get the mapping, too. */
void *weft__platform_memory_map(int fd, size_t bytes);
void weft__platform_memory_unmap(void *at, size_t bytes);

#define WEFT__DESCRIPTOR_PATH_BYTES 32
/* The path by which a descriptor's file can be opened again, or linked. */
void weft__platform_memory_path(int fd, char ret_path[WEFT__DESCRIPTOR_PATH_BYTES]);

/* In a forked child: closes the descriptor that it has inherited. False if that was not open: the
 * program has closed it, and may use its number for something else. */
bool weft__platform_memory_forget(struct weft__shared_memory *memory);

/* Without a filter of system calls that came after the first of these: a forked child may make
 * memory of its own. */
bool weft__platform_memory_may_replace(void);

/* ---- attach.c ---- */

/* False if the environment forbids the page, or we have more rights than our caller. */
bool weft__platform_attach_is_wanted(void);

/* Makes the page for requests of other processes. Its level, or NULL if there is no page. */
const uint8_t *weft__platform_attach_offer(void);

/* Puts the counters of a program that records from its start on beside its ring. */
void weft__platform_attach_show_counters(void);

struct weft__attach_request {
	uint32_t number;
	uint64_t ring_bytes; /* 0: depends on the free room */
};

/* True if there is a request for this process. */
bool weft__platform_attach_is_for_us(void);

/* Copies that request. False if there is none, or if it is too old. */
bool weft__platform_attach_take(struct weft__attach_request *ret_request);

/* Answers it: the run directory, or "" and the reason why nothing is recorded. */
void weft__platform_attach_answer(uint32_t number, const char *directory, const char *reason);

/* ---- region.c ---- */

struct weft_abi_counters;

/* Finds the folder of an agent, at the program's start. */
void weft__platform_region_find(void);

/* Fills the header of memory for counters but its name; others may read it then. */
void weft__platform_region_begin(struct weft_abi_counters *counters);

struct weft_abi_metrics;
void weft__platform_region_begin_metrics(struct weft_abi_metrics *metrics);

/* Makes a file of that name for this process's counters, begins it, and maps it. NULL: there is no
 * agent, or it takes no file of ours. `beside` is the path for a header beside the ring; NULL: this
 * process has no ring in a run directory. */
struct weft_abi_counters *weft__platform_region_make(const uint8_t region[16]);
struct weft_abi_metrics *weft__platform_region_make_metrics(
	const uint8_t region[16], const char *beside);

/* Gives the file of that name, which is this process's, its second name, and makes the header
 * beside the ring. */
void weft__platform_region_keep(const uint8_t region[16], const char *beside);

/* A new file of that path and size, mapped; it is zero. NULL if that is impossible. */
void *weft__platform_region_make_at(const char *path, size_t bytes);

/* ---- metrics.c ---- */

/* Called when a forked child has made its ring: its metrics may be older. */
void weft__platform_metrics_keep(void);

/* ---- run.c ---- */

/* The longest name of a run directory, with a slash and a NUL at its end. */
#define WEFT__RUN_BYTES 1024

/* Makes a run directory by this process's own rules; its name ends in a slash. NULL, or the reason
 * why there is none. */
const char *weft__platform_run_make(char ret_directory[WEFT__RUN_BYTES]);

/* ---- children.c ---- */

/* Keeps children that are forked from now on out of a ring that was mapped at a page's start. NULL:
 * there is none any more. */
void weft__platform_children_keep_off(void *buffer, size_t size);

/* Called in a child: leaves for its parent why it is not recorded, an entry of `refused`. */
void weft__platform_children_refuse(uint64_t entry);

struct weft_abi_buffer;
/* Copies into the header what children have left. */
void weft__platform_children_collect(struct weft_abi_buffer *header);

/* ---- ring.c, total.c, sigbus.c ---- */

struct weft__ring {
	const char *path;
	uint64_t bytes;
	bool is_guarded; /* survives the loss of its pages; `path` must then stay valid */
};

/* The steps at which making a ring may fail. */
#define WEFT__STEP_CREATE   "create"
#define WEFT__STEP_ALLOCATE "allocate"
#define WEFT__STEP_MAP      "map"
#define WEFT__STEP_START    "start"

/* Creates the file, maps it and starts recording into it. 0, or an errno; `ret_step` names the
 * failed step. After a failure nothing remains. */
int weft__platform_ring_create(const struct weft__ring *ring, const char **ret_step);

/* Reserves room for a ring within the run's --total; false if there is none. The directory ends in
 * a slash. */
bool weft__platform_total_take(const char *directory, uint64_t bytes);

/* The room that is left within the run's --total; UINT64_MAX without one. */
uint64_t weft__platform_total_left(const char *directory);

/* The size for a ring in the run directory, which depends on the free room there. `is_first`: no
 * other process of the run has made one. */
uint64_t weft__platform_ring_fitting_bytes(const char *directory, bool is_first);

/* The bytes that a ring in the directory can take; UINT64_MAX if that is unknown. */
uint64_t weft__platform_ring_room(const char *directory);

/* Makes recording stop, and the program go on, if the ring loses its pages. `path` must stay valid.
 * NULL: there is no ring any more. */
void weft__platform_sigbus_guard(void *buffer, size_t size, const char *path);

#endif
