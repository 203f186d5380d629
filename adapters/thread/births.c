/* SPDX-License-Identifier: ISC
 *
 * Fixed tables, because a hook may not allocate.
 *
 *     births     | a thread's record, or free          | ...
 *     joinable   | a birth whose handle is known, NULL | ...   within PROBE of the handle's hash
 *
 * A birth's entry in `joinable` is the right to join: the caller that takes it out ends that claim.
 * Some rights are never used, as that of a thread which was detached before it had begun. Such
 * births are taken again when no other one is free, after their threads have ended.
 */
#include "thread/births.h"

#include <linux/futex.h>

#include "kernel/call.h"

#define BIRTHS 4096
#define PROBE  32
#define ROOM   (2 * BIRTHS)

static struct weft__thread_birth births[BIRTHS];
static struct weft__thread_birth *joinable[ROOM + PROBE];
static uint32_t next; /* where the search for a free birth begins */

enum state {
	CREATING, /* pthread_create has not returned */
	CREATED,  /* the thread exists, and has not begun */
	AWAITED,  /* the same, and another thread waits for its begin */
	BEGUN,
	ENDED,
};

/* ---- The right to join ---- */

static struct weft__thread_birth **slots_of(pthread_t thread)
{
	uint64_t bits = (uint64_t)thread >> 6;
	return &joinable[(bits * UINT64_C(0x9e3779b97f4a7c15) >> 40) % ROOM];
}

/* `*ret_slot`: where it is. */
static struct weft__thread_birth *find_birth(
	pthread_t thread, struct weft__thread_birth ***ret_slot)
{
	struct weft__thread_birth **slots = slots_of(thread);
	for (int i = 0; i < PROBE; i++) {
		struct weft__thread_birth *it = __atomic_load_n(&slots[i], __ATOMIC_ACQUIRE);
		if (!it || !pthread_equal(it->thread, thread))
			continue;
		*ret_slot = &slots[i];
		return it;
	}
	return NULL;
}

struct weft__thread_birth *weft__thread_birth_of(pthread_t thread)
{
	struct weft__thread_birth **slot;
	return find_birth(thread, &slot);
}

static void take_out(struct weft__thread_birth **slot, struct weft__thread_birth *birth)
{
	struct weft__thread_birth *is = birth;
	if (__atomic_compare_exchange_n(slot, &is, NULL, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		weft__thread_birth_let_go(birth);
}

void weft__thread_birth_forget(pthread_t thread)
{
	struct weft__thread_birth **slot, *birth = find_birth(thread, &slot);
	if (birth)
		take_out(slot, birth);
}

/* False: there is no room, so that its join will not be recorded. */
static bool enter(struct weft__thread_birth *birth)
{
	struct weft__thread_birth **slots = slots_of(birth->thread);
	for (int i = 0; i < PROBE; i++) {
		struct weft__thread_birth *none = NULL;
		if (__atomic_compare_exchange_n(
				&slots[i], &none, birth, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

/* ---- Births ---- */

/* Takes the entry if it is free. */
static bool take_birth(struct weft__thread_birth *birth)
{
	uint32_t none = 0;
	if (!__atomic_compare_exchange_n(
			&birth->claims, &none, 2, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&birth->state, CREATING, __ATOMIC_RELAXED);
	return true;
}

/* Only the right to join is left. */
static void give_up_right(struct weft__thread_birth *birth)
{
	if (__atomic_load_n(&birth->state, __ATOMIC_ACQUIRE) != ENDED)
		return;
	struct weft__thread_birth **slots = slots_of(birth->thread);
	for (int i = 0; i < PROBE; i++)
		if (__atomic_load_n(&slots[i], __ATOMIC_ACQUIRE) == birth)
			take_out(&slots[i], birth);
}

struct weft__thread_birth *weft__thread_birth_take(void)
{
	uint32_t first = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < BIRTHS; i++)
		if (take_birth(&births[(first + i) % BIRTHS]))
			return &births[(first + i) % BIRTHS];
	for (uint32_t i = 0; i < BIRTHS; i++) {
		give_up_right(&births[i]);
		if (take_birth(&births[i]))
			return &births[i];
	}
	return NULL;
}

void weft__thread_birth_let_go(struct weft__thread_birth *birth)
{
	__atomic_fetch_sub(&birth->claims, 1, __ATOMIC_RELEASE);
}

void weft__thread_birth_created(struct weft__thread_birth *birth)
{
	uint32_t state = CREATING;
	__atomic_compare_exchange_n(
		&birth->state, &state, CREATED, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	weft__thread_birth_let_go(birth);
}

void weft__thread_birth_failed(struct weft__thread_birth *birth)
{
	__atomic_fetch_sub(&birth->claims, 2, __ATOMIC_RELEASE);
}

/* ---- The begin ---- */

static void ask_futex(uint32_t *word, int what, uint32_t value, const struct timespec *time)
{
	if (!weft__hooks_system_begin())
		return;
	weft__kernel_futex(word, what, value, time);
	weft__hooks_system_end();
}

void weft__thread_birth_begins(struct weft__thread_birth *birth)
{
	birth->thread = pthread_self();
	weft__thread_birth_forget(birth->thread); /* an earlier thread's, whose join no hook saw */
	if (!birth->is_detached) {
		__atomic_fetch_add(&birth->claims, 1, __ATOMIC_RELAXED);
		if (!enter(birth))
			weft__thread_birth_let_go(birth);
	}
	if (__atomic_exchange_n(&birth->state, BEGUN, __ATOMIC_ACQ_REL) == AWAITED)
		ask_futex(&birth->state, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL);
}

void weft__thread_birth_ends(struct weft__thread_birth *birth)
{
	__atomic_store_n(&birth->state, ENDED, __ATOMIC_RELEASE);
	weft__thread_birth_let_go(birth);
}

/* Created threads begin soon. The wait is bounded because a signal handler may stop a thread before
 * it begins. */
static void await_begin(struct weft__thread_birth *birth)
{
	const struct timespec most = {.tv_nsec = 100000000};
	uint32_t state = CREATED;
	__atomic_compare_exchange_n(
		&birth->state, &state, AWAITED, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	if (state == CREATED || state == AWAITED)
		ask_futex(&birth->state, FUTEX_WAIT_PRIVATE, AWAITED, &most);
}

static bool is_awaited(const struct weft__thread_birth *birth)
{
	uint32_t state = __atomic_load_n(&birth->state, __ATOMIC_RELAXED);
	return __atomic_load_n(&birth->claims, __ATOMIC_ACQUIRE) != 0 &&
		   (state == CREATED || state == AWAITED) && birth->epoch == weft__hooks_epoch();
}

struct weft__thread_birth *weft__thread_birth_await(pthread_t thread)
{
	struct weft__thread_birth *birth = weft__thread_birth_of(thread);
	for (uint32_t i = 0; i < BIRTHS && !birth; i++)
		if (is_awaited(&births[i])) {
			await_begin(&births[i]);
			birth = weft__thread_birth_of(thread);
		}
	return birth;
}
