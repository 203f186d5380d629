/* SPDX-License-Identifier: ISC
 *
 * Declarations that the parts of the hostile writer share: a program that attacks the readers of
 * its own ring.
 *
 *     writer.c    the command line, and the attacks that have a name
 *     honest.c    threads that record valid events
 *     attack.c    random damage to the ring
 */
#ifndef WEFT_TESTS_HOSTILE_WRITER_H
#define WEFT_TESTS_HOSTILE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The ring, through a mapping of its own: the recorder's mapping is left to the recorder. */
struct ring {
	char path[4096];
	uint8_t *bytes;    /* shared */
	uint8_t *template; /* a copy from when all of it was valid */
	size_t size;
	int fd;
};

/* ---- honest.c ---- */

/* Starts the threads that record. A thread that faults because of a damaged ring sleeps; the
 * process goes on.
 */
void honest_start(void);
/* They record no more. */
void honest_stop(void);

/* ---- attack.c ---- */

/* Everything follows from the seed, except the time at which a reader meets each write. */
void attack_init(struct ring *ring, uint64_t seed);
uint64_t attack_random(void);
/* Some damage, or a repair, and a pause. */
void attack_rewrite(void);
/* Makes the file shorter or longer, and later restores its size. */
void attack_cut(void);
/* Writes so far. */
uint64_t attack_count(void);

#endif
