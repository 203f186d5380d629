/* SPDX-License-Identifier: ISC
 *
 * The process's key, and the hash of bytes.
 */
#include "base/hash.h"

#include <stdatomic.h>
#include <string.h>

#include <weft/seed.h>

#include "base/export.h"

/* Atomic, because a table may be made while another thread sets the key. 32-bit words are atomic
 * everywhere without a library; a table that reads a half-changed key works as well. */
static _Atomic uint32_t process_key[4];

WEFT__EXPORT void weft_seed_hashes(const uint32_t key[4])
{
	for (int i = 0; i < 4; i++)
		atomic_store_explicit(&process_key[i], key[i], memory_order_relaxed);
}

struct weft__hash_key weft__hash_key(void)
{
	uint32_t key[4];
	for (int i = 0; i < 4; i++)
		key[i] = atomic_load_explicit(&process_key[i], memory_order_relaxed);
	return (struct weft__hash_key){
		(uint64_t)key[1] << 32 | key[0],
		(uint64_t)key[3] << 32 | key[2],
	};
}

uint64_t weft__hash_bytes(const struct weft__hash_key *key, const void *bytes, size_t size)
{
	struct weft__hash hash = weft__hash_begin(key);
	const char *at = bytes;
	uint64_t word, last = (uint64_t)size << 56;
	for (; size >= sizeof(word); at += sizeof(word), size -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		weft__hash_word(&hash, word);
	}
	word = 0;
	memcpy(&word, at, size);
	weft__hash_word(&hash, word | last);
	return weft__hash_end(&hash);
}
