/* SPDX-License-Identifier: ISC
 *
 * Runs the recorder's own sources in rounds, with random delays at each of their steps: threads,
 * signal handlers, copies, followers, restarts and kills at once, on a buffer of 11 packets. After
 * each round the sums must be exact.
 *
 *     WEFT_STRESS_SECONDS      how long (20)
 *     WEFT_STRESS_SEED         of the first round; each next round adds one
 *     WEFT_STRESS_HAPPENINGS   the same in each round: bits as in round.h (other ones in each)
 *
 * Then one bug at a time is planted in the recorder, and some round must find it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/buffer_abi.h"
#include "check.h"
#include "delay.h"
#include "faults.h"
#include "round.h"

#define ROUND_SECONDS_MAX 60 /* one takes some 10 ms */
#define FAULT_ROUNDS_MAX  2000

static struct totals {
	uint64_t rounds, written, read, losses[WEFT_ABI_LOSSES];
	uint64_t barriers, copies, followed, left, kills, restarts, threads;
} totals;

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* A run's own generator: a round is repeated by its seed alone. */
static uint32_t mix(uint32_t x)
{
	x = (x ^ x >> 16) * 0x7feb352du;
	x = (x ^ x >> 15) * 0x846ca68bu;
	return x ^ x >> 16;
}

static unsigned choose_happenings(uint32_t seed)
{
	const char *given = getenv("WEFT_STRESS_HAPPENINGS");
	if (given)
		return (unsigned)strtoul(given, NULL, 0) % (1u << HAPPENINGS);
	uint32_t bits = mix(seed);
	unsigned happenings = bits % (1u << HAPPENINGS);
	/* Those that make sums bounds only are seldom. */
	if (bits >> 16 & 3)
		happenings &= ~(unsigned)(RESTARTS | LEVELS);
	if (bits >> 18 & 1)
		happenings &= ~(unsigned)JUMPS;
	if (happenings & LEVELS)
		happenings |= FOLLOWS;
	if (happenings & JUMPS)
		happenings |= HANDLERS;
	return happenings;
}

static void map_buffers(struct round *round)
{
	unsigned char *all =
		mmap(NULL, BUFFERS * BUFFER_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (unsigned i = 0; i < BUFFERS && all != MAP_FAILED; i++) {
		int file = memfd_create("stress", 0);
		if (file < 0 || ftruncate(file, (off_t)BUFFER_BYTES) ||
			mmap(all + i * BUFFER_BYTES, BUFFER_BYTES, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
			abort();
		round->files[i] = file;
	}
	round->tale =
		mmap(NULL, sizeof(struct tale), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (all == MAP_FAILED || round->tale == MAP_FAILED)
		abort();
	round->buffers = all;
}

static void unmap_buffers(struct round *round)
{
	munmap(round->buffers, BUFFERS * BUFFER_BYTES);
	munmap(round->tale, sizeof(struct tale));
	for (unsigned i = 0; i < BUFFERS; i++)
		close(round->files[i]);
}

static pid_t start_process(const struct round *round, void (*body)(const struct round *))
{
	fflush(NULL);
	pid_t child = fork();
	if (child < 0)
		abort();
	if (child > 0)
		return child;
	body(round);
	_exit(0);
}

/* False if it does not end by itself. */
static bool wait_for(pid_t child, double until, int *ret_status)
{
	while (waitpid(child, ret_status, WNOHANG) == 0) {
		if (now() > until)
			return false;
		usleep(500);
	}
	return true;
}

static void end_process(struct round *round, pid_t child, const char *who, bool was_killed)
{
	int status;
	if (!wait_for(child, now() + ROUND_SECONDS_MAX, &status)) {
		report_problem(round->tale, "%s does not end", who);
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
	} else if (WIFSIGNALED(status) && !(was_killed && WTERMSIG(status) == SIGKILL)) {
		report_problem(round->tale, "%s: %s", who, strsignal(WTERMSIG(status)));
	} else if (WIFEXITED(status) && WEXITSTATUS(status)) {
		report_problem(round->tale, "%s exits with %d", who, WEXITSTATUS(status));
	}
}

static bool wait_for_start(const struct round *round, pid_t child)
{
	double until = now() + ROUND_SECONDS_MAX;
	siginfo_t info;
	while (!__atomic_load_n(&round->tale->is_recording, __ATOMIC_ACQUIRE)) {
		memset(&info, 0, sizeof(info));
		waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT);
		if (info.si_pid == child || now() > until)
			return false;
		usleep(100);
	}
	return true;
}

static void run_processes(struct round *round)
{
	bool kills = round->happenings & KILLS;
	pid_t follower = 0, copier = 0, program = start_process(round, run_program);
	bool begins = wait_for_start(round, program);
	if (begins && round->happenings & FOLLOWS)
		follower = start_process(round, follow);
	if (begins && round->happenings & COPIES)
		copier = start_process(round, copy_often);
	if (kills) {
		usleep(mix(round->seed + 1) % 40000);
		kill(program, SIGKILL);
	}
	end_process(round, program, "the program", kills);
	__atomic_store_n(&round->tale->is_over, 1, __ATOMIC_RELEASE);
	if (follower)
		end_process(round, follower, "the follower", false);
	if (copier)
		end_process(round, copier, "the copier", false);
}

static void add_totals(const struct round *round, uint64_t read)
{
	const struct tale *tale = round->tale;
	const struct weft_abi_buffer *header = (const void *)round->buffers;
	totals.rounds++;
	totals.written += sum_begun(tale);
	totals.read += read;
	for (unsigned i = 0; i < WEFT_ABI_LOSSES; i++)
		totals.losses[i] += header->losses[i];
	totals.barriers += tale->barriers;
	totals.copies += tale->copies;
	totals.followed += tale->followed;
	totals.left += tale->left;
	totals.kills += (round->happenings & KILLS) != 0;
	totals.restarts += tale->buffer;
	/* Beyond those that stay. */
	totals.threads += round->happenings & SHORT ? tale->writers / ROLES : 0;
}

/* False if something was wrong, with a description in `ret_problem`. */
static bool run_round(uint32_t seed, char ret_problem[320])
{
	struct round round = {.seed = seed, .happenings = choose_happenings(seed)};
	map_buffers(&round);
	run_processes(&round);
	if (!round.tale->has_problem)
		add_totals(&round, check_end(&round));
	bool is_good = !round.tale->has_problem;
	if (!is_good)
		snprintf(ret_problem, 320, "seed %u, happenings %#x: %s", seed, round.happenings,
			round.tale->problem);
	unmap_buffers(&round);
	return is_good;
}

/* ---- Cases ---- */

static unsigned cases, failures;

static void tap(bool is_ok, const char *name, const char *detail)
{
	printf("# %s\n%sok %u - %s\n", detail, is_ok ? "" : "not ", ++cases, name);
	fflush(stdout);
	failures += !is_ok;
}

static void run_sound(uint32_t seed, double seconds)
{
	char problem[320] = "";
	double until = now() + seconds;
	bool is_good = true;
	do
		is_good = run_round(seed++, problem);
	while (is_good && now() < until);
	tap(is_good, "with delays at each step every event is found or counted",
		is_good ? "it holds" : problem);
}

/* Fails if an action never happened in any round, because then it was not tested. */
static void check_totals(void)
{
	char text[640];
	snprintf(text, sizeof(text),
		"%llu rounds, %llu events written, %llu read, %llu followed, %llu copies, %llu barriers, "
		"%llu kills, %llu restarts, %llu left by handlers, "
		"%llu threads in rounds of short ones; full %llu, nested %llu, held %llu",
		(unsigned long long)totals.rounds, (unsigned long long)totals.written,
		(unsigned long long)totals.read, (unsigned long long)totals.followed,
		(unsigned long long)totals.copies, (unsigned long long)totals.barriers,
		(unsigned long long)totals.kills, (unsigned long long)totals.restarts,
		(unsigned long long)totals.left, (unsigned long long)totals.threads,
		(unsigned long long)totals.losses[WEFT_ABI_LOSS_FULL],
		(unsigned long long)totals.losses[WEFT_ABI_LOSS_NESTED],
		(unsigned long long)totals.losses[WEFT_ABI_LOSS_HELD]);
	tap(totals.read && totals.followed && totals.copies && totals.barriers && totals.kills &&
			totals.threads && totals.losses[WEFT_ABI_LOSS_HELD],
		"packets were taken, programs copied, followed and killed", text);
}

static const struct {
	enum stress_fault fault;
	const char *name;
} faults[] = {
	{STRESS_COMMIT_BEFORE_WORDS, "the commit comes before the words"},
	{STRESS_OPENING_NOT_PUBLISHED, "a packet is open from its claim on"},
	{STRESS_CLAIM_TORN, "a claim by load and store"},
	{STRESS_TAKEN_TORN, "a packet is taken by load and store"},
	{STRESS_TAKEN_WITHOUT_BARRIER, "a packet is taken without a barrier"},
	{STRESS_TAKEN_IN_AN_EVENT, "a packet is taken in the middle of an event"},
	{STRESS_SLOT_TORN, "a slot is taken by load and store"},
	{STRESS_ALIVE_TAKEN, "the slot of a living thread is taken"},
	{STRESS_NAME_TORN, "a name enters the index by load and store"},
	{STRESS_MOMENT_UNGUARDED, "the events of a moment have no guard"},
};

static void run_spoilt(uint32_t seed, enum stress_fault fault, const char *name)
{
	char problem[320] = "not noticed", text[400], full_name[128];
	bool is_good = true;
	unsigned rounds = 0;
	stress_fault = fault;
	while (is_good && rounds < FAULT_ROUNDS_MAX) {
		rounds++;
		is_good = run_round(seed++, problem);
	}
	stress_fault = STRESS_SOUND;
	snprintf(text, sizeof(text), "after %u rounds: %s", rounds, problem);
	snprintf(full_name, sizeof(full_name), "spoilt: %s", name);
	tap(!is_good, full_name, text);
}

int main(void)
{
	const char *seconds = getenv("WEFT_STRESS_SECONDS"), *given = getenv("WEFT_STRESS_SEED");
	struct timespec time;
	clock_gettime(CLOCK_REALTIME, &time);
	uint32_t seed = given ? (uint32_t)strtoul(given, NULL, 0) : mix((uint32_t)time.tv_nsec);
	printf("1..%zu\n# WEFT_STRESS_SEED=%u\n", 2 + sizeof(faults) / sizeof(*faults), seed);
	run_sound(seed, seconds ? strtod(seconds, NULL) : 20);
	check_totals();
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		run_spoilt(seed, faults[i].fault, faults[i].name);
	return failures != 0;
}
