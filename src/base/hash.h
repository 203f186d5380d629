/* SPDX-License-Identifier: ISC
 *
 * A hash with a secret key: SipHash-1-3, as Python and Rust use it for their tables.
 *
 * A table's keys come from traces, which are hostile. With a known hash an attacker can choose keys
 * that all hash to one slot, and each lookup then walks over all of them: 4 MB of labels took 14 s.
 * Without the table's key, SipHash's collisions can be neither computed nor guessed.
 *
 * Each table takes the process's key when it is made and keeps it. Use a hash only to find an
 * entry: no result may depend on the order of slots, because it differs in each run.
 */
#ifndef WEFT_BASE_HASH_H
#define WEFT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct weft__hash_key {
	uint64_t low, high;
};

/* The process's key: the one that weft_seed_hashes() has set, or a fixed one. */
struct weft__hash_key weft__hash_key(void);

/* The state of a hash while the words of a key are added. */
struct weft__hash {
	uint64_t v0, v1, v2, v3;
};

static inline uint64_t weft__hash_rotate(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void weft__hash_round(struct weft__hash *h)
{
	h->v0 += h->v1;
	h->v1 = weft__hash_rotate(h->v1, 13) ^ h->v0;
	h->v0 = weft__hash_rotate(h->v0, 32);
	h->v2 += h->v3;
	h->v3 = weft__hash_rotate(h->v3, 16) ^ h->v2;
	h->v0 += h->v3;
	h->v3 = weft__hash_rotate(h->v3, 21) ^ h->v0;
	h->v2 += h->v1;
	h->v1 = weft__hash_rotate(h->v1, 17) ^ h->v2;
	h->v2 = weft__hash_rotate(h->v2, 32);
}

static inline struct weft__hash weft__hash_begin(const struct weft__hash_key *key)
{
	/* The constants of SipHash: "somepseudorandomlygeneratedbytes". */
	return (struct weft__hash){
		.v0 = key->low ^ UINT64_C(0x736f6d6570736575),
		.v1 = key->high ^ UINT64_C(0x646f72616e646f6d),
		.v2 = key->low ^ UINT64_C(0x6c7967656e657261),
		.v3 = key->high ^ UINT64_C(0x7465646279746573),
	};
}

static inline void weft__hash_word(struct weft__hash *h, uint64_t word)
{
	h->v3 ^= word;
	weft__hash_round(h);
	h->v0 ^= word;
}

static inline uint64_t weft__hash_end(struct weft__hash *h)
{
	h->v2 ^= 0xff;
	weft__hash_round(h);
	weft__hash_round(h);
	weft__hash_round(h);
	return h->v0 ^ h->v1 ^ h->v2 ^ h->v3;
}

/* For tables whose keys are single words. */
static inline uint64_t weft__hash_u64(const struct weft__hash_key *key, uint64_t word)
{
	struct weft__hash hash = weft__hash_begin(key);
	weft__hash_word(&hash, word);
	return weft__hash_end(&hash);
}

/* For tables whose keys are texts. On little-endian machines this is SipHash-1-3 as published. */
uint64_t weft__hash_bytes(const struct weft__hash_key *key, const void *bytes, size_t size);

/* Mixes all bits of x into all bits of the result, without a key (the finalizer of MurmurHash3).
 * For fingerprints that must be the same in each run. Never choose a slot of a table by it, because
 * hostile keys could then collide. */
static inline uint64_t weft__mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdu;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53u;
	return x ^ x >> 33;
}

#endif
