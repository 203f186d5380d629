/* SPDX-License-Identifier: ISC
 *
 * The functions of weft_ffi.h for OCaml. All are [@@noalloc]: they neither allocate in OCaml's heap
 * nor call back, so a call costs what it does in C. Numbers are untagged in native code; bytecode
 * calls the functions that end in _byte.
 */
#include <stdlib.h>
#include <string.h>

#define CAML_NAME_SPACE
#include <caml/bigarray.h>
#include <caml/mlvalues.h>

#include <weft/context.h>
#include <weft/weft_ffi.h>

/* A text that is used often is stored once in a trace. Its memory is never freed: OCaml's own
 * strings move, and libweft keeps the address of a cache. */
struct kept_text {
	uint64_t cache;
	size_t size;
	char bytes[];
};

static struct weft_category *category_of(intnat category)
{
	return (struct weft_category *)category;
}

intnat weft_ocaml_category(value name, value description)
{
	return (intnat)weft_ffi_category(String_val(name), caml_string_length(name),
		String_val(description), caml_string_length(description));
}

value weft_ocaml_category_byte(value name, value description)
{
	return Val_long(weft_ocaml_category(name, description));
}

/* 0: there is no memory. */
intnat weft_ocaml_keep(value text)
{
	size_t size = caml_string_length(text);
	struct kept_text *kept = calloc(1, sizeof(*kept) + size);
	if (kept) {
		kept->size = size;
		memcpy(kept->bytes, String_val(text), size);
	}
	return (intnat)kept;
}

value weft_ocaml_keep_byte(value text)
{
	return Val_long(weft_ocaml_keep(text));
}

value weft_ocaml_is_recording(value unit)
{
	(void)unit;
	return Val_bool(weft_ffi_is_recording());
}

/* A Bigarray never moves, but need not be aligned; libweft takes whole cache lines. */
intnat weft_ocaml_start(value buffer)
{
	uintptr_t address = (uintptr_t)Caml_ba_data_val(buffer);
	uintptr_t from = (address + 63) & ~(uintptr_t)63;
	uintptr_t end = (address + (uintptr_t)Caml_ba_array_val(buffer)->dim[0]) & ~(uintptr_t)63;
	return end > from ? weft_ffi_start((void *)from, end - from) : -1;
}

value weft_ocaml_start_byte(value buffer)
{
	return Val_long(weft_ocaml_start(buffer));
}

value weft_ocaml_stop(value unit)
{
	weft_ffi_stop();
	return unit;
}

/* ---- Tasks ---- */

intnat weft_ocaml_current(value unit)
{
	(void)unit;
	return (intnat)weft_ffi_current();
}

value weft_ocaml_current_byte(value unit)
{
	return Val_long(weft_ocaml_current(unit));
}

intnat weft_ocaml_create(intnat category, intnat level, intnat task, intnat kind)
{
	return (intnat)weft_ffi_create(
		category_of(category), (unsigned)level, (uint64_t)task, (uint16_t)kind);
}

value weft_ocaml_create_byte(value category, value level, value task, value kind)
{
	return Val_long(
		weft_ocaml_create(Long_val(category), Long_val(level), Long_val(task), Long_val(kind)));
}

value weft_ocaml_switch(intnat task)
{
	weft_ffi_switch((uint64_t)task);
	return Val_unit;
}

value weft_ocaml_switch_byte(value task)
{
	return weft_ocaml_switch(Long_val(task));
}

value weft_ocaml_enter(intnat task)
{
	weft_ffi_enter((uint64_t)task);
	return Val_unit;
}

value weft_ocaml_enter_byte(value task)
{
	return weft_ocaml_enter(Long_val(task));
}

value weft_ocaml_leave(value unit)
{
	weft_ffi_leave();
	return unit;
}

/* ---- Trace contexts ---- */

/* `text` has room for WEFT_CONTEXT_TEXT bytes. The length of what is written. */
intnat weft_ocaml_context_start(
	intnat category, intnat level, intnat task, value parent, value text)
{
	struct weft_context from, own;
	weft_context_parse(String_val(parent), caml_string_length(parent), &from);
	weft_ffi_context_start(category_of(category), (unsigned)level, (uint64_t)task, &from, &own);
	return (intnat)weft_context_print(&own, (char *)Bytes_val(text));
}

value weft_ocaml_context_start_byte(
	value category, value level, value task, value parent, value text)
{
	return Val_long(weft_ocaml_context_start(
		Long_val(category), Long_val(level), Long_val(task), parent, text));
}

/* ---- The calls of calls.def ---- */

#define EDGE(name)                                                                                \
	value weft_ocaml_##name(intnat category, intnat level, intnat task, intnat other)             \
	{                                                                                             \
		weft_ffi_##name(category_of(category), (unsigned)level, (uint64_t)task, (uint64_t)other); \
		return Val_unit;                                                                          \
	}                                                                                             \
	value weft_ocaml_##name##_byte(value category, value level, value task, value other)          \
	{                                                                                             \
		return weft_ocaml_##name(                                                                 \
			Long_val(category), Long_val(level), Long_val(task), Long_val(other));                \
	}
#define WEFT__EDGE(name, other, event, small, runs, text) EDGE(name)
#define WEFT__MESSAGE(name, event, text)                  EDGE(name)
#define WEFT__STATEMENT(name, event, text)                                             \
	value weft_ocaml_##name(intnat category, intnat level, intnat task)                \
	{                                                                                  \
		weft_ffi_##name(category_of(category), (unsigned)level, (uint64_t)task);       \
		return Val_unit;                                                               \
	}                                                                                  \
	value weft_ocaml_##name##_byte(value category, value level, value task)            \
	{                                                                                  \
		return weft_ocaml_##name(Long_val(category), Long_val(level), Long_val(task)); \
	}
#define WEFT__TEXT(name, event, meaning)                                                          \
	value weft_ocaml_##name(intnat category, intnat level, intnat task, value text)               \
	{                                                                                             \
		weft_ffi_##name(category_of(category), (unsigned)level, (uint64_t)task, String_val(text), \
			caml_string_length(text), NULL);                                                      \
		return Val_unit;                                                                          \
	}                                                                                             \
	value weft_ocaml_##name##_byte(value category, value level, value task, value text)           \
	{                                                                                             \
		return weft_ocaml_##name(Long_val(category), Long_val(level), Long_val(task), text);      \
	}

#include <weft/calls.def>

value weft_ocaml_fail(intnat category, intnat level, intnat task, intnat target, value message)
{
	weft_ffi_fail(category_of(category), (unsigned)level, (uint64_t)task, (uint64_t)target,
		String_val(message), caml_string_length(message));
	return Val_unit;
}

value weft_ocaml_fail_byte(value category, value level, value task, value target, value message)
{
	return weft_ocaml_fail(
		Long_val(category), Long_val(level), Long_val(task), Long_val(target), message);
}

#define SOURCES_MAX 32

/* A longer array is cut. */
value weft_ocaml_wait_any(intnat category, intnat level, intnat task, value sources)
{
	uint64_t list[SOURCES_MAX];
	unsigned count =
		Wosize_val(sources) < SOURCES_MAX ? (unsigned)Wosize_val(sources) : SOURCES_MAX;
	for (unsigned i = 0; i < count; i++)
		list[i] = (uint64_t)Long_val(Field(sources, i));
	weft_ffi_wait_any(category_of(category), (unsigned)level, (uint64_t)task, list, count);
	return Val_unit;
}

value weft_ocaml_wait_any_byte(value category, value level, value task, value sources)
{
	return weft_ocaml_wait_any(Long_val(category), Long_val(level), Long_val(task), sources);
}

/* ---- Kept texts ---- */

#define WITH_KEPT(name)                                                                          \
	value weft_ocaml_##name##_kept(intnat category, intnat level, intnat task, intnat text)      \
	{                                                                                            \
		struct kept_text *kept = (struct kept_text *)text;                                       \
		if (kept)                                                                                \
			weft_ffi_##name(category_of(category), (unsigned)level, (uint64_t)task, kept->bytes, \
				kept->size, &kept->cache);                                                       \
		return Val_unit;                                                                         \
	}                                                                                            \
	value weft_ocaml_##name##_kept_byte(value category, value level, value task, value text)     \
	{                                                                                            \
		return weft_ocaml_##name##_kept(                                                         \
			Long_val(category), Long_val(level), Long_val(task), Long_val(text));                \
	}
WITH_KEPT(label)
WITH_KEPT(note)
WITH_KEPT(tag)

#define WITH_NUMBER(name)                                                                        \
	value weft_ocaml_##name(                                                                     \
		intnat category, intnat level, intnat task, intnat text, intnat number)                  \
	{                                                                                            \
		struct kept_text *kept = (struct kept_text *)text;                                       \
		if (kept)                                                                                \
			weft_ffi_##name(category_of(category), (unsigned)level, (uint64_t)task, kept->bytes, \
				kept->size, &kept->cache, number);                                               \
		return Val_unit;                                                                         \
	}                                                                                            \
	value weft_ocaml_##name##_byte(                                                              \
		value category, value level, value task, value text, value number)                       \
	{                                                                                            \
		return weft_ocaml_##name(Long_val(category), Long_val(level), Long_val(task),            \
			Long_val(text), Long_val(number));                                                   \
	}
WITH_NUMBER(counter_add)
WITH_NUMBER(counter_set)
WITH_NUMBER(tag_value)

value weft_ocaml_band(intnat kind, intnat reason, value begin)
{
	struct kept_text *kept = (struct kept_text *)reason;
	if (kept && Bool_val(begin))
		weft_ffi_band_begin((unsigned)kind, kept->bytes, kept->size, &kept->cache);
	else if (kept)
		weft_ffi_band_end((unsigned)kind, kept->bytes, kept->size, &kept->cache);
	return Val_unit;
}

value weft_ocaml_band_byte(value kind, value reason, value begin)
{
	return weft_ocaml_band(Long_val(kind), Long_val(reason), begin);
}
