/* SPDX-License-Identifier: ISC
 *
 * The internals of a follower: the packets that it reads.
 */
#ifndef WEFT_FORMAT_WEFT_FOLLOWED_H
#define WEFT_FORMAT_WEFT_FOLLOWED_H

#include "format/weft/event.h"
#include "format/weft/follow/follower.h"
#include "format/weft/follow/gaps.h"
#include "format/weft/follow/mark.h"
#include "format/weft/packet.h"
#include "format/weft/follow/queue.h"
#include "format/weft/threads.h"
#include "model/span.h"

/* A packet that a follower reads: a position of the ring, where one content follows
 * another; a detached copy; or a packet of a stream. */
struct weft__followed {
	struct weft__cursor cursor;      /* over the copied part of the content */
	struct weft__record_words words; /* of the next event, if has_event */
	uint8_t *copy;                   /* NULL: it is read to its end, or the input itself is read */
	struct weft__account account;
	uint64_t sequence;   /* of the content; 0: none yet */
	uint64_t claimed;    /* the last claim under which the packet was; 0: none */
	uint64_t next_ns;    /* of the next event, or a lower bound of it */
	uint64_t next_ticks; /* from which it was computed */
	uint64_t offset;     /* of the packet in the input */
	weft_task_id task;   /* the thread's current task */
	uint32_t thread;     /* index */
	uint32_t packet;     /* index */
	uint32_t sure_end;   /* offset up to which a look found events: see weft/follow/look.c */
	uint8_t name[WEFT_ABI_NAME_BYTES]; /* of the thread that opened the packet */
	bool is_begun;                     /* the content's header has been read */
	bool is_damaged;                   /* the rest of the content can't be read */
	bool is_waiting;                   /* in the queue */
	bool is_settled; /* it changes no more until it is claimed: weft/follow/look.c */
	bool is_watched; /* in the follower's list of packets that are not settled */
	bool has_event;
	bool follows_skipped; /* the thread's packets before this one were not read */
	bool gives_switch;    /* give a switch to `task` first: earlier events are lost */
};

struct weft__follower {
	struct weft__buffer buffer;
	struct weft__mark mark;
	struct weft__threads threads;
	struct weft__gaps gaps; /* of a saved buffer or a stream */
	struct weft__span span;
	struct weft__event_scratch scratch;
	struct weft_diagnostics own_diagnostics, *diagnostics;
	struct weft_trace_description own_description, *description;
	/* One per packet of the buffer, then others: for detached copies, or for the packets of a
	 * stream that is still arriving. */
	struct weft__followed *followed;
	struct weft__queue queue; /* of the packets with something unread */
	uint32_t *unused;         /* indices of the unused others */
	uint32_t unused_count;
	size_t followed_count; /* also the capacity of `queue` and `unused` */
	uint32_t *watched;     /* packets that may change without a claim */
	uint32_t watched_count;
	uint64_t hand; /* claims at the last look */
	uint64_t mark_ns;
	uint64_t given_ns;    /* no earlier event is given any more */
	uint64_t last_ns;     /* a later time is damaged */
	uint32_t last_values; /* given behind the last event: weft/last_values.c */
	uint32_t budget;      /* contents that this call may still begin */
	bool is_rescanned;    /* the second scan of the last look was made */
	bool has_scanned;     /* there was a look */
	bool has_given;       /* the caller borrows the first packet's event */
	bool is_finished;
	bool is_saved;  /* a packet has one content: a saved buffer, or any stream */
	bool is_stable; /* the bytes cannot change: they are read without a copy */
};

static inline struct weft__followed *weft__format_first_followed(const struct weft__follower *f)
{
	return &f->followed[f->queue.entries[0].followed];
}

/* If the next event of the first packet is in this range of time, it is the next one of all. */
static inline uint64_t weft__format_follower_earliest(
	const struct weft__follower *f, const struct weft__followed *p)
{
	return p->next_ns > f->given_ns ? p->next_ns : f->given_ns;
}

static inline uint64_t weft__format_follower_before(const struct weft__follower *f)
{
	uint64_t before = f->queue.second_ns < f->mark_ns ? f->queue.second_ns : f->mark_ns;
	return f->last_ns < before ? f->last_ns + 1 : before;
}

static inline bool weft__format_followed_is_detached(
	const struct weft__follower *f, const struct weft__followed *p)
{
	return p >= f->followed + f->buffer.packet_count;
}

void weft__format_follower_report(
	struct weft__follower *f, const struct weft__followed *p, uint32_t offset, const char *message);

/* Closes the account of the packet: of the `written` events there, those that were not given are
 * lost. */
void weft__format_follower_settle(
	struct weft__follower *f, struct weft__followed *p, uint64_t written);

void weft__format_followed_enqueue(struct weft__follower *f, struct weft__followed *p);

/* Copies the new part of the content. Returns WEFT_OK, WEFT_AGAIN if there is none, or an error. */
int weft__format_followed_fetch(struct weft__follower *f, struct weft__followed *p);
void weft__format_followed_release(struct weft__followed *p);

/* Sets the packet's thread, from a header or a thread record. 0 or an error. */
int weft__format_followed_find_thread(
	struct weft__follower *f, struct weft__followed *p, const struct weft__thread *thread);

/* Sets new content of the packet; nothing of it is read yet. */
void weft__format_followed_set_content(
	const struct weft__follower *f, struct weft__followed *p, const struct weft_abi_packet *header);

/* The same for the content that the ring has there now. False if there is none. */
bool weft__format_followed_begin(struct weft__follower *f, struct weft__followed *p);

/* True if the packet has anything that was not copied. Then it can be enqueued. */
bool weft__format_followed_has_news(struct weft__follower *f, struct weft__followed *p);

/* The first steps of all followers, once `buffer` is initialized: names and threads, then packets
 * and accounts. 0 or an error; weft__format_follower_destroy() frees what was allocated. */
int weft__format_follower_name(struct weft__follower *f);
int weft__format_follower_init(struct weft__follower *f);

/* Adds unused entries. 0 or WEFT_ERROR_MEMORY. */
int weft__format_follower_add_followed(struct weft__follower *f, size_t count);

/* Finds new content. No event may be borrowed during the call, because another
 * packet may become the first. */
void weft__format_follower_scan(struct weft__follower *f);

/* Gives the next of the values that counters had at the end: WEFT_OK, or WEFT_END. */
int weft__format_follower_take_last_value(struct weft__follower *f, struct weft_event *event);

/* Ends the borrowing of the event that was given last, and moves its packet on. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__format_follower_pass_given(struct weft__follower *f);

#endif
