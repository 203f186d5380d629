/* SPDX-License-Identifier: ISC
 *
 * See build_id.h. The file's header and notes are in memory, mostly in its first pages; they are
 * copied, since an object need not have them there.
 */
#include "hooks/build_id.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

#include "hooks/hooks.h"

#define NOTES_BYTES 512
#define SEGMENTS    64

/* The next note's description if it is the build id, else NULL; `*at` moves behind the note. */
static const unsigned char *take_note(
	const unsigned char *notes, size_t size, size_t *at, size_t *ret_size)
{
	ElfW(Nhdr) note;
	memcpy(&note, notes + *at, sizeof(note));
	const size_t name = *at + sizeof(note), room = size - name;
	const size_t name_bytes = ((size_t)note.n_namesz + 3) & ~(size_t)3;
	const size_t bytes = ((size_t)note.n_descsz + 3) & ~(size_t)3;
	*at = size;
	if (name_bytes > room || bytes > room - name_bytes)
		return NULL;
	*at = name + name_bytes + bytes;
	*ret_size = note.n_descsz;
	bool is_it = note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
				 memcmp(notes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0;
	return is_it ? notes + name + name_bytes : NULL;
}

static bool find_in_notes(const unsigned char *notes, size_t size, char *ret_digits)
{
	for (size_t at = 0, bytes; at + sizeof(ElfW(Nhdr)) <= size;) {
		const unsigned char *id = take_note(notes, size, &at, &bytes);
		if (!id || bytes > WEFT__HOOKS_BUILD_ID_BYTES)
			continue;
		for (size_t i = 0; i < bytes; i++) {
			ret_digits[2 * i] = "0123456789abcdef"[id[i] >> 4];
			ret_digits[2 * i + 1] = "0123456789abcdef"[id[i] & 15];
		}
		ret_digits[2 * bytes] = '\0';
		return true;
	}
	return false;
}

static bool find_in_segment(uintptr_t from, const ElfW(Phdr) * segment, char *ret_digits)
{
	unsigned char notes[NOTES_BYTES];
	const size_t size = segment->p_memsz < sizeof(notes) ? segment->p_memsz : sizeof(notes);
	return segment->p_type == PT_NOTE &&
		   weft__hooks_copy(notes, (const void *)(from + segment->p_vaddr), size) &&
		   find_in_notes(notes, size, ret_digits);
}

/* Where the program headers are, and how many. The program itself may be loaded anywhere; the
 * kernel says where its headers are. 0: unknown. */
static unsigned find_headers(const struct link_map *map, uintptr_t *ret_at)
{
	ElfW(Ehdr) header;
	if (!*map->l_name) {
		*ret_at = getauxval(AT_PHDR);
		return (unsigned)getauxval(AT_PHNUM);
	}
	if (!weft__hooks_copy(&header, (const void *)map->l_addr, sizeof(header)) ||
		memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
		return 0;
	*ret_at = map->l_addr + header.e_phoff;
	return header.e_phnum;
}

void weft__hooks_build_id(const struct link_map *map, char ret_digits[WEFT__HOOKS_BUILD_ID_ROOM])
{
	uintptr_t at = 0;
	const unsigned count = find_headers(map, &at);
	bool is_found = false;
	ret_digits[0] = '\0';
	for (unsigned i = 0; i < count && i < SEGMENTS && !is_found; i++) {
		const void *from = (const void *)(at + i * sizeof(ElfW(Phdr)));
		ElfW(Phdr) segment;
		is_found = weft__hooks_copy(&segment, from, sizeof(segment)) &&
				   find_in_segment(map->l_addr, &segment, ret_digits);
	}
}
