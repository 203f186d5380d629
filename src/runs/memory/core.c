/* SPDX-License-Identifier: ISC
 *
 * The memory in a file. The segments of an ELF core say which addresses its parts had; what lies at
 * one address after the other need not do so in the file. Any other file is an image: its addresses
 * are offsets. So is a core that lists no segments, such as those of Xen's guests.
 */
#include "runs/memory/image.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/little_endian.h"

static bool refuse(char reason[WEFT__RUNS_IMAGE_REASON_BYTES], const char *text)
{
	snprintf(reason, WEFT__RUNS_IMAGE_REASON_BYTES, "%s", text);
	return false;
}

/* An ELF file of either word size. */
struct elf {
	const uint8_t *bytes;
	uint64_t size;
	bool is_64;
};

/* A member of 32 or 64 bits. The caller has checked that the file has it. */
static uint64_t word(const struct elf *elf, uint64_t base, size_t at_64, size_t at_32)
{
	const uint8_t *at = elf->bytes + base + (elf->is_64 ? at_64 : at_32);
	return elf->is_64 ? weft__load_u64(at) : weft__load_u32(at);
}

#define WORD(elf, base, name, member) \
	word(elf, base, offsetof(Elf64_##name, member), offsetof(Elf32_##name, member))

static uint16_t half(const struct elf *elf, size_t at_64, size_t at_32)
{
	return weft__load_u16(elf->bytes + (elf->is_64 ? at_64 : at_32));
}

#define HALF(elf, member) half(elf, offsetof(Elf64_Ehdr, member), offsetof(Elf32_Ehdr, member))

/* Cores of 65,535 segments and more note their number in the first section. */
static uint64_t count_segments(const struct elf *elf)
{
	uint64_t count = HALF(elf, e_phnum), section = WORD(elf, 0, Ehdr, e_shoff);
	size_t bytes = elf->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	size_t at = elf->is_64 ? offsetof(Elf64_Shdr, sh_info) : offsetof(Elf32_Shdr, sh_info);
	if (count == PN_XNUM && section <= elf->size && elf->size - section >= bytes)
		count = weft__load_u32(elf->bytes + section + at);
	return count;
}

/* Adds a segment as far as the file has it, and counts what it lacks. */
static bool add_segment(
	struct weft__runs_image *memory, const struct elf *elf, uint64_t base, bool is_physical)
{
	if (weft__load_u32(elf->bytes + base) != PT_LOAD)
		return true;
	uint64_t offset = WORD(elf, base, Phdr, p_offset), size = WORD(elf, base, Phdr, p_filesz);
	uint64_t whole = WORD(elf, base, Phdr, p_memsz), left = 0;
	if (offset < elf->size)
		left = elf->size - offset;
	if (size > left)
		size = left;
	if (whole > size && memory->missing <= UINT64_MAX - (whole - size))
		memory->missing += whole - size;
	return weft__runs_image_add(memory,
		(struct weft__runs_image_part){.address = is_physical ? WORD(elf, base, Phdr, p_paddr)
															  : WORD(elf, base, Phdr, p_vaddr),
			.size = size,
			.offset = offset});
}

/* QEMU's dump of a machine without paging has physical addresses alone. */
static bool are_physical(const struct elf *elf, uint64_t first, uint64_t bytes, uint64_t count)
{
	bool is_virtual = false;
	for (uint64_t i = 0; i < count; i++)
		is_virtual = is_virtual || (weft__load_u32(elf->bytes + first + i * bytes) == PT_LOAD &&
									   WORD(elf, first + i * bytes, Phdr, p_vaddr) != 0);
	return !is_virtual;
}

static bool add_segments(struct weft__runs_image *memory, const struct elf *elf)
{
	uint64_t first = WORD(elf, 0, Ehdr, e_phoff), bytes = HALF(elf, e_phentsize);
	uint64_t count = count_segments(elf), room = 0;
	if (bytes < (elf->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return true;
	if (first < elf->size)
		room = (elf->size - first) / bytes;
	if (count > room)
		count = room;
	bool is_physical = are_physical(elf, first, bytes, count), good = true;
	for (uint64_t i = 0; i < count && good; i++)
		good = add_segment(memory, elf, first + i * bytes, is_physical);
	return good;
}

static bool is_elf(const struct elf *elf)
{
	return elf->size > SELFMAG && memcmp(elf->bytes, ELFMAG, SELFMAG) == 0;
}

static bool read_elf(
	struct weft__runs_image *memory, struct elf *elf, char reason[WEFT__RUNS_IMAGE_REASON_BYTES])
{
	elf->is_64 = elf->size > EI_CLASS && elf->bytes[EI_CLASS] == ELFCLASS64;
	if (elf->size < (elf->is_64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr)))
		return refuse(reason, "the core ends in its first header");
	if (elf->bytes[EI_DATA] != ELFDATA2LSB)
		return refuse(reason, "it is of a machine whose integers are big-endian; no ring is");
	if (HALF(elf, e_type) != ET_CORE)
		return refuse(reason, "it is a program or a library, not a core");
	return add_segments(memory, elf) || refuse(reason, weft_error_text(WEFT_ERROR_MEMORY));
}

bool weft__runs_image_open_file(struct weft_source *source, struct weft__runs_image *ret_memory,
	char reason[WEFT__RUNS_IMAGE_REASON_BYTES])
{
	struct weft__runs_image memory = {.source = source, .process = -1, .pages = -1};
	size_t size;
	memory.bytes = weft_source_bytes(source, &size);
	memory.size = size;
	struct elf elf = {.bytes = memory.bytes, .size = size};
	bool good = size ? !is_elf(&elf) || read_elf(&memory, &elf, reason)
					 : refuse(reason, "the file is empty");
	const struct weft__runs_image_part all = {.size = size};
	if (good && !memory.count && !memory.missing)
		good = weft__runs_image_add(&memory, all) ||
			   refuse(reason, weft_error_text(WEFT_ERROR_MEMORY));
	weft__runs_image_sort(&memory);
	if (good)
		*ret_memory = memory;
	else
		weft__runs_image_close(&memory);
	return good;
}
