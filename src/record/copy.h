/* SPDX-License-Identifier: ISC
 *
 * One recorder for each process, however many copies of this code the process contains.
 *
 * A program with the static library, plug-ins with theirs, and a preloaded libweft.so each contain
 * a whole recorder. One of these copies leads, the others follow: they record into the leader's
 * buffer and slots, at full speed, because they have the same state. The platform elects the
 * leader.
 *
 *     leader                                  follower
 *     ┌──────────┐   followers, next ───▶    ┌──────────┐
 *     │ live     │   generation, buffer ──▶  │ live     │   updated at each start and stop
 *     │ recorder │   ◀─── start, stop        │ recorder │
 *     │ slots    │   ◀─── enter              └──────────┘   called once per thread and generation
 *     └──────────┘
 */
#ifndef WEFT_RECORD_COPY_H
#define WEFT_RECORD_COPY_H

#include "abi/table_abi.h"
#include "record/recorder.h"

/* Raise it with any change of what copies share: the members of this struct from `next` on, those
 * of recorder.h, the way a buffer is written. The two members before never change. Side tables
 * count, too: each copy computes where they are. */
#ifndef WEFT__COPY_VERSION
#define WEFT__COPY_VERSION (8 + (WEFT_ABI_TABLES_BYTES << 8))
#endif

struct weft__copy {
	uint64_t version;
	struct weft__copy *elected; /* the leading copy; only used in the process's first copy */

	struct weft__copy *next; /* next in the leader's list of followers */
	struct weft__recorder *recorder;
	struct weft__live_page *live;
	/* Functions that followers call in the leader. */
	int (*start)(void *buffer, size_t size, const struct weft_platform *platform);
	void (*stop)(void);
	struct weft_abi_slot *(*enter)(uint64_t generation, bool for_event);
	uint32_t (*category)(
		const struct weft__region *region, const char *name, const char *description);
	int (*set_level)(const char *pattern, enum weft_level level);
	/* A function that the leader calls in a follower after it has passed new state. */
	void (*point)(void);
};

/* This copy's own. Hidden whatever the compiler's options are, so that each copy has its own. */
extern struct weft__copy weft__copy __attribute__((visibility("hidden")));

/* Makes this copy use the leader's recorder. It has recorded nothing so far, and neither copy is
 * ever unloaded. */
void weft__copy_follow(struct weft__copy *leader);

/* Disables this copy for ever. */
void weft__copy_bar(void);

/* Passes the leader's state to all followers, after a change. */
void weft__copies_notify(void);

/* The exported functions of those names, in the leading copy. */
int weft__start(void *buffer, size_t size, const struct weft_platform *platform);
void weft__stop(void);

/* The same with the default platform in memory that is zero. */
int weft__start_zeroed(void *buffer, size_t size);

/* weft__stop() of the leading copy. */
void weft__stop_leader(void);

#endif
