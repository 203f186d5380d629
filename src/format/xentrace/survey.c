/* SPDX-License-Identifier: ISC
 *
 * Reads the records of each pCPU once, before their order is made.
 */
#include "format/xentrace/survey.h"

#include "base/little_endian.h"
#include "format/xentrace/ids.h"
#include "format/xentrace/records.h"

/* A vCPU runs for longer than the 32 bits of a record can say, or the pCPU slept: a new chain. */
#define CHAIN_GAP (UINT64_C(1) << 32)

/* The last switch on a pCPU, and the record before. */
struct surveyed_pcpu {
	uint64_t cycles;    /* 0: none since the last loss */
	double ns;          /* since the begin of the chain */
	uint64_t hypercall; /* cycles, if the record before is one; else 0 */
};

/* A record whose bytes are all there. */
struct record {
	const uint8_t *words;
	uint64_t cycles; /* 0: it has none */
	uint32_t id, count;
};

static void add_sample(struct weft__xentrace_samples *s, uint64_t cycles, double ns)
{
	if (s->count < WEFT__XENTRACE_SAMPLES_MAX)
		s->list[s->count++] = (struct weft__xentrace_sample){(double)cycles, ns};
}

static void on_switch(
	struct weft__xentrace_survey *s, struct surveyed_pcpu *pcpu, const struct record *record)
{
	uint32_t ran_ns = weft__load_u32(record->words + 8);
	if (!ran_ns)
		return;
	bool goes_on = pcpu->cycles && record->cycles - pcpu->cycles < CHAIN_GAP;
	pcpu->ns = goes_on ? pcpu->ns + ran_ns : 0;
	pcpu->cycles = record->cycles;
	add_sample(&s->samples, record->cycles, pcpu->ns);
}

static void note_vcpu(struct weft__xentrace_survey *s, uint32_t domain, uint32_t vcpu)
{
	if (domain >= WEFT__XENTRACE_DOMAINS)
		return;
	s->domains[domain / 8] |= (uint8_t)(1u << domain % 8);
	s->vcpus[domain] = vcpu >= s->vcpus[domain] ? vcpu + 1 : s->vcpus[domain];
}

/* AMD's reasons for interrupts, instructions and nested page faults have numbers that Intel does
 * not use. Each guest has such exits. Intel's reasons for interrupts (1), interrupt windows (7),
 * cpuid (10), hlt (12) and ports (30) are AMD's for control registers that do not exist. */
static void note_exit(struct weft__xentrace_survey *s, uint32_t reason)
{
	if (reason >= 0x60 && reason <= 0x403)
		s->is_svm = true;
	if (reason == 1 || reason == 7 || reason == 10 || reason == 12 || reason == 30)
		s->is_vmx = true;
}

void weft__format_xentrace_add_gap(struct weft__xentrace_survey *s, uint64_t cycles)
{
	uint32_t power = 63 - (uint32_t)__builtin_clzll(cycles | 8);
	s->gaps[8 * power + (cycles >> (power - 3) & 7)]++;
	s->gap_count++;
}

static void note_hypercall(
	struct weft__xentrace_survey *s, struct surveyed_pcpu *pcpu, const struct record *record)
{
	bool is_one = record->id == WEFT__XENTRACE_HYPERCALL && record->cycles;
	if (is_one && pcpu->hypercall && record->cycles > pcpu->hypercall)
		weft__format_xentrace_add_gap(s, record->cycles - pcpu->hypercall);
	pcpu->hypercall = is_one ? record->cycles : 0;
}

uint64_t weft__format_xentrace_quick_cycles(const struct weft__xentrace_survey *s)
{
	uint32_t sum = 0, slot = 0;
	if (s->gap_count < 20)
		return 0;
	while ((sum += s->gaps[slot]) < s->gap_count / 20)
		slot++;
	return 4 * ((UINT64_C(8) | slot % 8) << (slot / 8)) / 8;
}

static void take_record(
	struct weft__xentrace_survey *s, struct surveyed_pcpu *pcpu, const struct record *record)
{
	uint32_t class = record->id >> 12, word = record->count ? weft__load_u32(record->words) : 0;
	if (class == 0x21 && record->count)
		note_vcpu(s, word >> 16, word & 0xffff);
	else if (class == 0x81 && record->count)
		note_exit(s, word);
	else if (record->id == WEFT__XENTRACE_SWITCH_PREV && record->cycles && record->count >= 3)
		on_switch(s, pcpu, record);
	else if (record->id == WEFT__XENTRACE_LOST) {
		pcpu->cycles = 0;
		if (record->count != 4)
			return;
		word = weft__load_u32(record->words + 4);
		note_vcpu(s, word & 0xffff, word >> 16);
	}
}

static void survey_window(struct weft__xentrace_survey *s, struct surveyed_pcpu *pcpu,
	const uint8_t *at, const uint8_t *end)
{
	while (end - at >= 4) {
		uint32_t header = weft__load_u32(at);
		struct record record = {.id = header & 0x0fffffff, .count = header >> 28 & 7};
		size_t head = header >> 31 ? 12 : 4, size = head + 4 * record.count;
		if (size > (size_t)(end - at))
			return;
		record.words = at + head;
		record.cycles = header >> 31 ? weft__load_u64(at + 4) : 0;
		if (record.id != WEFT__XENTRACE_WRAP) {
			note_hypercall(s, pcpu, &record);
			take_record(s, pcpu, &record);
		}
		at += size;
	}
}

void weft__format_xentrace_survey(const uint8_t *bytes,
	const struct weft__xentrace_windows *windows, uint64_t most_bytes,
	struct weft__xentrace_survey *survey)
{
	for (size_t i = 0; i < windows->cpu_count; i++) {
		struct surveyed_pcpu pcpu = {0};
		uint64_t left = most_bytes / windows->cpu_count;
		survey->samples.count = 0;
		for (uint32_t window = windows->cpus[i].first; window != UINT32_MAX;) {
			const struct weft__xentrace_window *w = &windows->list[window];
			if (w->size > left)
				break;
			left -= w->size;
			survey_window(survey, &pcpu, bytes + w->offset, bytes + w->offset + w->size);
			window = w->next;
		}
		weft__format_xentrace_estimate(&survey->samples, &survey->rate);
	}
}

static void survey_exits_of(struct weft__xentrace_survey *s, const uint8_t *at, const uint8_t *end)
{
	while (end - at >= 4 && !s->is_svm && !s->is_vmx) {
		uint32_t header = weft__load_u32(at), count = header >> 28 & 7;
		size_t head = header >> 31 ? 12 : 4, size = head + 4 * count;
		if (size > (size_t)(end - at))
			return;
		if ((header & 0x0fffffff) >> 12 == 0x81 && count)
			note_exit(s, weft__load_u32(at + head));
		at += size;
	}
}

void weft__format_xentrace_survey_exits(const uint8_t *bytes,
	const struct weft__xentrace_windows *windows, struct weft__xentrace_survey *survey)
{
	for (size_t i = 0; i < windows->count && !survey->is_svm && !survey->is_vmx; i++) {
		const struct weft__xentrace_window *w = &windows->list[i];
		survey_exits_of(survey, bytes + w->offset, bytes + w->offset + w->size);
	}
}
