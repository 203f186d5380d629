/* SPDX-License-Identifier: ISC
 *
 * The seventh version has sections, each of which may be compressed. Their contents are those of
 * the sixth one, which has them one after the other: src/format/ftrace/trace_dat.c draws it.
 */
#include "source/trace_dat.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "base/little_endian.h"
#include "source/nameless.h"

/* clang-format off */
/*
 *     file        0x17 0x08 "Dtracing", "7", u8 is big-endian, u8 bytes of a long, u32 bytes of a page,
 *                 the compression and its version as texts, u64 offset of the first options
 *     section     u16 id, u16 1: is compressed, u32 of a text, u64 size, content
 *     content     compressed: u32 size, u32 size when unpacked, bytes
 *     options     u16 id, u32 size, data; id 0 ends them, with the u64 offset of the next ones
 *     pages       compressed: u32 parts, each like a compressed content
 */
/* clang-format on */

#define MAGIC       "\x17\x08\x44tracing7"
#define BLOCK_MAX   (UINT64_C(256) << 20) /* a compressed part has no more */
#define OPTIONS_MAX 65536u
#define CPUS_MAX    4096u
#define NAME_MAX    64u

enum option {
	OPTION_DONE = 0,
	OPTION_BUFFER = 3,
	OPTION_HEADER = 16,
	OPTION_EVENTS = 17,
	OPTION_FORMATS = 18,
};

struct traced_cpu {
	uint64_t offset, size; /* in the file */
};

struct unpacker {
	const uint8_t *bytes;
	size_t size;
	uint64_t rest; /* bytes that may still be written */
	int fd;
	bool is_zstd, is_zlib;            /* neither: it is not compressed */
	uint64_t header, events, formats; /* offsets of sections; 0: none */
	char clock[NAME_MAX];
	struct traced_cpu *cpus;
	uint32_t cpu_count;
};

/* ---- Bytes ---- */

/* A part of the file from `at` on; false if it has fewer bytes. */
static bool has(const struct unpacker *u, uint64_t at, uint64_t size)
{
	return at <= u->size && size <= u->size - at;
}

static int put(struct unpacker *u, const void *bytes, size_t size)
{
	if (size > u->rest)
		return WEFT_ERROR_SIZE;
	u->rest -= size;
	return weft__source_nameless_write(u->fd, bytes, size);
}

static int put_number(struct unpacker *u, uint64_t number, size_t bytes)
{
	uint8_t text[8];
	for (size_t i = 0; i < bytes; i++)
		text[i] = (uint8_t)(number >> 8 * i);
	return put(u, text, bytes);
}

/* The text at an offset, with its NUL in the file; NULL: there is none. */
static const char *text_at(const struct unpacker *u, uint64_t at)
{
	const char *text = has(u, at, 1) ? (const char *)u->bytes + at : NULL;
	return text && memchr(text, '\0', u->size - (size_t)at) ? text : NULL;
}

/* ---- Compression ---- */

#if WEFT_HAS_ZSTD
#include <zstd.h>

static bool unpack_zstd(void *out, size_t out_size, const void *in, size_t size)
{
	return ZSTD_decompress(out, out_size, in, size) == out_size;
}
#else
static bool unpack_zstd(void *out, size_t out_size, const void *in, size_t size)
{
	(void)out, (void)out_size, (void)in, (void)size;
	return false;
}
#endif

#if WEFT_HAS_ZLIB
#include <zlib.h>

static bool unpack_zlib(void *out, size_t out_size, const void *in, size_t size)
{
	uLongf got = out_size;
	return uncompress(out, &got, in, size) == Z_OK && got == out_size;
}
#else
static bool unpack_zlib(void *out, size_t out_size, const void *in, size_t size)
{
	(void)out, (void)out_size, (void)in, (void)size;
	return false;
}
#endif

/* Unpacks the part at an offset, and moves that behind it. */
static int put_packed(struct unpacker *u, uint64_t *at)
{
	if (!has(u, *at, 8))
		return WEFT_ERROR_DAMAGED;
	const uint32_t size = weft__load_u32(u->bytes + *at), out = weft__load_u32(u->bytes + *at + 4);
	if (!has(u, *at + 8, size) || out > BLOCK_MAX)
		return WEFT_ERROR_DAMAGED;
	if (out > u->rest)
		return WEFT_ERROR_SIZE;
	void *block = malloc(out ? out : 1);
	if (!block)
		return WEFT_ERROR_MEMORY;
	const uint8_t *in = u->bytes + *at + 8;
	const bool good =
		u->is_zstd ? unpack_zstd(block, out, in, size) : unpack_zlib(block, out, in, size);
	int error = good ? put(u, block, out) : WEFT_ERROR_DAMAGED;
	free(block);
	*at += 8 + (uint64_t)size;
	return error;
}

static int put_section(struct unpacker *u, uint64_t at)
{
	if (!at || !has(u, at, 16))
		return WEFT_ERROR_DAMAGED;
	const bool is_packed = weft__load_u16(u->bytes + at + 2) & 1;
	const uint64_t size = weft__load_u64(u->bytes + at + 8);
	at += 16;
	if (is_packed)
		return put_packed(u, &at);
	return has(u, at, size) ? put(u, u->bytes + at, (size_t)size) : WEFT_ERROR_DAMAGED;
}

/* ---- Options ---- */

static int add_cpu(struct unpacker *u, uint32_t number, struct traced_cpu cpu)
{
	if (number >= CPUS_MAX)
		return WEFT_ERROR_DAMAGED;
	if (!u->cpus)
		u->cpus = calloc(CPUS_MAX, sizeof(*u->cpus));
	if (!u->cpus)
		return WEFT_ERROR_MEMORY;
	u->cpus[number] = cpu;
	u->cpu_count = number < u->cpu_count ? u->cpu_count : number + 1;
	return 0;
}

/* The first one is that of all events; those after it are instances. */
static int read_buffer(struct unpacker *u, uint64_t at, uint64_t end)
{
	const char *name = text_at(u, at + 8);
	const char *clock = name ? text_at(u, at + 8 + strlen(name) + 1) : NULL;
	if (u->cpu_count)
		return 0;
	if (!clock)
		return WEFT_ERROR_DAMAGED;
	if (strlen(clock) < sizeof(u->clock))
		memcpy(u->clock, clock, strlen(clock) + 1);
	at = (uint64_t)(clock - (const char *)u->bytes) + strlen(clock) + 1;
	if (!has(u, at, 8))
		return WEFT_ERROR_DAMAGED;
	uint32_t count = weft__load_u32(u->bytes + at + 4); /* behind the bytes of a page */
	int error = 0;
	for (at += 8; count > 0 && at + 20 <= end && has(u, at, 20) && !error; count--, at += 20)
		error = add_cpu(u, weft__load_u32(u->bytes + at),
			(struct traced_cpu){
				weft__load_u64(u->bytes + at + 4), weft__load_u64(u->bytes + at + 12)});
	return error;
}

static int read_option(struct unpacker *u, uint32_t id, uint64_t at, uint64_t size)
{
	const uint64_t number = size >= 8 ? weft__load_u64(u->bytes + at) : 0;
	switch (id) {
	case OPTION_BUFFER:
		return size >= 8 ? read_buffer(u, at, at + size) : 0;
	case OPTION_HEADER:
		u->header = number;
		return 0;
	case OPTION_EVENTS:
		u->events = number;
		return 0;
	case OPTION_FORMATS:
		u->formats = number;
		return 0;
	default:
		return 0;
	}
}

static int read_options(struct unpacker *u, uint64_t at)
{
	int error = 0;
	at += at ? 16 : 0; /* the section's header */
	for (uint32_t i = 0; at && i < OPTIONS_MAX && !error; i++) {
		if (!has(u, at, 6))
			return WEFT_ERROR_DAMAGED;
		const uint32_t id = weft__load_u16(u->bytes + at), size = weft__load_u32(u->bytes + at + 2);
		at += 6;
		if (!has(u, at, size))
			return WEFT_ERROR_DAMAGED;
		error = read_option(u, id, at, size);
		if (id != OPTION_DONE) {
			at += size;
			continue;
		}
		at = size >= 8 ? weft__load_u64(u->bytes + at) : 0;
		at += at ? 16 : 0;
	}
	return error;
}

/* ---- Pages ---- */

static bool is_packed(const struct unpacker *u)
{
	return u->is_zstd || u->is_zlib;
}

/* The bytes of a processor's pages when they are unpacked, as far as the file has them. */
static uint64_t unpacked_size(const struct unpacker *u, const struct traced_cpu *cpu)
{
	uint64_t at = cpu->offset, all = 0;
	if (!cpu->size || !has(u, at, 4))
		return 0;
	if (!is_packed(u))
		return has(u, at, cpu->size) ? cpu->size : u->size - at;
	uint32_t parts = weft__load_u32(u->bytes + at);
	for (at += 4; parts > 0 && has(u, at, 8); parts--) {
		const uint32_t size = weft__load_u32(u->bytes + at);
		if (!has(u, at + 8, size) || !weft__load_u32(u->bytes + at + 4))
			break;
		all += weft__load_u32(u->bytes + at + 4);
		at += 8 + (uint64_t)size;
	}
	return all;
}

static int put_pages(struct unpacker *u, const struct traced_cpu *cpu, uint64_t size)
{
	uint64_t at = cpu->offset + 4;
	int error = 0;
	if (!is_packed(u))
		return size ? put(u, u->bytes + cpu->offset, (size_t)size) : 0;
	for (const uint64_t end = u->rest - size; !error && u->rest > end;)
		error = put_packed(u, &at);
	return error;
}

static int put_cpus(struct unpacker *u, uint64_t written)
{
	uint64_t offset = written + (uint64_t)u->cpu_count * 16, all = 0;
	int error = 0;
	for (uint32_t i = 0; i < u->cpu_count && !error; i++) {
		const uint64_t size = unpacked_size(u, &u->cpus[i]);
		error = put_number(u, offset, 8);
		if (!error)
			error = put_number(u, size, 8);
		offset += size;
		all += size;
		if (all > u->rest)
			return WEFT_ERROR_SIZE;
	}
	for (uint32_t i = 0; i < u->cpu_count && !error; i++)
		error = put_pages(u, &u->cpus[i], unpacked_size(u, &u->cpus[i]));
	return error;
}

/* ---- The file ---- */

bool weft__source_is_trace_dat(const void *bytes, size_t size)
{
	return size >= sizeof(MAGIC) && memcmp(bytes, MAGIC, sizeof(MAGIC)) == 0;
}

static int put_text(struct unpacker *u, const char *text)
{
	return put(u, text, strlen(text) + 1);
}

/* The sixth version's part between the kernel's texts and the pages: neither symbols, nor formats
 * of printk, nor names; and of the options the clock. */
static int put_middle(struct unpacker *u)
{
	const size_t size = strlen(u->clock);
	int error = put_number(u, 0, 4);
	if (!error)
		error = put_number(u, 0, 4);
	if (!error)
		error = put_number(u, 0, 8);
	if (!error)
		error = put_number(u, u->cpu_count, 4);
	if (!error)
		error = put_text(u, "options  ");
	if (!error)
		error = put_number(u, 4, 2);
	if (!error)
		error = put_number(u, size + 2, 4);
	if (!error)
		error = put(u, "[", 1);
	if (!error)
		error = put(u, u->clock, size);
	if (!error)
		error = put(u, "]", 1);
	if (!error)
		error = put_number(u, 0, 2);
	return error ? error : put_text(u, "flyrecord");
}

static int put_file(struct unpacker *u)
{
	const uint64_t before = u->rest;
	int error = put(u, u->bytes, sizeof(MAGIC) - 2);
	if (!error)
		error = put_text(u, "6");
	if (!error)
		error = put(u, u->bytes + sizeof(MAGIC), 6);
	if (!error)
		error = put_section(u, u->header);
	if (!error)
		error = put_section(u, u->events);
	if (!error)
		error = put_section(u, u->formats);
	if (!error)
		error = put_middle(u);
	return error ? error : put_cpus(u, before - u->rest);
}

int weft__source_expand_trace_dat(const void *bytes, size_t size, uint64_t max_bytes, int fd)
{
	struct unpacker u = {.bytes = bytes, .size = size, .rest = max_bytes, .fd = fd};
	const uint64_t at = sizeof(MAGIC) + 6;
	const char *name = text_at(&u, at);
	const char *version = name ? text_at(&u, at + strlen(name) + 1) : NULL;
	if (!version)
		return WEFT_ERROR_DAMAGED;
	u.is_zstd = strcmp(name, "zstd") == 0;
	u.is_zlib = strcmp(name, "zlib") == 0;
	if ((!is_packed(&u) && strcmp(name, "none") != 0) || (u.is_zstd && !WEFT_HAS_ZSTD) ||
		(u.is_zlib && !WEFT_HAS_ZLIB))
		return WEFT_ERROR_COMPRESSED;
	const uint64_t first = (uint64_t)(version - (const char *)bytes) + strlen(version) + 1;
	int error =
		has(&u, first, 8) ? read_options(&u, weft__load_u64(u.bytes + first)) : WEFT_ERROR_DAMAGED;
	if (!error)
		error = put_file(&u);
	free(u.cpus);
	return error;
}
