/* SPDX-License-Identifier: ISC
 *
 * Which vCPU runs on a pCPU: records do not name it, except for those that change it.
 */
#include "format/xentrace/names.h"
#include "format/xentrace/reader.h"

static const struct weft__xentrace_vcpu unknown = {WEFT_XENTRACE_UNKNOWN, 0};

/* A vCPU that stops running leaves the pCPU to none; the record of the next one follows. */
static void change(struct weft__xentrace_running *running, uint32_t id, uint32_t word)
{
	uint32_t new_state = id >> 4 & 15, old_state = id >> 8 & 15;
	running->has_stopped = old_state == WEFT__XENTRACE_RUNNING;
	if (running->has_stopped)
		running->now = unknown;
	else if (new_state == WEFT__XENTRACE_RUNNING)
		running->now = (struct weft__xentrace_vcpu){word >> 16, word & 0xffff};
}

/* A loss begins twice if a growing file's batch ends within it. */
static void begin_loss(struct weft__xentrace_running *running)
{
	if (!running->is_in_loss)
		running->before_loss = running->now;
	running->is_in_loss = true;
	running->now = unknown;
}

void weft__format_xentrace_follow(struct weft__xentrace_running *running, uint32_t kind,
	const struct weft__xentrace_record *record)
{
	uint32_t word = record->words[0];
	running->has_stopped = false;
	switch (kind) {
	case WEFT__XENTRACE_RUNSTATE:
		change(running, record->id, word);
		break;
	case WEFT__XENTRACE_CONTINUE:
		running->now = (struct weft__xentrace_vcpu){word >> 16, word & 0xffff};
		break;
	case WEFT__XENTRACE_LOST:
		if (record->is_loss_begin) {
			begin_loss(running);
			break;
		}
		running->is_in_loss = false;
		if (record->count == 4) {
			uint32_t next = record->words[1];
			running->now = (struct weft__xentrace_vcpu){next & 0xffff, next >> 16};
		}
		break;
	default:
		break;
	}
}

bool weft__format_xentrace_is_gap(const struct weft__xentrace_running *running, uint32_t kind,
	const struct weft__xentrace_record *record)
{
	bool is_next =
		kind == WEFT__XENTRACE_RUNSTATE && (record->id >> 4 & 15) == WEFT__XENTRACE_RUNNING;
	return running->has_stopped && !is_next && kind != WEFT__XENTRACE_LOST;
}

void weft__format_xentrace_learn(struct weft__xentrace_known *known, uint32_t id)
{
	known->id = id;
	known->kind = weft__format_xentrace_kind(id);
	known->name = weft__format_xentrace_name(known->kind);
}
