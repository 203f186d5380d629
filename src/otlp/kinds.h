/* SPDX-License-Identifier: ISC
 *
 * Which kinds of tasks have a span, if not all have.
 */
#ifndef WEFT_OTLP_KINDS_H
#define WEFT_OTLP_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/model.h>

/* Things that tasks wait for or run on, rather than work. */
static inline bool weft__otlp_kind_is_thing(uint16_t kind)
{
	return kind >= WEFT_KIND_SEMAPHORE && kind <= WEFT_KIND_THREAD && kind != WEFT_KIND_SWITCH;
}

/* Kinds of a promise library: a person looks at what they are part of, unless they have a name. */
static inline bool weft__otlp_kind_is_plumbing(uint16_t kind)
{
	return kind != WEFT_KIND_TASK && kind != WEFT_KIND_ASYNC &&
		   (kind <= WEFT_KIND_SWITCH || kind == WEFT_KIND_UNKNOWN || kind == WEFT_KIND_PREEXISTING);
}

static inline bool weft__otlp_kind_is_shown(uint16_t kind, bool has_label)
{
	return !weft__otlp_kind_is_thing(kind) && (has_label || !weft__otlp_kind_is_plumbing(kind));
}

#endif
