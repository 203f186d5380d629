/* SPDX-License-Identifier: ISC
 *
 * Which operations, kinds and hints the sexp format has.
 */
#include "format/mirage/sexp_op.h"

#include <string.h>

#include "model/slice.h"

#define OPERATION(name, type, ...)                              \
	{                                                           \
		name, sizeof(name) - 1, WEFT_EVENT_##type, __VA_ARGS__, \
	}

static const struct weft__sexp_operation operations[] = {
	OPERATION("Creates", CREATE, {WEFT__SEXP_TASK, WEFT__SEXP_OTHER, WEFT__SEXP_KIND}),
	OPERATION("Reads", READ, {WEFT__SEXP_TASK, WEFT__SEXP_OTHER}),
	OPERATION("Resolves", RESOLVE, {WEFT__SEXP_TASK, WEFT__SEXP_OTHER, WEFT__SEXP_OPTION}),
	OPERATION("Becomes", BECOME, {WEFT__SEXP_TASK, WEFT__SEXP_OTHER}),
	OPERATION("Label", LABEL, {WEFT__SEXP_TASK, WEFT__SEXP_TEXT}),
	OPERATION("Switch", SWITCH, {WEFT__SEXP_TASK}),
	OPERATION("Gc", GC, {WEFT__SEXP_SECONDS}),
	OPERATION("Increases", COUNTER, {WEFT__SEXP_TASK, WEFT__SEXP_TEXT, WEFT__SEXP_NUMBER}),
};

const struct weft__sexp_operation *weft__format_sexp_operation(struct weft_slice name)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (operations[i].size == name.size &&
			memcmp(operations[i].name, name.bytes, name.size) == 0)
			return &operations[i];
	return NULL;
}

uint16_t weft__format_sexp_kind(struct weft_slice name)
{
	static const struct {
		uint8_t number, size;
		const char *name;
	} kinds[] = {
#define KIND(number, id, name) {number, sizeof(name) - 1, name},
#include <weft/kinds.def>
#undef KIND
	};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *known = kinds[i].name;
		/* The file has "On_success", the table "on_success". */
		if (name.size == kinds[i].size && (name.bytes[0] | 0x20) == known[0] &&
			memcmp(name.bytes + 1, known + 1, name.size - 1) == 0)
			return kinds[i].number;
	}
	return WEFT_KIND_UNKNOWN;
}

void weft__format_sexp_recognise_hint(struct weft_event *event)
{
	if (event->type == WEFT_EVENT_LABEL && weft__slice_is(event->text, "__should_resolve")) {
		event->type = WEFT_EVENT_EXPECT;
		event->text = (struct weft_slice){NULL, 0};
	}
}
