/* SPDX-License-Identifier: ISC
 *
 * LTTng's tracepoints: of two 64-bit values, and of one byte.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER weft_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "lttng_events.h"

#if !defined(WEFT_BENCH_LTTNG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define WEFT_BENCH_LTTNG_EVENTS_H

#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(weft_bench, resolve,
	LTTNG_UST_TP_ARGS(uint64_t, task, uint64_t, target),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, task, task)
		lttng_ust_field_integer(uint64_t, target, target)))

LTTNG_UST_TRACEPOINT_EVENT(weft_bench, byte,
	LTTNG_UST_TP_ARGS(uint8_t, value),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, value, value)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
