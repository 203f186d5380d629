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
 *
 * A kernel can make such a call as quickly, in a loop. Then most of its calls follow each other
 * with nothing in between, which continuations never do: Xen preempts for its scheduler or for an
 * upcall.
 */
#include "format/xentrace/folds.h"

#include <stdlib.h>

#include <weft/error.h>

#include "format/xentrace/survey.h"

#define PREEMPTED UINT32_C(0x80000000) /* in the count of mmu_update and mmuext_op */

/* A domctl that was continued before may come this many times as late after an upcall: the machine
 * may have been late. Programs issue the next domctl after ten times as long, or later. */
#define LONG_CALL 5

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

/* True if `count` sub-calls of a multicall are left. */
static bool is_rest_of_calls(const struct weft__xentrace_call *call, uint32_t count)
{
	return count > 0 && call->subcalls > 0 && count + call->subcalls == call->count;
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

/* True if the vCPU issues the call again without anything in between. */
static bool is_loop(const struct weft__xentrace_call *call, uint32_t op)
{
	return call->is_valid && call->op == op && !call->was_entered && !call->was_scheduled;
}

static bool is_quick(const struct weft__xentrace_search *s, const struct weft__xentrace_call *call,
	const struct weft__xentrace_record *record)
{
	uint64_t last = call->was_entered ? call->last_iret : s->cpus[record->cpu].last_cycles;
	bool is_long = call->op == OP_DOMCTL && call->is_chain && call->has_upcall;
	uint64_t limit = (is_long ? LONG_CALL : 1) * s->quick_cycles;
	return (call->was_entered || call->was_scheduled) && record->cycles - last <= limit;
}

/* True if the record continues the vCPU's call. */
static bool continues(const struct weft__xentrace_search *s,
	const struct weft__xentrace_state *vcpu, uint32_t op,
	const struct weft__xentrace_record *record)
{
	const struct weft__xentrace_call *call = &vcpu->call;
	bool is_near = !call->was_entered || (call->irets == 1 && call->ends_in_iret);
	if (!call->is_valid || call->op != op || !is_near)
		return false;
	uint32_t count = count_of(record, op);
	switch (op) {
	case OP_MMU_UPDATE:
	case OP_MMUEXT_OP:
		return (count & PREEMPTED) && (count & ~PREEMPTED) <= (call->count & ~PREEMPTED);
	case OP_MULTICALL:
		return is_rest_of_calls(call, count);
	case OP_GRANT_TABLE_OP:
		return is_rest_of_grants(call, argument(record, 0), count);
	default:
		return !(vcpu->loops >> op & 1) && is_quick(s, call, record);
	}
}

/* `number` is that of the hypercall's first record. */
static void begin_call(struct weft__xentrace_call *call, uint32_t op, uint64_t number,
	const struct weft__xentrace_record *record)
{
	*call = (struct weft__xentrace_call){
		.is_valid = is_preemptible(op),
		.op = op,
		.count = count_of(record, op),
		.command = argument(record, 0),
		.number = number,
		.is_chain = number != record->number,
	};
}

/* Returns the number of the first record of the hypercall that this one continues; 0: of none. */
static uint64_t on_hypercall(const struct weft__xentrace_search *s,
	struct weft__xentrace_state *vcpu, const struct weft__xentrace_record *record)
{
	struct weft__xentrace_call *call = &vcpu->call;
	uint32_t op = record->words[0] & 0xfffff;
	if (op == OP_IRET) {
		call->irets += call->irets < UINT8_MAX;
		call->ends_in_iret = call->was_entered = true;
		call->last_iret = record->cycles;
		return 0;
	}
	if (is_loop(call, op))
		vcpu->loops |= UINT64_C(1) << op;
	if (continues(s, vcpu, op, record)) {
		begin_call(call, op, call->number, record);
		return call->number;
	}
	if (is_preemptible(op)) {
		begin_call(call, op, record->number, record);
		return 0;
	}
	call->was_entered = call->has_upcall = true;
	call->ends_in_iret = false;
	return 0;
}

static uint64_t take_call(const struct weft__xentrace_search *s, uint32_t kind,
	struct weft__xentrace_state *vcpu, const struct weft__xentrace_record *record)
{
	struct weft__xentrace_call *call = &vcpu->call;
	switch (kind) {
	case WEFT__XENTRACE_HYPERCALL:
		return record->count ? on_hypercall(s, vcpu, record) : 0;
	case WEFT__XENTRACE_SUBCALL:
		call->subcalls++;
		break;
	case WEFT__XENTRACE_GRANT_MAP:
	case WEFT__XENTRACE_GRANT_UNMAP:
		call->grants++;
		break;
	case WEFT__XENTRACE_CREDIT_SCHEDULE:
	case WEFT__XENTRACE_CREDIT2_SCHEDULE:
	case WEFT__XENTRACE_ARINC653_SCHEDULE:
	case WEFT__XENTRACE_RTDS_SCHEDULE:
	case WEFT__XENTRACE_NULL_SCHEDULE:
		call->was_scheduled = true;
		break;
	case WEFT__XENTRACE_LOST:
	case WEFT__XENTRACE_EXIT:
	case WEFT__XENTRACE_EXIT_SVM:
		call->is_valid = false;
		break;
	default:
		if (record->id >> 12 == 0x201) {
			call->was_entered = true;
			call->is_chain = call->ends_in_iret = false;
		}
	}
	return 0;
}

static struct weft__xentrace_irq irq_of(const struct weft__xentrace_record *record)
{
	uint32_t length = (uint32_t)record->cycles - record->words[1];
	uint64_t begin = length < record->cycles ? record->cycles - length : 0;
	return (struct weft__xentrace_irq){begin, record->cpu, record->words[0]};
}

int weft__format_xentrace_search_init(
	struct weft__xentrace_search *s, struct weft__xentrace_reader *reader, size_t cpus)
{
	*s = (struct weft__xentrace_search){.reader = reader};
	s->cpus = calloc(cpus + 1, sizeof(*s->cpus));
	for (size_t i = 0; s->cpus && i < cpus; i++)
		s->cpus[i].running.now = (struct weft__xentrace_vcpu){WEFT_XENTRACE_UNKNOWN, 0};
	int error = weft__format_xentrace_kicks_init(&s->kicks, cpus);
	if (!error)
		error = weft__format_xentrace_vcpus_init(&s->vcpus);
	return s->cpus ? error : WEFT_ERROR_MEMORY;
}

void weft__format_xentrace_search_finish(struct weft__xentrace_search *s)
{
	weft__format_xentrace_vcpus_finish(&s->vcpus);
	weft__format_xentrace_kicks_finish(&s->kicks);
	free(s->cpus);
}

int weft__format_xentrace_search_take(struct weft__xentrace_search *s,
	const struct weft__xentrace_record *record, struct weft__xentrace_finding *ret_finding)
{
	const struct weft__xentrace_known *known = weft__format_xentrace_know(s->reader, record->id);
	struct weft__xentrace_running *running = &s->cpus[record->cpu].running;
	struct weft__xentrace_state *vcpu =
		weft__format_xentrace_vcpus_find(&s->vcpus, running->now.domain, running->now.vcpu);
	if (!vcpu && running->now.domain < WEFT__XENTRACE_DOMAINS)
		return WEFT_ERROR_MEMORY;
	*ret_finding = (struct weft__xentrace_finding){
		.call = vcpu ? take_call(s, known->kind, vcpu, record) : 0,
		.tickle = weft__format_xentrace_kicks_take(&s->kicks, known->kind, record),
		.has_irq = known->kind == WEFT__XENTRACE_IRQ && record->count >= 3,
	};
	if (ret_finding->has_irq)
		ret_finding->irq = irq_of(record);
	s->has_gaps |= weft__format_xentrace_is_gap(running, known->kind, record);
	weft__format_xentrace_follow(running, known->kind, record);
	s->cpus[record->cpu].last_cycles = record->cycles;
	return 0;
}
