/* SPDX-License-Identifier: ISC
 *
 * See xen_writer.h. Records wait in a window of their pCPU, until one of these is full.
 */
#include "xen_writer.h"

#include <errno.h>
#include <stdlib.h>

#include <weft/error.h>

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
struct writer_cpu {
	uint32_t domain, vcpu;
	uint64_t cycles; /* of the last record, which the next one has if it does not name its own */
	size_t size, capacity;
	unsigned char *bytes;
};

struct xen_writer {
	xen_writer_put *write;
	void *context;
	struct writer_cpu *cpus[CPUS_MAX];
	int error, reason; /* `reason`: errno */
};

static void write_bytes(struct xen_writer *w, const void *bytes, size_t size)
{
	if (w->error || w->write(w->context, bytes, size))
		return;
	w->error = WEFT_ERROR_SYSTEM;
	w->reason = errno;
}

static void put_u32(unsigned char *at, uint32_t number)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char)(number >> 8 * i);
}

/* Writes a window of each pCPU that has records, in the order of pCPUs, as xentrace does. */
void xen_writer_flush(struct xen_writer *w)
{
	unsigned char head[12];
	for (uint32_t i = 0; i < CPUS_MAX && !w->error; i++) {
		struct writer_cpu *cpu = w->cpus[i];
		if (!cpu || !cpu->size)
			continue;
		put_u32(head, UINT32_C(2) << 28 | ID_CPU_CHANGE);
		put_u32(head + 4, i);
		put_u32(head + 8, (uint32_t)cpu->size);
		write_bytes(w, head, sizeof(head));
		write_bytes(w, cpu->bytes, cpu->size);
		cpu->size = 0;
	}
}

static struct writer_cpu *find_cpu(struct xen_writer *w, uint32_t number)
{
	if (number >= CPUS_MAX)
		return NULL;
	if (!w->cpus[number]) {
		w->cpus[number] = calloc(1, sizeof(*w->cpus[number]));
		if (w->cpus[number])
			w->cpus[number]->domain = WEFT_XENTRACE_UNKNOWN;
	}
	if (!w->cpus[number])
		w->error = WEFT_ERROR_MEMORY;
	return w->cpus[number];
}

/* Makes room for a record. A trace may have thousands of pCPUs with a few records each. */
static bool reserve(struct xen_writer *w, struct writer_cpu *cpu)
{
	if (cpu->size + RECORD_BYTES <= cpu->capacity)
		return true;
	if (cpu->capacity == WINDOW_BYTES) {
		xen_writer_flush(w);
		return true;
	}
	size_t capacity = cpu->capacity ? 2 * cpu->capacity : FIRST_BYTES;
	unsigned char *bytes = realloc(cpu->bytes, capacity);
	if (!bytes) {
		w->error = WEFT_ERROR_MEMORY;
		return false;
	}
	cpu->bytes = bytes;
	cpu->capacity = capacity;
	return true;
}

static void put(
	struct xen_writer *w, struct writer_cpu *cpu, const struct weft_xentrace_record *record)
{
	const bool has_cycles = record->has_cycles || record->cycles != cpu->cycles;
	if (!reserve(w, cpu))
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
static void follow(struct writer_cpu *cpu, const struct weft_xentrace_record *record)
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

void xen_writer_add(struct xen_writer *w, const struct weft_xentrace_record *record)
{
	struct writer_cpu *cpu = find_cpu(w, record->cpu);
	if (!cpu)
		return;
	bool is_known = record->domain != WEFT_XENTRACE_UNKNOWN;
	if (is_known && (cpu->domain != record->domain || cpu->vcpu != record->vcpu)) {
		struct weft_xentrace_record running = {.id = ID_CONTINUE,
			.cycles = record->cycles,
			.has_cycles = true,
			.arg_count = 1,
			.args = {record->vcpu | record->domain << 16}};
		put(w, cpu, &running);
		follow(cpu, &running);
	}
	put(w, cpu, record);
	follow(cpu, record);
}

void xen_writer_add_note(struct xen_writer *w, const struct weft_xentrace_note *note)
{
	unsigned char bytes[WEFT_XENTRACE_NOTE_BYTES];
	weft_xentrace_write_note(note, bytes);
	write_bytes(w, bytes, sizeof(bytes));
}

/* ---- Beginning and end ---- */

struct xen_writer *xen_writer_create(xen_writer_put *put_bytes, void *context)
{
	struct xen_writer *w = calloc(1, sizeof(*w));
	if (w) {
		w->write = put_bytes;
		w->context = context;
	}
	return w;
}

void xen_writer_destroy(struct xen_writer *w)
{
	for (uint32_t i = 0; w && i < CPUS_MAX; i++) {
		if (w->cpus[i])
			free(w->cpus[i]->bytes);
		free(w->cpus[i]);
	}
	free(w);
}

int xen_writer_error(const struct xen_writer *w)
{
	if (w->error == WEFT_ERROR_SYSTEM)
		errno = w->reason;
	return w->error;
}
