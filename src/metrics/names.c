/* SPDX-License-Identifier: ISC
 *
 * Names and labels as the formats allow them. The escape can be undone: a reader that finds _hh_,
 * from the left, puts the byte in its stead. So an underscore that looks like the begin of an
 * escape is escaped itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "metrics/names.h"

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool is_letter(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_hex(char byte)
{
	return is_digit(byte) || (byte >= 'a' && byte <= 'f');
}

/* True if this underscore and what follows would be read as an escape. All bytes that are not
 * letters or digits begin with an underscore when they are written. */
static bool looks_like_escape(const char *at)
{
	return is_hex(at[1]) && is_hex(at[2]) && at[3] && !is_digit(at[3]) && !is_letter(at[3]);
}

static void add_hex(struct weft_text *text, char byte)
{
	char escape[8];
	snprintf(escape, sizeof(escape), "_%02x_", (unsigned)(unsigned char)byte);
	weft_text_add_string(text, escape);
}

static void add_rest(struct weft_text *text, const char *name)
{
	for (; *name; name++)
		if (is_letter(*name) || is_digit(*name) || (*name == '_' && !looks_like_escape(name)))
			weft_text_add(text, name, 1);
		else
			add_hex(text, *name);
}

void weft__metrics_add_name(struct weft_text *text, const char *name)
{
	if (is_digit(*name)) /* may not be the first byte */
		add_hex(text, *name++);
	add_rest(text, name);
}

/* Keys that have a meaning of their own get the prefix that Prometheus gives in such cases; so do
 * keys that have that prefix already. */
static bool is_reserved(const char *key)
{
	static const char *const reserved[] = {"program", "pid", "uid", "le", "quantile"};
	static const char prefix[] = "exported_";
	while (strncmp(key, prefix, sizeof(prefix) - 1) == 0)
		key += sizeof(prefix) - 1;
	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		if (strcmp(key, reserved[i]) == 0)
			return true;
	return false;
}

void weft__metrics_add_key(struct weft_text *text, const char *key)
{
	if (is_reserved(key))
		weft_text_add_string(text, "exported_");
	/* Prometheus keeps keys that begin with two underscores for itself. */
	if (key[0] == '_' && key[1] && !is_digit(key[1]) && !is_letter(key[1])) {
		add_hex(text, '_');
		add_rest(text, key + 1);
	} else {
		weft__metrics_add_name(text, key);
	}
}

void weft__metrics_add_escaped(struct weft_text *text, const char *value, bool escapes_quotes)
{
	uint32_t character;
	bool is_valid;
	for (size_t rest = strlen(value), size; rest; value += size, rest -= size) {
		size = weft__utf8_decode(value, rest, &character, &is_valid);
		if (!is_valid)
			weft_text_add_string(text, "\xef\xbf\xbd");
		else if (character == '\n')
			weft_text_add_string(text, "\\n");
		else if (character == '\\' || (character == '"' && escapes_quotes))
			weft_text_add(text, character == '"' ? "\\\"" : "\\\\", 2);
		else
			weft_text_add(text, value, size);
	}
}

/* ---- Labels ---- */

static void add_label(struct weft_text *text, const char *value)
{
	weft_text_add_string(text, "=\"");
	weft__metrics_add_escaped(text, value, true);
	weft_text_add_string(text, "\"");
}

/* The label whose key is the next one after `key`, or the first one. Those without a value are as
 * good as absent. */
static const struct weft__runs_label *next_label(
	const struct weft__runs_counter *counter, const struct weft__runs_label *last)
{
	const struct weft__runs_label *next = NULL;
	for (size_t i = 0; i < counter->label_count; i++) {
		const struct weft__runs_label *it = &counter->labels[i];
		bool is_later = !last || strcmp(it->key, last->key) > 0;
		if (it->value[0] && is_later && (!next || strcmp(it->key, next->key) < 0))
			next = it;
	}
	return next;
}

/* The reason why there is no such list of labels, or NULL. */
static const char *find_fault(const struct weft__runs_counter *counter)
{
	for (size_t i = 0; i < counter->label_count; i++) {
		if (!counter->labels[i].key[0])
			return "a label has no key";
		for (size_t k = 0; k < i; k++)
			if (strcmp(counter->labels[i].key, counter->labels[k].key) == 0)
				return "two labels have the same key";
	}
	return NULL;
}

const char *weft__metrics_add_labels(
	struct weft_text *text, const struct weft__metrics_sample *sample)
{
	const char *fault = find_fault(sample->counter);
	if (fault)
		return fault;
	weft_text_add_string(text, "program");
	add_label(text, sample->program);
	if (sample->user) {
		weft_text_add_string(text, ",uid");
		add_label(text, sample->user);
	}
	if (sample->pid || sample->is_domain) {
		weft_text_add_string(text, sample->is_domain ? ",domain=\"" : ",pid=\"");
		weft_text_add_u64(text, (uint64_t)sample->pid);
		weft_text_add_string(text, "\"");
	}
	const struct weft__runs_label *label = NULL;
	while ((label = next_label(sample->counter, label))) {
		weft_text_add_string(text, ",");
		weft__metrics_add_key(text, label->key);
		add_label(text, label->value);
	}
	return NULL;
}
