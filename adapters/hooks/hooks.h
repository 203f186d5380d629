/* SPDX-License-Identifier: ISC
 *
 * The base of all adapters: functions that stand in front of a library's and record what the
 * program asks of it.
 *
 * A hook has the name and type of a function of libc or of another library. The dynamic linker
 * finds it first, because LD_PRELOAD names this library. It calls the original, which the program
 * would have called without us, and behaves as the original does: same result, same errno, no
 * allocation, no stdio, no locks. It works in signal handlers, after fork, and before libc's
 * constructors.
 *
 *     HOOK(sem_wait) int sem_wait(sem_t *semaphore)
 *     {
 *         if (!HOOKS_RECORD || NEXT(sem_trywait)(semaphore) == 0)
 *             ...
 *     }
 *
 * A file that records defines WEFT_CATEGORY before it includes this header.
 */
#ifndef WEFT_ADAPTERS_HOOKS_H
#define WEFT_ADAPTERS_HOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <weft/weft.h>

#include "hooks/entry.h"

#define likely(it)   __builtin_expect(!!(it), 1)
#define unlikely(it) __builtin_expect(!!(it), 0)

WEFT_CATEGORY_DECLARE(thread);
WEFT_CATEGORY_DECLARE(io);
WEFT_CATEGORY_DECLARE(uv);
WEFT_CATEGORY_DECLARE(glib);
WEFT_CATEGORY_DECLARE(xen);

/* ---- Originals (next.c) ---- */

/* The function of libc of that name that comes after ours. A library that is not libc may have one
 * of that name, too, which is another function: that is never called (entry.h). The version is
 * glibc's, for functions that it has in several; dlsym may return the oldest one. */
#define NEXT(name)                NEXT_VERSION(name, NULL)
#define NEXT_VERSION(name, which) ((__typeof__(name) *)HOOKS__FIND(#name, which))
#define HOOKS__FIND(name, which)                                                     \
	__extension__({                                                                  \
		HOOKS_ORIGINAL(hooks__original, name, which);                                \
		void *hooks__it = __atomic_load_n(&hooks__original.found, __ATOMIC_RELAXED); \
		if (unlikely(!hooks__it))                                                    \
			hooks__it = weft__hooks_find(&hooks__original);                          \
		hooks__it;                                                                   \
	})

/* A function that a hook stands in front of. `found` is set when this library is loaded, or earlier
 * by a call. */
struct weft__hooks_original {
	const char *name, *version; /* the version may be NULL */
	void *found;
};

/* Defines one. All are in one section, so that a constructor finds them. The alignment is given
 * because compilers may otherwise choose a larger one, which would leave gaps. */
#define HOOKS_ORIGINAL(variable, name, version)                 \
	static struct weft__hooks_original variable __attribute__(( \
		used, section("weft_originals"), aligned(sizeof(void *)))) = {name, version, NULL}

/* Finds the function. Ends the process if there is none: the program could not have been linked.
 * errno stays. */
void *weft__hooks_find(struct weft__hooks_original *original);

/* The function after ours, or NULL: of any library. errno stays. */
void *weft__hooks_find_next(const char *name, const char *version);

/* True if the function is of that library (entry.h), or has the same arguments and result as
 * that's. */
bool weft__hooks_is_of(const void *function, unsigned library);

/* Finds out where those entries lead to that are wanted, and then that all are known. For a
 * constructor. */
void weft__hooks_find_entries(bool (*is_wanted)(const char *name));
void weft__hooks_has_found_entries(void);

/* Says that there is no function of that name, and ends the process. */
_Noreturn void weft__hooks_missing(const char *name);

/* ---- The program's memory (memory.c) ----
 *
 * The rule for hooks: a hook reads no memory of the program by itself, neither what it is given nor
 * what the original has filled. The call may be wrong, and has to fail as it does without the hook.
 * And after the original, another thread or a signal handler may have unmapped what the kernel has
 * just accepted. So the kernel copies what a hook needs to know; a copy that fails is left out of
 * the record. Objects of a library, such as handles of libuv, are read where that library reads
 * them. No hook guesses from an address whose memory it is. */

/* False: a part cannot be read. errno stays. */
bool weft__hooks_copy(void *to, const void *from, size_t size);

/* The same for several parts, which are put one behind the other. */
struct iovec;
bool weft__hooks_copy_parts(void *to, const struct iovec *parts, size_t count);

/* ---- Texts (text.c) ---- */

enum {
	WEFT__HOOKS_NAME_BYTES = 120
};

/* A text that is put together without stdio. What does not fit is left out. */
struct weft__hooks_text {
	size_t size;
	char bytes[WEFT__HOOKS_NAME_BYTES]; /* no NUL ends it */
};

void weft__hooks_append(struct weft__hooks_text *text, const char *more);
void weft__hooks_append_bytes(struct weft__hooks_text *text, const char *more, size_t size);
/* A text of the program, as far as it can be read (memory.c). NULL is empty. */
void weft__hooks_append_copy(struct weft__hooks_text *text, const char *from);
void weft__hooks_append_number(struct weft__hooks_text *text, int64_t number);
/* As "0x4f10" */
void weft__hooks_append_hexadecimal(struct weft__hooks_text *text, uint64_t number);
/* As "20 ms" or "1.5 s": three significant digits. */
void weft__hooks_append_duration(struct weft__hooks_text *text, uint64_t ns);
/* "SIGTERM" */
void weft__hooks_append_signal(struct weft__hooks_text *text, int number);
/* The name of the function or variable that contains `address`, from the symbol table of the file
 * that it came from (symbols.c); "server+0x4f10" if the file has no symbol there. False, and
 * nothing is appended, if it is in no file: on a stack, or allocated. */
bool weft__hooks_append_symbol(struct weft__hooks_text *text, const void *address);

/* Names the task. */
void weft__hooks_label(uint64_t task, const struct weft__hooks_text *text);

/* ---- Rundowns (rundown.c) ---- */

/* A task as a rundown describes it. */
struct weft__hooks_alive {
	uint64_t task;
	uint64_t created_ns; /* weft__hooks_now_ns() */
	const struct weft_category *category;
	uint16_t kind;
	char label[WEFT__HOOKS_NAME_BYTES];
};

/* A part records the living tasks of an adapter by weft__hooks_rundown_task, and returns how many
 * these are. It is called while recording, by any thread, but never by two at a time. For
 * constructors. */
void weft__hooks_rundown_add(unsigned (*part)(void));
void weft__hooks_rundown_task(const struct weft__hooks_alive *it, uint64_t waits_for);

/* Creates and names a task, and remembers what a rundown needs. `parent`: WEFT_TASK_NONE, or
 * WEFT_TASK_CURRENT for the task that runs. */
#define weft__hooks_create(ret, parent, kind, label) \
	weft__hooks_create_in(&WEFT__OWN_CATEGORY, ret, parent, kind, label)
void weft__hooks_create_in(const struct weft_category *category, struct weft__hooks_alive *ret,
	uint64_t parent, uint16_t kind, const struct weft__hooks_text *label);
/* The same, but the task gets its label later. */
#define weft__hooks_create_unnamed(ret, parent, kind, label) \
	weft__hooks_create_unnamed_in(&WEFT__OWN_CATEGORY, ret, parent, kind, label)
void weft__hooks_create_unnamed_in(const struct weft_category *category,
	struct weft__hooks_alive *ret, uint64_t parent, uint16_t kind,
	const struct weft__hooks_text *label);

/* The monotonic clock. */
uint64_t weft__hooks_now_ns(void);

/* weft__hooks_end calls it. */
void weft__hooks_count_recording(void);

/* ---- The calling thread (thread.c) ---- */

struct weft__hooks_thread {
	uint64_t task;          /* the thread's own task; valid in the process `epoch` */
	uint32_t epoch;         /* of the process that made `task`; 0: none */
	uint32_t number;        /* gettid; valid with `task` */
	uint32_t unnamed_epoch; /* of the process in which `task` has no label yet; else 0 */
	/* Where on the stack, or 0 (inside.c): a hook is recording, and what that calls must not be
	 * recorded; and the thread is in an original that blocks, or in a signal handler that
	 * interrupted it. */
	uintptr_t inside, waiting;
	void (*leave_wait)(void); /* ends the record of that wait, which a jump has left */
};

extern __thread struct weft__hooks_thread weft__hooks_thread
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* True if this file's category is recorded, and the call does not come from a hook that records. */
#define HOOKS_RECORD                            \
	(unlikely(weft_enabled(WEFT_LEVEL_INFO)) && \
		(likely(!weft__hooks_thread.inside) ||  \
			weft__hooks_may_record((uintptr_t)__builtin_dwarf_cfa())))

/* For the part of a function that calls a library: the library's calls are not recorded. Any call
 * from here is further down the stack than this place. */
#define HOOKS_HERE ((uintptr_t)__builtin_dwarf_cfa() - 1)

/* ---- Jumps (inside.c) ----
 *
 * siglongjmp out of a signal handler may leave a hook, which then does not end what it began. */

/* False: the function at `address` of the stack was called by a hook that records. What a jump has
 * left is ended here. */
bool weft__hooks_may_record(uintptr_t address);

/* A jump is about to go to `address` of the stack; 0: unknown. */
void weft__hooks_jump(uintptr_t address);

/* The thread waits, from the caller's address on, until weft__hooks_waits_no_longer; a jump out of
 * it calls `leave`. */
void weft__hooks_waits(void (*leave)(void));
void weft__hooks_waits_no_longer(void);

/* Begins and ends a part of a hook that records. Calls of the original come outside of such parts,
 * since it may call functions of the program. Returns errno, which weft__hooks_end restores. */
int weft__hooks_begin(void);
void weft__hooks_end(int saved_errno);

/* The process: another number after a fork. 0 never occurs. */
uint32_t weft__hooks_epoch(void);

/* The present number of the thread that had the given number, also if it had it in a process from
 * which this one was forked. */
uint32_t weft__hooks_thread_now(uint32_t thread);

/* True if the number is that of a thread of a process from which this one was forked, and another
 * thread forked: the thread is not in this process. */
bool weft__hooks_was_left_behind(uint32_t thread);

/* Creates and names the task of a thread whose beginning no hook saw. */
void weft__hooks_create_thread(struct weft__hooks_alive *ret, const struct weft__hooks_text *label);

/* The calling thread's own task, of the kind "thread". Made here if no adapter has set it: then the
 * task has the thread's name, and no parent. WEFT_TASK_NONE in a sandbox. Call it while recording.
 */
uint64_t weft__hooks_thread_task(void);

/* Says which task the calling thread is from now on, and lets it run; and that it has ended.
 * Returns the task that it was blocked on, because it was cancelled; else WEFT_TASK_NONE. */
void weft__hooks_thread_begin(const struct weft__hooks_alive *task);
/* The same for a task without a label. When the thread first records something, the task gets the
 * name that the thread has by then, or the label in `task` if that is still the name of its
 * creator. */
void weft__hooks_thread_begin_unnamed(
	const struct weft__hooks_alive *task, const char creators_name[16]);
uint64_t weft__hooks_thread_end(void);

/* False: no thread with that number (gettid) has a task, or has had one. */
bool weft__hooks_may_know_thread(uint32_t thread);

/* How many threads the process has created that have not begun yet, after a change. */
uint32_t weft__hooks_unborn(int32_t change);

/* Names the task of a thread, again if it has a name; `name` has less than 16 bytes. */
void weft__hooks_name_thread(uint64_t task, const char *name);

/* The kernel has another name for the calling thread. That of the main thread is the process's
 * title. */
void weft__hooks_renamed(void);

/* The process ends: threads whose tasks have no label yet get one. */
void weft__hooks_name_threads(void);

/* The own task of the thread with that number (gettid), and what this task is blocked on.
 * WEFT_TASK_NONE: unknown, nothing. */
uint64_t weft__hooks_task_of(uint32_t thread);
uint64_t weft__hooks_blocked_on(uint32_t thread);

/* `waiter` blocks the calling thread on that task; WEFT_TASK_NONE: no longer. `is_own`: the task
 * was made for this wait, and ends with it. */
void weft__hooks_set_blocked(uint64_t waiter, uint64_t source, bool is_own);

/* The task that was made for the call in which the calling thread is blocked, or WEFT_TASK_NONE. */
uint64_t weft__hooks_own_call(void);

/* ---- Waits (wait.c) ---- */

/* A part of a hook in which the thread is blocked in the original. */
struct weft__hooks_wait {
	uint64_t
		waiter; /* the task that ran; WEFT_TASK_NONE: the thread had none, nothing is recorded */
	uint64_t source;
	bool is_own; /* `source` was made for this wait and ends with it */
};

/* The current task waits for `source` in that call, a literal, and the thread is idle. With
 * recording parts around it. `is_own`: of a task that weft__hooks_call_task has made for the wait.
 */
struct weft__hooks_wait weft__hooks_wait_for(uint64_t source, const char *call);
void weft__hooks_wait_begin(
	struct weft__hooks_wait *ret, uint64_t source, bool is_own, const char *call);

/* Makes the task of a call for which no task of this process does anything; WEFT_TASK_NONE if no
 * task runs. Apart from the wait, for hooks whose label is not in the frame that waits. */
#define weft__hooks_call_task(label, kind) \
	weft__hooks_call_task_in(&WEFT__OWN_CATEGORY, label, kind)
uint64_t weft__hooks_call_task_in(
	const struct weft_category *category, const struct weft__hooks_text *label, uint16_t kind);

/* The current task waits for something that no task of this process does: a task is made for it,
 * which ends with the wait. It is a call, or a timer. */
#define weft__hooks_wait_outside(label, kind, call) \
	weft__hooks_wait_outside_in(&WEFT__OWN_CATEGORY, label, kind, call)
struct weft__hooks_wait weft__hooks_wait_outside_in(const struct weft_category *category,
	const struct weft__hooks_text *label, uint16_t kind, const char *call);

/* The current task may be that of a descriptor, which a loop lets run: now the thread's own one
 * goes on. For calls that handlers in loops do not make. `function`, which does it, is the adapter
 * io's.
 */
void weft__hooks_leave_loop(void);
void weft__hooks_offer_leave_loop(void (*function)(void));

/* The wait is over, and the task runs again: it reads the source, or acquires it. */
void weft__hooks_wait_got(const struct weft__hooks_wait *wait);
void weft__hooks_wait_acquired(const struct weft__hooks_wait *wait);

/* The wait is over without a result: its time was up, or it was interrupted. */
void weft__hooks_wait_ended(const struct weft__hooks_wait *wait);

/* ---- Calls that took long (blocked.c) ---- */

enum {
	WEFT__HOOKS_LONG_NS = 1000000 /* calls that take less are not worth an event */
};

/* The time since `began`, a value of weft_now. 0 if it was certainly short. */
uint64_t weft__hooks_ns_since(uint64_t began);

/* Records a span of that name until now, on the track "NAME blocked" of the calling thread. */
void weft__hooks_record_blocked(struct weft__hooks_text *name, uint64_t began);

/* ---- Processes that wait for each other (process.c) ---- */

/* Messages, by the number that their two sides know. */
enum weft__hooks_channel {
	WEFT__HOOKS_BEGINS = 1, /* the pid of a child; sent by its parent */
	WEFT__HOOKS_EXECS,      /* the pid; sent by the program that called exec */
	WEFT__HOOKS_EXITS,      /* the pid; sent by the process that ends */
	/* The parent's pid, while libc makes a child whose pid it does not tell */
	WEFT__HOOKS_CHILD_BEGINS,
	WEFT__HOOKS_CHILD_EXITS,
	WEFT__HOOKS_PIPE,   /* an inode */
	WEFT__HOOKS_UNIX,   /* the inode of the sender's socket */
	WEFT__HOOKS_TCP,    /* both addresses */
	WEFT__HOOKS_SIGNAL, /* the sender's pid, the target's pid or thread, and the signal */
	WEFT__HOOKS_KILLS,  /* a pid, and the signal that ends that process */
	WEFT__HOOKS_SHARED, /* the position in a file of what processes share to wait for each other */
	WEFT__HOOKS_REMOTE, /* a connection to another host (io/remote.h) */
	WEFT__HOOKS_DATAGRAMS, /* a port of this host; no messages, but tags of the two ends */
	WEFT__HOOKS_QUEUE,     /* a queue of messages or a semaphore of the kernel (io/channel.h) */
};

uint64_t weft__hooks_key(enum weft__hooks_channel channel, uint64_t what);
uint64_t weft__hooks_mix(uint64_t bits);

/* How many children have begun, 1 more in a process of fork: other processes may share what was
 * opened before the last of them. */
extern uint32_t weft__hooks_forks __attribute__((visibility("hidden")));

/* Another child has begun, or begins. Call it while recording. */
void weft__hooks_forked(void);

/* The function is called then, and may record. */
void weft__hooks_offer_forked(void (*function)(void));

/* The first task of the process, or WEFT_TASK_NONE. It receives from what began the process. */
void weft__hooks_process_begins(uint64_t task);
uint64_t weft__hooks_main_task(void);

/* The first task and the process end. Call it while recording. */
void weft__hooks_process_ends(void);

/* Its main thread ends before it. */
void weft__hooks_main_ends(void);
bool weft__hooks_has_ended(void);
/* `part` is called just before. For constructors. */
void weft__hooks_at_end(void (*part)(void));

/* The task gets what the other side of the descriptor wrote, for adapters of libraries that read by
 * themselves. `function`, which does it, is the adapter io's; without it, nothing is recorded. Call
 * it while recording. */
void weft__hooks_received(int fd, uint64_t task);
void weft__hooks_offer_received(void (*function)(int fd, uint64_t task));

/* `function` is called when a process begins to wait for the first time: by then it has usually
 * closed the descriptors that it does not need. */
void weft__hooks_offer_first_wait(void (*function)(void));
void weft__hooks_first_wait(void);
extern bool weft__hooks_has_to_wait __attribute__((visibility("hidden"))); /* it has not yet */

/* ---- Waits for the end of a process (exits.c) ----
 *
 * Call these while recording. */

/* The process of a pidfd; 0: unknown, or it has ended. */
pid_t weft__hooks_process_of(int fd);
/* The same, for what runs aside already. */
pid_t weft__hooks_read_process(int fd);

/* Tags a task as the end of a process, if `process` is above 0. */
void weft__hooks_mark_exit(uint64_t task, pid_t process);

/* The same for that of a child: of any, or of any in a process group. */
void weft__hooks_mark_exits(uint64_t task, bool is_any);

/* A child has begun, or the process has waited for one that has ended. Call these while recording:
 * they tag the first task with the number of children that have ended and for which nobody waits,
 * when these become many, or few again. */
void weft__hooks_child_begins(void);
void weft__hooks_child_reaped(void);
/* The same, however few they are, when the thread is about to wait for a signal. */
void weft__hooks_look_at_children(void);
/* The process ends: the number is written again, if there was one. */
void weft__hooks_children_at_end(void);

/* ---- Signals (signals.c) ----
 *
 * Messages with a note each, such as "SIGTERM from process 17". Call these while recording. */

/* The current task is about to send a signal: to a thread, or to a process if `thread` is 0. */
void weft__hooks_signal_sent(int number, pid_t process, pid_t thread);
/* The same, to a group or to all: these are not joined with what they cause. */
void weft__hooks_signal_to_many(int number);
/* kill(2) has failed: the message before it was not sent. */
void weft__hooks_signal_failed(int error);

/* The task gets a signal. `code` and `sender` are from the siginfo_t. */
void weft__hooks_signal_received(uint64_t task, int number, int code, pid_t sender);

/* The task has found that a signal has ended a child. */
void weft__hooks_killed(uint64_t task, pid_t child, int number);

/* ---- The title of the process (title.c) ---- */

/* The process begins to record; and its main thread is about to wait. */
void weft__hooks_title_begins(void);
void weft__hooks_title_waits(void);

/* Records the title that the program has written over its arguments, or that the kernel's name of
 * the calling thread is. */
void weft__hooks_find_title(void);
void weft__hooks_title_named(void);

/* ---- Children of vfork (process.c) ---- */

/* True if this process has recorded a task, and the caller is no child of vfork. */
bool weft__hooks_is_this_process(void);

/* ---- Sandboxes (confined.c) ---- */

/* Around system calls that a hook makes of its own. False: the process is in a sandbox, which may
 * end it at such a call; leave out the calls and the end. */
bool weft__hooks_system_begin(void);
void weft__hooks_system_end(void);

bool weft__hooks_is_confined(void);

/* ---- Much stack (aside.c) ---- */

/* For a function whose frame is large, such as one with a text: its callers' longest path of calls
 * is another one, so it must not be inlined there. */
#define WEFT__OWN_FRAME __attribute__((noinline))

/* Calls work(of) with all signals blocked, on a stack that is not the program's. A hook may use
 * at most 1 KiB of the program's, with all that it calls (tests/house/stack.py): rare work that
 * needs more goes through here. */
void weft__hooks_aside(void (*work)(void *of), void *of);

/* From here on weft__hooks_system_begin returns false, and all calls that have begun are over. */
void weft__hooks_confine(void);
void weft__hooks_unconfine(void);

/* Turns all adapters off (start.c). */
void weft__hooks_turn_off(void);

/* True if the user has set levels, also that of the category (start.c). */
bool weft__hooks_level_is_given(const char *category);

#endif
