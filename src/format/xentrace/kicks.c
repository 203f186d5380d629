/* SPDX-License-Identifier: ISC
 *
 * Kicks between pCPUs, see kicks.h. A tickle is kept with its target until the scheduler decides
 * there.
 */
#include "format/xentrace/kicks.h"

#include <stdbool.h>
#include <stdlib.h>

#include <weft/error.h>

#include "format/xentrace/ids.h"

/* In the second word of credit2's decision, and in the first one of rtds'. */
#define WAS_TICKLED      UINT32_C(0xff000000)
#define WAS_TICKLED_RTDS UINT32_C(0x0f000000)

int weft__format_xentrace_kicks_init(struct weft__xentrace_kicks *kicks, size_t cpus)
{
	kicks->tickles = calloc(WEFT__XENTRACE_CPUS_MAX, sizeof(*kicks->tickles));
	kicks->numbers = calloc(cpus + 1, sizeof(*kicks->numbers));
	return kicks->tickles && kicks->numbers ? 0 : WEFT_ERROR_MEMORY;
}

void weft__format_xentrace_kicks_finish(struct weft__xentrace_kicks *kicks)
{
	free(kicks->tickles);
	free(kicks->numbers);
	*kicks = (struct weft__xentrace_kicks){0};
}

void weft__format_xentrace_kicks_know(
	struct weft__xentrace_kicks *kicks, uint32_t index, uint32_t number)
{
	kicks->numbers[index] = (uint16_t)number;
}

/* Xen tickles no pCPU twice before its decision. */
static void on_tickle(
	struct weft__xentrace_kicks *kicks, const struct weft__xentrace_record *record)
{
	uint32_t target = record->words[0] & 0xffff;
	bool is_other = target < WEFT__XENTRACE_CPUS_MAX && target != kicks->numbers[record->cpu];
	if (is_other && !kicks->tickles[target])
		kicks->tickles[target] = record->number;
}

static bool is_decision(uint32_t kind)
{
	return kind == WEFT__XENTRACE_CREDIT2_SCHEDULE || kind == WEFT__XENTRACE_RTDS_SCHEDULE;
}

static bool was_tickled(uint32_t kind, const struct weft__xentrace_record *record)
{
	if (kind == WEFT__XENTRACE_CREDIT2_SCHEDULE)
		return record->words[1] & WAS_TICKLED;
	return kind == WEFT__XENTRACE_RTDS_SCHEDULE && (record->words[0] & WAS_TICKLED_RTDS);
}

uint64_t weft__format_xentrace_kicks_take(
	struct weft__xentrace_kicks *kicks, uint32_t kind, const struct weft__xentrace_record *record)
{
	uint64_t *own = &kicks->tickles[kicks->numbers[record->cpu]], tickle = *own;
	bool is_tickle = kind == WEFT__XENTRACE_CREDIT2_TICKLE || kind == WEFT__XENTRACE_RTDS_TICKLE;
	if (is_tickle && record->count)
		on_tickle(kicks, record);
	else if (is_decision(kind) || kind == WEFT__XENTRACE_LOST)
		*own = 0;
	return was_tickled(kind, record) ? tickle : 0;
}
