/* SPDX-License-Identifier: ISC
 *
 * Names of tasks, put together on the stack.
 */
#include <string.h>

#define WEFT_CATEGORY always
#include "hooks/hooks.h"

void weft__hooks_append_bytes(struct weft__hooks_text *text, const char *more, size_t size)
{
	size_t room = sizeof(text->bytes) - text->size;
	if (size > room)
		size = room;
	memcpy(text->bytes + text->size, more, size);
	text->size += size;
}

void weft__hooks_append(struct weft__hooks_text *text, const char *more)
{
	weft__hooks_append_bytes(text, more, strlen(more));
}

void weft__hooks_append_number(struct weft__hooks_text *text, int64_t number)
{
	char digits[21];
	size_t at = sizeof(digits);
	uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
	do
		digits[--at] = (char)('0' + left % 10);
	while (left /= 10);
	if (number < 0)
		digits[--at] = '-';
	weft__hooks_append_bytes(text, digits + at, sizeof(digits) - at);
}

/* The digits of `ns` in a unit, with as many after the point as make three in all. */
static void append_in_unit(struct weft__hooks_text *text, uint64_t ns, uint64_t unit)
{
	uint64_t whole = ns / unit, decimals = whole >= 100 ? 0 : whole >= 10 ? 1 : 2;
	uint64_t scale = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
	uint64_t part = unit < scale ? 0 : ns % unit / (unit / scale);
	weft__hooks_append_number(text, (int64_t)whole);
	while (part && part % 10 == 0) {
		part /= 10;
		decimals--;
	}
	if (!part)
		return;
	weft__hooks_append(text, ".");
	if (decimals == 2 && part < 10)
		weft__hooks_append(text, "0");
	weft__hooks_append_number(text, (int64_t)part);
}

void weft__hooks_append_duration(struct weft__hooks_text *text, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{1000000000, " s"}, {1000000, " ms"}, {1000, " us"}, {1, " ns"}};
	size_t i = 0;
	while (i < 3 && ns < units[i].ns)
		i++;
	append_in_unit(text, ns, units[i].ns);
	weft__hooks_append(text, units[i].name);
}

void weft__hooks_append_signal(struct weft__hooks_text *text, int number)
{
	const char *name = NULL;
#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 32)
	name = sigabbrev_np(number);
#endif
#endif
	weft__hooks_append(text, name ? "SIG" : "signal ");
	if (name)
		weft__hooks_append(text, name);
	else
		weft__hooks_append_number(text, number);
}

void weft__hooks_create_unnamed_in(const struct weft_category *category,
	struct weft__hooks_alive *ret, uint64_t parent, uint16_t kind,
	const struct weft__hooks_text *label)
{
	size_t size = label->size < sizeof(ret->label) ? label->size : sizeof(ret->label) - 1;
	ret->task = weft__create_in(category, parent, kind);
	ret->category = category;
	ret->kind = kind;
	ret->created_ns = weft__hooks_now_ns();
	memcpy(ret->label, label->bytes, size);
	ret->label[size] = '\0';
}

void weft__hooks_create_in(const struct weft_category *category, struct weft__hooks_alive *ret,
	uint64_t parent, uint16_t kind, const struct weft__hooks_text *label)
{
	weft__hooks_create_unnamed_in(category, ret, parent, kind, label);
	weft__hooks_label(ret->task, label);
}

void weft__hooks_label(uint64_t task, const struct weft__hooks_text *text)
{
	weft_label_n_as(task, text->bytes, text->size);
}

void weft__hooks_append_hexadecimal(struct weft__hooks_text *text, uint64_t number)
{
	char digits[2] = "";
	int shift = 60;
	while (shift > 0 && !(number >> shift))
		shift -= 4;
	weft__hooks_append(text, "0x");
	for (; shift >= 0; shift -= 4) {
		digits[0] = "0123456789abcdef"[number >> shift & 15];
		weft__hooks_append(text, digits);
	}
}
