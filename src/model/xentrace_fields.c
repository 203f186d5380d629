/* SPDX-License-Identifier: ISC
 *
 * Reads the texts of xentrace_fields.def. No word of a record can make a text longer than its
 * number, so that a line has a bound.
 */
#include "model/xentrace_fields.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/search.h"

#define VALUE_BYTES 32

static const struct fields {
	uint32_t id;
	const char *text;
} table[] = {
#define FIELDS(id, text) {id, text},
#include "model/xentrace_fields.def"
#undef FIELDS
};

#define ROWS (sizeof(table) / sizeof(*table))

static bool has_lower_id(const void *rows, uint32_t row, uint64_t id)
{
	return ((const struct fields *)rows)[row].id < id;
}

static const char *text_of(uint32_t id)
{
	if ((id & ~0xff0u) == 0x21001)
		id = 0x21001;
	else if (id >> 16 == 0x008)
		id &= ~0x400u;
	uint32_t row = weft__search(table, 0, ROWS, has_lower_id, id);
	return row < ROWS && table[row].id == id ? table[row].text : NULL;
}

static unsigned digit(char letter)
{
	return (unsigned)(letter - '0');
}

/* How many words a field needs. */
static unsigned words_of(const char *where)
{
	if (*where == 'r')
		return 0;
	return digit(where[1]) + (*where == 'w' || *where == 'p' ? 2 : 1);
}

static bool fits(const struct weft_xentrace_record *record, const char *text)
{
	for (const char *colon = text; (colon = strchr(colon, ':')); colon++)
		if (words_of(colon + 1) > record->arg_count)
			return false;
	return true;
}

static void put_vcpu(char value[VALUE_BYTES], uint32_t domain, uint32_t vcpu)
{
	snprintf(value, VALUE_BYTES, "d%" PRIu32 "v%" PRIu32, domain, vcpu);
}

static void put_runstate(char value[VALUE_BYTES], uint32_t state)
{
	static const char *const names[] = {"running", "runnable", "blocked", "offline"};
	if (state < sizeof(names) / sizeof(*names))
		snprintf(value, VALUE_BYTES, "%s", names[state]);
	else
		snprintf(value, VALUE_BYTES, "state %" PRIu32, state);
}

/* Writes the value of a field; true if it is a decimal number. */
static bool format(
	const struct weft_xentrace_record *record, const char *where, char value[VALUE_BYTES])
{
	const unsigned at = digit(where[1]);
	const uint32_t *words = record->args, word = *where == 'r' ? 0 : words[at];
	switch (*where) {
	case 'i':
		snprintf(value, VALUE_BYTES, "%" PRId32, (int32_t)word);
		return true;
	case 'l':
		snprintf(value, VALUE_BYTES, "%" PRIu32, word & 0xffff);
		return true;
	case 'h':
		snprintf(value, VALUE_BYTES, "%" PRIu32, word >> 16);
		return true;
	case 'b':
		snprintf(value, VALUE_BYTES, "%" PRIu32, word >> 8 * digit(where[2]) & 0xff);
		return true;
	case 'x':
		snprintf(value, VALUE_BYTES, "0x%" PRIx32, word);
		return false;
	case 'w':
		snprintf(value, VALUE_BYTES, "0x%" PRIx64, word | (uint64_t)words[at + 1] << 32);
		return false;
	case 'd':
		snprintf(value, VALUE_BYTES, "d%" PRIu32, word);
		return false;
	case 'p':
		put_vcpu(value, word, words[at + 1]);
		return false;
	case 'v':
		put_vcpu(value, word >> 16, word & 0xffff);
		return false;
	case 'V':
		put_vcpu(value, word & 0xffff, word >> 16);
		return false;
	case 'r':
		put_runstate(value, record->id >> at & 15);
		return false;
	default:
		snprintf(value, VALUE_BYTES, "%" PRIu32, word);
		return true;
	}
}

static char *put(char *at, const char *bytes, size_t size)
{
	memcpy(at, bytes, size);
	return at + size;
}

char *weft__model_xentrace_text(const struct weft_xentrace_record *record, char *at)
{
	const char *text = text_of(record->id), *field;
	char value[VALUE_BYTES];
	if (!text || !fits(record, text))
		return at;
	for (; (field = strchr(text, '{')); text = strchr(field, '}') + 1) {
		at = put(at, text, (size_t)(field - text));
		format(record, strchr(field, ':') + 1, value);
		at = put(at, value, strlen(value));
	}
	return put(at, text, strlen(text));
}

char *weft__model_xentrace_members(const struct weft_xentrace_record *record, char *at)
{
	const char *text = text_of(record->id), *field;
	char value[VALUE_BYTES];
	if (!text || !fits(record, text))
		return at;
	for (bool is_first = true; (field = strchr(text, '{')); is_first = false) {
		const char *colon = strchr(field, ':');
		const bool is_number = format(record, colon + 1, value);
		at = put(at, ",\"", is_first ? 0 : 1);
		*at++ = '"';
		at = put(at, field + 1, (size_t)(colon - field - 1));
		at = put(at, "\":\"", is_number ? 2 : 3);
		at = put(at, value, strlen(value));
		at = put(at, "\"", is_number ? 0 : 1);
		text = colon;
	}
	return at;
}
