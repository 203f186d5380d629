/* SPDX-License-Identifier: ISC
 *
 * One recorder a process, however many copies of this code are in it.
 *
 * A program linked with the static library, its plug-ins with theirs, a preloaded libweft.so: each
 * is a whole recorder. One of them leads, the others follow: they record into its buffer and in its
 * slots, at full speed, because they hold what it holds. The platform finds out who leads.
 *
 *     leader                                  follower
 *     ┌──────────┐   followers, next ───▶    ┌──────────┐
 *     │ live     │   generation, buffer ──▶  │ live     │   told at each start and stop
 *     │ recorder │   ◀─── start, stop        │ recorder │
 *     │ slots    │   ◀─── enter              └──────────┘   asked once a thread and generation
 *     └──────────┘
 */
#ifndef WEFT_RECORD_COPY_H
#define WEFT_RECORD_COPY_H

#include "record/recorder.h"

/* Raised by any change of what copies share: this struct from `next` on, those of recorder.h, how a
 * buffer is written. The two fields before stay for ever. */
#ifndef WEFT__COPY_VERSION
#define WEFT__COPY_VERSION 1
#endif

struct weft__copy {
	uint64_t version;
	struct weft__copy *elected; /* who leads; only the process's first copy is asked */

	struct weft__copy *next; /* of the leader's followers */
	struct weft__recorder *recorder;
	struct weft__live *live;
	/* What followers ask of the leader. */
	int (*start)(void *buffer, size_t size, const struct weft_platform *platform);
	void (*stop)(void);
	struct weft_abi_slot *(*enter)(uint64_t generation, bool for_event);
	uint32_t (*category)(struct weft_abi_buffer *header, const char *name, const char *description);
	int (*set_level)(const char *pattern, enum weft_level level);
	/* What the leader asks of a follower that it has told something. */
	void (*point)(void);
};

/* This one. Hidden, whatever the compiler's options: each copy has its own. */
extern struct weft__copy weft__copy __attribute__((visibility("hidden")));

/* From now on this copy uses the leader's recorder. It has recorded nothing so far, and neither is
 * ever unloaded. */
void weft__copy_follow(struct weft__copy *leader);

/* This copy records nothing, ever. */
void weft__copy_bar(void);

/* After a change of what followers hold. */
void weft__copies_tell(void);

/* What the exported functions of those names do in the copy that leads. */
int weft__start(void *buffer, size_t size, const struct weft_platform *platform);
void weft__stop(void);

#endif
