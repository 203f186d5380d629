/* SPDX-License-Identifier: ISC
 *
 * The input is rules, one on each line; then events are made whose text comes from it, too.
 */
#include <stdint.h>
#include <string.h>

#include <weft/trigger.h>

#include "reader.h"
#include "trigger/metric_rule.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The same text as a rule about metrics. */
static void parse_metric_rule(const char *text, size_t size)
{
	struct weft__metric_rule rule;
	struct weft_trigger_error error = {SIZE_MAX, NULL};
	int status = weft__trigger_metric_rule_parse(&rule, text, size, &error);
	require(status == 0 || status == WEFT_ERROR_ARGUMENT);
	if (status == WEFT_ERROR_ARGUMENT)
		require(error.offset <= size && error.message);
	else
		weft__trigger_metric_rule_finish(&rule);
}

static void add_rules(struct weft_triggers *triggers, const char *text, size_t size)
{
	while (size) {
		const char *end = memchr(text, '\n', size);
		size_t length = end ? (size_t)(end - text) : size;
		struct weft_trigger_error error = {SIZE_MAX, NULL};
		int status = weft_triggers_add(triggers, text, length, &error);
		require(status == 0 || status == WEFT_ERROR_ARGUMENT || status == WEFT_ERROR_LIMIT);
		if (status == WEFT_ERROR_ARGUMENT)
			require(error.offset <= length && error.message);
		parse_metric_rule(text, length);
		text += length + (end != NULL);
		size -= length + (end != NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct weft_triggers *triggers;
	struct weft_slice rule;
	require(weft_triggers_create(&triggers) == 0);
	add_rules(triggers, (const char *)bytes, size);
	for (size_t i = 0; i + 4 < size; i++) {
		struct weft_event event = {
			.type = (uint8_t)(1 + bytes[i] % (WEFT_EVENT_TYPES - 1)),
			.task = bytes[i + 1] % 16,
			.other = bytes[i + 2] % 16,
			.time_ns = i * 1000,
			.value = (int8_t)bytes[i + 3],
			.flag = bytes[i + 3] & 1,
			.is_set = bytes[i + 3] & 2,
			.thread = bytes[i + 4] % 4,
			.text = {(const char *)bytes + i, size - i < 8 ? size - i : 8},
		};
		if (weft_event_describe(event.type)->name)
			require(weft_triggers_take(triggers, &event) == 0);
		weft_triggers_pass(triggers, event.time_ns);
	}
	if (weft_triggers_fired(triggers, &rule))
		require(rule.size <= size);
	weft_triggers_destroy(triggers);
	return 0;
}
