/* SPDX-License-Identifier: ISC
 *
 * Random types of events. The numbers of events.def need not be consecutive.
 */
#ifndef WEFT_TESTS_EVENT_TYPES_H
#define WEFT_TESTS_EVENT_TYPES_H

#include <stdint.h>

static inline uint8_t event_type_of(uint32_t random)
{
	static const uint8_t types[] = {
#define EVENT(number, id, word, fields) number,
#include <weft/events.def>
#undef EVENT
	};
	return types[random % sizeof(types)];
}

#endif
