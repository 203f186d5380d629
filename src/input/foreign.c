/* SPDX-License-Identifier: ISC
 *
 * Recognizes files of other programs by their first bytes, so that the user is told what they are
 * and what opens them.
 */
#include <weft/input.h>

#include <ctype.h>
#include <string.h>

#include "base/export.h"

#define EXAMINED 4096

struct foreign {
	size_t offset;
	const char *magic;
	size_t size;
	const char *text;
};

static const struct foreign formats[] = {
#define FOREIGN(offset, magic, text) {offset, magic, sizeof(magic) - 1, text},
#include "input/foreign.def"
#undef FOREIGN
};

struct head {
	const unsigned char *bytes;
	size_t size;
};

static bool begins(struct head head, size_t offset, const char *magic, size_t size)
{
	return head.size >= size && offset <= head.size - size &&
		   memcmp(head.bytes + offset, magic, size) == 0;
}

/* The type of an ELF file: the header's member e_type, in the byte order that its byte 5 names. */
static const char *recognize_elf(struct head head)
{
	if (!begins(head, 0, "\177ELF", 4) || head.size < 18)
		return NULL;
	bool is_big = head.bytes[5] == 2;
	switch (head.bytes[is_big ? 17 : 16]) {
	case 4:
		return "a core dump: core:FILE is the trace that its program recorded, gdb opens the rest";
	case 2:
	case 3:
		return "a program or a library: `weft record` runs programs";
	default:
		return "an object file";
	}
}

static const char *recognize_json(struct head head)
{
	size_t i = 0;
	while (i < head.size && isspace(head.bytes[i]))
		i++;
	if (i == head.size || (head.bytes[i] != '{' && head.bytes[i] != '['))
		return NULL;
	return "JSON";
}

/* A number of protobuf: 7 bits a byte, the low ones first. 0 bytes: it is none. */
static size_t read_varint(struct head head, size_t at, uint64_t *ret_value)
{
	*ret_value = 0;
	for (size_t i = 0; i < 10 && at + i < head.size; i++) {
		*ret_value |= (uint64_t)(head.bytes[at + i] & 0x7f) << 7 * i;
		if (!(head.bytes[at + i] & 0x80))
			return i + 1;
	}
	return 0;
}

/* A trace of Perfetto is a sequence of TracePackets, each as field 1 of protobuf message Trace: a
 * byte 0x0a, then its size. Two in a row are no accident. */
static const char *recognize_perfetto(struct head head)
{
	size_t at = 0;
	for (int packet = 0; packet < 2; packet++) {
		uint64_t size;
		if (at >= head.size || head.bytes[at] != 0x0a)
			return NULL;
		size_t bytes = read_varint(head, at + 1, &size);
		if (!bytes || size < 2 || size > head.size)
			return NULL;
		at += 1 + bytes + (size_t)size;
	}
	return at <= head.size ? "a trace of Perfetto: ui.perfetto.dev opens it" : NULL;
}

static const char *recognize_text(struct head head)
{
	for (size_t i = 0; i < head.size; i++)
		if (head.bytes[i] < ' ' && !isspace(head.bytes[i]))
			return NULL;
	return head.size ? "a text" : NULL;
}

WEFT__EXPORT const char *weft_input_recognize(const void *bytes, size_t size)
{
	const struct head head = {bytes, size < EXAMINED ? size : EXAMINED};
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (begins(head, formats[i].offset, formats[i].magic, formats[i].size))
			return formats[i].text;
	const char *text = recognize_elf(head);
	if (!text)
		text = recognize_json(head);
	if (!text)
		text = recognize_perfetto(head);
	return text ? text : recognize_text(head);
}
