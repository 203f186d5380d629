/* SPDX-License-Identifier: ISC
 *
 * Problems of many tasks, calls, values and runs: queues, bursts, failing calls, time-outs, leaks,
 * and loops that spin or do not end.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <weft/ends.h>

#include "problem_case.h"

/* Tasks that wait for a promise of their own, which the task before resolves. */
#define WAIT(count)                                                                            \
	"[" count ": create 0 10+i task; create 0 100+i promise; label 100+i turn; run 10+i; +5; " \
	"try 10+i 100+i; +5]; idle; "
#define TURNS(count)                \
	"+1000; resolve 5 100; [" count \
	": run 10+i; read 10+i 100+i; +1000; resolve 10+i 101+i]; idle; "
#define HOLDER "create 0 5 task; "

/* From then on one more comes whenever one gets on. */
#define COMES \
	"create 0 40+i task; create 0 140+i promise; label 140+i turn; run 40+i; try 40+i 140+i; idle; "

static const struct problem_case queue_cases[] = {
	{"a queue", HOLDER WAIT("12") TURNS("11") "+1000", WEFT_PROBLEM_QUEUE, WEFT_SEVERITY_WARNING,
		"12 tasks queue at turn, 990 a second; the first is task 5; it is longest at 115 us."},
	{"too short a queue", HOLDER WAIT("7") TURNS("6") "+20000", WEFT_PROBLEM_QUEUE, 0, NULL},
	{"none gets on after the tenth", HOLDER WAIT("12") TURNS("9") "+200000; count x 1",
		WEFT_PROBLEM_QUEUE, WEFT_SEVERITY_WARNING,
		"12 tasks queue at turn, 989 a second, and none gets on after 10.12 ms; the first is task 5; it is longest at 115 us."},
	{"two have their turn at once",
		HOLDER WAIT(
			"20") "+1000; resolve 5 100; +500; resolve 5 101; [9: +500; run i*2+10; read "
				  "i*2+10 i*2+100; +5; resolve i*2+10 i*2+102; idle; +500; run i*2+11; "
				  "read i*2+11 i*2+101; +5; resolve i*2+11 i*2+103; idle]; +1000; count x 1",
		WEFT_PROBLEM_QUEUE, WEFT_SEVERITY_HINT,
		"20 tasks queue at turn, 1,855 a second; the first is task 5; it is longest at 195 us."},
	{"they wait by reading only",
		HOLDER "[12: create 0 10+i task; create 0 100+i promise; label 100+i turn; run 10+i; +10]; "
			   "idle; " TURNS("11") "+1000",
		WEFT_PROBLEM_QUEUE, WEFT_SEVERITY_WARNING,
		"11 tasks queue at turn, 990 a second; the first is task 5; it is longest at 110 us."},
	{"one comes when one gets on, so seven wait at once",
		HOLDER
		"[7: create 0 10+i task; create 0 100+i promise; label 100+i turn; run 10+i; +5; try "
		"10+i 100+i; +5]; idle; create 0 8 task; [14: +1000; run 8; ?i=0 resolve 5 100; "
		"?i=1 resolve 10 101; ?i=2 resolve 11 102; ?i=3 resolve 12 103; ?i=4 resolve 13 104; "
		"?i=5 resolve 14 105; ?i=6 resolve 15 106; ?i=7 resolve 16 140; ?i=8 resolve 40 141; "
		"?i=9 resolve 41 142; ?i=10 resolve 42 143; ?i=11 resolve 43 144; ?i=12 resolve 44 145; "
		"?i=13 resolve 45 146; " COMES "]; +1000; count x 1",
		WEFT_PROBLEM_QUEUE, 0, NULL},
	{"two come when the first gets on",
		HOLDER WAIT("8") "+1000; resolve 5 100; [2: " COMES
						 "]; [7: run 10+i; read 10+i 100+i; +1500; "
						 "resolve 10+i 101+i]; run 17; read 17 107; +1500; resolve 17 140; idle; "
						 "+1500; resolve 40 141; +1000",
		WEFT_PROBLEM_QUEUE, WEFT_SEVERITY_WARNING,
		"9 tasks queue at turn, 686 a second; the first is task 10; it is longest at 1.08 ms."},
	{"one lets all others go on",
		HOLDER WAIT(
			"12") "+12000; resolve 5 100; run 10; read 10 100; +1000; [11: resolve 10 101+i; "
				  "+100]; idle; [11: run 11+i; read 11+i 101+i; +10]; idle; +1000",
		WEFT_PROBLEM_QUEUE, 0, NULL},
	{"each task's own child answers it",
		"[10: create 0 10+i task]; [4: [10: create 10+i 100+j*100+i promise; "
		"label 100+j*100+i turn; create 10+i 1000+j*100+i task; run 10+i; +5; "
		"try 10+i 100+j*100+i; +5]; idle; +3000; [10: run 1000+j*100+i; "
		"resolve 1000+j*100+i 100+j*100+i; run 10+i; read 10+i 100+j*100+i; +5]; idle]; +1000",
		WEFT_PROBLEM_QUEUE, 0, NULL},
};

#define USUAL "[20: create 0 100+i task; label 100+i request; +100; resolve 100+i 100+i; +900]; "
#define BEGIN "[10: create 0 200+i task; label 200+i request; +4000]; "
#define END   "[10: resolve 200+i 200+i; +10]; "
#define POOL  "create 0 5 task; label 5 pool; "

static const struct problem_case burst_cases[] = {
	{"a burst", USUAL BEGIN END "+5000", WEFT_PROBLEM_BURST, WEFT_SEVERITY_HINT,
		"10 × request begin from 20 ms on and all end at 60 ms; usually 100 us."},
	{"with a cause",
		USUAL POOL "create 0 6 task; label 6 other; " BEGIN "resolve 5 5; resolve 6 6; " END
				   "+5000",
		WEFT_PROBLEM_BURST, WEFT_SEVERITY_HINT,
		"10 × request begin from 20 ms on and all end at 60 ms, with task 5 'pool', which takes 40 ms; usually 100 us."},
	{"a warning",
		USUAL POOL "[10: create 0 200+i task; label 200+i request; +12000]; resolve 5 5; " END
				   "+5000",
		WEFT_PROBLEM_BURST, WEFT_SEVERITY_WARNING,
		"10 × request begin from 20 ms on and all end at 140 ms, with task 5 'pool', which takes 120 ms; usually 100 us."},
	{"what is cancelled is no cause",
		USUAL POOL "[10: create 0 200+i task; label 200+i request; +12000]; cancel 0 5; " END
				   "+5000; count x 1",
		WEFT_PROBLEM_BURST, WEFT_SEVERITY_HINT,
		"10 × request begin from 20 ms on and all end at 140 ms; usually 100 us."},
	{"what ends far later is no cause", USUAL POOL BEGIN END "+7000; resolve 5 5; +5000; count x 1",
		WEFT_PROBLEM_BURST, WEFT_SEVERITY_HINT,
		"10 × request begin from 20 ms on and all end at 60 ms; usually 100 us."},
	{"all begin early", USUAL "[10: create 0 200+i task; label 200+i request; +1000]; +30000; " END,
		WEFT_PROBLEM_BURST, 0, NULL},
	{"all but two begin late",
		USUAL "[2: create 0 300+i task; label 300+i request; +10]; +40000; "
			  "[10: create 0 200+i task; label 200+i request; +10]; [2: resolve 300+i 300+i]; " END,
		WEFT_PROBLEM_BURST, 0, NULL},
	{"they end one by one", USUAL BEGIN "[10: resolve 200+i 200+i; +2000]; +5000",
		WEFT_PROBLEM_BURST, 0, NULL},
	{"others begin after the gap",
		USUAL BEGIN END
		"[4: create 0 300+i task; label 300+i request; +100; resolve 300+i 300+i]; +5000; count x 1",
		WEFT_PROBLEM_BURST, WEFT_SEVERITY_HINT,
		"10 × request begin from 20 ms on and all end at 60 ms; usually 100 us."},
	{"some are cancelled",
		USUAL "[10: create 0 200+i task; label 200+i request; create 0 400+i task; "
			  "label 400+i request; +4000]; [10: cancel 0 400+i]; " END "+5000",
		WEFT_PROBLEM_BURST, WEFT_SEVERITY_HINT,
		"10 × request begin from 20 ms on and all end at 60 ms; usually 100 us."},
	{"nothing shows what is usual", BEGIN END "+5000", WEFT_PROBLEM_BURST, 0, NULL},
};

static const struct problem_case failing_cases[] = {
	{"too few files", "create 0 5 task; label 5 server; [16: +10; note 5 accept: EMFILE]",
		WEFT_PROBLEM_FAILING_CALL, WEFT_SEVERITY_WARNING,
		"accept: EMFILE × 16, in task 5 'server' from 10 us to 160 us."},
	{"too few failures", "create 0 5 task; [15: +10; note 5 accept: EMFILE]",
		WEFT_PROBLEM_FAILING_CALL, 0, NULL},
	{"alike tasks",
		"[4: create 0 5+i task; label 5+i client; [5: +10; note 5+j connect: ECONNREFUSED]]",
		WEFT_PROBLEM_FAILING_CALL, WEFT_SEVERITY_HINT,
		"connect: ECONNREFUSED × 20, first in task 5 'client' from 10 us to 200 us."},
	{"other tasks", "[2: create 0 5+i task; [9: +10; note 5+j read: EAGAIN]]; label 5 a; label 6 b",
		WEFT_PROBLEM_FAILING_CALL, 0, NULL},
	{"a thousand", "create 0 5 task; [1000: +10; note 5 read: EAGAIN]", WEFT_PROBLEM_FAILING_CALL,
		WEFT_SEVERITY_WARNING, "read: EAGAIN × 1,000, in task 5 from 10 us to 10 ms."},
	{"no name of an error", "create 0 5 task; [20: +10; note 5 read: EOF]",
		WEFT_PROBLEM_FAILING_CALL, 0, NULL},
	{"a lost lock",
		"create 0 5 task; label 5 job; +10; note 5 lost lock of /db; +10; note 5 lost lock of /db",
		WEFT_PROBLEM_LOST_LOCK, WEFT_SEVERITY_WARNING,
		"task 5 'job' loses its lock of /db 2 times, first at 10 us: another descriptor of the file is closed."},
	{"one", "create 0 5 task; label 5 job; +10; note 5 lost lock of /db", WEFT_PROBLEM_LOST_LOCK,
		WEFT_SEVERITY_WARNING,
		"task 5 'job' loses its lock of /db at 10 us: another descriptor of the file is closed."},
	{"the first of two tasks",
		"create 0 5 task; create 0 6 task; label 6 early; +10; note 6 lost lock of /db; +10; note 5 lost lock of /db",
		WEFT_PROBLEM_LOST_LOCK, WEFT_SEVERITY_WARNING,
		"task 6 'early' loses its lock of /db 2 times, first at 10 us: another descriptor of the file is closed."},
	{"no file", "create 0 5 task; note 5 lost lock of", WEFT_PROBLEM_LOST_LOCK, 0, NULL},
	{"other words", "create 0 5 task; note 5 lost look of /db", WEFT_PROBLEM_LOST_LOCK, 0, NULL},
	{"a sentence", "create 0 5 task; [20: +10; note 5 it says EMFILE]", WEFT_PROBLEM_FAILING_CALL,
		0, NULL},
};

static const struct problem_case timed_out_cases[] = {
	{"an answer", "create 0 5 task; label 5 reply; expect 5; +1000; time_out 0 5",
		WEFT_PROBLEM_TIMED_OUT, WEFT_SEVERITY_WARNING,
		"task 5 'reply' timed out after 1 ms, although it should have ended."},
	{"the second of three",
		"[3: create 0 5+i task; label 5+i reply; expect 5+i; +1000; ?i=0 resolve 0 5; ?i=1 time_out 0 6; "
		"?i=2 time_out 0 7]",
		WEFT_PROBLEM_TIMED_OUT, WEFT_SEVERITY_WARNING,
		"task 6 'reply' timed out after 1 ms, although it should have ended, as did 1 more like it."},
	{"nobody says that it should end", "create 0 5 task; label 5 reply; +1000; time_out 0 5",
		WEFT_PROBLEM_TIMED_OUT, 0, NULL},
};

#define RISE "[10: +10; count pages j*2+i+1]; "
#define FALL "[8: +10; count pages j*2+9-i]; "

static const struct problem_case leak_cases[] = {
	{"each wave leaves two", "[4: " RISE FALL "+5000]; count x 1", WEFT_PROBLEM_LEAK,
		WEFT_SEVERITY_WARNING,
		"pages is not all given back: 8 are left at the end; its floor rises from wave to wave."},
	{"all is given back at the end", "[4: " RISE FALL "+5000]; [8: +10; count pages 7-i]",
		WEFT_PROBLEM_LEAK, WEFT_SEVERITY_HINT,
		"pages is not all given back: 8 were left before the end; its floor rises from wave to wave."},
	{"two waves", "[2: " RISE FALL "+5000]; count x 1", WEFT_PROBLEM_LEAK, 0, NULL},
	{"each wave leaves the same",
		"[4: [10: +10; count pages i+1]; [8: +10; count pages 9-i]; +5000]", WEFT_PROBLEM_LEAK, 0,
		NULL},
	{"no rest between the waves", "[4: " RISE FALL "]", WEFT_PROBLEM_LEAK, 0, NULL},
	{"many waves", "[400: +10; count pages i/50+40; +10; count pages i/50]", WEFT_PROBLEM_LEAK,
		WEFT_SEVERITY_WARNING,
		"pages is not all given back: 7 are left at the end; its floor rises from wave to wave."},
	{"a cache fills up",
		"[300: +10; count pages i/50+40; +10; count pages i/50]; [100: +10; count pages 46; +10; "
		"count pages 5]",
		WEFT_PROBLEM_LEAK, 0, NULL},
};

/* Timer 1 fires each 10 ms and begins a poll each time; the poll that began first ends after its
 * turn. */
#define TIMER "create 0 1 timer; label 1 tick; "
#define TICK  "run 1; create 1 100+i task; label 100+i poll; +10; idle; +8990; "
#define POLLS(count, pace)                                                                    \
	TIMER "[" count ": " TICK "?i%" pace "=0 resolve i/" pace "+100 i/" pace "+100; +1000]; " \
		  "count x 1"

static const struct problem_case overlap_cases[] = {
	{"each takes longer", POLLS("32", "2"), WEFT_PROBLEM_PILING_UP, WEFT_SEVERITY_WARNING,
		"timer 1 'tick' begins one poll after the other: 16 run at once, and take 159 ms, at first 9 ms."},
	{"eight at once", POLLS("16", "2"), WEFT_PROBLEM_PILING_UP, WEFT_SEVERITY_WARNING,
		"timer 1 'tick' begins one poll after the other: 8 run at once, and take 79 ms, at first 9 ms."},
	{"one ends when the next begins",
		TIMER
		"[16: ?i%2=1 resolve i/2+100 i/2+100; run 1; create 1 100+i task; label 100+i poll; +10; "
		"idle; +9990]; count x 1",
		WEFT_PROBLEM_PILING_UP, WEFT_SEVERITY_WARNING,
		"timer 1 'tick' begins one poll after the other: 8 run at once, and take 80 ms, at first 10 ms."},
	{"the last takes just twice as long",
		TIMER "[8: " TICK
			  "+1000]; [17: ?i%2=0 resolve i/2+100 i/2+100; run 1; create 1 108+i task; "
			  "label 108+i poll; +10; idle; +9990]; count x 1",
		WEFT_PROBLEM_PILING_UP, WEFT_SEVERITY_WARNING,
		"timer 1 'tick' begins one poll after the other: 16 run at once, and take 160 ms, at first 80 ms."},
	{"two begin each time, and the first counts",
		TIMER
		"[16: run 1; create 1 100+i task; label 100+i poll; create 1 200+i task; "
		"label 200+i poll; +10; idle; +8990; ?i%2=0 resolve i/2+100 i/2+100; +1000]; count x 1",
		WEFT_PROBLEM_PILING_UP, WEFT_SEVERITY_WARNING,
		"timer 1 'tick' begins one poll after the other: 8 run at once, and take 79 ms, at first 9 ms."},
	{"it fires too seldom", POLLS("15", "2"), WEFT_PROBLEM_PILING_UP, 0, NULL},
	{"few at once", POLLS("16", "1"), WEFT_PROBLEM_PILING_UP, 0, NULL},
	{"too few have ended", POLLS("24", "9"), WEFT_PROBLEM_PILING_UP, 0, NULL},
	{"each takes as long",
		TIMER "[9: " TICK "+1000]; [30: run 1; create 1 109+i task; label 109+i poll; +10; idle; "
			  "+8990; resolve 100+i 100+i; +1000]; count x 1",
		WEFT_PROBLEM_PILING_UP, 0, NULL},
	{"they end in the end",
		POLLS("32", "2") "; [8: resolve 116+i 116+i; +1000]; "
						 "run 1; create 1 200 task; label 200 poll; +10; idle; +10; count x 1",
		WEFT_PROBLEM_PILING_UP, 0, NULL},
	{"one firing begins many",
		TIMER
		"[16: +10000; run 1; ?i=0 [20: create 1 100+i task; label 100+i poll]; +10; idle]; count x 1",
		WEFT_PROBLEM_PILING_UP, 0, NULL},
	{"no timer begins them",
		"create 0 1 task; [32: " TICK "?i%2=0 resolve i/2+100 i/2+100; +1000]; count x 1",
		WEFT_PROBLEM_PILING_UP, 0, NULL},
};

/* Task 2 waits for promise 3, task 1 cancels that, and waits for task 2, which goes on for a time.
 */
#define FETCH                                                                             \
	"create 0 1 task; label 1 main; create 1 2 task; label 2 fetch; create 2 3 promise; " \
	"label 3 sleep; run 2; try 2 3; idle; +1000; "
#define CANCEL  "run 1; cancel 1 3; try 1 2; idle; +10; run 2; read 2 3; "
#define AGAIN   "create 2 4 promise; label 4 sleep; try 2 4; idle; "
#define CLEANUP "create 2 4 promise; label 4 close; try 2 4; idle; "
#define GOES_ON "resolve 0 4; run 2; read 2 4; resolve 2 2; run 1; read 1 2; resolve 1 1"

static const struct problem_case ignored_cases[] = {
	{"it tries again", FETCH CANCEL AGAIN "+500000; " GOES_ON, WEFT_PROBLEM_ORPHAN,
		WEFT_SEVERITY_WARNING,
		"task 2 'fetch' goes on for 500 ms after main cancelled it at 1 ms and waits for its end."},
	{"as before, but sooner", FETCH CANCEL AGAIN "+499989; " GOES_ON, WEFT_PROBLEM_ORPHAN, 0, NULL},
	{"the canceller waits for just long enough",
		FETCH "run 1; cancel 1 3; try 1 2; idle; run 2; read 2 3; " AGAIN "+500000; " GOES_ON,
		WEFT_PROBLEM_ORPHAN, WEFT_SEVERITY_WARNING,
		"task 2 'fetch' goes on for 500 ms after main cancelled it at 1 ms and waits for its end."},
	{"it tidies up", FETCH CANCEL CLEANUP "+500000; " GOES_ON, WEFT_PROBLEM_ORPHAN,
		WEFT_SEVERITY_HINT,
		"task 2 'fetch' goes on for 500 ms after main cancelled it at 1 ms and waits for its end."},
	{"it does what it did before",
		"create 0 1 task; label 1 main; create 1 2 task; create 2 9 promise; label 9 close; run 2; "
		"try 2 9; idle; +1; resolve 0 9; run 2; read 2 9; create 2 3 promise; label 3 sleep; "
		"try 2 3; idle; +1000; " CANCEL CLEANUP "+500000; " GOES_ON,
		WEFT_PROBLEM_ORPHAN, WEFT_SEVERITY_WARNING,
		"task 2 goes on for 500 ms after main cancelled it at 1.001 ms and waits for its end."},
	{"by a join",
		FETCH
		"run 1; cancel 1 3; create 1 5 join; try 5 2; try 1 5; idle; +10; run 2; read 2 3; " AGAIN
		"+500000; resolve 0 4; run 2; read 2 4; resolve 2 2; read 5 2; resolve 0 5; run 1; read 1 5",
		WEFT_PROBLEM_ORPHAN, WEFT_SEVERITY_WARNING,
		"task 2 'fetch' goes on for 500 ms after main cancelled it at 1 ms and waits for its end."},
	{"it never ends", FETCH CANCEL AGAIN "+600000; count x 1", WEFT_PROBLEM_ORPHAN,
		WEFT_SEVERITY_WARNING,
		"task 2 'fetch' goes on for 600 ms after main cancelled it at 1 ms and waits for its end."},
	{"nobody waits for it",
		FETCH "run 1; cancel 1 3; idle; +10; run 2; read 2 3; " AGAIN
			  "+500000; resolve 0 4; run 2; "
			  "read 2 4; resolve 2 2",
		WEFT_PROBLEM_ORPHAN, 0, NULL},
	{"the canceller does something else first",
		FETCH "run 1; cancel 1 3; create 1 6 promise; try 1 6; idle; +10; run 2; read 2 3; " AGAIN
			  "+500000; resolve 0 6; run 1; read 1 6; " GOES_ON,
		WEFT_PROBLEM_ORPHAN, 0, NULL},
	{"it cancels itself",
		FETCH "run 2; cancel 2 3; read 2 3; " AGAIN
			  "+500000; resolve 0 4; run 2; read 2 4; resolve 2 2",
		WEFT_PROBLEM_ORPHAN, 0, NULL},
	{"it is not cancelled, but done",
		FETCH "run 1; resolve 1 3; try 1 2; idle; +10; run 2; read 2 3; " AGAIN "+500000; " GOES_ON,
		WEFT_PROBLEM_ORPHAN, 0, NULL},
};

/* Thread 2 runs; thread 3 waits for the lock, for 5 ms at a time. */
#define THREADS                                                                                  \
	"create 0 2 thread; label 2 crunch; create 0 3 thread; label 3 beat; create 0 4 condition; " \
	"label 4 condition _PyRuntime; thread 1; run 3; +10; "
#define WAITS(count, pause)                                                                       \
	"[" count                                                                                     \
	": thread 1; try 3 4; idle; thread 0; run 2; +5000; idle; thread 1; run 3; read 3 4; +" pause \
	"]; idle"

/* Waits of 20 ms each. */
#define FEW_WAITS(count)                                                                         \
	"[" count                                                                                    \
	": thread 1; try 3 4; idle; thread 0; run 2; +20000; idle; thread 1; run 3; read 3 4; +1100" \
	"]; idle"

static const struct problem_case lock_cases[] = {
	{"it is kept", THREADS WAITS("101", "10"), WEFT_PROBLEM_CONTENTION, WEFT_SEVERITY_WARNING,
		"thread 2 'crunch' keeps Python's global lock for 506 ms from 10 us, while beat waits for it."},
	{"it has a turn now and then",
		THREADS WAITS("50", "10") "; +10; run 3; +91; idle; " WAITS("50", "10"),
		WEFT_PROBLEM_CONTENTION, 0, NULL},
	{"its time is up again and again, and it runs late",
		THREADS
		"[70: thread 1; try 3 4; idle; thread 0; run 2; +5000; thread 1; run 3; +3000]; idle",
		WEFT_PROBLEM_CONTENTION, WEFT_SEVERITY_WARNING,
		"thread 2 'crunch' keeps Python's global lock for 557 ms from 10 us, while beat waits for it."},
	{"it is kept for less long", THREADS WAITS("99", "10"), WEFT_PROBLEM_CONTENTION, 0, NULL},
	{"another has little to do", THREADS WAITS("50", "1100"), WEFT_PROBLEM_CONTENTION,
		WEFT_SEVERITY_WARNING,
		"thread 2 'crunch' runs for 250 ms from 10 us, while beat waits for Python's global lock for 250 ms."},
	{"for less long", THREADS WAITS("49", "1100"), WEFT_PROBLEM_CONTENTION, 0, NULL},
	{"another has much to do", THREADS WAITS("60", "1300"), WEFT_PROBLEM_CONTENTION, 0, NULL},
	{"it does nothing for long after that", THREADS WAITS("50", "1100") "; +690000; count x 1",
		WEFT_PROBLEM_CONTENTION, WEFT_SEVERITY_WARNING,
		"thread 2 'crunch' runs for 250 ms from 10 us, while beat waits for Python's global lock for 250 ms."},
	{"for even longer", THREADS WAITS("50", "1100") "; +720000; count x 1", WEFT_PROBLEM_CONTENTION,
		0, NULL},
	{"each of two waits as long, the first is named",
		THREADS
		"create 0 5 thread; label 5 late; thread 2; run 5; +10; "
		"[101: thread 1; try 3 4; idle; thread 2; try 5 4; idle; thread 0; run 2; +5000; idle; "
		"thread 1; run 3; read 3 4; thread 2; run 5; read 5 4; +10]; idle; thread 1; idle",
		WEFT_PROBLEM_CONTENTION, WEFT_SEVERITY_WARNING,
		"thread 2 'crunch' keeps Python's global lock for 506 ms from 20 us, while beat waits for it."},
	{"it is kept, and later waits often, which is told once",
		THREADS WAITS("101", "10") "; +10; run 3; +1100; " WAITS("20", "1100"),
		WEFT_PROBLEM_CONTENTION, WEFT_SEVERITY_WARNING,
		"thread 2 'crunch' keeps Python's global lock for 506 ms from 10 us, while beat waits for it."},
	{"another waits 16 times", THREADS FEW_WAITS("16"), WEFT_PROBLEM_CONTENTION,
		WEFT_SEVERITY_WARNING,
		"thread 2 'crunch' runs for 320 ms from 10 us, while beat waits for Python's global lock for 320 ms."},
	{"another waits 15 times", THREADS FEW_WAITS("15"), WEFT_PROBLEM_CONTENTION, 0, NULL},
	{"nobody runs", THREADS "[101: try 3 4; idle; +5000; run 3; read 3 4; +10]; idle",
		WEFT_PROBLEM_CONTENTION, 0, NULL},
	{"it is another condition",
		"create 0 2 thread; create 0 3 thread; create 0 4 condition; label 4 condition; thread 1; run 3; +10; " WAITS(
			"101", "10"),
		WEFT_PROBLEM_CONTENTION, 0, NULL},
};

/* A pause of 40 ms in 100 ms, of which the task had no processor for a time; and 100 ms more. */
#define PAUSE(off) \
	"create 0 5 task; run 5; +60000; gc 40000000; +40000; off 5 " off "; idle; +100000; count x 1"

static const struct problem_case pause_cases[] = {
	{"it had no processor for less", PAUSE("50000000"), WEFT_PROBLEM_GC, WEFT_SEVERITY_WARNING,
		"GC stops everything for 40 ms from 20 ms, 20 % of the time."},
	{"it had none for nearly all of it", PAUSE("96000000"), WEFT_PROBLEM_GC, 0, NULL},
};

#define SPINS(count) "create 0 5 task; create 0 6 task; [" count ": run 5; +9; run 6; +2]; idle"

static const struct problem_case spin_cases[] = {
	{"a loop without a pause", SPINS("1000"), WEFT_PROBLEM_POLLING, WEFT_SEVERITY_HINT,
		"task 5 runs for 81.8 % of the time, in 1,000 pieces, without visible effect: it spins."},
	{"999 pieces", SPINS("999"), WEFT_PROBLEM_POLLING, 0, NULL},
	{"it has a result", SPINS("1000") "; resolve 5 5", WEFT_PROBLEM_POLLING, 0, NULL},
	{"others hardly run",
		"create 0 5 task; create 0 6 task; [15: run 5; +9; run 6; +2]; [985: run 5; +9; idle; +2]",
		WEFT_PROBLEM_POLLING, 0, NULL},
};

/* A loop that begins to run while `left` tasks of its thread are left, and does not stop for
 * `run_us` until the program ends with this status. */
static struct found stuck(int left, int run_us, int wait_status)
{
	static struct weft_trace_buffer buffer = {.process = "p", .host = "", .file = ""};
	struct trace_script s = {.made = make_begin(), .n = left};
	char last[32];
	trace_script_run_all(
		&s, "create 0 5 task; [n: create 0 6+i task; run 6+i; +100; idle; +10]; run 5; ");
	snprintf(last, sizeof(last), "+%d; note 5 x", run_us);
	trace_script_run_all(&s, last);
	buffer.end_ns = s.made.time;
	buffer.wait_status = wait_status;
	s.made.buffers = &buffer;
	s.made.buffer_count = 1;
	return find(&s.made);
}

/* A process that notes, each 10 us, how many of its children have ended and were not waited for. */
static struct found unreaped(const int64_t *counts, size_t count)
{
	struct made made = make_begin();
	make_create(&made, 0, 1, WEFT_KIND_THREAD);
	make_label(&made, 1, "server");
	for (size_t i = 0; i < count; i++) {
		made.time += 10 * US;
		make_tag(&made, 1, WEFT_TAG_UNREAPED, counts[i]);
	}
	return find(&made);
}

static void queues_are_found(void **state)
{
	(void)state;
	EXPECT_CASES(queue_cases);
}

static void bursts_are_found(void **state)
{
	(void)state;
	EXPECT_CASES(burst_cases);
}

static void failing_calls_are_found(void **state)
{
	(void)state;
	EXPECT_CASES(failing_cases);
}

static void time_outs_of_expected_ends_are_found(void **state)
{
	(void)state;
	EXPECT_CASES(timed_out_cases);
}

static void leaks_are_found(void **state)
{
	(void)state;
	EXPECT_CASES(leak_cases);
}

static void children_that_nobody_waits_for_are_found(void **state)
{
	static const int64_t taken[] = {2, 1, 0}, one[] = {3, 0, 1}, many[] = {0, 7, 8};
	(void)state;
	expect_nothing(unreaped(taken, 3));
	struct found found = unreaped(one, 3);
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_LEAK);
	assert_string_equal(p->sentence,
		"1 child of thread 1 'server' has ended and was not waited for by 30 us: nobody takes its exit status.");
	assert_int_equal(p->severity, WEFT_SEVERITY_HINT);
	assert_int_equal(p->start, 30 * US);
	found_finish(&found);
	found = unreaped(many, 3);
	p = only(&found, WEFT_PROBLEM_LEAK);
	assert_string_equal(p->sentence,
		"8 children of thread 1 'server' have ended and were not waited for by 30 us: nobody takes their exit status.");
	assert_int_equal(p->severity, WEFT_SEVERITY_WARNING);
	assert_int_equal(p->start, 20 * US);
	found_finish(&found);
}

static void pauses_without_a_processor_are_none(void **state)
{
	(void)state;
	EXPECT_CASES(pause_cases);
}

static void timers_that_do_not_wait_are_found(void **state)
{
	(void)state;
	EXPECT_CASES(overlap_cases);
}

static void tasks_that_go_on_although_cancelled_are_found(void **state)
{
	(void)state;
	EXPECT_CASES(ignored_cases);
}

static void threads_that_keep_pythons_lock_are_found(void **state)
{
	(void)state;
	EXPECT_CASES(lock_cases);
}

static void loops_that_spin_are_found(void **state)
{
	(void)state;
	EXPECT_CASES(spin_cases);
}

static void a_loop_that_does_not_end_is_found(void **state)
{
	struct found found = stuck(3, 600000, 9);
	(void)state;
	const struct weft_problem *p = only(&found, WEFT_PROBLEM_HOG);
	assert_string_equal(p->sentence,
		"task 5 runs for 600 ms without a pause from 330 us until the end; 3 tasks of its thread are left.");
	assert_int_equal(p->severity, WEFT_SEVERITY_WARNING);
	found_finish(&found);
	expect_nothing(stuck(2, 600000, 9));
	expect_nothing(stuck(3, 499999, 9));
	found = stuck(3, 600000, 0x100); /* it exited by itself */
	expect_none(&found);
	found_finish(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queues_are_found),
		cmocka_unit_test(bursts_are_found),
		cmocka_unit_test(failing_calls_are_found),
		cmocka_unit_test(time_outs_of_expected_ends_are_found),
		cmocka_unit_test(leaks_are_found),
		cmocka_unit_test(children_that_nobody_waits_for_are_found),
		cmocka_unit_test(pauses_without_a_processor_are_none),
		cmocka_unit_test(timers_that_do_not_wait_are_found),
		cmocka_unit_test(tasks_that_go_on_although_cancelled_are_found),
		cmocka_unit_test(threads_that_keep_pythons_lock_are_found),
		cmocka_unit_test(loops_that_spin_are_found),
		cmocka_unit_test(a_loop_that_does_not_end_is_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
