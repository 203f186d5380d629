/* SPDX-License-Identifier: ISC
 *
 * A fixed table, because a hook may not allocate. `used` is one more than the highest index that
 * was ever taken, so a program with few threads has a short table to search.
 */
#include "thread/births.h"

#define BIRTHS 4096

static struct weft__thread_birth births[BIRTHS];
static uint32_t used;

struct weft__thread_birth *weft__thread_birth_take(void)
{
	for (uint32_t i = 0; i < BIRTHS; i++) {
		uint32_t none = 0;
		if (!__atomic_compare_exchange_n(
				&births[i].claims, &none, 2, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		uint32_t before = __atomic_load_n(&used, __ATOMIC_RELAXED);
		while (before <= i && !__atomic_compare_exchange_n(
								  &used, &before, i + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			;
		births[i].is_joinable = 0;
		return &births[i];
	}
	return NULL;
}

void weft__thread_birth_let_go(struct weft__thread_birth *birth)
{
	__atomic_fetch_sub(&birth->claims, 1, __ATOMIC_RELEASE);
}

struct weft__thread_birth *weft__thread_birth_of(pthread_t thread)
{
	uint32_t count = __atomic_load_n(&used, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < count; i++)
		if (__atomic_load_n(&births[i].is_joinable, __ATOMIC_ACQUIRE) &&
			pthread_equal(births[i].thread, thread))
			return &births[i];
	return NULL;
}
