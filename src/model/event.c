/* SPDX-License-Identifier: ISC
 *
 * The tables of events.def, kinds.def and clocks.def as data, for everything that walks them.
 */
#include <weft/event.h>

#include "base/export.h"

#define FIELD(slot, key)                {WEFT_SLOT_##slot, key},
#define EVENT(number, id, name, fields) [number] = {name, {fields}},
static const struct weft_event_description descriptions[WEFT_EVENT_TYPES] = {
#include <weft/events.def>
};
#undef EVENT
#undef FIELD

WEFT__EXPORT const struct weft_event_description *weft_event_describe(unsigned type)
{
	return &descriptions[type < WEFT_EVENT_TYPES ? type : 0];
}

WEFT__EXPORT const char *weft_kind_name(unsigned kind)
{
	switch (kind) {
#define KIND(number, id, name) \
	case number:               \
		return name;
#include <weft/kinds.def>
#undef KIND
	default:
		return NULL;
	}
}

WEFT__EXPORT const char *weft_clock_name(unsigned clock)
{
	switch (clock) {
#define CLOCK(number, id, name) \
	case number:                \
		return name;
#include <weft/clocks.def>
#undef CLOCK
	default:
		return clock > WEFT_CLOCK_FOREIGN ? "foreign" : "unknown";
	}
}

WEFT__EXPORT const char *weft_band_name(unsigned band)
{
	return band == WEFT_BAND_GC ? "gc" : "idle";
}
