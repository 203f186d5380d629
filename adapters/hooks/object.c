/* SPDX-License-Identifier: ISC
 *
 * Reads the dynamic section of a loaded object. The dynamic linker has relocated the addresses in
 * it already, except those of the kernel's object (vDSO), which is refused.
 */
#include "hooks/object.h"

#include <elf.h>
#include <string.h>

static const ElfW(Dyn) * find_section(const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	return NULL;
}

static void take_dynamic(struct weft__hooks_object *object, const ElfW(Dyn) * it)
{
	const void *at = (const void *)it->d_un.d_ptr;
	switch (it->d_tag) {
	case DT_STRTAB:
		object->strings = at;
		break;
	case DT_SYMTAB:
		object->symbols = at;
		break;
	case DT_GNU_HASH:
		object->hash = at;
		break;
	case DT_VERSYM:
		object->versions = at;
		break;
	case DT_JMPREL:
		object->relocations[0] = at;
		break;
	case DT_PLTRELSZ:
		object->counts[0] = it->d_un.d_val / sizeof(ElfW(Rela));
		break;
	case DT_RELA:
		object->relocations[1] = at;
		break;
	case DT_RELASZ:
		object->counts[1] = it->d_un.d_val / sizeof(ElfW(Rela));
		break;
	}
}

bool weft__hooks_object_read(struct weft__hooks_object *ret, const struct dl_phdr_info *info)
{
	bool has_runpath = false;
	*ret = (struct weft__hooks_object){.info = info};
	for (const ElfW(Dyn) *it = find_section(info); it && it->d_tag != DT_NULL; it++) {
		take_dynamic(ret, it);
		ret->has_rpath |= it->d_tag == DT_RPATH;
		has_runpath |= it->d_tag == DT_RUNPATH;
	}
	ret->has_rpath &= !has_runpath;
	return weft__hooks_object_has(info, (uintptr_t)ret->strings, PF_R) &&
		   weft__hooks_object_has(info, (uintptr_t)ret->symbols, PF_R);
}

bool weft__hooks_object_has(const struct dl_phdr_info *info, uintptr_t address, uint32_t rights)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *it = &info->dlpi_phdr[i];
		if (it->p_type == PT_LOAD && (it->p_flags & rights) == rights &&
			address - (info->dlpi_addr + it->p_vaddr) < it->p_memsz)
			return true;
	}
	return false;
}

/* ---- Exported functions ---- */

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;
	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/* Programs that are linked today get the newest version: the others are hidden. */
static bool is_match(const struct weft__hooks_object *object, uint32_t index, const char *name)
{
	const ElfW(Sym) *symbol = &object->symbols[index];
	bool is_hidden = object->versions && object->versions[index] & 0x8000;
	return symbol->st_shndx != SHN_UNDEF && (symbol->st_info & 0xf) == STT_FUNC && !is_hidden &&
		   strcmp(object->strings + symbol->st_name, name) == 0;
}

/* The table: four numbers, a Bloom filter of `filter` words, a first symbol for each bucket, and a
 * hash for each symbol from `first` on, whose lowest bit marks the last one of its bucket. */
uintptr_t weft__hooks_object_function(const struct weft__hooks_object *object, const char *name)
{
	const uint32_t *table = object->hash;
	if (!table || !table[0])
		return 0;
	const uint32_t buckets = table[0], first = table[1], filter = table[2];
	const uint32_t *bucket = table + 4 + filter * (sizeof(ElfW(Addr)) / sizeof(*table));
	const uint32_t *hashes = bucket + buckets, hash = hash_of(name);
	uint32_t index = bucket[hash % buckets];
	for (; index >= first; index++) {
		uint32_t is = hashes[index - first];
		if ((is | 1) == (hash | 1) && is_match(object, index, name))
			return object->info->dlpi_addr + object->symbols[index].st_value;
		if (is & 1)
			break;
	}
	return 0;
}
