/* SPDX-License-Identifier: ISC
 *
 * Elects the leading copy of the recorder if a process has loaded several (record/copy.h).
 *
 * Symbols cannot serve to find the copies: a program's symbols are usually not in the dynamic
 * table, and a plug-in's symbols are its own. But dl_iterate_phdr shows the notes of each loaded
 * object. So each copy puts a note into its object that leads to its struct weft__copy. The first
 * copy, in the order of loading, stores which copy was elected: the one that asked first.
 *
 * A copy asks when its object is loaded, and keeps the object loaded from then on: threads may be
 * inside, and other copies may refer to it.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "platform/linux.h"
#include "record/atomics.h"
#include "record/copy.h"

#define NOTE_NAME "weft"
#define NOTE_TYPE 1

/* "weft", 1, and the struct's distance from here: a distance needs no relocation, so that the page
 * stays shared. */
__asm__(".pushsection .note.weft, \"a\", %note\n"
		"\t.balign 4\n"
		"\t.long 5, 4, 1\n"
		"\t.asciz \"" NOTE_NAME "\"\n"
		"\t.balign 4\n"
		"\t.long weft__copy - .\n"
		"\t.popsection\n");

/* Weak, because a program without the dynamic loader has no dlopen; it has no plug-ins either. */
#pragma weak dlopen

struct search {
	bool is_past_program; /* the program comes first; not all C libraries call it "" */
	struct weft__copy *first;
	const char *own_object; /* the object of this copy; "" for the program */
};

static size_t aligned(size_t size, size_t alignment)
{
	return (size + alignment - 1) & ~(alignment - 1);
}

static void see_copy(struct search *search, struct weft__copy *copy, const char *object)
{
	if (!search->first)
		search->first = copy;
	if (copy == &weft__copy)
		search->own_object = object;
}

static void see_notes(
	struct search *search, const char *at, size_t left, size_t alignment, const char *object)
{
	ElfW(Nhdr) note;
	while (left >= sizeof(note)) {
		memcpy(&note, at, sizeof(note));
		size_t name = sizeof(note), content = name + aligned(note.n_namesz, alignment);
		size_t size = content + aligned(note.n_descsz, alignment);
		int32_t distance;
		if (size > left || content < name || size < content)
			return;
		if (note.n_namesz == sizeof(NOTE_NAME) && note.n_type == NOTE_TYPE &&
			note.n_descsz == sizeof(distance) &&
			memcmp(at + name, NOTE_NAME, sizeof(NOTE_NAME)) == 0) {
			memcpy(&distance, at + content, sizeof(distance));
			see_copy(search,
				(struct weft__copy *)((uintptr_t)(at + content) + (uintptr_t)(intptr_t)distance),
				object);
		}
		at += size;
		left -= size;
	}
}

static int see_object(struct dl_phdr_info *object, size_t size, void *context)
{
	struct search *search = context;
	const char *name = search->is_past_program && object->dlpi_name ? object->dlpi_name : "";
	(void)size;
	search->is_past_program = true;
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		if (part->p_type == PT_NOTE)
			see_notes(search, (const char *)(object->dlpi_addr + part->p_vaddr), part->p_memsz,
				part->p_align == 8 ? 8 : 4, name);
	}
	return 0;
}

/* Keeps an object loaded. The program itself always stays. */
static bool stays(const char *object)
{
	return object &&
		   (!*object || (dlopen && dlopen(object, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE)));
}

static void bar(const char *object, const char *reason)
{
	weft__copy_bar();
	weft__platform_linux_report(*object ? object : weft__platform_linux_program(), reason);
}

static struct weft__copy *elect(struct weft__copy *first)
{
	weft__compare_exchange(&first->elected, NULL, &weft__copy);
	return weft__load_acquire(&first->elected);
}

void weft__platform_linux_join(void)
{
	static uint32_t has_joined;
	struct search search = {0};
	if (!weft__compare_exchange(&has_joined, 0, 1))
		return;
	dl_iterate_phdr(see_object, &search);
	/* Linkers may drop notes; this copy then knows of no other. */
	if (!search.own_object)
		return;
	if (!stays(search.own_object)) {
		bar(search.own_object, "cannot be kept in memory");
		return;
	}
	struct weft__copy *leader = elect(search.first);
	if (leader == &weft__copy)
		return;
	if (leader->version != WEFT__COPY_VERSION)
		bar(search.own_object, "its weft has another version than the one that records");
	else if (!weft__platform_linux_begins_off())
		bar(search.own_object, "a child process would record into its parent's buffer");
	else
		weft__copy_follow(leader);
}
