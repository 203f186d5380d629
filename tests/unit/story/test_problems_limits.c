/* SPDX-License-Identifier: ISC
 *
 * From where on something is a problem: small traces (trace_script.h) with a number n just below
 * and just above a limit, and all that is found in them, as in tests/data/golden/problems.txt.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "golden.h"
#include "problem_case.h"

/* clang-format off */
static const struct limit {
	const char *what, *script;
	unsigned count;
	int n[8];
} limits[] = {
	{"hog: n tasks take turns, one runs long",
		"[500: run 1+i%n; +20; ?i=203 +30000]",
		2, {3, 4}},
	{"hog: one of 500 turns is n ns longer",
		"[500: run 1+i%5; +20; ?i=203 ~n]",
		4, {183265, 183266, 504210, 504211}},
	{"hog: n ns of 5 ms are a pause",
		"[500: run 1+i%5; +20; ?i=203 +5000; ?i=203 gc n]",
		4, {149799, 149800, 2509999, 2510000}},
	{"hog: labelled tasks, every n-th runs long",
		"[300: create 0 10+i task; label 10+i work; run 10+i; +20; ?i%n=7 +3000; resolve 10+i 10+i; run "
		"1+i%4; +5]",
		6, {41, 42, 289, 290, 292, 293}},
	{"hog: others run n ns after it",
		"[100: run 1+i%5; +20]; run 9; +3000; idle; ~n; [100: run 1+i%5; +20]",
		4, {367367, 367368, 1460000, 1460001}},
	{"contention: n tasks wait",
		"create 0 1 semaphore; [n: create 0 10+i task; run 10+i; +1]; [n: run 0; +1; read 10+i 1; +100; "
		"signal 1 10+i; resolve 10+i 10+i]; run 0",
		2, {7, 8}},
	{"contention: a hold n ns longer",
		"create 0 1 semaphore; [9: create 0 10+i task; run 10+i; +1]; [9: run 0; +1; read 10+i 1; +100; ?i=4 "
		"~n; signal 1 10+i; resolve 10+i 10+i]; run 0",
		2, {699999, 700000}},
	{"contention: a hold with one waiter",
		"create 0 1 semaphore; [9: create 0 10+i task; run 10+i; +1]; [9: run 10+i; ?i=5 run 0; +1; read 10+i"
		" 1; +100; ?i=4 ~n; signal 1 10+i; resolve 10+i 10+i]; run 0",
		2, {699999, 700000}},
	{"contention: a long hold in a trace n ns longer",
		"create 0 1 semaphore; [9: create 0 10+i task; run 10+i; +1]; [9: run 10+i; ?i=5 run 0; +1; read 10+i"
		" 1; +100; ?i=4 +2000; signal 1 10+i; resolve 10+i 10+i]; run 0; ~n; run 1; +1",
		6, {2081999, 2082000, 39101999, 39102000, 102082049, 102082050}},
	{"contention: tasks that try and never get it",
		"create 0 1 semaphore; [9: create 0 10+i task; run 10+i; +1]; [9: run 10+i; +1; read 10+i 1; +10; "
		"signal 1 10+i]; read 10 1; [n: create 0 50+i task; try 50+i 1; +1]; +1000; run 0",
		3, {0, 1, 2}},
	{"starvation: n times others have it",
		"create 0 1 semaphore; create 0 2 task; label 2 import; create 0 3 task; label 3 query; run 2; read 2"
		" 1; +10; run 3; +10; [n: run 2; +100; signal 1 2; ?i+1=n run 3; ?i+1=n read 3 1; ?i+1=n +10; ?i+1=n "
		"signal 1 3; ?i+1=n run 2; read 2 1]; run 0",
		2, {8, 9}},
	{"starvation: n tasks take it in turn",
		"create 0 1 semaphore; create 0 3 task; label 3 query; [n: create 0 10+i task]; run 10; read 10 1; "
		"+10; run 3; +10; [40: run 10+i%n; +100; signal 1 10+i%n; ?i=39 run 3; ?i=39 read 3 1; ?i=39 +10; "
		"?i=39 signal 1 3; ?i=39 run 2; read 10+i%n 1]; run 0",
		4, {1, 2, 3, 4}},
	{"starvation: in a trace n ns longer",
		"create 0 1 semaphore; create 0 2 task; label 2 import; create 0 3 task; label 3 query; run 2; read 2"
		" 1; +10; run 3; +10; [20: run 2; +100; signal 1 2; ?i=19 run 3; ?i=19 read 3 1; ?i=19 +10; ?i=19 "
		"signal 1 3; ?i=19 run 2; read 2 1]; run 0; ~n; run 2",
		2, {97970049, 97970050}},
	{"slow: one takes n ns more",
		"[200: create 0 1+i task; label 1+i request; run 1+i; +20+i%9; ?i=77 ~n; resolve 1+i 1+i; run 0; +10]",
		2, {24999, 25000}},
	{"slow: in a long trace, one takes n ns more than 1 of 67 do",
		"[2000: create 0 1+i task; label 1+i request; run 1+i; +500; ?i%67=3 +2000; ?i=777 ~n; resolve 1+i "
		"1+i; run 0; +10000]",
		2, {19499999, 19500000}},
	{"slow: in a long trace, one takes n ns more",
		"[2000: create 0 1+i task; label 1+i request; run 1+i; +500; ?i=777 ~n; resolve 1+i 1+i; run 0; +10000]",
		2, {4499999, 4500000}},
	{"idle: in a long trace, one gap of n ns",
		"[2000: run 1; +500; idle; +9500; ?i=777 ~n]; run 1",
		2, {66499999, 66500000}},
	{"slow: n alike tasks",
		"[n: create 0 1+i task; label 1+i request; run 1+i; +20; ?i=3 +900; resolve 1+i 1+i; run 0; +10]",
		2, {15, 16}},
	{"slow: the first n take 40 ms",
		"[100: create 0 1+i task; label 1+i request; run 1+i; +500; ?i/n=0 +40000; resolve 1+i 1+i; run 0; "
		"+10]",
		6, {1, 2, 7, 8, 50, 51}},
	{"slow: some take 40 ms and n us more each",
		"[100: create 0 1+i task; label 1+i request; run 1+i; +500; ?i%5=2 +40000+i*n; resolve 1+i 1+i; run "
		"0; +10]",
		2, {0, 1}},
	{"slow: n tasks wait for it",
		"create 0 900 promise; [40: create 0 100+i promise; +50; resolve 0 100+i]; [n: create 0 200+i task; "
		"try 200+i 900]; +10000; resolve 0 900; [n: read 200+i 900]",
		2, {3, 4}},
	{"slow: a pause of n ns in it",
		"[60: create 0 1+i promise; label 1+i sleep; ?i=33 +15000; ?i=33 gc n; +1000; run 0; resolve 0 1+i]",
		6, {749999, 750000, 7999999, 8000000, 15000000, 15000001}},
	{"slow: another runs for n ns",
		"[60: create 0 1+i promise; label 1+i sleep; ?i=33 run 900; ?i=33 ~n; ?i=33 run 0; ?i=33 +10000; "
		"+1000; run 0; resolve 0 1+i]",
		1, {15000000}},
	{"slow: two overlap, one n ns longer",
		"[60: create 0 1+i promise; create 0 500+i task; +1000; ?i=33 +20000; resolve 0 1+i; ?i=33 ~n; "
		"resolve 0 500+i]",
		4, {0, 1, 5250000, 5250001}},
	{"idle: n gaps, one long",
		"[n: run 1; +20; idle; +300; ?i=1 +40000]; run 1; +20",
		4, {2, 3, 4, 5}},
	{"idle: a gap n ns longer",
		"[30: run 1; +20; idle; +300; ?i=9 ~n]; run 1; +20",
		2, {2099999, 2100000}},
	{"idle: a second length",
		"[30: run 1; +20; idle; +300; ?i%8=3 +40000; ?i%8=6 ~n]; run 1; +20",
		6, {2099999, 2100000, 29924999, 29925000, 53433333, 53433334}},
	{"idle: a task ends n ns later",
		"create 0 900 promise; label 900 disk; [30: run 1; +20; idle; +300; ?i=9 +40000; run 1; ?i=9 ~n; ?i=9"
		" resolve 0 900; +7000]; run 1",
		2, {5037500, 5037501}},
	{"idle: few gaps",
		"[3: run 1; +1000; idle; ~n]; run 1; +1",
		2, {176469, 176470}},
	{"idle: a short gap in a trace n ns longer",
		"[30: run 1; +20; idle; +10; ?i=9 +300]; run 1; ~n; run 2",
		2, {29800099, 29800100}},
	{"failed: without a message, one of n",
		"[n: create 0 1+i task; ?i=1 label 1+i named; +5; fail 0 1+i; +5]; note 0 end",
		2, {1, 2}},
	{"failed: in turn, with and without n messages",
		"[4: create 0 1+i task; +5]; ?n=1 fail 0 4 gone; ?n=0 fail 0 4; +3; fail 4 3 gone; +3; fail 3 2 gone too;"
		"+3; fail 2 1; +5; note 0 end",
		2, {0, 1}},
	{"climb: n samples",
		"[n: +100; count q i]",
		2, {7, 8}},
	{"climb: falls by n",
		"[200: +100; count q i+100; +50; count q i+100-n]",
		4, {0, 1, 125, 126}},
	{"climb: for n rounds of 200",
		"[n: +100; count q i+10; +50; count q i+9]; [200-n: +100; count q n+10; +50; count q n+9]",
		2, {174, 175}},
	{"climb: late, for n rounds",
		"[300-n: +100; count q 2; +50; count q 0]; [n: +100; count q i+2; +50; count q i]",
		4, {115, 116, 188, 189}},
	{"climb: late, to n",
		"[200: +100; count q 102; +50; count q 100]; [200: +100; count q i*n/100+102; +50; count q "
		"i*n/100+100]",
		2, {69, 70}},
	{"pile: every n-th request leaves a task",
		"[200: create 0 1+i task; label 1+i request; run 1+i; +20; resolve 1+i 1+i; run 0; +10; ?i%n=0 create"
		" 0 1000+i task; ?i%n=0 label 1000+i watch]",
		2, {13, 14}},
	{"pile: n requests end",
		"[n: create 0 1+i task; label 1+i request; run 1+i; +20; resolve 1+i 1+i; run 0; +10; create 0 1000+i"
		" task; label 1000+i watch]",
		2, {15, 16}},
	{"pile: n of 200 end",
		"[200: create 0 1+i task; label 1+i request; run 1+i; +20; resolve 1+i 1+i; run 0; +10; create 0 "
		"1000+i task; label 1000+i watch]; [n: resolve 0 1000+i]",
		4, {0, 1, 15, 16}},
	{"pile: from round n on",
		"[200: create 0 1+i task; label 1+i request; run 1+i; +20; resolve 1+i 1+i; run 0; +10; ?i/n=0 create"
		" 0 1000+i task; ?i/n=0 label 1000+i watch]",
		2, {149, 150}},
	{"gc: one pause of 20 us in n turns",
		"[n: run 1; +100; ?i=5 gc 20000]",
		2, {21, 22}},
	{"gc: a pause of n ns each turn",
		"[200: run 1; +100; gc n]",
		2, {9999, 10000}},
	{"poll: n runs",
		"create 0 1 task; label 1 look; [n: run 1; +5; run 2; +1; idle; +994]",
		2, {99, 100}},
	{"poll: every n ns",
		"create 0 1 task; label 1 look; [300: run 1; +5; run 2; +1; idle; ~n]",
		2, {11994000, 11994001}},
	{"poll: for n ns",
		"create 0 1 task; label 1 look; [300: run 1; ~n; run 2; +1; idle; +900]",
		2, {128714, 128715}},
	{"poll: every n-th run does something",
		"create 0 1 task; label 1 look; [400: run 1; +5; ?i%n=0 signal 2 1; run 2; +1; idle; +994]",
		2, {133, 134}},
	{"poll: within a trace n ms longer",
		"create 0 1 task; label 1 look; [200: run 1; +5; run 2; +1; idle; +994]; run 2; [n: +1000; run 2; "
		"+10; run 3]",
		2, {590, 591}},
	{"herd: n tasks wake",
		"create 0 1 condition; [5: run 0; signal 1 0; [n: +5; read 10+i 1; +5; try 10+i 1]; idle; +100]",
		2, {7, 8}},
	{"herd: n times",
		"create 0 1 condition; [n: run 0; signal 1 0; [20: +5; read 10+i 1; +5; try 10+i 1]; idle; +100]",
		5, {1, 2, 3, 4, 5}},
	{"herd: n of 20 do something",
		"create 0 1 condition; [5: run 0; signal 1 0; [20: +5; read 10+i 1; +5; ?i/n=0 create 10+i 500+j*20+i"
		" task; ?i/n=0 resolve 10+i 500+j*20+i; try 10+i 1]; idle; +100]",
		2, {5, 6}},
	{"lost: waits n ns",
		"create 0 1 condition; label 1 reply; create 0 2 task; label 2 receiver; +1000; signal 1 2; run 1; "
		"+1; run 0; +3; signal 1 0; run 1; create 1 3 wait; +1; run 0; ~n; run 1; resolve 1 3; +1; run 0; "
		"+100000; run 2",
		2, {1019251, 1019252}},
	{"lost: sleeps n ns",
		"create 0 1 task; label 1 worker; [20: run 0; +100; signal 1 0; run 1; +10; ?i=19 signal 1 0; +1]; "
		"run 0; ~n; run 1; +10; run 2",
		2, {799999, 800000}},
	{"lost: after n usual sleeps",
		"create 0 1 task; label 1 worker; [n: run 0; +100; signal 1 0; run 1; +11]; run 0; +100; signal 1 0; "
		"run 1; +10; signal 1 0; +1; run 0; +700; run 1; +10; run 2",
		2, {2, 3}},
	{"fail: n alike",
		"[n: create 0 1+i wait; +1; fail 0 1+i timeout]",
		4, {1, 2, 3, 4}},
	{"fail: n hops",
		"create 0 1 task; fail 0 1 broken; [n: create 0 2+i task; read 2+i 1+i; +1; fail 0 2+i status]",
		4, {0, 1, 64, 65}},
	{"fail: n reads after the failed one",
		"create 0 1 task; create 0 2 task; fail 0 1 broken; read 2 1; [n: create 0 10+i task; resolve 0 10+i;"
		" read 2 10+i]; +1; fail 0 2 status",
		2, {63, 64}},
	{"fail: n messages",
		"[60: create 0 1+i wait; +1; fail 0 1+i status #]",
		5, {5, 6, 7, 8, 9}},
	{"ends: under way for n ns",
		"[100: create 0 1+i task; label 1+i request; run 1+i; +20+i%7; resolve 1+i 1+i; run 0; +10]; create 0"
		" 500 task; label 500 request; expect 500; ~n; run 0",
		2, {24003, 24004}},
	{"ends: n alike tasks ended",
		"[n: create 0 1+i task; label 1+i request; run 1+i; +20; resolve 1+i 1+i; run 0; +10]; create 0 500 "
		"task; label 500 request; expect 500; +5; run 0",
		2, {15, 16}},
	{"circle: of n",
		"[n: create 0 1+i bind; label 1+i part]; +1000; [n: try 1+i i+1%n+1]; +1000; run 0",
		3, {1, 2, 3}},
	{"hog: the waiters exist from n ns on",
		"run 98; +3000; run 99; +1; label 99 busy; ~n; [5: create 0 100+i task]; run 99; ~8000000; run 98; "
		"[5: run 100+i; +20]; [100: run 98; +20; run 97; +20]",
		8, {6048999, 6049000, 6949000, 6949001, 7048999, 7049000, 7949000, 7949001}},
	{"slow: another runs for n ns of it",
		"[60: create 0 1+i promise; label 1+i sleep; ?i=33 run 900; ?i=33 ~n; ?i=33 run 901; ?i=33 +8000; "
		"?i=33 run 902; ?i=33 +8000; +1000; run 0; resolve 0 1+i]",
		4, {1000001, 1000002, 16999998, 16999999}},
	{"slow: two alike groups overlap",
		"[60: create 0 1+i promise; +10; create 0 500+i task; +1000; ?i=33 +20000; resolve 0 1+i; ?i=33 ~n; "
		"resolve 0 500+i]",
		4, {10000, 10001, 5250000, 5250001}},
	{"slow: tasks on another thread run meanwhile",
		"[60: thread 0; create 0 1+i promise; label 1+i sleep; ?i=n%60 thread 1; ?i=33 run 900; ?i=33 +14000;"
		" ?i=33 run 901; thread 0; +1000; run 0; resolve 0 1+i]",
		3, {32, 33, 34}},
	{"idle: one gap among n",
		"[n: run 1; +20; idle; +300]; run 1; +20; idle; +9000; run 1; +20; idle; +300; run 1",
		2, {2, 3}},
	{"idle: every n-th gap is long",
		"[60: run 1; +20; idle; +300; ?i%n=1 +40000]; run 1; +20",
		1, {6}},
	{"idle: gaps of three lengths",
		"[90: run 1; +20; idle; +300; ?i%9=3 +3000; ?i%9=5 +20000; ?i%9=7 ~n]; run 1; +20",
		2, {304120009, 304120010}},
	{"idle: of two threads, one sleeps n ns longer",
		"thread 1; run 7; thread 0; [20: run 1; +20; idle; ?i=9 +20000; thread 1; idle; ?i=9 ~n; run 7; "
		"thread 0; +300]; run 1; +20",
		2, {1389472, 1389473}},
	{"idle: one thread ends early",
		"thread 1; run 7; +100; idle; thread 0; [20: run 1; +20; idle; +300; ?i=9 +40000]; run 1; +20; ?n=1 "
		"thread 1; ?n=1 run 7; +1",
		1, {1}},
	{"climb: two floors",
		"[n: +100; count q i%7+i]; [100: +100; count q i%7+100]",
		1, {140}},
	{"climb: a saw of n steps that rises",
		"[400: +100; count q i%n+i]",
		7, {99, 100, 101, 114, 115, 119, 120}},
	{"lost: a condition that is waited for n ns",
		"create 0 1 condition; label 1 reply; [6: run 10+i; try 10+i 1; run 0; +100; signal 1 0; read 10+i 1;"
		" run 10+i; +5]; run 0; signal 1 0; +5; run 20; try 20 1; run 0; ~n; run 20; +50; run 0",
		1, {1550000}},
	{"lost: the wait is for a promise of n ns",
		"create 0 1 condition; label 1 reply; run 0; +5000; signal 1 0; +1; create 1 3 promise; try 2 3; run "
		"0; ~n; resolve 0 3; run 2; read 2 3; +5; run 0; +1000",
		2, {50564, 50565}},
	{"lost: a second signal comes n ns after the wait began",
		"create 0 1 condition; label 1 reply; +5000; signal 1 0; +5; run 20; try 20 1; run 0; +2000; run 20; "
		"~n; signal 1 0; +50; run 0",
		2, {0, 1}},
	{"lost: a second signal n ns before it goes on",
		"create 0 1 condition; label 1 reply; +5000; signal 1 0; +5; run 20; try 20 1; run 0; +2000; signal 1"
		" 0; ~n; run 20; +50; run 0",
		1, {5}},
	{"herd: with a promise for each of n",
		"[20: create 0 1000+i promise]; [5: idle; +5000; run 1; [n: resolve 1 100*j+1000+i]; [n: +5; read "
		"10+i 100*j+1000+i; +5; ?i=0 create 10 3000+j task; ?i=0 resolve 10 3000+j; create 10+i 100*j+1100+i "
		"promise; try 10+i 100*j+1100+i]]",
		2, {7, 8}},
	{"herd: n tasks are signalled each",
		"create 0 1 condition; [30: run 10+i; try 10+i 1]; [5: run 0; [n: +1; signal 10+i 0]; [n: run 10+i; +5; "
		"?i=0 read 10 1; try 10+i 1]; idle; +1000]",
		2, {7, 8}},
	{"herd: n of 20 that are signalled each read",
		"create 0 1 condition; [30: run 10+i; try 10+i 1]; [5: run 0; [20: +1; signal 10+i 0]; [20: run 10+i; +5; "
		"?i/n=1 read 10+i 1; try 10+i 1]; idle; +1000]",
		3, {5, 6, 20}},
	{"herd: signalled each, and the first runs n longer",
		"create 0 1 condition; [30: run 10+i; try 10+i 1]; [5: run 0; [20: +1; signal 10+i 0]; [20: run 10+i; +5; "
		"?i=0 create 10 500+j task; ?i=0 resolve 10 500+j; ?i=0 ~n; try 10+i 1]; idle; +1000]",
		2, {14000, 16000}},
	{"pile: n of 30 are old",
		"[30: create 0 1+i task; label 1+i watch; +20; resolve 0 1+i]; [40: create 0 100+i task; label 100+i "
		"watch; ~n]; run 0",
		2, {26785, 26786}},
	{"pile: every n-th lives as long as others until the program closes it",
		"[200: create 0 1+i task; label 1+i watch; +20; ?i/100=1 resolve 0 i-99; ?i%n=0 create 0 1000+i task; "
		"?i%n=0 label 1000+i watch]; [200: ?i%n=0 close 0 1000+i]",
		4, {2, 5, 9, 10}},
	{"pile: every n-th lives until the program closes it",
		"[200: create 0 1+i task; label 1+i watch; +20; ?i%8=0 +20; resolve 0 1+i; ?i%n=0 create 0 1000+i "
		"task; ?i%n=0 label 1000+i watch]; [200: ?i%n=0 close 0 1000+i]",
		4, {1, 2, 8, 10}},
	{"pile: n wait while others end",
		"[200: create 0 1+i task; label 1+i watch; +20; ?i/n=0 resolve 0 1+i]",
		4, {15, 16, 73, 74}},
	{"fail: n readers go on",
		"create 0 1 task; label 1 disk; +5; fail 0 1 broken; [n: create 0 10+i task; read 10+i 1; +1; resolve"
		" 10+i 10+i]",
		2, {0, 1}},
	{"fail: the source fails n us after its reader",
		"create 0 1 task; create 0 2 task; +5; read 2 1; ?n=0 fail 0 1 broken; fail 0 2 status; +n; fail 0 1 "
		"broken; +1; run 0",
		2, {0, 1}},
	{"fail: n alike are handled",
		"[n: create 0 1+i task; create 0 100+i task; +5; fail 0 1+i broken; read 100+i 1+i; resolve 100+i "
		"100+i]",
		2, {1, 2}},
	{"ends: n are under way",
		"[100: create 0 1+i task; label 1+i request; run 1+i; +20; resolve 1+i 1+i; run 0; +10]; [n: create 0"
		" 500+i task; label 500+i request; expect 500+i; +2]; run 0",
		3, {0, 1, 2}},
	{"ends: n promises are never resolved",
		"[n: create 0 1+i promise; label 1+i reply; expect 1+i; +5]; run 0",
		5, {0, 1, 2, 3, 4}},
	{"circle: two, closed n ns after the first wait",
		"create 0 1 semaphore; create 0 2 semaphore; label 2 lock B; [2: create 0 11+i task; run 11+i; +100; "
		"read 11+i 1+i]; run 11; +50; try 11 2; ~n; run 12; +5; try 12 1; run 0; +100000; run 0",
		2, {199744999, 199745000}},
	{"circle: a lock is given back n times",
		"create 0 1 semaphore; create 0 2 semaphore; [2: create 0 11+i task; +100; read 11+i 1+i]; [n: signal"
		" 2 12]; +10; try 11 2; +30; try 12 1; +100; run 0",
		2, {0, 1}},
	{"gc: two threads pause, n ns on the second",
		"[40: thread 0; run 1; +100; gc 20000; thread 1; run 2; +100; gc n]",
		2, {20000, 20001}},
	{"poll: sleeps n times",
		"create 0 1 task; label 1 look; [200: run 1; +5; ?i/n=0 create 1 100+i promise;  run 2; +1; idle; "
		"+994; ?i/n=0 resolve 0 100+i; run 1; ?i/n=0 read 1 100+i]",
		1, {100}},
	{"poll: its child runs n times",
		"create 0 1 task; label 1 look; create 1 50 task; [200: run 1; +5; ?i/n=0 run 50; ?i/n=0 +1; run 2; "
		"+1; idle; +994]",
		4, {99, 100, 149, 150}},
	{"poll: intervals differ by n ns",
		"create 0 1 task; label 1 look; [300: run 1; +5; run 2; +1; idle; +800; ?i%2=1 ~n]",
		2, {201500, 201501}},
	{"poll: a task that was there before",
		"[n: run 0; +5; idle; +994]",
		2, {99, 100}},
	{"poll: long names",
		"create 0 1 task; label 1 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; [n: run 1;"
		" +5; run 2; +1; idle; +994]",
		2, {99, 100}},
	{"hog: long names",
		"create 0 9 task; label 9 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; [n: run "
		"1+i%5; +20]; run 9; +3000; [n: run 1+i%5; +20]",
		7, {3, 4, 50, 51, 54, 55, 56}},
	{"hog: n tasks of one kind",
		"[n: create 0 10+i task; label 10+i a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz];"
		" [n: run 10+i; +3000; [20: run 1+i; +20]]",
		2, {1, 2}},
	{"hog: n different tasks",
		"[n: create 0 10+i task; [i: label 10+j same]; run 10+i; +3000; [40: run 100+i; +20]]",
		3, {1, 2, 3}},
	{"contention: long names",
		"create 0 1 semaphore; label 1 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; [n: "
		"create 0 10+i task; label 10+i a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; run "
		"10+i; +1]; [n: run 0; +1; read 10+i 1; +100; ?i=4 +900; signal 1 10+i; resolve 10+i 10+i]; run 0",
		2, {7, 8}},
	{"starvation: long names",
		"create 0 1 semaphore; label 1 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; "
		"create 0 2 task; label 2 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; create 0 3"
		" task; label 3 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; run 2; read 2 1; "
		"+10; run 3; +10; [n: run 2; +100; signal 1 2; ?i+1=n run 3; ?i+1=n read 3 1; ?i+1=n +10; ?i+1=n "
		"signal 1 3; ?i+1=n run 2; read 2 1]; run 0",
		2, {8, 9}},
	{"slow: long names",
		"[60: create 0 1+i promise; label 1+i a-name-that-is-much-longer-than-what-fits-into-one-sentence-"
		"xyz; label 900 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; ?i=33 run 900; ?i=33"
		" ~n; ?i=33 run 0; +1000; run 0; resolve 0 1+i]",
		2, {6999999, 7000000}},
	{"idle: long names",
		"create 0 900 promise; label 900 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; "
		"[30: run 1; +20; idle; +300; ?i=9 +40000; run 1; ?i=9 ~n; ?i=9 resolve 0 900; +7000]; run 1",
		2, {5037500, 5037501}},
	{"climb: long names",
		"[n: +100; count a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz i]",
		2, {7, 8}},
	{"pile: long names",
		"[n: create 0 1+i task; label 1+i request; run 1+i; +20; resolve 1+i 1+i; run 0; +10; create 0 1000+i"
		" task; label 1000+i a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz]",
		2, {15, 16}},
	{"herd: long names",
		"create 0 1 condition; label 1 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; [n: "
		"run 0; signal 1 0; [20: +5; read 10+i 1; +5; try 10+i 1]; idle; +100]",
		2, {2, 3}},
	{"lost: long names",
		"create 0 1 condition; label 1 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; "
		"create 0 2 task; label 2 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; run 2; "
		"+5000; signal 1 2; run 1; +1; run 0; +3; create 0 3 task; label 3 a-name-that-is-much-longer-than-"
		"what-fits-into-one-sentence-xyz; run 3; try 3 1; run 0; ~n; run 3; +5; run 0; +1000",
		2, {50594, 50595}},
	{"lost: a long name of the sender",
		"create 0 1 condition; label 1 lock; create 0 2 task; label 2 a-name-that-is-much-longer-than-what-"
		"fits-into-one-sentence-xyz; run 2; +5000; signal 1 2; run 1; +1; run 0; +3; create 0 3 task; label 3"
		" x; run 3; try 3 1; run 0; ~n; run 3; +5; run 0; +1000",
		2, {50594, 50595}},
	{"lost: a long name of the condition",
		"create 0 1 condition; label 1 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; "
		"create 0 2 task; label 2 tx; run 2; +5000; signal 1 2; run 1; +1; run 0; +3; create 0 3 task; label "
		"3 x; run 3; try 3 1; run 0; ~n; run 3; +5; run 0; +1000",
		2, {50594, 50595}},
	{"fail: long names",
		"create 0 1 task; label 1 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; fail 0 1 "
		"a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; [n: create 0 2+i task; label 2+i "
		"a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; read 2+i 1+i; +1; fail 0 2+i other "
		"a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz]",
		2, {0, 1}},
	{"ends: long names",
		"[n: create 0 1+i promise; label 1+i a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz;"
		" expect 1+i; +5]; run 0",
		5, {0, 1, 2, 3, 4}},
	{"ends: many under way, with long names",
		"[100: create 0 1+i task; label 1+i a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; "
		"run 1+i; +20; resolve 1+i 1+i; run 0; +10]; [n: create 0 500+i task; label 500+i a-name-that-is-"
		"much-longer-than-what-fits-into-one-sentence-xyz; expect 500+i; +2]; run 0",
		3, {0, 1, 2}},
	{"circle: long names",
		"[n: create 0 1+i bind; label 1+i a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz]; "
		"+1000; [n: try 1+i i+1%n+1]; +1000; run 0",
		3, {1, 2, 3}},
	{"circle: locks with long names",
		"create 0 1 semaphore; label 1 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; "
		"create 0 2 semaphore; label 2 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; [2: "
		"create 0 11+i task; label 11+i a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; "
		"+100; read 11+i 1+i]; [n: signal 2 12]; +10; try 11 2; +30; try 12 1; +100; run 0",
		2, {0, 1}},
	{"circle: it ran n times before",
		"create 0 1 bind; create 0 2 bind; [n: run 1; +5; run 2; +7]; +100; run 1; +3; try 1 2; run 2; +4; "
		"try 2 1; run 0; +10; run 0",
		2, {0, 1}},
	{"lost: it ran n times before",
		"create 0 1 condition; label 1 reply; [n: run 20; +30; run 0; +10]; run 0; +3000; signal 1 0; +5; run"
		" 20; +2; try 20 1; run 0; +2000; run 20; +50; run 0",
		1, {2}},
	{"contention: holds of many lengths",
		"create 0 1 semaphore; [20: create 0 10+i task; run 10+i; +1]; [20: run 0; +1; read 10+i 1; "
		"+i*7%50+100; ?i=4 ~n; signal 1 10+i; resolve 10+i 10+i]; run 0",
		2, {839999, 840000}},
	{"fail: n messages, once each",
		"[n: create 0 1+i wait; +1; fail 0 1+i status #]",
		5, {5, 6, 7, 8, 9}},
	{"contention: a long name of the holder",
		"create 0 1 semaphore; label 1 lock; [9: create 0 10+i task; label 10+i a-name-that-is-much-longer-"
		"than-what-fits-into-one-sentence-xyz; run 10+i; +1]; [9: run 0; +1; read 10+i 1; +100; ?i=4 ~n; "
		"signal 1 10+i; resolve 10+i 10+i]; run 0",
		8, {699999, 700000, 899499, 899500, 905000, 905001, 1894999, 1895000}},
	{"starvation: a long name of the other",
		"create 0 1 semaphore; label 1 lock; create 0 2 task; label 2 a-name-that-is-much-longer-than-what-"
		"fits-into-one-sentence-xyz; create 0 3 task; label 3 x; run 2; read 2 1; +10; run 3; +10; [n: run 2;"
		" +100; signal 1 2; ?i+1=n run 3; ?i+1=n read 3 1; ?i+1=n +10; ?i+1=n signal 1 3; ?i+1=n run 2; read "
		"2 1]; run 0",
		2, {8, 9}},
	{"slow: a long name of the one that runs",
		"label 900 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; [60: create 0 1+i "
		"promise; label 1+i x; ?i=33 run 900; ?i=33 ~n; ?i=33 run 0; +1000; run 0; resolve 0 1+i]",
		2, {6999999, 7000000}},
	{"fail: a long name of the origin",
		"create 0 1 task; label 1 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; fail 0 1 "
		"e; [n: create 0 2+i task; read 2+i 1+i; +1; fail 0 2+i f]",
		2, {0, 1}},
	{"fail: a long message of the origin",
		"create 0 1 task; fail 0 1 a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; [n: "
		"create 0 2+i task; read 2+i 1+i; +1; fail 0 2+i f]",
		2, {0, 1}},
	{"circle: a lock with a long name",
		"create 0 1 semaphore; create 0 2 semaphore; label 2 a-name-that-is-much-longer-than-what-fits-into-"
		"one-sentence-xyz; [2: create 0 11+i task; +100; read 11+i 1+i]; [n: signal 2 12]; +10; try 11 2; "
		"+30; try 12 1; +100; run 0",
		2, {0, 1}},
	{"circle: a holder with a long name",
		"create 0 1 semaphore; create 0 2 semaphore; [2: create 0 11+i task; +100; read 11+i 1+i]; label 12 "
		"a-name-that-is-much-longer-than-what-fits-into-one-sentence-xyz; [n: signal 2 12]; +10; try 11 2; "
		"+30; try 12 1; +100; run 0",
		2, {0, 1}},
	{"losses: n ns apart",
		"[200: run 1+i%5; +100]; lose 5000000 6000000 5 0 1; lose 6000000+n 8000000 7 0 1",
		2, {99500, 99501}},
	{"losses: the second ends n ns after the first began",
		"[200: run 1+i%5; +100]; lose 5000000 6000000 5 0 1; lose 5500000 5000000+n 1 0 1",
		1, {1000000}},
	{"losses: of thread n",
		"[200: run 1+i%5; +100]; thread 1; run 9; +5; lose 5000000 6000000 5 0 1; lose 6000000 8000000 7 n 1",
		2, {0, 1}},
	{"losses: by cause n",
		"[200: run 1+i%5; +100]; lose 5000000 6000000 5 0 1; lose 6000000 8000000 7 0 n",
		3, {0, 1, 2}},
	{"losses: by cause n before the first event",
		"[200: run 1+i%5; +100]; lose 0 0 5 0 n",
		3, {0, 1, 2}},
	{"losses: overwritten from the start for n ns",
		"[200: run 1+i%5; +100]; lose 0 n 5 0 0",
		2, {0, 1}},
	{"losses: overwritten from n ns on",
		"[200: run 1+i%5; +100]; lose n 5000000 5 0 0",
		2, {0, 1}},
	{"losses: one of n events",
		"[200: run 1+i%5; +100]; lose 5000000 6000000 n 0 1",
		3, {0, 1, 2}},
	{"losses: n periods",
		"[200: run 1+i%5; +100]; [n: lose i*900000 i*900000+100000 1 0 1]",
		2, {20, 21}},
	{"losses: more than a sum holds",
		"[200: run 1+i%5; +100]; lose 5000000 6000000 18446744073709551615-n 0 1; lose 5000000 6000000 2 0 1",
		1, {2}},
	{"slow: a pause n ns before it",
		"[60: create 0 1+i promise; label 1+i sleep; ?i=33 run 7; ?i=33 ~n; ?i=33 run 0; +1000; ?i=20 gc "
		"900000; run 0; resolve 0 1+i]",
		2, {6999999, 7000000}},
	{"poll: n tasks poll",
		"create 0 500 task; create 0 501 task; create 0 502 task; create 0 503 task; [n: create 0 10+i task];"
		" [120: [n: run 10+i; +5]; idle; +994]",
		3, {1, 2, 3}},
	{"circle: through a semaphore that another task takes and releases n times",
		"create 0 1 semaphore; create 0 2 task; create 0 3 task; create 0 9 task; run 2; read 2 1; +10; run 9; "
		"[n: read 9 1; +1; signal 1 9; +1]; run 3; +1; try 3 1; run 2; +1; try 2 3; +1000; run 0",
		2, {0, 1}},
	{"circle: through a semaphore that another task released n times before",
		"create 0 1 semaphore; create 0 2 task; create 0 3 task; create 0 9 task; run 9; [n: signal 1 9; +1]; "
		"run 2; read 2 1; +10; run 3; +1; try 3 1; run 2; +1; try 2 3; +1000; run 0",
		2, {0, 1}},
	{"left: a task that ended holds a task",
		"create 0 1 task; [n: create 0 10+i task; run 10+i; acquire 10+i 1; +1; resolve 10+i 10+i]; run 0; "
		"+1000; run 1; +1",
		2, {1, 2}},
	{"left: a task that ended holds a lock",
		"create 0 1 lock; [n: create 0 10+i task; run 10+i; acquire 10+i 1; +1; resolve 10+i 10+i]; run 0; "
		"+1000; run 1; +1",
		2, {1, 2}},
	{"circle: reached from outside",
		"[5: create 0 1+i bind]; +1000; try 1 4; try 2 3; try 3 4; ?n=1 try 4 2; +1000; run 0",
		2, {0, 1}},
	{"lost: after n usual waits for a condition",
		"create 0 1 condition; label 1 reply; [n: run 20; try 20 1; run 0; +300; signal 1 0; run 20; +5]; run"
		" 0; +1000; signal 1 0; +5; run 21; try 21 1; run 0; +2000; run 21; +50; run 0; +100",
		2, {2, 3}},
	{"lost: the usual wait is of n ns",
		"create 0 1 condition; label 1 reply; [6: run 20; try 20 1; run 0; ~n; signal 1 0; run 20; +5]; run "
		"0; +1000; signal 1 0; +5; run 21; try 21 1; run 0; +2000; run 21; +50; run 0; +100",
		2, {250000, 250001}},
	{"slow: n of 40 take far longer, for different times",
		"[40: create 0 1+i task; label 1+i request; run 1+i; +500; ?i/n=0 +i*9000+20000; resolve 1+i 1+i; run"
		" 0; +10]",
		4, {1, 2, 4, 5}},
	{"slow: many in a trace n ns longer",
		"[100: create 0 1+i task; label 1+i request; run 1+i; +1; ?i%5=2 +40; resolve 1+i 1+i; run 0; +1]; "
		"~n; run 0",
		2, {7200199, 7200200}},
	{"lost: a condition that was there before",
		"[n: label 1 reply]; +3000; signal 1 0; +5; run 21; try 21 1; run 0; +2000; run 21; +50; run 0; +100",
		2, {0, 1}},
	{"contention: the queue is as long twice",
		"create 0 1 semaphore; [2: [n: create 0 i*2+10+j task; run i*2+10+j; +1]; [n: run 0; +1; read "
		"i*2+10+j 1; +100; signal 1 i*2+10+j; resolve i*2+10+j i*2+10+j]; run 0; +50]",
		2, {7, 8}},
	{"poll: after n that run at irregular intervals",
		"[n: create 0 10+i task]; create 0 1 task; label 1 look; [400: [n: ?j%5=0 run 10+i; ?j%5=1 run 10+i; "
		"+1]; run 1; +5; idle; +994]",
		1, {4}},
	{"poll: after n that run for long",
		"[n: create 0 10+i task]; create 0 1 task; label 1 look; [120: [n: run 10+i; +300]; run 1; +5; idle; "
		"+94]",
		1, {4}},
	{"hog: others run short, one for n ns",
		"[200: run 1+i%5; +200; ?i=103 ~n]",
		2, {99800000, 99800001}},
	{"slow: the other that runs is on thread n",
		"thread 1; run 5; thread 0; [60: create 0 1+i promise; label 1+i sleep; run 1+i; +10; run 0; ?i=33 "
		"thread n; ?i=33 run 900; ?i=33 +15000; ?i=33 run 901; thread 0; +1000; resolve 0 1+i]",
		1, {1}},
};
/* clang-format on */

static void add_range(struct weft_text *text, const char *before, uint64_t start, uint64_t end)
{
	char line[80];
	snprintf(line, sizeof(line), "%s%" PRIu64 "-%" PRIu64, before, start, end);
	weft_text_add_string(text, line);
}

static void add_number(struct weft_text *text, const char *before, uint32_t number)
{
	char line[40];
	snprintf(line, sizeof(line), "%s%" PRIu32, before, number);
	weft_text_add_string(text, number == WEFT_NONE ? "" : line);
}

static void add_moment(
	struct weft_text *text, const char *before, const struct weft_problem_note *moment)
{
	char line[120];
	snprintf(line, sizeof(line), "\n      %s %" PRIu64 " on row %" PRIu32 ": %s", before,
		moment->time, moment->task, moment->words);
	weft_text_add_string(text, moment->words[0] ? line : "");
}

static void add_problem(
	struct weft_text *text, const struct found *found, const struct weft_problem *p)
{
	static const char *const severities[] = {"    hint: ", "    warning: ", "    error: "};
	weft_text_add_string(text, severities[p->severity]);
	weft_text_add_string(text, p->sentence);
	add_number(text, "\n      x", p->count);
	add_range(text, ", ", p->start, p->end);
	if (p->show_start != p->start || p->show_end != p->end)
		add_range(text, ", shown ", p->show_start, p->show_end);
	add_number(text, ", thread ", p->thread);
	add_number(text, ", counter ", p->counter);
	add_number(text, ", edge ", p->edge);
	for (uint32_t i = 0; i < p->period_count && i < 4; i++) {
		const struct weft_problem_period *period = &found->problems->periods[p->first_period + i];
		add_range(text, i ? " " : ", periods ", period->start, period->end);
	}
	add_number(text, " of ", p->period_count ? p->period_count : WEFT_NONE);
	add_number(text, ", row ", p->task);
	add_moment(text, "cause", &p->cause);
	add_moment(text, "effect", &p->effect);
	weft_text_add_string(text, "\n");
}

static void add_found(struct weft_text *text, const struct limit *limit, int n)
{
	struct found found = find_in_script(limit->script, n);
	char line[64];
	snprintf(line, sizeof(line), "  n=%d:%s\n", n, found.problems->count ? "" : " nothing");
	weft_text_add_string(text, line);
	for (uint32_t i = 0; i < found.problems->count; i++)
		add_problem(text, &found, &found.problems->list[i]);
	found_finish(&found);
}

static void limits_are_as_in_the_golden_text(void **state)
{
	struct weft_text text = {0};
	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		weft_text_add_string(&text, limits[i].what);
		weft_text_add_string(&text, "\n");
		for (unsigned k = 0; k < limits[i].count; k++)
			add_found(&text, &limits[i], limits[i].n[k]);
	}
	golden_compare("problems.txt", &text);
	weft_text_finish(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_are_as_in_the_golden_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
