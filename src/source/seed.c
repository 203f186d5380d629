/* SPDX-License-Identifier: ISC
 *
 * See seed.h. The key comes from the system; early at boot, when the system has no random bytes
 * yet, from the clock and from addresses, which differ between processes.
 */
#include "source/seed.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/random.h>
#include <time.h>

#include <weft/seed.h>

static void fall_back(uint32_t key[4])
{
	struct timespec now = {0};
	clock_gettime(CLOCK_MONOTONIC, &now);
	key[0] = (uint32_t)now.tv_nsec;
	key[1] = (uint32_t)now.tv_sec;
	key[2] = (uint32_t)((uintptr_t)key >> 4);
	key[3] = (uint32_t)((uintptr_t)&fall_back >> 12);
}

static void seed(void)
{
	uint32_t key[4];
	if (getrandom(key, sizeof(key), GRND_NONBLOCK) != (ssize_t)sizeof(key))
		fall_back(key);
	weft_seed_hashes(key);
}

void weft__source_seed_hashes_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, seed);
}
