/* SPDX-License-Identifier: ISC
 *
 * Processes that record nothing, seen from outside: what each of their threads waits for, and which
 * thread or process could end that wait. Nothing is loaded into them, and nothing is stopped. Their
 * memory and names may be hostile.
 *
 * The order of calls: weft__outside_look() for a process, its stacks by the caller, then
 * weft__outside_resolve(), which may name further processes to look at; at the end
 * weft__outside_find_stuck().
 */
#ifndef WEFT_OUTSIDE_H
#define WEFT_OUTSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "runs/attach/kernel.h"

/* The kinds of waits. */
enum weft__outside_kind {
	WEFT__OUTSIDE_OTHER, /* the kernel's words are all that is known */
	WEFT__OUTSIDE_RUNS,
	WEFT__OUTSIDE_SLEEP,
	WEFT__OUTSIDE_MUTEX,
	WEFT__OUTSIDE_RWLOCK,
	WEFT__OUTSIDE_JOIN,
	WEFT__OUTSIDE_CONDITION,
	WEFT__OUTSIDE_SEMAPHORE,
	WEFT__OUTSIDE_BARRIER,
	WEFT__OUTSIDE_ONCE,  /* the end of an initialisation that another thread has begun */
	WEFT__OUTSIDE_FUTEX, /* a lock of which nothing is known */
	WEFT__OUTSIDE_PEER,  /* the other end of a pipe or connection */
	WEFT__OUTSIDE_CONNECT,
	WEFT__OUTSIDE_FILE_LOCK,
	WEFT__OUTSIDE_CHILD,
	WEFT__OUTSIDE_STOPPED,
	WEFT__OUTSIDE_ENDED, /* a zombie */
};

struct weft__outside_frame {
	uint64_t code, offset; /* its address in memory, and in the module */
	char function[96], module[48], file[48];
	uint32_t line;      /* 0: unknown */
	uint32_t is_system; /* a header of the system, or of a language's library, has it */
};

#define WEFT__OUTSIDE_REGISTERS 17 /* by DWARF's numbers for x86-64 */
#define WEFT__OUTSIDE_ARGUMENT  5  /* the first of a call */
#define WEFT__OUTSIDE_FRAME     6  /* frame pointer */
#define WEFT__OUTSIDE_STACK     7  /* stack pointer */
#define WEFT__OUTSIDE_CODE      16 /* program counter */
#define WEFT__OUTSIDE_LOOKS     3

/* The copy of a stack, from the stack pointer up. */
struct weft__outside_stack {
	uint64_t registers[WEFT__OUTSIDE_REGISTERS];
	bool has_all;      /* else only stack pointer and program counter are known */
	bool has_argument; /* and the first argument of its system call */
	unsigned char *bytes;
	size_t size;
};

/* Where each thread has its own one of a thread-local variable. */
struct weft__outside_local {
	bool is_known;
	uint64_t module; /* the number of its block; 0: it lies by the thread's pointer */
	uint64_t offset; /* there */
};

/* The span of OpenTelemetry for which a thread works, as W3C Trace Context writes its ids. */
struct weft__outside_context {
	bool is_given;
	unsigned char trace[16], span[8];
};

/* A thread that could end a wait; with `tid` 0, any thread of the process. */
struct weft__outside_other {
	pid_t pid, tid;
};

#define WEFT__OUTSIDE_OTHERS  8
#define WEFT__OUTSIDE_FRAMES  64
#define WEFT__OUTSIDE_THREADS 4096

struct weft__outside_thread {
	pid_t tid;
	pid_t inner;       /* its number in its own PID namespace */
	uint64_t switches; /* how often it has given up or lost its processor */
	uint64_t caught;   /* signals for which its process has a handler, as bits */
	struct weft__runs_kernel kernel;
	bool is_readable;                     /* its call is known, or that it runs */
	struct weft__outside_context context; /* if the process shows it */

	/* Copies of its stack: one of a thread that waits, several of one that runs. */
	struct weft__outside_stack stacks[WEFT__OUTSIDE_LOOKS];
	uint32_t stack_count;
	uint64_t looks_ns; /* from the first to the last, at most */
	/* The names of its frames, from the innermost one, by the caller; of a thread that runs, from
	 * the innermost one that all looks have on. */
	struct weft__outside_frame *frames;
	uint32_t frame_count;
	struct weft__outside_frame *script; /* those of Python */
	uint32_t script_count;
	bool has_python_lock; /* of the interpreter */
	bool is_guessed;      /* a register that /proc does not show had to be searched in the stack */
	char object[64];      /* the variable in which the futex is, and the futex's offset in it */
	uint64_t object_offset;

	/* By weft__outside_resolve(). */
	enum weft__outside_kind kind;
	bool has_timeout;  /* or may have (SO_RCVTIMEO is hidden), or one that it waits for has */
	uint64_t address;  /* of the lock, condition or semaphore; 0: it is none */
	char about[512];   /* in words: "waits for the end of thread 7 'a'"; "": nothing is known */
	char outcome[128]; /* a conclusion: "the name server has not answered"; often "" */
	struct weft__outside_other others[WEFT__OUTSIDE_OTHERS];
	uint32_t other_count;
	bool is_left;     /* the lock's holder has ended, or is in the parent: it gives nothing back */
	bool is_complete; /* only `others` could end the wait, as far as one can know */
	bool is_hidden;   /* as far as we may see, that is: other users' descriptors are hidden */
	bool is_stuck;    /* nothing but threads that are stuck could end its wait */
};

struct weft__outside_process {
	pid_t pid;
	pid_t alive; /* its main thread, or another if that one has ended: only this has its memory and
					descriptors then */
	char name[32];
	char title[128]; /* that it has given itself: "postgres: … UPDATE waiting"; "": none */
	uid_t user;
	char service[256];                /* as it tells readers of OpenTelemetry; "": it does not */
	struct weft__outside_local local; /* the context of each thread, if it shows these */
	bool is_kernel, has_ended;        /* a thread of the kernel; a zombie */
	bool is_foreign; /* its program is for another kind of machine, whose calls are not known */
	pid_t parent;
	struct weft__outside_thread *threads;
	uint32_t count;
	uint32_t denied;                         /* threads of which the kernel shows us too little */
	bool is_cut;                             /* it has more threads */
	uint64_t python_runtime, python_version; /* by the caller: addresses of these variables */
	const char *no_frames; /* why its threads have none; NULL: they have, by the caller */
};

struct weft__outside_host {
	struct weft__outside_process *processes;
	uint32_t count;
	uint32_t capacity;
	struct weft__outside_files *files; /* all descriptors of this host; NULL: not needed so far */
};

/* Looks at a process, unless that was done; with `may_stop` it stops threads that run. NULL: it
 * does not exist any more, or memory is short. The result stays valid until the next look. */
struct weft__outside_process *weft__outside_look(
	struct weft__outside_host *outside, pid_t pid, bool may_stop);

struct weft__outside_process *weft__outside_find(
	const struct weft__outside_host *outside, pid_t pid);

/* Reads the frames of Python, given the addresses of its variables _PyRuntime and Py_Version. A
 * thread that runs is looked at several times, with a pause if `may_pause`. */
void weft__outside_read_python(
	struct weft__outside_process *process, uint64_t runtime, uint64_t version, bool may_pause);

/* The name of a system call; NULL: unknown. */
typedef const char *weft__outside_call_name(uint64_t number);

/* Finds out what its threads wait for. */
void weft__outside_resolve(struct weft__outside_host *outside,
	struct weft__outside_process *process, weft__outside_call_name *name_of);

/* Marks the threads that only each other could wake. Each is looked at again: one that has moved
 * since is not. */
void weft__outside_find_stuck(struct weft__outside_host *outside);

/* The thread for which a stuck thread waits first. */
const struct weft__outside_thread *weft__outside_next_stuck(
	const struct weft__outside_host *outside, const struct weft__outside_thread *thread);

/* The number of processes whose descriptors we may not see. */
uint32_t weft__outside_hidden(const struct weft__outside_host *outside);

void weft__outside_finish(struct weft__outside_host *outside);

/* Copies memory of a process. False if any of it cannot be read. */
bool weft__outside_read(pid_t pid, uint64_t address, void *ret_bytes, size_t size);

/* The name of a process or thread: "" if there is none. */
void weft__outside_name(pid_t pid, char ret_name[static 32]);

#endif
