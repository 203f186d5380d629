/* SPDX-License-Identifier: ISC
 *
 * The state of tasks, threads and counters after the events so far: the only implementation of the
 * rules of docs/model.md. A state takes facts in the order of time, keeps only what is true now,
 * and calls a listener for each change. The model's builder stores the changes as history, a cut
 * keeps what a rundown needs, and triggers measure how long tasks wait and run.
 *
 *     state.c     the meaning of each event: one switch over the types
 *     tasks.c     the last task of a chain of becomes, the forest of creations
 *     running.c   the running task of each thread; bands
 *     resume.c    whether a task that runs again was woken
 *     spans.c     the open spans of each task and thread
 *     counters.c  the value of each counter
 *     messages.c  messages of which only one side is known so far
 *     forget.c    forgets tasks that can no longer matter
 *
 * The caller owns a state and may read all members; only the functions below change them.
 */
#ifndef WEFT_MODEL_STATE_H
#define WEFT_MODEL_STATE_H

#include <string.h>

#include <weft/error.h>
#include <weft/model.h>

#include "base/index.h"
#include "model/facts.h"
#include "model/messages.h"
#include "model/span.h"

/* Flags that only the state has. Its column of flags also has RESOLVED, FAILED, STOPPED, EXPECTED,
 * CREATED and FROM_RUNDOWN of enum weft_task_flags. */
enum {
	WEFT__TASK_WAITS = 1 << 3, /* it has not been woken, read or ended since its try_read */
	WEFT__TASK_ASKED = 1 << 5, /* its latest act is the try_read of `asked` */
};

struct weft__state_tasks {
	uint32_t count;
	size_t capacity;
	uint32_t *root;    /* towards the root of its tree of creation; itself if it is one */
	uint32_t *forward; /* towards the last of the chain of becomes; itself if it became nothing */
	uint32_t *asked;   /* the source of its latest try_read, as it was then */
	uint32_t *ran_on;  /* the thread on which it ran last, or WEFT_NONE */
#define TASK_COLUMN(name, type, first) type *name;
#include <weft/task_columns.def>
#undef TASK_COLUMN
};

/* Values of `running` for a thread that runs no known task. */
#define WEFT__RUNS_UNKNOWN (UINT32_MAX - 1) /* before the first event about the thread */
#define WEFT__RUNS_IDLE    UINT32_MAX

struct weft__state_thread {
	uint32_t running; /* task as it was named then, or WEFT__RUNS_… */
	uint32_t reason;  /* reason of an idle period: text, or WEFT_NONE */
	uint64_t since;
	uint32_t interrupted; /* `running` before the idle band or the switch to no task */
	uint32_t interrupted_reason;
	bool in_idle_band;
	bool is_idle_vague; /* a rundown says that it runs nothing: so does a thread that never will */
	bool in_gc_band;
	uint32_t gc_reason;
	uint64_t gc_since;
	uint32_t innermost;      /* of the thread's own spans, or WEFT_NONE */
	uint64_t measured_until; /* time of the latest off_cpu event */
	uint32_t resumed;     /* the task that may have been woken here, see resume.c; or WEFT_NONE */
	uint64_t resumed_at;  /* when that began to run */
	bool resumed_by_band; /* at the end of an idle band that interrupted it */
};

/* A span that has begun. */
struct weft__state_span {
	uint64_t since;
	uint32_t name;   /* text */
	uint32_t outer;  /* the span in which it began, or WEFT_NONE */
	uint32_t depth;  /* the number of spans around it */
	bool is_at_most; /* it will have ended when its end comes */
};

struct weft__state_spans {
	struct weft__state_span *list;
	uint32_t count;
	size_t capacity;
	uint32_t unused;     /* 1 + the first unused element, which are linked by `outer`; or 0 */
	uint32_t *innermost; /* by task, or WEFT_NONE; tasks from `task_count` on have no spans */
	uint32_t task_count;
	size_t task_capacity;
};

/* A longer run of a task is work, even if the trace shows no result of it. */
#define WEFT__GOES_ON_NS 100000

/* A double in the space of an integer, and back. */
static inline double weft__model_real_of(int64_t bits)
{
	double value;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline int64_t weft__model_bits_of(double value)
{
	int64_t bits;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

struct weft__state_counters {
	uint32_t count;
	size_t capacity;
	uint32_t *name; /* text */
	uint32_t *buffer;
	int64_t *value;    /* of a real counter: the bits of a double */
	int64_t *observed; /* the same as the trace's changes alone give it, from 0 on */
	bool *is_real;
	/* When the value was last known, by a set or a total; 0: never. UINT64_MAX: the trace is
	 * a part, and changes before it may be missing. */
	uint64_t *known_ns;
	uint64_t *seen_ns; /* the latest event; 0: none since the value was known */
	bool is_set;       /* the latest event set its counter */
	bool is_rundown;   /* it is no change, but says how much is known of what was before */
	bool begins_at_0;  /* the latest total says so of its counter */
	uint32_t *by_name; /* counter of a text in buffer 0, or WEFT_NONE */
	size_t by_name_count;
	struct weft__index others; /* the counters of other buffers */
};

/* Callbacks for the changes that an event makes, in their order. Where a line says "will", the
 * state is as before the change, else as after it. Any member may be NULL. An error ends the
 * processing of the event, and weft__model_state_take returns it. */
struct weft__listener {
	/* `task`, the next number, will get a row. */
	int (*mention)(void *context, uint32_t task);
	int (*edge)(void *context, enum weft_edge_type type, uint32_t from, uint32_t to);
	/* A read completes the latest act of `task`, which was a try_read: that edge is dropped. */
	void (*answer)(void *context, uint32_t task);
	/* `task` begins to wait (wait); it will no longer wait, and has not since `woken_ns` (wake). */
	void (*wait)(void *context, uint32_t task);
	void (*wake)(void *context, uint32_t task, uint64_t woken_ns);
	/* `task` takes the resource, or gives it back; see holds.h. */
	int (*take)(void *context, uint32_t task, uint32_t resource);
	void (*give)(void *context, uint32_t task, uint32_t resource);
	/* `task` will have ended. `becomes` is the task that it will have become, or WEFT_NONE. */
	void (*end)(void *context, uint32_t task, uint32_t becomes);
	/* `task` is alive. `is_new`: no create or alive event was about it; `fact` may have its age. */
	int (*alive)(void *context, uint32_t task, bool is_new, const struct weft__fact *fact);
	/* A label, remark or change of a counter. `task` may be WEFT_NONE. */
	int (*note)(
		void *context, enum weft_note_type type, uint32_t task, uint32_t text, int64_t value);
	/* The task is about to wait in these calls. */
	int (*stack)(void *context, uint32_t task, uint32_t text);
	/* An event set or changed the value of `counter`, whose number may be new. */
	int (*sample)(void *context, uint32_t counter, uint32_t task);
	/* The program has said what the value of `counter` is, whose number may be new. */
	int (*total)(void *context, uint32_t counter);
	/* The period of the thread that began at its `since` ends now. */
	int (*period)(void *context, uint32_t thread);
	/* A new period of the thread begins now: see its `running`. */
	int (*run)(void *context, uint32_t thread);
	int (*gc)(void *context, uint32_t thread, uint64_t start, uint32_t reason);
	/* From `start` until now `task` ran on the thread, which had no processor for `ns` of it. */
	int (*off_cpu)(void *context, uint32_t task, uint32_t thread, uint64_t start, uint64_t ns);
	/* A span of `task`, or of `thread` if that is WEFT_NONE, ends now. */
	int (*span)(void *context, uint32_t task, uint32_t thread, const struct weft__state_span *span);
	/* A span of a track, with given times that lie between the trace's start and now. */
	int (*given)(void *context, uint32_t track, uint64_t begin, uint64_t end, uint32_t name);
	/* The event breaks a rule; `message` says which one and how the event was treated. */
	void (*damage)(void *context, uint64_t offset, const char *message);
};

struct weft__state {
	uint64_t start, now; /* times of the first and the latest event */
	uint64_t sent;       /* when the message was sent whose edge the listener is told */
	uint64_t events;     /* but for totals, which are none */
	bool has_begun;
	struct weft__span span;
	struct weft__state_tasks tasks;
	struct weft__state_thread *threads;
	uint32_t thread_count;
	struct weft__state_counters counters;
	struct weft__state_spans spans;
	struct weft__messages messages;
	const struct weft__listener *listener;
	void *context; /* the listener's */
};

void weft__model_state_init(
	struct weft__state *state, const struct weft__listener *listener, void *context);
void weft__model_state_finish(struct weft__state *state);

/* The next fact in the order of time. 0, WEFT_ERROR_MEMORY or _LIMIT, or the listener's error. */
int weft__model_state_take(struct weft__state *state, const struct weft__fact *fact);

/* Ends the period of every thread, and its GC band: at the thread's time in `ends`, or now if that
 * is 0 or there is none. `now` is then the latest of these times. */
int weft__model_state_close(struct weft__state *state, const uint64_t *ends, uint32_t end_count);

/* True if the task waits, as far as the events so far show. */
bool weft__model_state_waits(const struct weft__state *state, uint32_t task);

/* Says that time has passed without events: tasks that have run for long since are awake. */
void weft__model_state_pass(struct weft__state *state, uint64_t now_ns);

/* The last task of the chain of becomes, for a task that became another. */
uint32_t weft__model_state_forward_far(struct weft__state *state, uint32_t task);

/* The last task of the chain of becomes. Inlined, because most tasks become nothing. */
static inline uint32_t weft__model_state_forward(struct weft__state *state, uint32_t task)
{
	return state->tasks.forward[task] == task ? task : weft__model_state_forward_far(state, task);
}

/* Forgets tasks that have ended, unless they became one that has not, and tasks that were only
 * mentioned. `*ret_new_index`, which the caller frees, has each task's new number or WEFT_NONE;
 * pass it to weft__model_identities_move and renumber the listener's columns by it. If a forgotten
 * id is named again, that is a new task. 0 or WEFT_ERROR_MEMORY. */
int weft__model_state_forget(struct weft__state *state, uint32_t **ret_new_index);

/* The innermost open span of a task, or WEFT_NONE. Tasks that have ended may have one, too. */
uint32_t weft__model_state_innermost(const struct weft__state *state, uint32_t task);

/* ---- Between the files of the state ---- */

/* Adds a row for each task up to this one. */
int weft__model_state_mention(struct weft__state *state, uint32_t task);
/* Makes `parent` (or WEFT_NONE) the creator of `child`, which is a root of the forest. False if
 * `child` is an ancestor of `parent`. */
bool weft__model_state_attach(struct weft__state *state, uint32_t child, uint32_t parent);
/* Ends the wait of a task because it is woken, reads or ends. */
void weft__model_state_wake(struct weft__state *state, uint32_t task);
/* The task reads, resolves or signals another. */
void weft__model_state_act(struct weft__state *state, uint32_t task);
/* `task` (or WEFT__RUNS_…) has begun to run: because an idle band that interrupted it is over, or
 * for another reason. */
void weft__model_state_resume(
	struct weft__state *state, uint32_t thread, uint32_t task, bool is_interrupted);
/* No event will follow: clears WEFT__TASK_WAITS of tasks that do not wait. */
void weft__model_state_settle(struct weft__state *state);
/* The task, which perhaps runs, becomes `target`. */
void weft__model_state_inherit_run(struct weft__state *state, uint32_t task, uint32_t target);
/* The thread's period will end; then `next` will have the thread. */
void weft__model_state_leave(struct weft__state *state, uint32_t thread, uint32_t next);

/* From now on `running` (a forwarded task, or WEFT__RUNS_…) has the fact's thread. */
int weft__model_state_run(
	struct weft__state *state, const struct weft__fact *fact, uint32_t running);
int weft__model_state_band(struct weft__state *state, const struct weft__fact *fact);
int weft__model_state_gc(struct weft__state *state, const struct weft__fact *fact);
int weft__model_state_off_cpu(
	struct weft__state *state, uint32_t task, const struct weft__fact *fact);

int weft__model_state_reserve_thread(struct weft__state *state, uint32_t thread);

/* Begins and ends a span of the task, or of the fact's thread if that is WEFT_NONE. */
int weft__model_state_begin(
	struct weft__state *state, uint32_t task, const struct weft__fact *fact);
int weft__model_state_end(
	struct weft__state *state, uint32_t task, const struct weft__fact *fact, bool *ret_had_begun);
/* The task becomes `target`: its open spans end, and go on as spans of `target`. */
int weft__model_state_move_spans(struct weft__state *state, uint32_t task, uint32_t target);
/* Renumbers tasks, of which `kept` are left, and drops the spans of the others. */
void weft__model_state_forget_spans(
	struct weft__state *state, const uint32_t *new_index, uint32_t kept);

/* Finds the counter of a name in a buffer; the first call makes one. */
int weft__model_state_counter(
	struct weft__state *state, uint32_t buffer, uint32_t name, uint32_t *ret_counter);
void weft__model_state_count(
	struct weft__state *state, uint32_t counter, const struct weft__fact *fact);

/* The same counter; WEFT_NONE if there is none yet. */
uint32_t weft__model_state_known_counter(
	const struct weft__state *state, uint32_t buffer, uint32_t name);
/* True if the observed value is at a limit, which the program's number may have passed. */
bool weft__model_state_is_at_limit(const struct weft__state *state, uint32_t counter);
/* The program says what the value is: it is that from now on. */
void weft__model_state_correct(
	struct weft__state *state, uint32_t counter, const struct weft__fact *fact);

/* The value of a counter, and what the trace's changes alone give for it. */
struct weft_number weft__model_state_number(const struct weft__state *state, uint32_t counter);
struct weft_number weft__model_state_observed(const struct weft__state *state, uint32_t counter);

#endif
