/* SPDX-License-Identifier: ISC
 *
 * Metrics of weft_ffi.h, whose texts have a size: each is copied to one that ends, a label at a
 * time.
 */
#include <string.h>

#include <weft/weft_ffi.h>

#include "record/metrics.h"

_Static_assert(sizeof(struct weft_ffi_metric) == 6 * sizeof(void *) + 8, "without gaps");

/* A text that is too long stays so. */
struct ending_text {
	char bytes[WEFT_METRIC_TEXT_MAX + 2];
};

static const char *end_text(struct ending_text *to, const char *text, size_t size)
{
	size_t at = 0;
	for (; text && at < size && at < sizeof(to->bytes) - 1 && text[at]; at++)
		to->bytes[at] = text[at];
	to->bytes[at] = '\0';
	return to->bytes;
}

WEFT__EXPORT uint64_t weft_ffi_metric_get(
	const struct weft_ffi_metric *metric, const struct weft_ffi_pair *labels, unsigned pairs)
{
	struct ending_text name, unit, help;
	const struct weft_metric_type type = {
		.name = end_text(&name, metric->name, metric->name_size),
		.type = (enum weft_metric_kind)metric->kind,
		.unit = end_text(&unit, metric->unit, metric->unit_size),
		.scale = metric->scale,
		.first_exponent = metric->first_exponent,
		.last_exponent = metric->last_exponent,
		.is_billable = metric->is_billable,
		.help = end_text(&help, metric->help, metric->help_size),
	};
	weft_metric it = weft_metric_get(&type, NULL, 0);
	for (unsigned i = 0; labels && it && i < pairs && i < WEFT_METRIC_PAIRS_MAX; i++) {
		struct ending_text key, value;
		it = weft__record_metric_level(it, &type, end_text(&key, labels[i].key, labels[i].key_size),
			end_text(&value, labels[i].value, labels[i].value_size));
	}
	return it;
}

WEFT__EXPORT uint64_t weft_ffi_metric_child(
	uint64_t parent, const char *key, size_t key_size, const char *value, size_t value_size)
{
	struct ending_text own_key, own_value;
	return weft_metric_child(
		parent, end_text(&own_key, key, key_size), end_text(&own_value, value, value_size));
}

WEFT__EXPORT uint64_t weft_ffi_metric_child_n(
	uint64_t parent, const char *key, size_t key_size, uint64_t value)
{
	struct ending_text own_key;
	return weft_metric_child_n(parent, end_text(&own_key, key, key_size), value);
}
