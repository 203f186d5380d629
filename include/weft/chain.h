/* SPDX-License-Identifier: ISC
 *
 * Wait chains: why a task makes no progress at a given time. It waits for another task, that one
 * for the next, and so on to a task that waits for none: the chain's end.
 *
 * A chain also has hops that are not waits: from a promise to the task that resolves it later, and
 * from a lock or another resource to its holder. Everything here depends only on a finished model
 * and its index; any number of threads may call at once. Functions named create allocate; the
 * caller destroys their result.
 */
#ifndef WEFT_CHAIN_H
#define WEFT_CHAIN_H

#include <weft/story.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weft_chain_step {
	WEFT_CHAIN_WAITS,     /* `task` waits for `source` */
	WEFT_CHAIN_HELD,      /* `task` is a lock or another resource that `source` holds */
	WEFT_CHAIN_RESOLVED,  /* `task` does not run; `source` resolves it later, at `until` */
	WEFT_CHAIN_SIGNALLED, /* `task` waits for a signal, which `source` sends it at `until` */
	/* `task` is a condition or semaphore that the task before waits for; `source` signals it, or
	 * that task, at `until` */
	WEFT_CHAIN_WOKEN,
	/* `task` is one end of a pipe or connection; `source` writes or reads at the other end */
	WEFT_CHAIN_OTHER_END,
	/* `task` does not run although it could: its thread runs `source`, from `since` to `until` */
	WEFT_CHAIN_THREAD,
	WEFT_CHAIN_RECEIVES, /* `task` waits for a message, and receives it from `source` at `until` */
	/* `task` is a lock that processes share; `source`, of another process, held it at `since` */
	WEFT_CHAIN_ELSEWHERE,
};

/* From `wait.task` to `wait.source`, the next hop's task. */
struct weft_chain_hop {
	enum weft_chain_step step;
	uint32_t edge; /* the resolve, signal or receive that ends the wait, or WEFT_NONE */
	struct weft_story_wait wait;
	bool is_written; /* of WEFT_CHAIN_OTHER_END: `wait.source` writes; else it reads */
	bool is_kept;    /* … has not written, but keeps the end open to which it could */
};

/* The state of the last task; `since`, `until`, `edge` and `first` are members of `end` below. */
enum weft_chain_end {
	WEFT_CHAIN_RUNS, /* the task runs, from `since` to `until` */
	/* it waits for nothing that the trace shows, until it runs at `until`; or it is a resource that
	 * nobody holds */
	WEFT_CHAIN_IDLE,
	WEFT_CHAIN_UNRESOLVED, /* it never ran, and no task resolved it */
	WEFT_CHAIN_OUTSIDE,    /* a resolve or signal ends its wait at `until`, by an unknown task */
	WEFT_CHAIN_LATER,      /* it begins only at `since` */
	WEFT_CHAIN_OVER,       /* it ended at `since`, but still holds what the chain waits for */
	WEFT_CHAIN_CIRCLE,     /* the task is that of hop `first` of the chain */
	WEFT_CHAIN_SENT,       /* at `until` it receives, by `edge`, a message that is sent already */
	WEFT_CHAIN_STOPPED,    /* nobody resolved it: `edge` cancels it, or it times out, at `until` */
};

struct weft_chain {
	uint64_t at;    /* ns */
	uint32_t count; /* of hops; 0 if the task waits for nothing */
	uint32_t kept;  /* number of hops in `hops`: the first ones, then the chain's last one */
	const struct weft_chain_hop *hops;
	struct {
		enum weft_chain_end type;
		uint32_t task;
		uint64_t since, until; /* ns; `until` UINT64_MAX: not in this trace */
		uint32_t first; /* of WEFT_CHAIN_CIRCLE: a hop's number, from 0; `kept` or more: not kept */
		uint32_t edge;  /* of WEFT_CHAIN_UNRESOLVED and _IDLE: the last signal before the wait, or
						   WEFT_NONE; of WEFT_CHAIN_SENT: the receive; of _STOPPED: the resolve */
		/* The number of signals to a condition during the wait for it that did not end the wait. If
		 * it is not 0, `edge` is the last of these signals. */
		uint32_t signals;
		/* UNRESOLVED and _IDLE: the last signal before the wait if the recorder has
		 * only remembered it, and `edge` is WEFT_NONE. UINT64_MAX: there is none. */
		uint64_t remembered; /* ns */
		uint32_t signaller;  /* task, or WEFT_NONE */
	} end;
};

/* A `limit` for callers that have no reason for another one. */
#define WEFT_CHAIN_HOPS 1000

/* Follows the chain from `task` at a time; a time after the trace's end, such as WEFT_STORY_WHOLE,
 * stands for the end. Keeps at most `limit` hops, one at least. Needs the index. 0 or
 * WEFT_ERROR_MEMORY. */
int weft_chain_create(const struct weft_story *story, uint32_t task, uint64_t at_ns, uint32_t limit,
	struct weft_chain **ret_chain);
void weft_chain_destroy(struct weft_chain *chain);

/* Sentences, written as by the functions of story.h:
 * "bind 20 waits for lock 7 'db' since 3 ms, until 9 ms." */
size_t weft_chain_hop_sentence(
	const struct weft_story *story, const struct weft_chain_hop *hop, char *buffer, size_t size);
/* "Nobody signalled condition 10 'ready' after the wait began; the last signal was 11 us before."
 * "Nobody resolved task 30; condition 10 'answer' was signalled 11 us before the wait began." */
size_t weft_chain_end_sentence(
	const struct weft_story *story, const struct weft_chain *chain, char *buffer, size_t size);

/* Finds a time at which `task` waits for another task: in its longest wait between two times, in ns
 * (0 and UINT64_MAX: in its whole life). False if it has no such wait. */
bool weft_chain_time(
	const struct weft_story *story, uint32_t task, uint64_t from, uint64_t to, uint64_t *ret_ns);

/* True if the chain from `task` at a time has a hop. */
bool weft_chain_waits(const struct weft_story *story, uint32_t task, uint64_t at_ns);

/* The task for which the program waited during an idle gap: of the tasks that were alive all
 * through the gap, the first to end, if it ends soon after the gap; else the task that runs next.
 * WEFT_NONE if there is none. */
uint32_t weft_chain_awaited(const struct weft_story *story, uint64_t start_ns, uint64_t end_ns);

/* ---- All that wait ---- */

/* The tasks whose chains have the same end; or more than 3 ends that are alike, that is, of one
 * kind and with labels that are equal except for their digits. */
struct weft_waiters {
	/* The task at the end; a resource that is held, if its holder waits for nothing; the lowest of
	 * a circle. If there are several ends, the one for which `first` waits. */
	uint32_t end;
	uint32_t ends;  /* 1 in most cases */
	uint32_t count; /* of tasks that wait */
	uint32_t first; /* the one that has waited longest, … */
	uint64_t since; /* … since then, ns */
	bool is_circle;
};

struct weft_waiting {
	uint64_t at; /* ns */
	uint32_t count;
	uint32_t tasks;                  /* number of tasks that wait, in all */
	const struct weft_waiters *list; /* those with the most tasks first */
};

/* Finds all tasks that wait at a time; WEFT_STORY_WHOLE: at the end of the trace. 0 or
 * WEFT_ERROR_MEMORY. */
int weft_waiting_create(
	const struct weft_story *story, uint64_t at_ns, struct weft_waiting **ret_waiting);
void weft_waiting_destroy(struct weft_waiting *waiting);

/* A thread at a time. */
struct weft_thread_state {
	/* The task that runs on it; if none does, the thread's own task, unless that or the program's
	 * record has ended. WEFT_NONE: neither is known. */
	uint32_t task;
	uint64_t since; /* ns: since then the task runs without a pause, or the thread's own does not */
	bool is_running;
};

/* Finds it for all threads at a time; WEFT_STORY_WHOLE: at the end of the trace. `ret_list` has
 * room for the model's thread_count. */
void weft_thread_states(
	const struct weft_model *model, uint64_t at_ns, struct weft_thread_state *ret_list);

/* "41 tasks wait for lock 7 'db', held by task 5 'worker' since 30 ms." */
size_t weft_waiters_sentence(const struct weft_story *story, const struct weft_waiting *waiting,
	const struct weft_waiters *waiters, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
