/* SPDX-License-Identifier: ISC
 *
 * A world for small programs with a planted fault: the recorder without an operating system, a
 * clock that only the program moves, and an event loop. A minute takes no time, and a seed decides
 * all that is random, so that a trace can be made again.
 *
 * Each program is a function in a file of its own. programs.def lists them with the problem that
 * weft has to name first.
 */
#ifndef WEFT_TESTS_FAULTS_WORLD_H
#define WEFT_TESTS_FAULTS_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/weft.h>

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)
#define S  UINT64_C(1000000000)

/* Time passes: about so many ns, up to a tenth more or less. */
void pass(uint64_t ns);
void pass_exactly(uint64_t ns);

/* About so many ns, up to a tenth more or less; and a number below a limit. */
uint64_t about(uint64_t ns);
uint64_t random_below(uint64_t limit);

/* The following calls are those of this thread; 0 is the first one. */
void on_thread(unsigned thread);

/* The event loop: calls `call(argument)` in so many ns; run_loop() goes on until there is no call
 * left, and is idle in between. */
void after(uint64_t ns, void (*call)(uint64_t argument), uint64_t argument);
void run_loop(void);

/* Creates a task with a name, of no parent. */
uint64_t make(uint16_t kind, const char *label);

/* Sound traffic: `count` requests in the loop, about every `every_ns`, each of which runs for a
 * few us, waits for a query that takes about `query_ns`, runs again and ends. */
void serve(unsigned count, uint64_t every_ns, uint64_t query_ns);
/* One of these requests, from now on. */
void serve_one(uint64_t query_ns);

/* A session with a number in its name: opened, it runs for a few us and stays open; closed, it runs
 * for a few us and ends. */
uint64_t open_session(unsigned number);
void close_session(uint64_t session);

/* A lock that tasks hold one after the other, in the order in which they want it. */
struct turns {
	uint64_t lock;
	struct turn {
		uint64_t task, hold_ns;
	} queue[128];
	unsigned first, last; /* queue[first] holds the lock; the following ones, before last, wait */
};

/* `task`, which runs, wants the lock. It waits for its turn, holds the lock for about `hold_ns`
 * without running, and then releases it and ends. */
void want_turn(struct turns *turns, uint64_t task, uint64_t hold_ns);

/* The status with which the program ends, as of waitpid(2); 0 at first. */
extern uint32_t world_status;

/* The programs. */
#define PROGRAM(name, ...) void program_##name(void);
#include "programs.def"
#undef PROGRAM

#endif
