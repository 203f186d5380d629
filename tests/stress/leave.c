/* SPDX-License-Identifier: ISC
 *
 * Jumps out of the recorder after each of its stores in turn, as a signal handler that never
 * returns does; and once more in the middle of the repair that follows. Afterwards the events found
 * and lost must add up exactly to those written.
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/decoder.h>
#include <weft/weft.h>

#include "abi/packet_abi.h"
#include "leave_hooks.h"
#include "record/recorder.h"

#define SIZE ((size_t)64 << 10) /* the smallest: 11 packets */

enum {
	PACKETS = 11,
	IN_PACKET = (4096 - sizeof(struct weft_abi_packet)) / 16,
	AFTER = 3 * PACKETS * IN_PACKET,
	ROOM_MAX = 3,  /* free words in the packet, in events of 16 bytes */
	IDLE = 14,     /* threads that hold packets */
	AGAIN_MAX = 12 /* steps of a repair, and more */
};

/* Only the thread that may leave counts its steps. */
static _Thread_local unsigned long left_steps;
static jmp_buf away;

void leave_step(void)
{
	if (left_steps > 0 && --left_steps == 0)
		longjmp(away, 1);
}

/* ---- Events ---- */

static uint64_t begun, done;

static void record_small(void)
{
	begun++;
	weft_tag_value("small", (int64_t)begun);
	done++;
}

static void record_large(void)
{
	begun++;
	weft_mark("large", "a", 1, "b", 2, "c", 3);
	done++;
}

static void record_moment(void)
{
	weft_moment_begin();
	record_small();
	record_large();
	weft_moment_end();
}

static void request_snapshot(void)
{
	begun++;
	weft_snapshot_request("leave");
	done++;
}

static void record_small_ones(uint64_t count)
{
	while (count-- > 0)
		record_small();
}

/* ---- Threads that hold a packet each, and do nothing ---- */

static struct idle {
	pthread_t id;
	sem_t has_begun, may_end;
} idle[IDLE];

static void *be_idle(void *argument)
{
	struct idle *self = argument;
	weft_tag("idle");
	sem_post(&self->has_begun);
	sem_wait(&self->may_end);
	return NULL;
}

static void start_idle(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		sem_init(&idle[i].has_begun, 0, 0);
		sem_init(&idle[i].may_end, 0, 0);
		if (pthread_create(&idle[i].id, NULL, be_idle, &idle[i]))
			abort();
		sem_wait(&idle[i].has_begun);
	}
	begun += count;
	done += count;
}

static void end_idle(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		sem_post(&idle[i].may_end);
		pthread_join(idle[i].id, NULL);
		sem_destroy(&idle[i].has_begun);
		sem_destroy(&idle[i].may_end);
	}
}

/* ---- One leaving, or two ---- */

struct leaving {
	void (*body)(void);
	unsigned room, idle;
	unsigned long at, again_at; /* 0: not again */
};

/* True if it left. */
static bool leave_at(void (*body)(void), unsigned long step)
{
	if (setjmp(away))
		return true;
	left_steps = step;
	body();
	left_steps = 0;
	return false;
}

/* Records until the next event is the one that finds the guard stuck and repairs it. */
static void come_near_repair(void)
{
	const struct weft_abi_slot *slot = weft__record_self()->slot;
	for (unsigned i = 0; i < WEFT__NESTED_MAX && slot; i++) {
		if (slot->nested % WEFT__NESTED_MAX == WEFT__NESTED_MAX - 1)
			break;
		record_small();
	}
}

static uint64_t count_all(const void *buffer)
{
	struct weft_decoder *decoder;
	struct weft_event event;
	uint64_t count = 0;
	if (weft_decoder_create(&decoder))
		abort();
	weft_decoder_feed_borrowed(decoder, buffer, SIZE);
	weft_decoder_finish(decoder);
	while (weft_decoder_next(decoder, &event) == WEFT_OK)
		count += !event.is_rundown;
	const struct weft_trace_description *trace = weft_decoder_describe(decoder);
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		count += cause == WEFT_LOSS_NAMES_FULL ? 0 : trace->losses[cause];
	if (weft_decoder_diagnostics(decoder)->count) {
		printf("# %s\n", weft_decoder_diagnostics(decoder)->list[0].message);
		count = 0;
	}
	weft_decoder_destroy(decoder);
	return count;
}

/* False after a message if something is wrong. `ret_left`: true if it left at the requested step.
 */
static bool leave(void *buffer, const struct leaving *l, bool *ret_left)
{
	begun = done = 0;
	memset(buffer, 0, SIZE);
	if (weft_start(buffer, SIZE, NULL))
		abort();
	record_small_ones((uint64_t)PACKETS * IN_PACKET - l->room);
	start_idle(l->idle); /* these hold packets, so that claims must take some from them */
	*ret_left = leave_at(l->body, l->at);
	if (*ret_left && l->again_at) {
		come_near_repair();
		*ret_left = leave_at(record_small, l->again_at);
	}
	record_small_ones(WEFT__NESTED_MAX + AFTER);
	end_idle(l->idle);
	weft_stop();
	uint64_t found = count_all(buffer);
	bool is_good = found >= done && found <= begun;
	if (!is_good)
		printf("# room %u, idle %u, step %lu, again %lu: %llu found and lost of %llu to %llu\n",
			l->room, l->idle, l->at, l->again_at, (unsigned long long)found,
			(unsigned long long)done, (unsigned long long)begun);
	return is_good;
}

/* ---- Cases ---- */

static unsigned cases, failures;

static void tap(bool is_good, const char *name, unsigned long steps)
{
	printf("%sok %u - %s\n# %lu steps\n", is_good ? "" : "not ", ++cases, name, steps);
	fflush(stdout);
	failures += !is_good;
}

/* Leaves after each step of the body. */
static void leave_once(void *buffer, const char *name, void (*body)(void), unsigned idle_count)
{
	unsigned long steps = 0;
	bool is_good = true;
	for (unsigned room = 0; room <= ROOM_MAX; room++) {
		struct leaving l = {body, room, idle_count, 1, 0};
		for (bool left = true; left; l.at++, steps++)
			is_good &= leave(buffer, &l, &left);
	}
	tap(is_good && steps > 20, name, steps);
}

static void leave_twice(void *buffer, const char *name, void (*body)(void))
{
	unsigned long steps = 0;
	bool is_good = true;
	struct leaving l = {body, 1, 0, 1, 0};
	for (bool left = true; left; l.at++)
		for (l.again_at = 0; left && l.again_at < AGAIN_MAX; l.again_at++, steps++) {
			bool left_again;
			is_good &= leave(buffer, &l, l.again_at ? &left_again : &left);
			if (l.again_at && !left_again)
				break;
		}
	tap(is_good && steps > 20, name, steps);
}

int main(void)
{
	void *buffer = aligned_alloc(4096, SIZE);
	if (!buffer)
		return 2;
	leave_once(buffer, "a small event is left", record_small, 0);
	leave_once(buffer, "a large event is left", record_large, 0);
	leave_once(buffer, "a moment is left", record_moment, 0);
	leave_once(buffer, "a request for a snapshot is left", request_snapshot, 0);
	leave_once(buffer, "an event is left that takes packets of idle threads", record_large, IDLE);
	leave_twice(buffer, "a large event is left, and its repair", record_large);
	leave_twice(buffer, "a moment is left, and its repair", record_moment);
	printf("1..%u\n", cases);
	free(buffer);
	return failures != 0;
}
