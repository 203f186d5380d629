/* SPDX-License-Identifier: ISC
 *
 * weft cut of Xen's own trace: records of a range, of some domains and classes, in xentrace's
 * format. Records do not name their vCPU: a reader knows it from the last record that switched to
 * it. If that one is left out, a record "continues running" of the vCPU is added.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cut.h"
#include "cli/output.h"

#define WINDOW_BYTES 65536u
#define FIRST_BYTES  1024u
#define RECORD_BYTES 40u
#define CPUS_MAX     16384u

/* clang-format off */
/* The id of a record, the lower 28 bits of its first word. Of a change of state:
 *
 *      27         16 15     12 11   8 7    4 3    0
 *     ┌─────────────┬─────────┬──────┬──────┬──────┐
 *     │ 2 scheduler │ 1 basic │  old │  new │   1  │   states: 0 running, 1 runnable, 2 blocked, 3 offline
 *     └─────────────┴─────────┴──────┴──────┴──────┘
 */
/* clang-format on */
#define ID_LOST       0x1f001u
#define ID_CPU_CHANGE 0x1f003u
#define ID_RUNSTATE   0x21001u /* with both states 0 */
#define ID_CONTINUE   0x21002u

/* A pCPU: what a reader of the part knows, and its records that are not written yet. */
struct cut_cpu {
	uint32_t domain, vcpu;
	uint64_t cycles; /* of the last record, which the next one has if it does not name its own */
	size_t size, capacity;
	unsigned char *bytes;
};

struct cut_xen {
	const struct xen_filter *filter;
	struct cli_output output;
	struct xen_filter_state state;
	struct cut_cpu *cpus[CPUS_MAX];
	uint64_t records;
	int error;
};

static void put_u32(unsigned char *at, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char)(number >> 8 * i);
}

/* Writes a window of each pCPU that has records, in the order of pCPUs, as xentrace does. */
static void flush(struct cut_xen *c)
{
	unsigned char head[12];
	for (uint32_t i = 0; i < CPUS_MAX && !c->error; i++) {
		struct cut_cpu *cpu = c->cpus[i];
		if (!cpu || !cpu->size)
			continue;
		put_u32(head, UINT32_C(2) << 28 | ID_CPU_CHANGE);
		put_u32(head + 4, i);
		put_u32(head + 8, (uint32_t)cpu->size);
		if (!cli_output_append(&c->output, head, sizeof(head)) ||
			!cli_output_append(&c->output, cpu->bytes, cpu->size))
			c->error = WEFT_ERROR_SYSTEM;
		cpu->size = 0;
	}
}

static struct cut_cpu *find_cpu(struct cut_xen *c, uint32_t number)
{
	if (number >= CPUS_MAX)
		return NULL;
	if (!c->cpus[number]) {
		c->cpus[number] = calloc(1, sizeof(*c->cpus[number]));
		if (c->cpus[number])
			c->cpus[number]->domain = WEFT_XENTRACE_UNKNOWN;
	}
	if (!c->cpus[number])
		c->error = WEFT_ERROR_MEMORY;
	return c->cpus[number];
}

/* Makes room for a record. A trace may have thousands of pCPUs with a few records each. */
static bool reserve(struct cut_xen *c, struct cut_cpu *cpu)
{
	if (cpu->size + RECORD_BYTES <= cpu->capacity)
		return true;
	if (cpu->capacity == WINDOW_BYTES) {
		flush(c);
		return true;
	}
	size_t capacity = cpu->capacity ? 2 * cpu->capacity : FIRST_BYTES;
	unsigned char *bytes = realloc(cpu->bytes, capacity);
	if (!bytes) {
		c->error = WEFT_ERROR_MEMORY;
		return false;
	}
	cpu->bytes = bytes;
	cpu->capacity = capacity;
	return true;
}

static void put(struct cut_xen *c, struct cut_cpu *cpu, const struct weft_xentrace_record *record)
{
	const bool has_cycles = record->has_cycles || record->cycles != cpu->cycles;
	if (!reserve(c, cpu))
		return;
	cpu->cycles = record->cycles;
	unsigned char *at = cpu->bytes + cpu->size;
	put_u32(at, record->id | record->arg_count << 28 | (uint32_t)has_cycles << 31);
	at += 4;
	if (has_cycles) {
		put_u32(at, (uint32_t)record->cycles);
		put_u32(at + 4, (uint32_t)(record->cycles >> 32));
		at += 8;
	}
	for (uint32_t i = 0; i < record->arg_count; i++, at += 4)
		put_u32(at, record->args[i]);
	cpu->size = (size_t)(at - cpu->bytes);
}

/* Takes from a record which vCPU runs now. */
static void follow(struct cut_cpu *cpu, const struct weft_xentrace_record *record)
{
	uint32_t word = record->arg_count ? record->args[0] : 0, id = record->id;
	bool is_change = (id & 0xff00fu) == ID_RUNSTATE;
	if (is_change && (id >> 8 & 15) == 0) {
		cpu->domain = WEFT_XENTRACE_UNKNOWN;
	} else if ((is_change && (id >> 4 & 15) == 0) || id == ID_CONTINUE) {
		cpu->domain = word >> 16;
		cpu->vcpu = word & 0xffff;
	} else if (id == ID_LOST && record->arg_count == 4) {
		cpu->domain = record->args[1] & 0xffff;
		cpu->vcpu = record->args[1] >> 16;
	}
}

static void add_record(struct cut_xen *c, const struct weft_xentrace_record *record)
{
	struct cut_cpu *cpu = find_cpu(c, record->cpu);
	if (!cpu)
		return;
	bool is_known = record->domain != WEFT_XENTRACE_UNKNOWN;
	if (is_known && (cpu->domain != record->domain || cpu->vcpu != record->vcpu)) {
		struct weft_xentrace_record running = {.id = ID_CONTINUE,
			.cycles = record->cycles,
			.has_cycles = true,
			.arg_count = 1,
			.args = {record->vcpu | record->domain << 16}};
		put(c, cpu, &running);
		follow(cpu, &running);
	}
	put(c, cpu, record);
	follow(cpu, record);
	c->records++;
}

static bool write_note(struct cut_xen *c, const struct weft_xentrace_note *note)
{
	unsigned char bytes[WEFT_XENTRACE_NOTE_BYTES];
	weft_xentrace_write_note(note, bytes);
	return cli_output_append(&c->output, bytes, sizeof(bytes));
}

/* The trace's notes; the rate is the first of them, also if it was estimated: a part has fewer
 * records to estimate it from. */
static void write_notes(struct cut_xen *c, const struct cli_trace *trace)
{
	const struct weft_clock *clock = &weft_decoder_describe(trace->decoder)->clock;
	const struct weft_xentrace_note *list,
		rate = {WEFT_XENTRACE_NOTE_RATE, {clock->hz, clock->rate == WEFT_RATE_ESTIMATED}};
	size_t count = weft_decoder_xentrace_notes(trace->decoder, &list);
	bool good = clock->rate == WEFT_RATE_ASSUMED || write_note(c, &rate);
	for (size_t i = 0; i < count && good; i++)
		good = list[i].kind == WEFT_XENTRACE_NOTE_RATE || write_note(c, &list[i]);
	if (!good)
		c->error = WEFT_ERROR_SYSTEM;
}

/* Copies the records from the given one on; returns a status of the decoder. */
static int copy_records(struct cut_xen *c, const struct weft_cut_range *range,
	const struct cli_trace *trace, int status, struct weft_xentrace_record *record)
{
	for (uint64_t i = 1; status == WEFT_OK && !c->error; i++) {
		if (record->time_ns >= range->end_ns && range->end_ns != UINT64_MAX)
			break;
		bool is_taken = xen_filter_has(c->filter, &c->state, record);
		if (is_taken && record->time_ns >= range->start_ns)
			add_record(c, record);
		if (i % 65536 == 0) {
			if (trace->input)
				weft_source_forget(weft_input_source(trace->input));
			if (!cli_progress_step(i))
				break;
		}
		status = weft_decoder_next_xentrace(trace->decoder, record);
	}
	if (!c->error)
		flush(c);
	return status;
}

static void free_cpus(struct cut_xen *c)
{
	for (uint32_t i = 0; i < CPUS_MAX; i++) {
		if (c->cpus[i])
			free(c->cpus[i]->bytes);
		free(c->cpus[i]);
	}
}

int cut_write_xentrace(const struct weft_cut_range *range, const struct xen_filter *filter,
	const struct cli_trace *trace, int status, struct weft_xentrace_record *record,
	const char *output, uint64_t *ret_records)
{
	struct cut_xen *c = calloc(1, sizeof(*c));
	int answer = CLI_NO;
	if (!c) {
		cli_error("%s: %s", output, weft_error_text(WEFT_ERROR_MEMORY));
		return CLI_NO;
	}
	if (!cli_output_open(output, &c->output)) {
		free(c);
		return CLI_NO;
	}
	c->filter = filter;
	write_notes(c, trace);
	status = copy_records(c, range, trace, status, record);
	xen_filter_state_finish(&c->state);
	free_cpus(c);
	cli_trace_report(trace);
	if (status < 0)
		answer = cli_trace_fail(trace, status);
	else if (c->error)
		cli_error("%s: %s", output,
			c->error == WEFT_ERROR_SYSTEM ? strerror(errno) : weft_error_text(c->error));
	else
		answer = CLI_DONE;
	*ret_records = c->records;
	if (answer == CLI_DONE && c->records)
		answer = cli_output_commit(&c->output) ? CLI_DONE : CLI_NO;
	else
		cli_output_abandon(&c->output);
	free(c);
	return answer;
}

int cut_xentrace(const struct cut_request *request, const struct cli_trace *trace)
{
	const struct weft_cut_range range = cut_find_range(request, 0);
	struct weft_xentrace_record record;
	uint64_t records;
	int answer = cut_write_xentrace(&range, &request->filter, trace,
		weft_decoder_next_xentrace(trace->decoder, &record), &record, request->output, &records);
	if (answer == CLI_DONE && !records) {
		cli_error("%s: no record in that range", trace->name);
		answer = CLI_NO;
	}
	return answer;
}
