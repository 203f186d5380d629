/* SPDX-License-Identifier: ISC
 *
 * See sha256.h. The message is followed by a bit 1, zeros and its length in bits, up to a multiple
 * of 64 bytes. The constants are the first 32 bits of the fractional parts of the square and cube
 * roots of the first primes.
 */
#include "agent/sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BLOCK 64

static const uint32_t first_state[8] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static const uint32_t round_constants[64] = {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5,
	0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
	0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
	0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5,
	0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t word, unsigned bits)
{
	return word >> bits | word << (32 - bits);
}

static void schedule(const unsigned char block[BLOCK], uint32_t ret_words[64])
{
	uint32_t *w = ret_words;
	for (unsigned i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
			   (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (unsigned i = 16; i < 64; i++) {
		uint32_t low = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t high = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
		w[i] = w[i - 16] + low + w[i - 7] + high;
	}
}

/* `s` has the standard's variables a to h. */
static void add_block(uint32_t state[8], const unsigned char block[BLOCK])
{
	uint32_t words[64], s[8];
	schedule(block, words);
	memcpy(s, state, sizeof(s));
	for (unsigned i = 0; i < 64; i++) {
		uint32_t high = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25);
		uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
		uint32_t first = s[7] + high + choice + round_constants[i] + words[i];
		uint32_t low = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
		uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += first;
		s[0] = first + low + majority;
	}
	for (unsigned i = 0; i < 8; i++)
		state[i] += s[i];
}

/* The rest of the message with its end, in one block or two. */
static void add_end(uint32_t state[8], const unsigned char *rest, size_t size, uint64_t all)
{
	unsigned char end[2 * BLOCK] = {0};
	size_t blocks = size + 9 > BLOCK ? 2 : 1;
	memcpy(end, rest, size);
	end[size] = 0x80;
	for (unsigned i = 0; i < 8; i++)
		end[blocks * BLOCK - 1 - i] = (unsigned char)(8 * all >> 8 * i);
	for (size_t i = 0; i < blocks; i++)
		add_block(state, end + i * BLOCK);
}

void weft__agent_sha256(const void *bytes, size_t size, char ret_hash[65])
{
	const unsigned char *at = bytes;
	uint32_t state[8];
	size_t left = size;
	memcpy(state, first_state, sizeof(state));
	for (; left >= BLOCK; left -= BLOCK, at += BLOCK)
		add_block(state, at);
	add_end(state, at, left, size);
	for (unsigned i = 0; i < 8; i++)
		snprintf(ret_hash + 8 * i, 9, "%08x", (unsigned)state[i]);
}
