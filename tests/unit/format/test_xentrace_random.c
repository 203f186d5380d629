/* SPDX-License-Identifier: ISC
 *
 * Random traces of Xen, which a naive reader puts in order, too; and random records as lines,
 * beside those of printf.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include <weft/lines.h>

#include "decoded.h"
#include "made_xentrace.h"

#define WAKE 0x28004u

/* ---- Random traces ---- */

#define CPUS     5
#define SHOWN    4096
#define CONTENTS 64 /* records in a window at most */

/* A record, or the begin of a loss. */
struct expected {
	struct weft_xentrace_record record;
	bool is_hidden;
};

struct naive_cpu {
	struct expected list[SHOWN];
	size_t count, given;
	uint64_t cycles, turn;
	uint32_t domain, vcpu;
};

struct naive {
	struct made_xentrace *trace;
	struct naive_cpu cpus[CPUS];
	uint64_t first, turn, random;
};

static struct weft_xentrace_record *naive_add(
	struct naive *n, uint32_t cpu, uint32_t id, bool has_cycles, bool is_hidden)
{
	struct naive_cpu *c = &n->cpus[cpu];
	struct expected *e = &c->list[c->count++];
	*e = (struct expected){.is_hidden = is_hidden};
	e->record = (struct weft_xentrace_record){.cycles = c->cycles,
		.time_ns = c->cycles - n->first,
		.has_cycles = has_cycles,
		.offset = n->trace->size,
		.cpu = 2 * cpu + 1,
		.id = id,
		.domain = c->domain,
		.vcpu = c->vcpu};
	return &e->record;
}

/* Puts a record into the file and into the list of its pCPU. */
static void random_plain(struct naive *n, uint32_t cpu, bool has_cycles)
{
	uint32_t words[7], count = next_random(&n->random) % 8;
	struct weft_xentrace_record *record = naive_add(n, cpu, WAKE, has_cycles, false);
	record->arg_count = count;
	for (uint32_t i = 0; i < count; i++)
		record->args[i] = words[i] = next_random(&n->random);
	xentrace_record(n->trace, WAKE, has_cycles ? record->cycles : NO_CYCLES, words, count);
}

static void set_vcpu(struct naive_cpu *c, uint32_t domain, uint32_t vcpu)
{
	c->domain = domain;
	c->vcpu = domain == WEFT_XENTRACE_UNKNOWN ? 0 : vcpu;
}

static void random_runstate(struct naive *n, uint32_t cpu)
{
	uint32_t domain = next_random(&n->random) % 4, vcpu = next_random(&n->random) % 3;
	uint32_t old = next_random(&n->random) % 4, now = next_random(&n->random) % 4;
	uint32_t id = 0x21001 | old << 8 | now << 4;
	struct naive_cpu *c = &n->cpus[cpu];
	struct weft_xentrace_record *record = naive_add(n, cpu, id, true, false);
	record->arg_count = 1;
	record->args[0] = domain << 16 | vcpu;
	xentrace_runstate(n->trace, c->cycles, domain, vcpu, old, now);
	if (old == RUNNING)
		set_vcpu(c, WEFT_XENTRACE_UNKNOWN, 0);
	else if (now == RUNNING)
		set_vcpu(c, domain, vcpu);
}

static void random_loss(struct naive *n, uint32_t cpu)
{
	struct naive_cpu *c = &n->cpus[cpu];
	uint32_t count = next_random(&n->random), domain = next_random(&n->random) % 4;
	uint32_t vcpu = next_random(&n->random) % 3;
	uint64_t begin = c->cycles + next_random(&n->random) % 40;
	c->cycles = begin;
	naive_add(n, cpu, 0x1f001, true, true);
	c->cycles = begin + next_random(&n->random) % 40;
	struct weft_xentrace_record *record = naive_add(n, cpu, 0x1f001, true, false);
	record->arg_count = 4;
	record->args[0] = count;
	record->args[1] = domain | vcpu << 16;
	record->args[2] = (uint32_t)begin;
	record->args[3] = (uint32_t)(begin >> 32);
	xentrace_lost(n->trace, c->cycles, count, domain, vcpu, begin);
	set_vcpu(c, domain, vcpu);
}

static void random_record(struct naive *n, uint32_t cpu)
{
	struct naive_cpu *c = &n->cpus[cpu];
	uint32_t which = next_random(&n->random) % 16;
	if (which == 0)
		RECORD(n->trace, 0x1f002, NO_CYCLES, 0x2001f003, 3, 4);
	if (which < 4) {
		random_plain(n, cpu, false);
		return;
	}
	c->cycles += next_random(&n->random) % 50 * (next_random(&n->random) % 3);
	if (which < 7)
		random_runstate(n, cpu);
	else if (which == 7)
		random_loss(n, cpu);
	else
		random_plain(n, cpu, true);
}

/* All pCPUs begin at different times: then the order of records with equal times is defined. */
static void random_trace(struct naive *n, uint64_t seed)
{
	memset(n, 0, sizeof(*n));
	n->trace = xentrace_begin();
	n->random = seed;
	n->first = UINT64_C(0x100000000) + next_random(&n->random);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		n->cpus[cpu].cycles = n->first + 7 * (CPUS - 1 - cpu);
		set_vcpu(&n->cpus[cpu], WEFT_XENTRACE_UNKNOWN, 0);
		xentrace_window(n->trace, 2 * cpu + 1);
		random_plain(n, cpu, true);
	}
	for (int window = 0; window < 40; window++) {
		uint32_t cpu = next_random(&n->random) % CPUS;
		uint32_t count = next_random(&n->random) % CONTENTS;
		xentrace_window(n->trace, 2 * cpu + 1);
		for (uint32_t i = 0; i < count; i++)
			random_record(n, cpu);
	}
}

/* The record that comes next: the earliest one, and of equal ones that of the latest pCPU. */
static const struct expected *naive_next(struct naive *n)
{
	struct naive_cpu *best = NULL;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		struct naive_cpu *c = &n->cpus[cpu];
		if (c->given == c->count)
			continue;
		uint64_t mine = c->list[c->given].record.cycles;
		uint64_t least = best ? best->list[best->given].record.cycles : UINT64_MAX;
		if (mine < least || (mine == least && c->turn > best->turn))
			best = c;
	}
	if (!best)
		return NULL;
	best->turn = ++n->turn;
	return &best->list[best->given++];
}

static void assert_same_record(
	const struct weft_xentrace_record *got, const struct weft_xentrace_record *expected)
{
	assert_int_equal(got->offset, expected->offset);
	assert_int_equal(got->cpu, expected->cpu);
	assert_int_equal(got->cycles, expected->cycles);
	assert_int_equal(got->time_ns, expected->time_ns);
	assert_int_equal(got->has_cycles, expected->has_cycles);
	assert_int_equal(got->id, expected->id);
	assert_int_equal(got->domain, expected->domain);
	assert_int_equal(got->vcpu, expected->vcpu);
	assert_int_equal(got->arg_count, expected->arg_count);
	assert_memory_equal(got->args, expected->args, sizeof(got->args));
}

static void random_traces_are_those_of_a_naive_reader(void **state)
{
	(void)state;
	struct naive *n = malloc(sizeof(*n));
	for (uint64_t seed = 1; seed <= 30; seed++) {
		random_trace(n, seed);
		struct opened_xentrace opened = xentrace_open(n->trace);
		const struct expected *expected;
		struct weft_xentrace_record got;
		assert_int_equal(opened.finished, 0);
		while ((expected = naive_next(n))) {
			if (expected->is_hidden)
				continue;
			assert_int_equal(weft_decoder_next_xentrace(opened.decoder, &got), WEFT_OK);
			assert_same_record(&got, &expected->record);
		}
		assert_int_equal(weft_decoder_next_xentrace(opened.decoder, &got), WEFT_END);
		assert_int_equal(weft_decoder_diagnostics(opened.decoder)->count, 0);
		xentrace_finish(&opened);
		free(n->trace);
	}
	free(n);
}

/* ---- Lines ---- */

static uint32_t random_number(uint64_t *random)
{
	uint32_t number = next_random(random) << 1 | (next_random(random) & 1);
	return number >> next_random(random) % 32;
}

static struct weft_xentrace_record random_values(uint64_t *random)
{
	static const char *const names[] = {"wake", "a_name_of_24_characters_", "x"};
	struct weft_xentrace_record record = {.cpu = random_number(random),
		.time_ns = (uint64_t)random_number(random) * random_number(random),
		.id = random_number(random) & 0xfffffff,
		.domain = random_number(random),
		.vcpu = random_number(random),
		.name = names[next_random(random) % 3],
		.detail = next_random(random) % 2 ? names[next_random(random) % 3] : NULL,
		.arg_count = next_random(random) % 8};
	if (next_random(random) % 4 == 0)
		record.domain = WEFT_XENTRACE_UNKNOWN;
	for (uint32_t i = 0; i < record.arg_count; i++)
		record.args[i] = random_number(random);
	return record;
}

static void print_json(const struct weft_xentrace_record *record, char *text, size_t size)
{
	size_t at = (size_t)snprintf(text, size,
		"{\"time\":%llu,\"event\":\"xentrace\",\"cpu\":%u,\"id\":\"0x%x\",\"name\":\"%s\"",
		(unsigned long long)record->time_ns, record->cpu, record->id, record->name);
	if (record->detail)
		at += (size_t)snprintf(text + at, size - at, ",\"detail\":\"%s\"", record->detail);
	if (record->domain == WEFT_XENTRACE_UNKNOWN)
		at += (size_t)snprintf(text + at, size - at, ",\"domain\":null,\"vcpu\":null");
	else
		at += (size_t)snprintf(
			text + at, size - at, ",\"domain\":%u,\"vcpu\":%u", record->domain, record->vcpu);
	at += (size_t)snprintf(text + at, size - at, ",\"args\":[");
	for (uint32_t i = 0; i < record->arg_count; i++)
		at += (size_t)snprintf(text + at, size - at, i ? ",%u" : "%u", record->args[i]);
	snprintf(text + at, size - at, "],\"fields\":{}}\n"); /* no such id has words */
}

/* Columns are filled up with spaces, of which at least one follows. */
static size_t print_column(char *text, const char *content, int width)
{
	return (size_t)sprintf(
		text, "%-*s%s", width, content, (int)strlen(content) >= width ? " " : "");
}

static void print_text(const struct weft_xentrace_record *record, char *text)
{
	char part[64];
	snprintf(part, sizeof(part), "%4llu.%09u  cpu%u",
		(unsigned long long)(record->time_ns / 1000000000),
		(unsigned)(record->time_ns % 1000000000), record->cpu);
	size_t time = strcspn(part, ".") + 10;
	text += sprintf(text, "%.*s", (int)time, part);
	text += print_column(text, part + time, 9);
	snprintf(part, sizeof(part), "d%uv%u", record->domain, record->vcpu);
	bool is_unknown = record->domain == WEFT_XENTRACE_UNKNOWN;
	text += print_column(text,
		is_unknown                             ? "d?v?"
		: record->domain == WEFT_XENTRACE_IDLE ? "idle"
											   : part,
		9);
	text += print_column(text, record->name, 24);
	if (record->detail)
		text += sprintf(text, "%s ", record->detail);
	text += sprintf(text, "[");
	for (uint32_t i = 0; i < record->arg_count; i++)
		text += sprintf(text, i ? " 0x%x" : "0x%x", record->args[i]);
	sprintf(text, "]\n");
}

static void lines_are_those_of_printf(void **state)
{
	(void)state;
	static const uint64_t powers[] = {1, 10, 100, 1000, 10000};
	uint64_t random = 5;
	char expected[1024];
	for (int i = 0; i < 5000; i++) {
		struct weft_xentrace_record record = random_values(&random);
		if (i % 50 == 0)
			record.domain = WEFT_XENTRACE_IDLE;
		if (i % 100 < 10) /* 1 s, 10 s and so on, and 1 ns less */
			record.time_ns = powers[i % 10 / 2] * UINT64_C(1000000000) - i % 2;
		struct weft_text text = {0};
		print_json(&record, expected, sizeof(expected));
		weft_lines_add_xentrace_json(&record, &text);
		weft_text_add(&text, "", 1);
		assert_string_equal(text.bytes, expected);
		text.size = 0;
		print_text(&record, expected);
		weft_lines_add_xentrace_text(&record, &text);
		weft_text_add(&text, "", 1);
		assert_string_equal(text.bytes, expected);
		weft_text_finish(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_traces_are_those_of_a_naive_reader),
		cmocka_unit_test(lines_are_those_of_printf),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
