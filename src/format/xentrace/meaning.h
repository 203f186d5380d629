/* SPDX-License-Identifier: ISC
 *
 * Events made of the records of Xen, by the rules of docs/xen.md.
 *
 *     xentrace/meaning.c   from each record to the calls below
 *     xentrace/levels.c    the open spans of each vCPU
 *     xentrace/events.c    events that wait to be returned, and the names in them
 *     xentrace/contexts.c  the trace contexts of vCPUs
 *     xentrace/raises.c    which vCPU or interrupt sent the event of an event channel
 *     xentrace/domains.c   the buffers of the domains
 *     xentrace/processes.c the processes of dom0's Linux
 *     xentrace/whole.c     the records of a whole file
 */
#ifndef WEFT_FORMAT_XENTRACE_MEANING_H
#define WEFT_FORMAT_XENTRACE_MEANING_H

#include "format/xentrace/folds.h"
#include "format/xentrace/processes.h"
#include "format/xentrace/reader.h"
#include "format/xentrace/vcpus.h"

/* The first buffer is Xen; each domain has one of its own. */
#define WEFT__XENTRACE_XEN 0u

/* Ids of tasks in the buffer of a domain: a domain that is built, plus its number. */
#define WEFT__XENTRACE_BUILDS (UINT64_C(1) << 48)

/* Ids of tasks in the buffer of Xen. */
#define WEFT__XENTRACE_SCHEDULER 1u              /* plus the pCPU's index */
#define WEFT__XENTRACE_IRQS      UINT64_C(65536) /* plus the number of the interrupt */

#define WEFT__XENTRACE_NAME_BYTES  64
#define WEFT__XENTRACE_WORDS_BYTES 80
#define WEFT__XENTRACE_FIELDS_MAX  4

/* The keys of kicks are numbers from here on, those of wakes are below. */
#define WEFT__XENTRACE_KICKS (INT64_C(1) << 48)

/* A task of the model. */
struct weft__xentrace_task {
	uint32_t buffer;
	weft_task_id id; /* WEFT_TASK_NONE: none */
};

/* An event, and the text and the fields that it borrows. */
struct weft__xentrace_event {
	struct weft_event event;
	struct weft_field fields[WEFT__XENTRACE_FIELDS_MAX];
	char text[WEFT__XENTRACE_NAME_BYTES];
	char words[WEFT__XENTRACE_WORDS_BYTES]; /* the fields that are texts, one after the other */
};

/* Whether a pCPU sends to an event channel now. */
enum weft__xentrace_sends {
	WEFT__XENTRACE_SENDS_UNKNOWN, /* perhaps, and perhaps something else wakes vCPUs here */
	WEFT__XENTRACE_SENDS_NOT,
	WEFT__XENTRACE_SENDS, /* its only interrupt, or the vCPU's last entry */
};

/* A pCPU in the model. */
struct weft__xentrace_pcpu {
	uint32_t thread; /* in the description */
	struct weft__xentrace_task runs;
	bool has_scheduler; /* an event told of its scheduler */
	bool is_in_loss;    /* it loses records now */
	uint32_t irqs;      /* the number of interrupts that are handled now */
	struct weft__xentrace_task irq;
	uint8_t sends;                    /* enum weft__xentrace_sends */
	uint32_t kick;                    /* that was sent to this pCPU and has not come; 0: none */
	struct weft__xentrace_vcpu shown; /* of the open span */
};

/* A domain's vCPUs that sleep: those that are blocked or offline. */
struct weft__xentrace_sleepers {
	uint32_t vcpus;  /* in the whole trace */
	uint32_t asleep; /* how many of them */
	uint32_t epoch;  /* of the meaning, when `asleep` was counted */
};

struct weft__xentrace_meaning {
	struct weft__xentrace_reader *reader;
	struct weft__xentrace_vcpus vcpus;
	struct weft__xentrace_processes processes;
	struct weft__xentrace_pcpu *pcpus; /* by pCPU */
	uint16_t *buffers;                 /* by domain; 0: it has no vCPU */
	struct weft_trace_buffer *descriptions;
	size_t description_count, description_capacity;
	struct weft__xentrace_event *events; /* those from `given` on wait */
	size_t event_count, event_capacity, given;
	struct weft_loss_period *losses;
	size_t loss_count, loss_capacity;
	uint64_t *loss_begins; /* by pCPU; ns */
	uint32_t pcpus_in_loss;
	struct weft__xentrace_owners owners;
	uint64_t time_ns, offset;
	uint64_t emitted_ns; /* the time of the last event */
	uint64_t messages;   /* between domains so far */
	uint32_t senders;    /* pCPUs that may send to event channels, or of which this is not known */
	uint32_t raised;     /* 1 + the domain whose event is not withdrawn; 0: none */
	uint32_t woken;      /* its vCPU */
	struct weft__xentrace_sleepers *sleepers; /* by domain */
	uint32_t *builds; /* by domain: the number of its task while it has no vCPU yet; or 0 */
	uint32_t build_count;
	uint32_t epoch; /* 1 + the begins and ends of losses so far: each may hide the end of a sleep */
	bool shows_raises, has_begun;
	bool is_filtered;      /* some records were left out */
	uint8_t *is_irq_known; /* a bit for each of the first interrupts */
	int error;
};

/* For records of `cpus` pCPUs. 0 or WEFT_ERROR_MEMORY. */
int weft__format_xentrace_meaning_create(
	struct weft__xentrace_reader *reader, size_t cpus, struct weft__xentrace_meaning **ret_meaning);
void weft__format_xentrace_meaning_destroy(struct weft__xentrace_meaning *meaning);

/* Each of these makes events, after those of the call before were taken. Interrupts and records
 * come in the order of time, an interrupt before the records from its begin on. */
void weft__format_xentrace_meaning_begin_irq(
	struct weft__xentrace_meaning *meaning, const struct weft__xentrace_irq *irq);
void weft__format_xentrace_meaning_take(struct weft__xentrace_meaning *meaning,
	const struct weft__xentrace_record *record, const struct weft__xentrace_hindsight *hindsight);
/* After the last record. */
void weft__format_xentrace_meaning_end(struct weft__xentrace_meaning *meaning);

/* Records of a thread are missing from then until now. 0 or an error. */
int weft__format_xentrace_add_loss(
	struct weft__xentrace_meaning *meaning, uint64_t since_ns, uint32_t count, uint32_t thread);

/* WEFT_OK and the next event that was made; WEFT_AGAIN after the last one; or an error. */
int weft__format_xentrace_meaning_next(
	struct weft__xentrace_meaning *meaning, struct weft_event *ret_event);

/* ---- xentrace/domains.c ---- */

/* Describes the buffer of Xen. 0 or an error. */
int weft__format_xentrace_describe_xen(struct weft__xentrace_meaning *meaning);
/* Adds the buffer of a domain, if it has none. 0 or an error. */
int weft__format_xentrace_add_domain(struct weft__xentrace_meaning *meaning, uint32_t domain);
/* Adds that of the processes of dom0's Linux, if there is none. 0 or an error. */
int weft__format_xentrace_add_buffer_of_processes(struct weft__xentrace_meaning *meaning);
/* A domain is created, and is built until it has its first vCPU, or until it is destroyed. */
void weft__format_xentrace_begin_build(struct weft__xentrace_meaning *meaning, uint32_t domain);
void weft__format_xentrace_end_build(struct weft__xentrace_meaning *meaning, uint32_t domain);
/* The record of all buffers ends then. */
void weft__format_xentrace_end_buffers(struct weft__xentrace_meaning *meaning, uint64_t cycles);

/* ---- xentrace/events.c ---- */

/* Appends an event of the present time, to be completed; never NULL: without memory it is one that
 * is not returned. */
struct weft__xentrace_event *weft__format_xentrace_emit(
	struct weft__xentrace_meaning *meaning, unsigned type, struct weft__xentrace_task task);

/* Sets the text of an event: "name", or "name ×3" if `count` is not 0. */
void weft__format_xentrace_set_text(
	struct weft__xentrace_event *event, const char *name, uint32_t count);

/* Lets the event point to its fields, and these to their texts. */
void weft__format_xentrace_link_fields(struct weft__xentrace_event *event);

/* A remark on a task: the record in words, "grant_map d5". */
void weft__format_xentrace_emit_mark(struct weft__xentrace_meaning *meaning,
	struct weft__xentrace_task task, const char *name, const struct weft__xentrace_record *record);

/* A remark on a task with the words of a guest's own record. */
void weft__format_xentrace_emit_words(struct weft__xentrace_meaning *meaning,
	struct weft__xentrace_task task, const struct weft__xentrace_record *record);

/* A remark on the vCPU: a context, which is none if its span is 0. */
void weft__format_xentrace_emit_context(struct weft__xentrace_meaning *meaning,
	const struct weft__xentrace_state *vcpu, const struct weft__xentrace_context *context);
/* The vCPU's innermost span belongs to the context's trace, as a child of its span. */
void weft__format_xentrace_emit_span_context(struct weft__xentrace_meaning *meaning,
	struct weft__xentrace_state *vcpu, const struct weft__xentrace_context *context);

/* From now on the pCPU runs the task, which may be none. */
void weft__format_xentrace_emit_run(
	struct weft__xentrace_meaning *meaning, uint32_t cpu, struct weft__xentrace_task task);

/* From now on the vCPU has the pCPU: a span of the pCPU itself, also for Xen's own vCPUs, which are
 * idle. */
void weft__format_xentrace_emit_vcpu(
	struct weft__xentrace_meaning *meaning, uint32_t cpu, struct weft__xentrace_vcpu vcpu);

/* A task that exists already, or that begins now. */
void weft__format_xentrace_emit_task(struct weft__xentrace_meaning *meaning,
	struct weft__xentrace_task task, const char *kind, const char *name, bool is_new);

/* `sender` makes `receiver` runnable. */
void weft__format_xentrace_emit_wake(struct weft__xentrace_meaning *meaning,
	struct weft__xentrace_task sender, struct weft__xentrace_task receiver);

/* The name of a PV guest's hypercall with the name of its command: "sched_op block". */
const char *weft__format_xentrace_call_name(
	const struct weft__xentrace_record *record, char name[WEFT__XENTRACE_NAME_BYTES]);
/* How many operations a hypercall is about; 0: its record does not say. */
uint32_t weft__format_xentrace_call_count(const struct weft__xentrace_record *record);

/* ---- xentrace/raises.c ---- */

/* The pCPU can or cannot send to event channels from now on. If it can, any domain may be the
 * target, so the raise that waits is withdrawn. */
void weft__format_xentrace_set_sends(
	struct weft__xentrace_meaning *meaning, uint32_t cpu, enum weft__xentrace_sends sends);
/* The same by the record of an entry into Xen, or of a virtual machine's return. */
void weft__format_xentrace_enter_sender(struct weft__xentrace_meaning *meaning,
	struct weft__xentrace_state *vcpu, uint32_t kind, const struct weft__xentrace_record *record);
void weft__format_xentrace_begin_interrupt(struct weft__xentrace_meaning *meaning, uint32_t cpu);
void weft__format_xentrace_end_interrupt(struct weft__xentrace_meaning *meaning, uint32_t cpu);

/* The task woke the vCPU on this pCPU. If the trace proves that it sent to it, emits the send. */
void weft__format_xentrace_raise(struct weft__xentrace_meaning *meaning, uint32_t cpu,
	struct weft__xentrace_task task, struct weft__xentrace_state *vcpu);
/* A change of the state of a vCPU, which is NULL for those of Xen; after a raise that it is. */
void weft__format_xentrace_follow_raise(struct weft__xentrace_meaning *meaning,
	const struct weft__xentrace_record *record, struct weft__xentrace_state *vcpu);
/* The vCPU ends. */
void weft__format_xentrace_end_sleep(
	struct weft__xentrace_meaning *meaning, struct weft__xentrace_state *vcpu);
/* The raise is no longer proven: the domain may handle another event from now on. */
void weft__format_xentrace_withdraw(struct weft__xentrace_meaning *meaning);

/* ---- xentrace/levels.c ---- */

struct weft__xentrace_task weft__format_xentrace_task_of(
	const struct weft__xentrace_meaning *meaning, const struct weft__xentrace_state *vcpu);

/* The innermost open span; -1: none is open. */
int weft__format_xentrace_top(const struct weft__xentrace_state *vcpu);
/* Begins a span of a vCPU inside those that are open; too deep ones are left out. The name is as in
 * weft__format_xentrace_set_text. */
void weft__format_xentrace_push(struct weft__xentrace_meaning *meaning,
	struct weft__xentrace_state *vcpu, enum weft__xentrace_level level, const char *name,
	uint32_t count);
/* Ends the innermost span. */
void weft__format_xentrace_pop(
	struct weft__xentrace_meaning *meaning, struct weft__xentrace_state *vcpu);
/* Ends all spans from the outermost one of that level on. */
void weft__format_xentrace_close(struct weft__xentrace_meaning *meaning,
	struct weft__xentrace_state *vcpu, enum weft__xentrace_level level);
/* Xen interrupts the open hypercall, if it will be continued. */
void weft__format_xentrace_preempt(
	struct weft__xentrace_meaning *meaning, struct weft__xentrace_state *vcpu);
/* The guest enters Xen: ends what Xen did for it before. */
void weft__format_xentrace_enter(
	struct weft__xentrace_meaning *meaning, struct weft__xentrace_state *vcpu);

#endif
