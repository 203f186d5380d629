/* SPDX-License-Identifier: ISC
 *
 * The rules are those of xenalyze's summary, so that the figures can be compared. A vCPU has no
 * state until it begins to run, or goes on running by a decision of the scheduler: then it has run
 * since the pCPU's first record. When records of a pCPU are lost, each vCPU that does not run
 * elsewhere may have run there.
 */
#include "format/xentrace/stays.h"

#include <stdlib.h>

#include <weft/error.h>

#include "base/array.h"
#include "base/export.h"
#include "format/xentrace/survey.h"
#include "format/xentrace/vcpus.h"

#define IDLE    (UINT32_MAX - 2) /* instead of a vCPU: one of Xen's own */
#define UNKNOWN (UINT32_MAX - 1) /* the trace does not say yet */
#define NOTHING UINT32_MAX       /* between two vCPUs, and after a loss has begun */

#define NO_STATE WEFT_XENTRACE_STATES

struct timed_vcpu {
	uint64_t since; /* cycles; 0: not known */
	uint32_t cpu;   /* index; on which it ran last */
	uint32_t state; /* enum weft_xentrace_state, or NO_STATE */
};

struct timed_domain {
	uint64_t since;
	uint32_t state;
	bool is_stale; /* the states of its vCPUs have changed since */
};

struct timed_cpu {
	uint64_t first;       /* cycles of its first record; 0: there was none yet */
	uint64_t last;        /* the number of its last record */
	uint64_t since, loss; /* cycles; 0: not known, no loss */
	uint32_t runs;        /* a vCPU's number, or one of those above */
};

struct stays {
	struct weft__xentrace_reader *reader;
	int (*take)(void *context, const struct weft_xentrace_stay *stay);
	void *context;
	struct weft__xentrace_vcpus names;
	struct timed_vcpu *vcpus; /* by number */
	size_t vcpu_capacity;
	struct timed_domain *domains;
	struct timed_cpu *cpus;
	uint32_t losses; /* pCPUs whose records are lost now */
	uint64_t now;    /* cycles of the last record */
	int error;
};

/* ---- Stays ---- */

static void give(struct stays *s, struct weft_xentrace_stay stay, uint64_t since, uint64_t until)
{
	const struct weft__xentrace_clock *clock = &s->reader->clock;
	if (!since || since >= until || s->error)
		return;
	stay.start_ns = weft__format_xentrace_ns(clock, since);
	stay.end_ns = weft__format_xentrace_ns(clock, until);
	s->error = s->take(s->context, &stay);
}

static void give_vcpu(struct stays *s, uint32_t number, uint64_t until, bool is_open)
{
	const struct timed_vcpu *vcpu = &s->vcpus[number];
	const struct weft_xentrace_stay stay = {.whose = WEFT_XENTRACE_OF_VCPU,
		.state = vcpu->state,
		.domain = s->names.list[number].domain,
		.number = s->names.list[number].vcpu,
		.cpu = vcpu->state == WEFT_XENTRACE_RUNNING ? s->reader->windows.cpus[vcpu->cpu].number
													: WEFT_XENTRACE_UNKNOWN,
		.is_open = is_open};
	if (vcpu->state != NO_STATE)
		give(s, stay, vcpu->since, until);
}

static void give_domain(struct stays *s, uint32_t domain, uint64_t until, bool is_open)
{
	const struct weft_xentrace_stay stay = {.whose = WEFT_XENTRACE_OF_DOMAIN,
		.state = s->domains[domain].state,
		.domain = domain,
		.cpu = WEFT_XENTRACE_UNKNOWN,
		.is_open = is_open};
	if (stay.state != NO_STATE)
		give(s, stay, s->domains[domain].since, until);
}

static void give_cpu(struct stays *s, uint32_t cpu, uint32_t state, uint64_t since, uint64_t until)
{
	give(s,
		(struct weft_xentrace_stay){.whose = WEFT_XENTRACE_OF_PCPU,
			.state = state,
			.domain = WEFT_XENTRACE_UNKNOWN,
			.number = s->reader->windows.cpus[cpu].number,
			.cpu = WEFT_XENTRACE_UNKNOWN},
		since, until);
}

/* ---- Domains ---- */

/* The state of the vCPUs that are not lost, if there is one. */
static uint32_t domain_state(const struct stays *s, uint32_t domain)
{
	bool runs = false, is_runnable = false, sleeps = false, is_lost = false;
	for (uint32_t i = s->names.first[domain]; i != UINT32_MAX; i = s->names.list[i].next)
		switch (s->vcpus[i].state) {
		case WEFT_XENTRACE_IN_LOSS:
			is_lost = true;
			break;
		case WEFT_XENTRACE_RUNNING:
			runs = true;
			break;
		case WEFT_XENTRACE_BLOCKED:
		case WEFT_XENTRACE_OFFLINE:
			sleeps = true;
			break;
		case NO_STATE:
			break;
		default:
			is_runnable = true;
		}
	if (runs && is_runnable)
		return WEFT_XENTRACE_CONCURRENCY_HAZARD;
	if (runs)
		return sleeps ? WEFT_XENTRACE_PARTIAL_RUN : WEFT_XENTRACE_FULL_RUN;
	if (is_runnable)
		return sleeps ? WEFT_XENTRACE_PARTIAL_CONTENTION : WEFT_XENTRACE_FULL_CONTENTION;
	if (sleeps)
		return WEFT_XENTRACE_BLOCKED;
	return is_lost ? WEFT_XENTRACE_IN_LOSS : NO_STATE;
}

static void update_domain(struct stays *s, uint32_t domain, uint64_t now)
{
	give_domain(s, domain, now, false);
	s->domains[domain] = (struct timed_domain){.since = now, .state = domain_state(s, domain)};
}

/* ---- vCPUs ---- */

/* Finds a vCPU, or adds it; IDLE for Xen's own, and without memory. */
static uint32_t find_vcpu(struct stays *s, uint32_t domain, uint32_t vcpu)
{
	const struct weft__column column = {&s->vcpus, sizeof(*s->vcpus)};
	if (domain >= WEFT__XENTRACE_DOMAINS)
		return IDLE;
	const size_t known = s->names.count;
	const struct weft__xentrace_state *found =
		weft__format_xentrace_vcpus_find(&s->names, domain, vcpu);
	int error = found ? weft__columns_reserve(&column, 1, &s->vcpu_capacity, s->names.count)
					  : WEFT_ERROR_MEMORY;
	if (error) {
		s->error = error;
		return IDLE;
	}
	if (s->names.count > known)
		s->vcpus[known] = (struct timed_vcpu){.state = NO_STATE};
	return (uint32_t)(found - s->names.list);
}

/* The caller updates the domain. */
static void set_vcpu(struct stays *s, uint32_t number, uint32_t state, uint64_t now)
{
	struct timed_vcpu *vcpu = &s->vcpus[number];
	give_vcpu(s, number, now, false);
	if (state == WEFT_XENTRACE_RUNNABLE_OTHER && vcpu->state == WEFT_XENTRACE_RUNNING)
		state = WEFT_XENTRACE_RUNNABLE_PREEMPT;
	else if (state == WEFT_XENTRACE_RUNNABLE_OTHER &&
			 (vcpu->state == WEFT_XENTRACE_BLOCKED || vcpu->state == WEFT_XENTRACE_OFFLINE))
		state = WEFT_XENTRACE_RUNNABLE_WAKE;
	vcpu->state = state;
	vcpu->since = now;
}

static void update_vcpu(struct stays *s, uint32_t number, uint32_t state, uint64_t now)
{
	if (number >= IDLE)
		return;
	set_vcpu(s, number, state, now);
	update_domain(s, s->names.list[number].domain, now);
}

static bool is_running(const struct stays *s, uint32_t number)
{
	return number < IDLE && s->vcpus[number].state == WEFT_XENTRACE_RUNNING;
}

/* ---- pCPUs ---- */

/* The vCPU that ran on the pCPU does not any more. */
static void leave(struct stays *s, uint32_t cpu, uint32_t state, uint64_t now)
{
	struct timed_cpu *c = &s->cpus[cpu];
	const uint32_t runs = c->runs;
	if (runs < UNKNOWN)
		give_cpu(
			s, cpu, runs == IDLE ? WEFT_XENTRACE_RUNS_IDLE : WEFT_XENTRACE_RUNNING, c->since, now);
	c->runs = NOTHING;
	update_vcpu(s, runs, state, now);
}

static void enter(struct stays *s, uint32_t cpu, uint32_t number, uint64_t now)
{
	struct timed_cpu *c = &s->cpus[cpu];
	if (c->runs != NOTHING)
		leave(s, cpu, WEFT_XENTRACE_IN_LOSS, now);
	if (is_running(s, number))
		s->vcpus[number].since = 0; /* elsewhere: the counters of the pCPUs differ */
	if (number < IDLE)
		s->vcpus[number].cpu = cpu;
	update_vcpu(s, number, WEFT_XENTRACE_RUNNING, now);
	c->runs = number;
	c->since = now;
}

/* A vCPU that ran when the trace began, and goes on. */
static void start(struct stays *s, uint32_t cpu, uint32_t number)
{
	if (s->cpus[cpu].runs == UNKNOWN) {
		s->cpus[cpu].runs = NOTHING;
		enter(s, cpu, number, s->cpus[cpu].first);
	}
}

/* ---- Records ---- */

/* A vCPU that ran here stops. */
static void stop(struct stays *s, uint32_t cpu, uint32_t number, uint32_t state, uint64_t now)
{
	if (number < IDLE && s->vcpus[number].state == NO_STATE)
		return;
	if (s->cpus[cpu].runs == number) {
		leave(s, cpu, state, now);
	} else if (number < IDLE) {
		s->vcpus[number].since = 0;
		update_vcpu(s, number, state, now);
	}
	if (s->losses)
		update_vcpu(s, number, WEFT_XENTRACE_IN_LOSS, now);
}

static void on_continue(struct stays *s, uint32_t cpu, uint32_t number, uint64_t now)
{
	if (s->cpus[cpu].runs == UNKNOWN)
		start(s, cpu, number);
	else if (s->cpus[cpu].runs != number)
		enter(s, cpu, number, now);
	else
		update_vcpu(s, number, WEFT_XENTRACE_RUNNING, now);
}

static void on_change(struct stays *s, const struct weft__xentrace_record *record, uint32_t number)
{
	static const uint32_t states[] = {[WEFT__XENTRACE_RUNNING] = WEFT_XENTRACE_RUNNING,
		[WEFT__XENTRACE_RUNNABLE] = WEFT_XENTRACE_RUNNABLE_OTHER,
		[WEFT__XENTRACE_BLOCKED] = WEFT_XENTRACE_BLOCKED,
		[WEFT__XENTRACE_OFFLINE] = WEFT_XENTRACE_OFFLINE};
	const uint32_t new_state = record->id >> 4 & 15, old_state = record->id >> 8 & 15;
	if (new_state > WEFT__XENTRACE_OFFLINE || old_state > WEFT__XENTRACE_OFFLINE)
		return;
	const uint32_t state = states[new_state];
	const uint32_t known = number < IDLE ? s->vcpus[number].state : NO_STATE;
	if (new_state == WEFT__XENTRACE_RUNNING)
		enter(s, record->cpu, number, record->cycles);
	else if (known == WEFT_XENTRACE_IN_LOSS)
		return; /* it may have run where records were lost, and stopped there */
	else if (old_state == WEFT__XENTRACE_RUNNING)
		stop(s, record->cpu, number, state, record->cycles);
	else if (known != NO_STATE && known != WEFT_XENTRACE_RUNNING)
		update_vcpu(s, number, state, record->cycles);
}

static void on_loss_begin(struct stays *s, const struct weft__xentrace_record *record)
{
	struct timed_cpu *cpu = &s->cpus[record->cpu];
	leave(s, record->cpu, WEFT_XENTRACE_IN_LOSS, record->cycles);
	s->losses += !cpu->loss;
	cpu->loss = record->cycles;
	for (uint32_t i = 0; i < s->names.count; i++)
		if (!is_running(s, i)) {
			set_vcpu(s, i, WEFT_XENTRACE_IN_LOSS, record->cycles);
			s->domains[s->names.list[i].domain].is_stale = true;
		}
	/* Each domain once: one of thousands of vCPUs would take too long. */
	for (uint32_t i = 0; i < s->names.count; i++)
		if (s->domains[s->names.list[i].domain].is_stale)
			update_domain(s, s->names.list[i].domain, record->cycles);
}

static void on_loss_end(struct stays *s, const struct weft__xentrace_record *record)
{
	struct timed_cpu *cpu = &s->cpus[record->cpu];
	const uint32_t word = record->words[1];
	if (!cpu->loss)
		return;
	give_cpu(s, record->cpu, WEFT_XENTRACE_IN_LOSS, cpu->loss, record->cycles);
	cpu->loss = 0;
	s->losses--;
	enter(s, record->cpu, find_vcpu(s, word & 0xffff, word >> 16), record->cycles);
}

static void take_record(struct stays *s, const struct weft__xentrace_record *record)
{
	struct timed_cpu *cpu = &s->cpus[record->cpu];
	const uint32_t word = record->words[0], kind = record->id & ~0xff0u;
	if (!record->is_loss_begin && !cpu->first)
		cpu->first = record->cycles;
	if (record->id == WEFT__XENTRACE_LOST && record->count == 4) {
		if (record->is_loss_begin)
			on_loss_begin(s, record);
		else
			on_loss_end(s, record);
	} else if (record->count && kind == WEFT__XENTRACE_CONTINUE)
		on_continue(s, record->cpu, find_vcpu(s, word >> 16, word & 0xffff), record->cycles);
	else if (record->count && kind == WEFT__XENTRACE_RUNSTATE)
		on_change(s, record, find_vcpu(s, word >> 16, word & 0xffff));
	/* Nothing is known of what runs there after its last record. */
	if (record->number == cpu->last)
		leave(s, record->cpu, WEFT_XENTRACE_IN_LOSS, record->cycles);
}

static void give_open(struct stays *s, uint64_t now)
{
	for (uint32_t i = 0; i < s->names.count; i++)
		give_vcpu(s, i, now, true);
	for (uint32_t i = 0; i < WEFT__XENTRACE_DOMAINS; i++)
		give_domain(s, i, now, true);
}

typedef void record_taker(struct stays *s, const struct weft__xentrace_record *record);

static int read_records(struct stays *s, record_taker *taker)
{
	struct weft__xentrace_records records = {0};
	const struct weft__xentrace_record *record;
	int error = weft__format_xentrace_records_init(
		&records, s->reader->base.input.bytes, &s->reader->windows, NULL, NULL);
	while (!error && weft__format_xentrace_records_next(&records, &record)) {
		taker(s, record);
		s->now = record->cycles;
		error = s->error;
	}
	weft__format_xentrace_records_finish(&records);
	return error;
}

static void note_last(struct stays *s, const struct weft__xentrace_record *record)
{
	s->cpus[record->cpu].last = record->number;
}

static int find_stays(struct stays *s)
{
	int error = read_records(s, note_last);
	if (!error)
		error = read_records(s, take_record);
	if (!error)
		give_open(s, s->now);
	return error ? error : s->error;
}

int weft__format_xentrace_stays(struct weft__xentrace_reader *reader,
	int (*take)(void *context, const struct weft_xentrace_stay *stay), void *context)
{
	const uint32_t cpus = (uint32_t)reader->windows.cpu_count;
	struct stays s = {.reader = reader,
		.take = take,
		.context = context,
		.domains = calloc(WEFT__XENTRACE_DOMAINS, sizeof(*s.domains)),
		.cpus = calloc(cpus + (size_t)1, sizeof(*s.cpus))};
	int error = weft__format_xentrace_vcpus_init(&s.names);
	if (!s.domains || !s.cpus)
		error = WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < cpus && !error; i++)
		s.cpus[i].runs = UNKNOWN;
	for (uint32_t i = 0; i < WEFT__XENTRACE_DOMAINS && !error; i++)
		s.domains[i].state = NO_STATE;
	if (!error)
		error = find_stays(&s);
	weft__format_xentrace_vcpus_finish(&s.names);
	free(s.vcpus);
	free(s.domains);
	free(s.cpus);
	return error;
}

WEFT__EXPORT const char *weft_xentrace_state_name(enum weft_xentrace_state state)
{
	static const char *const names[WEFT_XENTRACE_STATES] = {
		[WEFT_XENTRACE_RUNNING] = "running",
		[WEFT_XENTRACE_RUNNABLE_WAKE] = "runnable, woken",
		[WEFT_XENTRACE_RUNNABLE_PREEMPT] = "runnable, preempted",
		[WEFT_XENTRACE_RUNNABLE_OTHER] = "runnable",
		[WEFT_XENTRACE_FULL_RUN] = "full run",
		[WEFT_XENTRACE_PARTIAL_RUN] = "partial run",
		[WEFT_XENTRACE_CONCURRENCY_HAZARD] = "concurrency hazard",
		[WEFT_XENTRACE_FULL_CONTENTION] = "full contention",
		[WEFT_XENTRACE_PARTIAL_CONTENTION] = "partial contention",
		[WEFT_XENTRACE_BLOCKED] = "blocked",
		[WEFT_XENTRACE_OFFLINE] = "offline",
		[WEFT_XENTRACE_RUNS_IDLE] = "idle",
		[WEFT_XENTRACE_IN_LOSS] = "lost",
	};
	return state < WEFT_XENTRACE_STATES ? names[state] : NULL;
}
