/* SPDX-License-Identifier: ISC
 *
 * Xen's own trace, as its tool xentrace writes it: docs/formats.md. Opening lists the windows and
 * estimates the rate of the cycles. Then the file is read window by window, as many as there are
 * pCPUs at a time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/formats.h"
#include "format/xentrace/incoming.h"
#include "format/xentrace/look.h"
#include "format/xentrace/names.h"
#include "format/xentrace/reader.h"
#include "format/xentrace/stays.h"
#include "format/xentrace/survey.h"
#include "format/xentrace/whole.h"

/* xenalyze assumes this, too. */
#define ASSUMED_HZ UINT64_C(2400000000)

/* Enough to estimate the rate: a reader of records keeps little of the file in memory. */
#define SURVEY_BYTES (UINT64_C(4) << 20)

/* Rates beyond these are damage. */
#define HZ_MIN UINT64_C(1000000)
#define HZ_MAX UINT64_C(1000000000000)

/* The rate in the first note that has one; 0: none has. */
static uint64_t noted_hz(const struct weft__xentrace_windows *windows, bool *ret_is_estimated)
{
	for (size_t i = 0; i < windows->note_count; i++)
		if (windows->notes[i].kind == WEFT_XENTRACE_NOTE_RATE &&
			windows->notes[i].values[0] >= HZ_MIN && windows->notes[i].values[0] <= HZ_MAX) {
			*ret_is_estimated = windows->notes[i].values[1] == 1;
			return windows->notes[i].values[0];
		}
	return 0;
}

/* The other traces that are opened with this one know what the counter showed when. */
static void share_clock(
	struct weft__xentrace_reader *r, const struct weft__shared_readings *readings)
{
	struct weft_clock *clock = &r->base.input.description->clock;
	r->clock.ticks = readings->cycles;
	clock->hz = weft__format_ticks_hz(&readings->cycles);
	clock->epoch = WEFT_EPOCH_MONOTONIC;
	clock->offset_ns = readings->offset_ns;
	clock->comparisons = readings->host.count;
	clock->error_ns = readings->host.count ? readings->host.error_ns : 0;
}

static void describe_clock(struct weft__xentrace_reader *r, uint64_t estimated_hz)
{
	const struct weft__shared_readings *readings = r->base.input.readings;
	bool is_estimated = false;
	uint64_t given_hz = r->base.input.hz ? r->base.input.hz : noted_hz(&r->windows, &is_estimated);
	struct weft_clock *clock = &r->base.input.description->clock;
	clock->name = "tsc";
	if (readings && readings->cycles.multiplier) {
		share_clock(r, readings);
		return;
	}
	clock->rate = given_hz && !is_estimated ? WEFT_RATE_GIVEN : WEFT_RATE_ESTIMATED;
	clock->hz = given_hz ? given_hz : estimated_hz;
	if (!clock->hz) {
		clock->rate = WEFT_RATE_ASSUMED;
		clock->hz = ASSUMED_HZ;
	}
	weft__format_xentrace_clock_set(&r->clock, r->records.first_cycles, clock->hz);
}

int weft__format_xentrace_reserve_threads(struct weft__xentrace_reader *r, uint32_t capacity)
{
	struct weft_trace_description *description = r->base.input.description;
	int error = weft__array_resize(&r->threads, capacity, sizeof(*r->threads));
	if (!error)
		error = weft__array_resize(&r->thread_names, capacity, sizeof(*r->thread_names));
	for (uint32_t i = 0; i < description->thread_count && !error; i++)
		r->threads[i].name = r->thread_names[i];
	description->threads = r->threads;
	r->thread_capacity = error ? r->thread_capacity : capacity;
	return error;
}

int weft__format_xentrace_add_thread(struct weft__xentrace_reader *r, const char *name,
	uint64_t tid, uint32_t buffer, uint32_t *ret_thread)
{
	struct weft_trace_description *description = r->base.input.description;
	uint32_t i = description->thread_count;
	int error = i < r->thread_capacity ? 0 : weft__format_xentrace_reserve_threads(r, 2 * i + 8);
	if (error)
		return error;
	snprintf(r->thread_names[i], sizeof(r->thread_names[i]), "%s", name);
	r->threads[i] =
		(struct weft_trace_thread){.name = r->thread_names[i], .tid = tid, .buffer = buffer};
	description->thread_count++;
	*ret_thread = i;
	return 0;
}

int weft__format_xentrace_describe_cpus(struct weft__xentrace_reader *r)
{
	char name[WEFT__XENTRACE_THREAD_BYTES];
	uint32_t count = (uint32_t)r->windows.cpu_count, thread;
	r->base.input.description->thread_count = 0;
	r->running = calloc(count + (size_t)1, sizeof(*r->running));
	int error =
		r->running ? weft__format_xentrace_reserve_threads(r, count + 1) : WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < count && !error; i++) {
		uint32_t number = r->windows.cpus[i].number;
		snprintf(name, sizeof(name), "pCPU %u", number);
		error = weft__format_xentrace_add_thread(r, name, number, 0, &thread);
		r->running[i].now.domain = WEFT_XENTRACE_UNKNOWN;
	}
	r->cpu_count = count;
	return error;
}

void weft__format_xentrace_finish(struct weft__xentrace_reader *r)
{
	weft__format_xentrace_whole_destroy(r->whole);
	weft__format_xentrace_records_finish(&r->records);
	weft__format_xentrace_windows_finish(&r->windows);
	free(r->running);
	free(r->threads);
	free(r->thread_names);
}

static void xentrace_close(struct weft__reader *base)
{
	weft__format_xentrace_finish(weft__format_xentrace_of(base));
	free(base);
}

int weft__format_xentrace_look_over(struct weft__xentrace_reader *r)
{
	struct weft__xentrace_survey *survey = calloc(1, sizeof(*survey));
	if (!survey)
		return WEFT_ERROR_MEMORY;
	weft__format_xentrace_survey(r->base.input.bytes, &r->windows, SURVEY_BYTES, survey);
	r->is_svm = survey->is_svm;
	r->has_vendor = survey->is_svm || survey->is_vmx;
	describe_clock(r, survey->rate.hz);
	free(survey);
	return 0;
}

static int xentrace_open(const struct weft__input *input, struct weft__reader **ret_reader)
{
	struct weft__xentrace_reader *r = calloc(1, sizeof(*r));
	if (!r)
		return WEFT_ERROR_MEMORY;
	r->base.input = *input;
	int error = weft__format_xentrace_windows_find(
		input->bytes, input->size, input->diagnostics, &r->windows);
	if (!error)
		error = weft__format_xentrace_records_init(
			&r->records, input->bytes, &r->windows, NULL, input->diagnostics);
	if (!error)
		error = weft__format_xentrace_describe_cpus(r);
	if (!error)
		error = weft__format_xentrace_look_over(r);
	/* A merged trace describes its buffers before its first event. */
	if (!error && input->readings)
		error = weft__format_xentrace_whole_create(r, &r->whole);
	if (error) {
		xentrace_close(&r->base);
		return error;
	}
	*ret_reader = &r->base;
	return 0;
}

/* A note of Xen's time and the counter comes before one of Xen's time and dom0's. */
static void take_notes(
	const struct weft__xentrace_windows *windows, struct weft__identity *identity)
{
	uint64_t counter = 0, xen_ns = 0;
	for (size_t i = 0; i < windows->note_count; i++) {
		const struct weft_xentrace_note *note = &windows->notes[i];
		const uint64_t *values = note->values;
		if (note->kind == WEFT_XENTRACE_NOTE_BOOT)
			memcpy(identity->boot_id, values, sizeof(identity->boot_id));
		if (note->kind == WEFT_XENTRACE_NOTE_TIME) {
			counter = values[0];
			xen_ns = values[1];
		}
		if (note->kind == WEFT_XENTRACE_NOTE_HOST && values[0] == xen_ns &&
			identity->comparison_count < WEFT_ABI_COMPARISONS)
			identity->comparisons[identity->comparison_count++] = (struct weft_abi_comparison){
				.xen_ns = xen_ns, .monotonic_ns = values[1], .counter = counter};
	}
	identity->is_monotonic = identity->comparison_count;
}

int weft__format_xentrace_look(const uint8_t *bytes, size_t size, struct weft__identity *identity)
{
	struct weft_diagnostics seen = {0}; /* reported when the file is read */
	struct weft__xentrace_windows windows = {0};
	struct weft__xentrace_records records = {0};
	struct weft__xentrace_survey *survey = calloc(1, sizeof(*survey));
	int error = survey ? weft__format_xentrace_windows_find(bytes, size, &seen, &windows)
					   : WEFT_ERROR_MEMORY;
	*identity = (struct weft__identity){.is_hypervisor = true};
	if (!error)
		error = weft__format_xentrace_records_init(&records, bytes, &windows, NULL, NULL);
	if (!error) {
		weft__format_xentrace_survey(bytes, &windows, SURVEY_BYTES, survey);
		identity->first_cycles = records.first_cycles;
		identity->hz = survey->rate.hz;
		take_notes(&windows, identity);
	}
	weft__format_xentrace_records_finish(&records);
	weft__format_xentrace_windows_finish(&windows);
	free(survey);
	return error;
}

/* ---- Records ---- */

/* A guest that was created late has its exits far behind the begin of the file. Without memory the
 * names stay Intel's. */
void weft__format_xentrace_find_vendor(struct weft__xentrace_reader *r)
{
	struct weft__xentrace_survey *survey = calloc(1, sizeof(*survey));
	if (!survey)
		return;
	weft__format_xentrace_survey_exits(r->base.input.bytes, &r->windows, survey);
	r->is_svm = survey->is_svm;
	r->has_vendor = true;
	free(survey);
}

static const char *exit_of(struct weft__xentrace_reader *r, uint32_t kind, uint32_t reason)
{
	if (kind == WEFT__XENTRACE_EXIT_SVM)
		return weft__format_xentrace_exit(reason, true);
	if (!r->has_vendor)
		weft__format_xentrace_find_vendor(r);
	return weft__format_xentrace_exit(reason, r->is_svm);
}

static const char *detail_of(
	struct weft__xentrace_reader *r, uint32_t kind, const struct weft__xentrace_record *record)
{
	const uint32_t *words = record->words;
	bool is_64 = record->id & WEFT__XENTRACE_64;
	switch (kind) {
	case WEFT__XENTRACE_HYPERCALL:
	case WEFT__XENTRACE_SUBCALL:
		return weft__format_xentrace_hypercall(words[0] & 0xfffff);
	case WEFT__XENTRACE_HYPERCALL_OLD:
		return weft__format_xentrace_hypercall(words[is_64 ? 2 : 1]);
	case WEFT__XENTRACE_VMMCALL:
		return weft__format_xentrace_hypercall(words[0]);
	case WEFT__XENTRACE_TRAP:
		return weft__format_xentrace_trap(words[is_64 ? 2 : 1] & 0x7fff);
	case WEFT__XENTRACE_INJECT:
	case WEFT__XENTRACE_HVM_TRAP:
		return record->count ? weft__format_xentrace_trap(words[0]) : NULL;
	case WEFT__XENTRACE_EXIT:
	case WEFT__XENTRACE_EXIT_SVM:
		return exit_of(r, kind, words[0]);
	default:
		return NULL;
	}
}

bool weft__format_xentrace_show(struct weft__xentrace_reader *r,
	const struct weft__xentrace_record *record, struct weft_xentrace_record *ret_record)
{
	const struct weft__xentrace_known *known = weft__format_xentrace_know(r, record->id);
	struct weft__xentrace_running *running = &r->running[record->cpu];
	struct weft__xentrace_vcpu vcpu = running->now;
	weft__format_xentrace_follow(running, known->kind, record);
	if (record->is_loss_begin)
		return false;
	if (record->id == WEFT__XENTRACE_LOST && record->count == 4)
		vcpu = running->before_loss;
	ret_record->time_ns = weft__format_xentrace_ns(&r->clock, record->cycles);
	ret_record->cycles = record->cycles;
	ret_record->has_cycles = record->has_cycles;
	ret_record->offset = record->offset;
	ret_record->cpu = r->windows.cpus[record->cpu].number;
	ret_record->id = record->id;
	ret_record->domain = vcpu.domain;
	ret_record->vcpu = vcpu.vcpu;
	ret_record->name = known->name;
	ret_record->detail = detail_of(r, known->kind, record);
	ret_record->arg_count = record->count;
	memcpy(ret_record->args, record->words, sizeof(ret_record->args));
	return true;
}

static int xentrace_next_record(struct weft__reader *base, struct weft_xentrace_record *ret_record)
{
	struct weft__xentrace_reader *r = weft__format_xentrace_of(base);
	const struct weft__xentrace_record *record;
	while (weft__format_xentrace_records_next(&r->records, &record))
		if (weft__format_xentrace_show(r, record, ret_record))
			return WEFT_OK;
	return WEFT_END;
}

static size_t xentrace_notes(
	const struct weft__reader *base, const struct weft_xentrace_note **ret_list)
{
	const struct weft__xentrace_windows *windows =
		&((const struct weft__xentrace_reader *)base)->windows;
	*ret_list = windows->notes;
	return windows->note_count;
}

static int xentrace_stays(struct weft__reader *base,
	int (*take)(void *context, const struct weft_xentrace_stay *stay), void *context)
{
	return weft__format_xentrace_stays(weft__format_xentrace_of(base), take, context);
}

static int xentrace_next(struct weft__reader *base, struct weft_event *ret_event)
{
	struct weft__xentrace_reader *r = weft__format_xentrace_of(base);
	int error = r->whole ? 0 : weft__format_xentrace_whole_create(r, &r->whole);
	return error ? error : weft__format_xentrace_whole_next(r->whole, ret_event);
}

const struct weft__format weft__format_xentrace = {
	.name = "xentrace",
	.probe = weft__format_xentrace_probe,
	.open = xentrace_open,
	.next = xentrace_next,
	.next_record = xentrace_next_record,
	.stays = xentrace_stays,
	.notes = xentrace_notes,
	.close = xentrace_close,
	.incoming = &weft__xentrace_incoming,
};
