/* SPDX-License-Identifier: ISC
 *
 * Names of functions and variables, from the ELF files of the process.
 *
 * dladdr knows only dynamic symbols, and takes the dynamic linker's lock, for which a hook must not
 * wait. So this reads /proc/self/maps (maps.h) and the file's own table of symbols. Each address is
 * looked up once: programs have few callbacks, and their names are kept.
 *
 * The files belong to the program, but one may change while it is mapped: sizes and offsets are
 * checked, and a file that shrinks meanwhile is handled like one without symbols (the size is read
 * just before; a smaller one leads to SIGBUS only if it is cut off in between).
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "symbols/demangle.h"
#include "hooks/hooks.h"
#include "hooks/locked.h"
#include "hooks/maps.h"
#include "kernel/call.h"

/* ---- The file ---- */

struct file {
	const unsigned char *bytes;
	size_t size;
};

static bool map_file(const char *path, struct file *ret)
{
	struct stat status;
	if (!weft__hooks_may_open(path))
		return false;
	int fd = weft__kernel_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd < 0)
		return false;
	bool is_good = weft__kernel_stat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
				   status.st_size > (off_t)sizeof(ElfW(Ehdr));
	void *bytes = NULL;
	if (is_good)
		weft__kernel_map((size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, &bytes);
	weft__kernel_close(fd);
	*ret = (struct file){bytes, is_good ? (size_t)status.st_size : 0};
	return bytes != NULL;
}

/* A part of the file; NULL if it is not inside, or not aligned. */
static const void *part(const struct file *file, uint64_t offset, uint64_t size)
{
	if (offset > file->size || size > file->size - offset || offset % sizeof(uint32_t))
		return NULL;
	return file->bytes + offset;
}

static const ElfW(Ehdr) * header_of(const struct file *file)
{
	const ElfW(Ehdr) *header = part(file, 0, sizeof(*header));
	bool is_ours = header && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
				   header->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32);
	return is_ours ? header : NULL;
}

/* The address that the linker gave to what is `offset` bytes after the file's first byte in memory.
 * False if no segment has it: other mappings may follow the file's at once. */
static bool find_linked(const struct file *file, uint64_t offset, uint64_t *ret)
{
	const ElfW(Ehdr) *header = header_of(file);
	const ElfW(Phdr) *segments =
		header ? part(file, header->e_phoff, (uint64_t)header->e_phnum * sizeof(*segments)) : NULL;
	uint64_t base = 0;
	bool is_inside = false;
	for (size_t i = 0; segments && i < header->e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0)
			base = segments[i].p_vaddr;
	for (size_t i = 0; segments && i < header->e_phnum; i++)
		is_inside |= segments[i].p_type == PT_LOAD &&
					 base + offset - segments[i].p_vaddr < segments[i].p_memsz;
	*ret = base + offset;
	return is_inside;
}

/* A table of symbols, and their names. */
struct symbols {
	const ElfW(Sym) * list;
	size_t count;
	const char *names;
	size_t names_size;
};

/* All symbols, or the dynamic ones if the file was stripped. */
static bool find_symbols(const struct file *file, uint32_t type, struct symbols *ret)
{
	const ElfW(Ehdr) *header = header_of(file);
	const ElfW(Shdr) *sections =
		header ? part(file, header->e_shoff, (uint64_t)header->e_shnum * sizeof(*sections)) : NULL;
	for (size_t i = 0; sections && i < header->e_shnum; i++) {
		const ElfW(Shdr) *it = &sections[i];
		if (it->sh_type != type || it->sh_link >= header->e_shnum)
			continue;
		const ElfW(Shdr) *names = &sections[it->sh_link];
		ret->list = part(file, it->sh_offset, it->sh_size);
		ret->count = it->sh_size / sizeof(ElfW(Sym));
		ret->names = names->sh_type == SHT_STRTAB ? part(file, names->sh_offset & ~(uint64_t)3,
														names->sh_size + (names->sh_offset & 3))
												  : NULL;
		if (ret->names)
			ret->names += names->sh_offset & 3;
		ret->names_size = names->sh_size;
		return ret->list && ret->names;
	}
	return false;
}

/* The function or variable that contains `address`. */
static const ElfW(Sym) * symbol_at(const struct symbols *symbols, uint64_t address)
{
	for (size_t i = 0; i < symbols->count; i++) {
		const ElfW(Sym) *it = &symbols->list[i];
		unsigned type = it->st_info & 0xf;
		if ((type == STT_FUNC || type == STT_OBJECT) && it->st_shndx != SHN_UNDEF &&
			address >= it->st_value && address - it->st_value < it->st_size)
			return it;
	}
	return NULL;
}

/* ---- Names ---- */

/* `path`: of the file. False if that table has no name for the address. */
static bool append_from(struct weft__hooks_text *text, const struct file *file, uint32_t type,
	uint64_t address, const char *path)
{
	struct symbols symbols;
	const ElfW(Sym) *symbol =
		find_symbols(file, type, &symbols) ? symbol_at(&symbols, address) : NULL;
	if (!symbol || symbol->st_name >= symbols.names_size)
		return false;
	const char *name = symbols.names + symbol->st_name;
	size_t room = symbols.names_size - symbol->st_name;
	if (!*name || strnlen(name, room) == room)
		return false;
	struct weft__symbols_name shown = {text->bytes, text->size, sizeof(text->bytes)};
	weft__symbols_demangle(&shown, name);
	text->size = shown.size;
	if ((symbol->st_info & 0xf) == STT_FUNC)
		weft__code(text->bytes, text->size, path, symbol->st_value);
	return true;
}

/* As the program was started, which may be by a link: redis-server is one to redis-check-rdb.
 * Copied, as a program may write its title there. */
static char own_name[64];

__attribute__((constructor(101))) static void keep_own_name(void)
{
	const char *name = program_invocation_short_name;
	memcpy(own_name, name, strnlen(name, sizeof(own_name) - 1));
}

static bool is_own_program(const char *path)
{
	struct weft__hooks_mapping own;
	return weft__hooks_find_mapping((uintptr_t)getauxval(AT_PHDR), &own) &&
		   strcmp(own.path, path) == 0;
}

/* FILE+OFFSET */
static void append_location(
	struct weft__hooks_text *text, const struct weft__hooks_mapping *mapped, uint64_t offset)
{
	const char *slash = strrchr(mapped->path, '/');
	const char *name = slash ? slash + 1 : mapped->path;
	weft__hooks_append(text, own_name[0] && is_own_program(mapped->path) ? own_name : name);
	weft__hooks_append(text, "+");
	weft__hooks_append_hexadecimal(text, offset);
}

/* Leaves the text empty if the address is in no file. */
static void look_up_file(struct weft__hooks_text *text, uintptr_t address)
{
	struct weft__hooks_mapping mapped;
	struct file file;
	uint64_t linked = 0;
	if (!weft__hooks_find_mapping(address, &mapped) || !mapped.path[0])
		return;
	if (!map_file(mapped.path, &file))
		return;
	uint64_t offset = address - mapped.base;
	bool is_inside = find_linked(&file, offset, &linked);
	if (is_inside && !append_from(text, &file, SHT_SYMTAB, linked, mapped.path) &&
		!append_from(text, &file, SHT_DYNSYM, linked, mapped.path))
		append_location(text, &mapped, offset);
	weft__kernel_unmap((void *)(uintptr_t)file.bytes, file.size);
}

struct wanted {
	struct weft__hooks_text *text;
	uintptr_t address;
};

static void look_up_wanted(void *of)
{
	struct wanted *wanted = of;
	if (!weft__hooks_system_begin())
		return;
	look_up_file(wanted->text, wanted->address);
	weft__hooks_system_end();
}

static void look_up(struct weft__hooks_text *text, uintptr_t address)
{
	struct wanted wanted = {text, address};
	weft__hooks_aside(look_up_wanted, &wanted);
}

/* ---- Names that were looked up before ---- */

#define KEPT  1024
#define PROBE 8

/* Each is written once, by the thread that takes it. */
static struct kept {
	uintptr_t address; /* 0: free */
	uint32_t epoch;    /* of the process that has recorded it; 0: `name` is not complete */
	char name[WEFT__HOOKS_NAME_BYTES];
} kept[KEPT];

static struct kept *find_kept(uintptr_t address)
{
	size_t first = (address >> 4 ^ address >> 14) % KEPT;
	for (size_t i = 0; i < PROBE; i++) {
		struct kept *it = &kept[(first + i) % KEPT];
		uintptr_t is = 0;
		if (__atomic_compare_exchange_n(
				&it->address, &is, address, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
			is == address)
			return it;
	}
	return NULL;
}

/* Two threads that look up one address at the same time both store its name, which is the same. So
 * does a forked child, whose buffer does not know the code yet. */
static void keep(struct kept *it, const struct weft__hooks_text *name)
{
	memcpy(it->name, name->bytes, name->size);
	it->name[name->size] = '\0';
	__atomic_store_n(&it->epoch, weft__hooks_epoch(), __ATOMIC_RELEASE);
}

static bool append_kept(struct weft__hooks_text *text, const struct kept *it)
{
	weft__hooks_append(text, it->name);
	return it->name[0] != '\0';
}

/* The dynamic linker knows without a lock which addresses are in files that it has loaded, so that
 * allocated objects, of which there may be many, need no look at /proc/self/maps. */
static bool is_in_file(const void *address)
{
	struct dl_find_object found;
	return _dl_find_object((void *)(uintptr_t)address, &found) == 0;
}

bool weft__hooks_append_symbol(struct weft__hooks_text *text, const void *pointer)
{
	if (!pointer || !is_in_file(pointer)) /* 0 marks entries that are free */
		return false;
	struct weft__hooks_text name = {0};
	struct kept *it = find_kept((uintptr_t)pointer);
	uint32_t epoch = it ? __atomic_load_n(&it->epoch, __ATOMIC_ACQUIRE) : 0;
	if (epoch && epoch == weft__hooks_epoch())
		return append_kept(text, it);
	look_up(&name, (uintptr_t)pointer);
	if (epoch && name.size == 0)
		return append_kept(text, it); /* a child that may not open files any more */
	if (name.size == sizeof(name.bytes))
		name.size--;
	name.bytes[name.size] = '\0';
	weft__hooks_append(text, name.bytes);
	if (it)
		keep(it, &name);
	return name.size > 0;
}
