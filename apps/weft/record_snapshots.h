/* SPDX-License-Identifier: ISC
 *
 * `weft record` answers the program's requests for snapshots, and takes them when a rule fires.
 */
#ifndef WEFT_APPS_RECORD_SNAPSHOTS_H
#define WEFT_APPS_RECORD_SNAPSHOTS_H

#include "record.h"

struct record_snapshot_options {
	const char *directory; /* of the rings */
	const char *output;    /* as of the run's trace; NULL: PROG-PID.weft here */
	pid_t program;
	unsigned limit;           /* of snapshots; 0: none */
	const char *const *rules; /* each of which takes one when it fires */
	unsigned rule_count;
};

/* NULL if none are wanted, or without memory. The options stay. */
struct record_snapshots *record_snapshots_create(const struct record_snapshot_options *options);

/* To be called every RECORD_LOOK_NS. */
void record_snapshots_look(struct record_snapshots *snapshots);

/* Answers what was asked last, and says how many requests were passed over. */
void record_snapshots_destroy(struct record_snapshots *snapshots);

/* A request holds the past until we have copied it: the sooner the better. */
#define RECORD_LOOK_NS 20000000

#endif
