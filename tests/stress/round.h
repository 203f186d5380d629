/* SPDX-License-Identifier: ISC
 *
 * One round of the stress test: a program that records, and its own account beside its buffers.
 */
#ifndef WEFT_TESTS_STRESS_ROUND_H
#define WEFT_TESTS_STRESS_ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUFFERS      4
#define BUFFER_BYTES ((size_t)64 << 10) /* the smallest: 11 packets */
#define WRITERS      4096
#define NAMES        24
#define TEXT_MAX     200

/* Actions in a round besides threads that record. */
enum {
	HANDLERS = 1 << 0, /* signal handlers record */
	JUMPS = 1 << 1,    /* some leave the event in whose middle they came */
	SHORT = 1 << 2,    /* threads come and go, and continue in each other's packets */
	COPIES = 1 << 3,   /* the buffer is copied meanwhile */
	HOLDS = 1 << 4,    /* and held for that, by the copier or on request */
	FOLLOWS = 1 << 5,  /* another process follows */
	KILLS = 1 << 6,    /* it is killed at some moment */
	RESTARTS = 1 << 7, /* recording stops, and goes on in another buffer */
	LEVELS = 1 << 8,   /* the other process sets levels */
	MOMENTS = 1 << 9,  /* threads record moments, and so do handlers */
	HAPPENINGS = 10,
};

/* Shared by all processes of a round. Each writer stores its progress there before and after each
 * of its events. */
struct tale {
	uint64_t begun[WRITERS], done[WRITERS];
	uint64_t left;    /* events out of which a handler jumped: they may or may not count */
	uint32_t writers; /* numbers given out */
	uint32_t buffer;  /* where recording goes to now */
	uint32_t is_recording, is_over;
	uint64_t barriers, copies, followed;
	uint64_t follower_found;
	uint32_t follower_ended;
	uint32_t has_problem;
	char problem[256];
};

struct round {
	uint32_t seed;
	unsigned happenings;
	struct tale *tale;
	unsigned char *buffers; /* BUFFERS of them */
	int files[BUFFERS];
};

/* Keeps the first problem. */
void report_problem(struct tale *tale, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Events of all writers: begun, and certainly done. */
uint64_t sum_begun(const struct tale *tale);
uint64_t sum_done(const struct tale *tale);

/* The program, in a process of its own. */
void run_program(const struct round *round);

/* An event's name and text depend on its number, so that a wrong byte is noticed. */
const char *name_of(uint64_t number);
size_t text_of(uint64_t number, char text[TEXT_MAX + 1]);

/* The short threads of one lane. */
#define ROLES 4
enum role {
	MAIN,
	HANDLER,
	REQUEST
};

#endif
