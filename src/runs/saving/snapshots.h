/* SPDX-License-Identifier: ISC
 *
 * Takes snapshots of the processes of a run: when a program requests one, and when a rule fires.
 * Also notes in the rings when processes end. One thread at a time.
 */
#ifndef WEFT_RUNS_SNAPSHOTS_H
#define WEFT_RUNS_SNAPSHOTS_H

#include <sys/types.h>

#include <weft/buffer.h>
#include <weft/follow.h>
#include <weft/trigger.h>

struct weft__runs_early;
struct weft__runs_ring;
struct weft__runs_snapshots;

/* Samples of what the processes of a run execute, which are added to their rings. */
struct weft__runs_sampler {
	struct weft_buffer_sampling sampling; /* as it is now, without functions and samples */
	/* Adds those of a process so far. Called before a snapshot of it, which has them then; and when
	 * it has ended (`has_ended`), again and again until the result is true: all were added. NULL:
	 * this run has no samples. */
	bool (*add)(
		void *context, struct weft__runs_snapshots *snapshots, pid_t process, bool has_ended);
	void *context;
	bool awaits_ends; /* a ring is watched until all were added: it is streamed */
};

struct weft__runs_snapshot_options {
	const char *directory; /* the run directory, with a slash at its end */
	const char
		*output; /* output of the run's traces (see runs/saving/name.h): snapshots go beside them */
	pid_t program;                  /* the process that was started or attached to */
	unsigned limit;                 /* number of snapshots; 0: only ends are noted */
	struct weft__runs_early *early; /* saves rings of processes that have ended; NULL: none */
	const char *const *rules;       /* each takes a snapshot when it fires */
	unsigned rule_count;
	/* Called at each look, also the last one of a process; NULL: nothing else is looked at. */
	void (*looks)(void *context, struct weft__runs_snapshots *snapshots);
	void *context;
	const struct weft__runs_sampler *sampler; /* NULL: none */
};

/* NULL if memory is short. The options are not copied: they must stay valid until the end. */
struct weft__runs_snapshots *weft__runs_snapshots_create(
	const struct weft__runs_snapshot_options *options);

/* Examines all processes once. Call it every WEFT__RUNS_LOOK_NS. */
void weft__runs_snapshots_look(struct weft__runs_snapshots *snapshots);

/* The rings of processes that run, by number; NULL: there are no more. */
const struct weft__runs_ring *weft__runs_snapshots_ring(
	const struct weft__runs_snapshots *snapshots, size_t number);

/* Adds samples to the rings of a process that records; samples are in the order of time. False:
 * there is no ring yet. */
bool weft__runs_snapshots_add_samples(struct weft__runs_snapshots *snapshots, pid_t process,
	const struct weft_buffer_sampling *samples);

/* True for a second after a snapshot, in which no other one is taken; unless there were as many as
 * there may be. */
bool weft__runs_snapshots_is_quiet(const struct weft__runs_snapshots *snapshots);

/* Takes a snapshot of a process, with the reason inside. */
void weft__runs_snapshots_take(
	struct weft__runs_snapshots *snapshots, pid_t pid, const struct weft_trace_alert *alert);

/* Answers the last requests, and reports how many were not answered. NULL is allowed. */
void weft__runs_snapshots_destroy(struct weft__runs_snapshots *snapshots);

/* The interval is short, because a program that has requested a snapshot does not overwrite its old
 * packets until they are copied. */
#define WEFT__RUNS_LOOK_NS 20000000

/* Passes the available events, at most `most`, and the time to the rules. Returns what the last
 * weft_follow_next returned, so WEFT_OK if there may be more events; or WEFT_ERROR_MEMORY. */
int weft__runs_follow_rules(
	struct weft_triggers *triggers, struct weft_follow *follow, unsigned most);

#endif
