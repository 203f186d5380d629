/* SPDX-License-Identifier: ISC
 *
 * Span ids of many threads and processes: none is made twice, and their low bits are even.
 *
 *     context_ids COUNT       makes so many, or some more
 *
 * Ids are a count through a bijection, which is inverted here, and checked by doing it again: so
 * ids are the same if their counts are. Those of a process follow each other, and have a bit each.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/context.h>

enum {
	PROCESSES = 4, /* each forked by the one before it, in the middle of its ids */
	THREADS = 4,   /* in each process */
	LOW = 256,
	BEFORE = 1 << 16, /* counts below a process's first one that it may still use */
};

struct process {
	uint64_t first;             /* the count of its first bit */
	uint64_t low[THREADS][LOW]; /* ids by their low byte */
	uint64_t *bits;
};

static struct process *processes; /* shared */
static uint64_t ids_of_thread, bits;

/* ---- The bijection ---- */

#define FIRST  UINT64_C(0xbf58476d1ce4e5b9)
#define SECOND UINT64_C(0x94d049bb133111eb)

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * FIRST;
	x = (x ^ x >> 27) * SECOND;
	return x ^ x >> 31;
}

/* Newton's iteration doubles the number of right bits, of which an odd number has three. */
static uint64_t inverse_of(uint64_t odd)
{
	uint64_t inverse = odd;
	for (unsigned i = 0; i < 5; i++)
		inverse *= 2 - odd * inverse;
	return inverse;
}

static uint64_t unshift(uint64_t x, unsigned by)
{
	return x ^ x >> by ^ (2 * by < 64 ? x >> 2 * by : 0);
}

static uint64_t unmix(uint64_t id)
{
	const uint64_t x = unshift(unshift(id, 31) * inverse_of(SECOND), 27) * inverse_of(FIRST);
	return unshift(x, 30);
}

/* ---- Making ids ---- */

static void fail(const char *why)
{
	printf("Bail out! %s\n", why);
	exit(1);
}

static void *shared_memory(size_t size)
{
	void *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		fail("no memory");
	return memory;
}

static void add(struct process *process, unsigned thread, uint64_t id)
{
	const uint64_t count = unmix(id);
	if (id == 0 || mix(count) != id)
		fail("an id is not of the bijection");
	if (!process->first)
		process->first = count - BEFORE;
	const uint64_t index = count - process->first, bit = UINT64_C(1) << index % 64;
	if (index >= bits)
		fail("the ids of a process do not follow each other");
	if (__atomic_fetch_or(&process->bits[index / 64], bit, __ATOMIC_RELAXED) & bit)
		fail("an id is made twice");
	process->low[thread][id % LOW]++;
}

static void make(struct process *process, unsigned thread)
{
	const struct weft_context remote = {.trace_high = 1, .trace_low = 2, .span = 3, .flags = 1};
	struct weft_context own;
	for (uint64_t i = 0; i < ids_of_thread; i++) {
		if (i % 64) { /* the usual case; the other call makes ids in another way */
			weft_context_begin("part", &remote, &own);
			weft_context_end(NULL);
		} else {
			weft_context_start(&remote, &own);
		}
		add(process, thread, own.span);
	}
}

struct thread {
	struct process *process;
	unsigned number;
};

static void *run_thread(void *of)
{
	const struct thread *thread = of;
	make(thread->process, thread->number);
	return NULL;
}

static void run_threads(struct process *process)
{
	pthread_t threads[THREADS];
	struct thread of[THREADS];
	for (unsigned i = 1; i < THREADS; i++) {
		of[i] = (struct thread){process, i};
		if (pthread_create(&threads[i], NULL, run_thread, &of[i]))
			fail("no thread");
	}
	make(process, 0);
	for (unsigned i = 1; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void run(struct process *process)
{
	const size_t size = (size_t)1 << 20;
	void *buffer = aligned_alloc(65536, size);
	int status = 0;
	if (!buffer)
		fail("no memory");
	memset(buffer, 0, size);
	if (weft_start(buffer, size, NULL))
		fail("recording does not start");
	make(process, 0); /* so that the fork finds counts that this thread has taken */
	const bool is_last = process + 1 == processes + PROCESSES;
	const pid_t child = is_last ? -1 : fork();
	if (child == 0) {
		run(process + 1);
		_exit(0);
	}
	run_threads(process);
	weft_stop();
	free(buffer);
	if (!is_last && (waitpid(child, &status, 0) != child || status))
		fail("a process failed");
}

/* ---- Looking at them ---- */

static bool are_apart(void)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		for (unsigned k = 0; k < i; k++)
			if (processes[i].first - processes[k].first + bits < 2 * bits)
				return false;
	return true;
}

/* Within seven standard deviations, which all of 256 counts are in all but one of 10^9 runs. */
static bool are_even(uint64_t ids)
{
	const double expected = (double)ids / LOW;
	for (unsigned byte = 0; byte < LOW; byte++) {
		double distance = -expected;
		for (unsigned i = 0; i < PROCESSES * THREADS; i++)
			distance += (double)processes[i / THREADS].low[i % THREADS][byte];
		if (distance * distance > 49 * expected)
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	const uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	/* The first thread of a process makes twice as many. */
	ids_of_thread = wanted / ((uint64_t)PROCESSES * (THREADS + 1)) + 1;
	const uint64_t ids = ids_of_thread * PROCESSES * (THREADS + 1);
	bits = (ids / PROCESSES + (uint64_t)2 * BEFORE + 63) / 64 * 64;
	processes = shared_memory(sizeof(*processes) * PROCESSES);
	for (unsigned i = 0; i < PROCESSES; i++)
		processes[i].bits = shared_memory(bits / 8);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("1..2\n# %llu ids of %d processes with %d threads each\n", (unsigned long long)ids,
		PROCESSES, THREADS);
	run(&processes[0]);
	const bool apart = are_apart(), even = are_even(ids);
	printf("%s 1 - no id is made twice\n", apart ? "ok" : "not ok");
	printf("%s 2 - their low bits are even\n", even ? "ok" : "not ok");
	return !(apart && even);
}
