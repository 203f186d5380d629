/* SPDX-License-Identifier: ISC
 *
 * Shared by the files of this folder.
 */
#ifndef WEFT_OUTSIDE_PARTS_H
#define WEFT_OUTSIDE_PARTS_H

#include <stdio.h>

#include "outside/outside.h"

/* Opens a file of /proc/PID, or with `tid` of the thread. */
FILE *weft__outside_open(pid_t pid, pid_t tid, const char *name);

/* The number in a line of /proc/PID/status, such as "Tgid:"; 0: there is none. */
pid_t weft__outside_status(pid_t pid, const char *key);

/* Copies what there is from `address` up, at most `size` bytes. Returns how many there are. */
size_t weft__outside_read_up(pid_t pid, uint64_t address, unsigned char *ret_bytes, size_t size);

/* The number of a thread that has the process's memory and descriptors: its main thread, unless
 * that has ended before others. */
pid_t weft__outside_alive(pid_t pid);

/* Nanoseconds on the monotonic clock. */
uint64_t weft__outside_clock(void);

/* Copies the stacks of threads that run (running.c). */
void weft__outside_look_at_running(struct weft__outside_process *process);

/* True if a thread is still at the call at which it was, and has not run meanwhile. */
bool weft__outside_has_stayed(pid_t pid, const struct weft__outside_thread *thread);

/* Adds to what a thread waits for; a description that is too long is cut. */
void weft__outside_add(struct weft__outside_thread *thread, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds a thread or process that could end the wait; if there are too many, the list is known to be
 * incomplete. */
void weft__outside_add_other(struct weft__outside_thread *thread, pid_t pid, pid_t tid);

/* True if a frame of the thread is in a function whose name contains the text. */
bool weft__outside_is_in(const struct weft__outside_thread *thread, const char *text);

/* ---- Thread-local variables (thread_local.c) ---- */

/* Finds a variable that the file which is mapped at `base` exports. False: it has none of that
 * name, or it cannot be read; nothing is stored then. */
bool weft__outside_find_local(pid_t pid, uint64_t base, bool is_program, const char *name,
	struct weft__outside_local *ret_local);

/* The thread's pointer, by which it finds them; 0: it is not known. */
uint64_t weft__outside_thread_pointer(pid_t pid, pid_t tid);

/* Where the thread of that pointer has the variable; 0: it has not used it. */
uint64_t weft__outside_local_address(
	pid_t pid, uint64_t pointer, const struct weft__outside_local *local);

/* ---- Contexts of OpenTelemetry (contexts.c) ---- */

/* Finds out what the process shows: its service, and where its threads have their contexts. */
void weft__outside_find_contexts(struct weft__outside_process *process);

/* Takes the service from the context at an address. False if there is none. */
bool weft__outside_read_process_context(
	struct weft__outside_process *process, uint64_t address, bool *ret_shows_threads);

/* Reads the context of a thread that is stopped, from its pointer. */
void weft__outside_read_thread_context(pid_t pid, uint64_t pointer,
	const struct weft__outside_local *local, struct weft__outside_context *ret_context);

/* Reads that of a thread that waits. */
void weft__outside_look_at_context(
	const struct weft__outside_process *process, struct weft__outside_thread *thread);

/* ---- Futexes (futex.c) ---- */

void weft__outside_resolve_futex(
	const struct weft__outside_process *process, struct weft__outside_thread *thread);

/* Adds the name of a lock, "queue_lock (0x55…)", or its address alone. `offset`: of the futex in
 * the lock. */
void weft__outside_add_object(struct weft__outside_thread *thread, uint64_t offset);

/* Adds the thread that holds a lock, which was read from the process. */
void weft__outside_add_holder(const struct weft__outside_process *process,
	struct weft__outside_thread *thread, const struct weft__outside_thread *holder);

/* ---- Locks by the functions that wait for them (named.c) ---- */

/* False if it is none of those. */
bool weft__outside_resolve_named(
	const struct weft__outside_process *process, struct weft__outside_thread *thread);

/* Says for which lock of a known program the thread waits, as of a database. */
void weft__outside_name_lock(struct weft__outside_thread *thread);

/* ---- Descriptors (files.c) ---- */

void weft__outside_files_destroy(struct weft__outside_files *files);

/* Describes a descriptor and its other end, and adds the processes there. `is_reader`: the thread
 * waits until something can be read from it. */
void weft__outside_resolve_descriptor(struct weft__outside_host *outside,
	const struct weft__outside_process *process, struct weft__outside_thread *thread, int fd,
	bool is_reader);

/* ---- Objects that are no files (objects.c) ---- */

/* Describes a call that waits for one: a signal, a message, a semaphore, or the file of a name.
 * False if it is another call. */
bool weft__outside_resolve_object(const struct weft__outside_process *process,
	struct weft__outside_thread *thread, const char *name);

/* Describes a descriptor of a process, a timer or signals. False if it is none of these. */
bool weft__outside_resolve_special(
	const struct weft__outside_process *process, struct weft__outside_thread *thread, int fd);

/* Says by what a thread is stopped: a signal, or a debugger. */
void weft__outside_resolve_stop(
	const struct weft__outside_process *process, struct weft__outside_thread *thread);

/* The process of which a descriptor tells the end (pidfd_open); 0: it is none. */
pid_t weft__outside_process_of(pid_t pid, int fd);

/* ---- Locks of files (file_lock.c) ---- */

/* `is_flock`: by flock(2), else by fcntl(2). */
void weft__outside_resolve_file_lock(const struct weft__outside_process *process,
	struct weft__outside_thread *thread, bool is_flock);

/* ---- Children (child.c) ---- */

/* The number of a process in its own namespace. */
pid_t weft__outside_inner(pid_t pid);

/* `wanted` is the child as the process names it; 0: any. */
void weft__outside_resolve_child(
	const struct weft__outside_process *process, struct weft__outside_thread *thread, pid_t wanted);

#endif
