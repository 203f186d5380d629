/* SPDX-License-Identifier: ISC
 *
 * The rule for continuations, see docs/xen.md. Xen continues a hypercall by letting the vCPU issue
 * it again, with what is left of its arguments. So a record continues the vCPU's last call of the
 * same hypercall if nothing but Xen's scheduler, or one upcall of the guest up to its iret, is
 * between them, and the trace proves that the earlier one was not finished:
 *
 *   mmu_update, mmuext_op  Xen's own flag in the count, which has not grown
 *   multicall              fewer sub-calls were made than it had, and the rest is what it has now
 *   grant_table_op         Xen's own bits in the command; or maps and unmaps make up the difference
 *   others                 their arguments are not recorded: it follows so quickly that the guest's
 *                          program cannot have made it
 */
#include "format/xentrace/folds.h"

#include <stdlib.h>

#include "base/array.h"

#define PREEMPTED UINT32_C(0x80000000) /* in the count of mmu_update and mmuext_op */

enum {
	OP_SET_TRAP_TABLE = 0,
	OP_MMU_UPDATE = 1,
	OP_PLATFORM_OP = 7,
	OP_MEMORY_OP = 12,
	OP_MULTICALL = 13,
	OP_CONSOLE_IO = 18,
	OP_GRANT_TABLE_OP = 20,
	OP_IRET = 23,
	OP_MMUEXT_OP = 26,
	OP_HVM_OP = 34,
	OP_SYSCTL = 35,
	OP_DOMCTL = 36,
	OP_DM_OP = 41,
};

struct search {
	struct weft__xentrace_reader *reader;
	struct weft__xentrace_folds *folds;
	struct weft__xentrace_vcpus vcpus;
	uint64_t *last_cycles; /* by pCPU: of the record before */
	uint64_t quick_cycles;
};

static int add_irq(struct weft__xentrace_folds *f, const struct weft__xentrace_record *record)
{
	const struct weft__column column = {&f->irqs, sizeof(*f->irqs)};
	int error = weft__columns_reserve(&column, 1, &f->irq_capacity, f->irq_count + 1);
	if (error)
		return error;
	uint32_t length = (uint32_t)record->cycles - record->words[1];
	uint64_t begin = length < record->cycles ? record->cycles - length : 0;
	f->irqs[f->irq_count++] = (struct weft__xentrace_irq){begin, record->cpu, record->words[0]};
	return 0;
}

static int add_fold(struct weft__xentrace_folds *f, uint64_t offset, uint32_t continuations)
{
	const struct weft__column column = {&f->list, sizeof(*f->list)};
	int error = weft__columns_reserve(&column, 1, &f->capacity, f->count + 1);
	if (!error)
		f->list[f->count++] = (struct weft__xentrace_fold){offset, continuations};
	return error;
}

/* The word of an argument, behind those of the arguments before it. */
static uint32_t argument(const struct weft__xentrace_record *record, uint32_t wanted)
{
	uint32_t word = 1;
	for (uint32_t i = 0; i < wanted; i++)
		word += record->words[0] >> (20 + 2 * i) & 3;
	return word < WEFT__XENTRACE_WORDS_MAX ? record->words[word] : 0;
}

static uint32_t count_of(const struct weft__xentrace_record *record, uint32_t op)
{
	return op == OP_GRANT_TABLE_OP ? argument(record, 2) : argument(record, 1);
}

static bool is_preemptible(uint32_t op)
{
	switch (op) {
	case OP_SET_TRAP_TABLE:
	case OP_MMU_UPDATE:
	case OP_PLATFORM_OP:
	case OP_MEMORY_OP:
	case OP_MULTICALL:
	case OP_CONSOLE_IO:
	case OP_GRANT_TABLE_OP:
	case OP_MMUEXT_OP:
	case OP_HVM_OP:
	case OP_SYSCTL:
	case OP_DOMCTL:
	case OP_DM_OP:
		return true;
	default:
		return false;
	}
}

/* True if a multicall of `count` has been left in the middle. */
static bool rests(struct weft__xentrace_call *call, uint32_t count)
{
	bool is_between = count > 0 && call->subcalls > 0 && count + call->subcalls == call->count;
	/* The last of its sub-calls was preempted itself, and comes again with Xen's flag. */
	call->is_partial =
		!is_between && call->subcalls > 0 && count + call->subcalls == call->count + 1;
	return is_between;
}

static bool is_rest_of_grants(
	const struct weft__xentrace_call *call, uint32_t command, uint32_t count)
{
	if ((command & 0xfff) != (call->command & 0xfff))
		return false;
	if (command >> 12)
		return true;
	return command <= 1 && count > 0 && call->grants > 0 && count + call->grants == call->count;
}

static bool is_quick(const struct search *s, const struct weft__xentrace_call *call,
	const struct weft__xentrace_record *record)
{
	uint64_t last = call->was_entered ? call->last_iret : s->last_cycles[record->cpu];
	return (call->was_entered || call->was_scheduled) && record->cycles - last <= s->quick_cycles;
}

/* True if the record continues the call. */
static bool continues(const struct search *s, struct weft__xentrace_call *call, uint32_t op,
	const struct weft__xentrace_record *record)
{
	bool is_near = !call->was_entered || (call->irets == 1 && call->ends_in_iret);
	if (!call->is_valid || call->op != op || !is_near)
		return false;
	uint32_t count = count_of(record, op);
	switch (op) {
	case OP_MMU_UPDATE:
	case OP_MMUEXT_OP:
		return (count & PREEMPTED) && (count & ~PREEMPTED) <= (call->count & ~PREEMPTED);
	case OP_MULTICALL:
		return rests(call, count);
	case OP_GRANT_TABLE_OP:
		return is_rest_of_grants(call, argument(record, 0), count);
	default:
		return is_quick(s, call, record);
	}
}

/* Links a record to the call that it continues. */
static int link_call(struct search *s, struct weft__xentrace_call *call, uint64_t offset)
{
	int error = call->fold ? 0 : add_fold(s->folds, call->offset, 0);
	if (error)
		return error;
	if (!call->fold)
		call->fold = (uint32_t)s->folds->count;
	s->folds->list[call->fold - 1].continuations++;
	return add_fold(s->folds, offset, 0);
}

static void begin_call(struct weft__xentrace_call *call, uint32_t op, uint32_t fold,
	const struct weft__xentrace_record *record)
{
	bool is_partial = call->is_partial && call->op == op;
	uint64_t offset = fold ? call->offset : record->offset;
	*call = (struct weft__xentrace_call){
		.is_valid = is_preemptible(op),
		.op = op,
		.count = count_of(record, op),
		.command = argument(record, 0),
		.offset = offset,
		.fold = fold,
		.is_partial = is_partial && !fold,
	};
}

static int on_hypercall(
	struct search *s, struct weft__xentrace_call *call, const struct weft__xentrace_record *record)
{
	uint32_t op = record->words[0] & 0xfffff;
	if (op == OP_IRET) {
		call->irets += call->irets < UINT8_MAX;
		call->ends_in_iret = call->was_entered = true;
		call->last_iret = record->cycles;
		return 0;
	}
	if (continues(s, call, op, record)) {
		int error = link_call(s, call, record->offset);
		begin_call(call, op, call->fold, record);
		return error;
	}
	if (is_preemptible(op)) {
		begin_call(call, op, 0, record);
		return 0;
	}
	call->was_entered = true;
	call->ends_in_iret = false;
	return 0;
}

static int take(struct search *s, uint32_t kind, struct weft__xentrace_call *call,
	const struct weft__xentrace_record *record)
{
	switch (kind) {
	case WEFT__XENTRACE_HYPERCALL:
		return record->count ? on_hypercall(s, call, record) : 0;
	case WEFT__XENTRACE_SUBCALL:
		call->subcalls++;
		return 0;
	case WEFT__XENTRACE_GRANT_MAP:
	case WEFT__XENTRACE_GRANT_UNMAP:
		call->grants++;
		return 0;
	case WEFT__XENTRACE_CREDIT_SCHEDULE:
	case WEFT__XENTRACE_CREDIT2_SCHEDULE:
		call->was_scheduled = true;
		return 0;
	case WEFT__XENTRACE_LOST:
	case WEFT__XENTRACE_EXIT:
	case WEFT__XENTRACE_EXIT_SVM:
		call->is_valid = false;
		return 0;
	default:
		if (record->id >> 12 == 0x201) {
			call->was_entered = true;
			call->ends_in_iret = false;
		}
		return 0;
	}
}

static int compare_irqs(const void *a, const void *b)
{
	const struct weft__xentrace_irq *first = a, *second = b;
	if (first->begin != second->begin)
		return first->begin < second->begin ? -1 : 1;
	return (first->cpu > second->cpu) - (first->cpu < second->cpu);
}

static int compare_folds(const void *a, const void *b)
{
	uint64_t first = ((const struct weft__xentrace_fold *)a)->offset;
	uint64_t second = ((const struct weft__xentrace_fold *)b)->offset;
	return (first > second) - (first < second);
}

static int search_records(struct search *s, struct weft__xentrace_records *records)
{
	struct weft__xentrace_running *running = s->reader->running;
	const struct weft__xentrace_record *record;
	int error = 0;
	while (!error && weft__xentrace_records_next(records, &record)) {
		const struct weft__xentrace_known *known = weft__xentrace_know(s->reader, record->id);
		const struct weft__xentrace_vcpu now = running[record->cpu].now;
		struct weft__xentrace_state *vcpu =
			weft__xentrace_vcpus_find(&s->vcpus, now.domain, now.vcpu);
		if (vcpu)
			error = take(s, known->kind, &vcpu->call, record);
		if (!error && known->kind == WEFT__XENTRACE_IRQ && record->count >= 3)
			error = add_irq(s->folds, record);
		weft__xentrace_follow(&running[record->cpu], known->kind, record);
		s->last_cycles[record->cpu] = s->folds->last_cycles = record->cycles;
	}
	return error;
}

int weft__xentrace_folds_find(
	struct weft__xentrace_reader *reader, uint64_t quick_cycles, struct weft__xentrace_folds *folds)
{
	struct weft__xentrace_records records = {0};
	struct search s = {.reader = reader, .folds = folds, .quick_cycles = quick_cycles};
	s.last_cycles = calloc(reader->windows.cpu_count + 1, sizeof(*s.last_cycles));
	int error = weft__xentrace_vcpus_init(&s.vcpus);
	if (!s.last_cycles)
		error = WEFT_ERROR_MEMORY;
	if (!error)
		error =
			weft__xentrace_records_init(
				&records, reader->base.input.bytes, &reader->windows, NULL, NULL);
	if (!error)
		error = search_records(&s, &records);
	weft__xentrace_records_finish(&records);
	weft__xentrace_vcpus_finish(&s.vcpus);
	free(s.last_cycles);
	if (folds->irq_count)
		qsort(folds->irqs, folds->irq_count, sizeof(*folds->irqs), compare_irqs);
	if (folds->count)
		qsort(folds->list, folds->count, sizeof(*folds->list), compare_folds);
	return error;
}

void weft__xentrace_folds_finish(struct weft__xentrace_folds *folds)
{
	free(folds->irqs);
	free(folds->list);
	*folds = (struct weft__xentrace_folds){0};
}

const struct weft__xentrace_fold *weft__xentrace_fold_at(
	const struct weft__xentrace_folds *folds, uint64_t offset)
{
	const struct weft__xentrace_fold key = {offset, 0};
	if (!folds->count)
		return NULL;
	return bsearch(&key, folds->list, folds->count, sizeof(key), compare_folds);
}
