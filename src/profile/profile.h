/* SPDX-License-Identifier: ISC
 *
 * Profiles, in this order:
 *
 *     profile.c    samples, and their calls as numbers of frames
 *     trace.c      the waits and samples of a trace as a profile
 *     frame.c      a call as function, file and line
 *     tree.c       the samples as a tree of functions
 *     collapsed.c  its paths as lines
 *     graph.c      its nodes as boxes
 *     draw.c       the boxes drawn
 *     pprof.c      the samples in protobuf
 */
#ifndef WEFT_PROFILE_PROFILE_H
#define WEFT_PROFILE_PROFILE_H

#include <stdbool.h>

#include <weft/error.h>
#include <weft/profile.h>

#include "base/index.h"

/* Numbers of names; 0 is "". */
struct weft__profile_frame {
	uint32_t function, file;
	uint64_t line; /* 0: unknown */
};

/* Frames are `frames[list[first]]` up to `frames[list[first + count - 1]]`, the innermost first. */
struct weft__profile_sample {
	uint64_t weight, count, before; /* before: in the profile that this one is compared with */
	size_t first;
	uint32_t frame_count;
};

struct weft_profile {
	struct weft_profile_options options;
	struct weft_slice *names;           /* each once, and ours */
	struct weft__profile_frame *frames; /* each once */
	struct weft__profile_sample *samples;
	uint32_t *list;
	uint32_t name_count, frame_count, sample_count, list_count;
	size_t name_capacity, frame_capacity, sample_capacity, list_capacity;
	struct weft__index by_name, by_frame;
	uint64_t weight, count;
	bool is_compared;
	double scale; /* from a time before to the same part of this profile's duration */
};

/* The parts of a call: "say_hello (hello.c:12)". Without a file, `line` is 0. */
struct weft__profile_call {
	struct weft_slice function, file;
	uint64_t line;
};

struct weft__profile_call weft__profile_call_of(struct weft_slice call);

/* Takes the first of calls with arrows between, and removes it from them. False if none is left. */
bool weft__profile_next_call(struct weft_slice *calls, struct weft_slice *ret_call);

/* A function below those that called it. Its parent has a lower number. */
struct weft__profile_node {
	uint32_t name, parent;
	uint32_t frame;  /* one of it */
	bool has_frames; /* it has several lines */
	bool has_files;  /* functions of several files have its name */
	uint32_t depth;
	uint32_t first_child, child_count; /* of tree->order */
	uint64_t weight, count, self;
	uint64_t before, self_before;
};

struct weft__profile_tree {
	struct weft__profile_node *nodes; /* 0 is the root, which is no function */
	uint32_t count;
	uint32_t *order; /* the nodes but the root, by parent, the heaviest first */
};

int weft__profile_tree_make(
	const struct weft_profile *profile, struct weft__profile_tree *ret_tree);
void weft__profile_tree_finish(struct weft__profile_tree *tree);

#endif
