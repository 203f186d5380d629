/* SPDX-License-Identifier: ISC
 *
 * Where another process keeps a thread-local variable. All of it is in its memory: the dynamic
 * symbols of what it has loaded, and the slots that the dynamic linker has filled for that symbol.
 *
 *     slot of a relocation ──▶ offset from the thread's pointer             (static)
 *                          ──▶ number of the module, offset in its block    (dynamic)
 *     thread's pointer ──▶ its table of blocks, by module ──▶ block
 *
 * The program's own variables have no slot: the linker has put them right below the thread pointer.
 */
#include <elf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "parts.h"

#ifdef __x86_64__

enum {
	HEADERS_MAX = 64,
	DYNAMIC_MAX = 128,
	CHAIN_MAX = 4096,
	RELOCATIONS = 256,         /* that are read at a time */
	RELOCATIONS_MAX = 1 << 20, /* of a table */
	SLOTS_MAX = 64,            /* that are read for a table; one is enough, unless it is damaged */
	THREAD_WORDS = 128,        /* from a thread's pointer to its list of robust mutexes */
	STATIC_MAX = 1 << 30,
};

/* A file that the process has loaded. */
struct module {
	pid_t pid;
	uint64_t bias; /* what is added to the file's addresses */
	uint64_t tls_size, tls_align, tls_address;
	uint64_t symbols, names, names_size, hash;
	uint64_t relocations[2], relocations_size[2]; /* of data, of calls */
};

static bool read_header(pid_t pid, uint64_t base, Elf64_Ehdr *header)
{
	return weft__outside_read(pid, base, header, sizeof(*header)) &&
		   memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
		   header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine == EM_X86_64 &&
		   header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum <= HEADERS_MAX;
}

/* glibc has added the bias to the addresses in this table, other C libraries have not. */
static uint64_t address_in(const struct module *m, uint64_t value)
{
	return value < m->bias ? m->bias + value : value;
}

static bool read_dynamic(struct module *m, uint64_t address, uint64_t size)
{
	Elf64_Dyn entries[DYNAMIC_MAX];
	size_t count = size / sizeof(*entries) < DYNAMIC_MAX ? size / sizeof(*entries) : DYNAMIC_MAX;
	if (!weft__outside_read(m->pid, address, entries, count * sizeof(*entries)))
		return false;
	for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++) {
		const uint64_t value = entries[i].d_un.d_val;
		switch (entries[i].d_tag) {
		case DT_SYMTAB:
			m->symbols = address_in(m, value);
			break;
		case DT_STRTAB:
			m->names = address_in(m, value);
			break;
		case DT_STRSZ:
			m->names_size = value;
			break;
		case DT_GNU_HASH:
			m->hash = address_in(m, value);
			break;
		case DT_RELA:
			m->relocations[0] = address_in(m, value);
			break;
		case DT_RELASZ:
			m->relocations_size[0] = value;
			break;
		case DT_JMPREL:
			m->relocations[1] = address_in(m, value);
			break;
		case DT_PLTRELSZ:
			m->relocations_size[1] = value;
			break;
		default:
			break;
		}
	}
	return m->symbols && m->names && m->hash;
}

/* False for a module without thread-local variables. */
static bool read_module(pid_t pid, uint64_t base, struct module *m)
{
	Elf64_Ehdr header;
	Elf64_Phdr parts[HEADERS_MAX];
	const Elf64_Phdr *dynamic = NULL, *tls = NULL, *first = NULL;
	*m = (struct module){.pid = pid};
	if (!read_header(pid, base, &header) ||
		!weft__outside_read(pid, base + header.e_phoff, parts, header.e_phnum * sizeof(*parts)))
		return false;
	for (const Elf64_Phdr *part = parts; part < parts + header.e_phnum; part++) {
		if (part->p_type == PT_DYNAMIC)
			dynamic = part;
		else if (part->p_type == PT_TLS)
			tls = part;
		else if (part->p_type == PT_LOAD && !first)
			first = part;
	}
	if (!dynamic || !tls || !first)
		return false;
	m->bias = base - (first->p_vaddr - first->p_offset);
	m->tls_size = tls->p_memsz;
	m->tls_align = tls->p_align ? tls->p_align : 1;
	m->tls_address = tls->p_vaddr;
	return read_dynamic(m, m->bias + dynamic->p_vaddr, dynamic->p_memsz);
}

/* ---- The symbol ---- */

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;
	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static bool is_symbol(
	const struct module *m, uint32_t index, const char *name, Elf64_Sym *ret_symbol)
{
	char found[64];
	const size_t size = strlen(name) + 1;
	return size <= sizeof(found) &&
		   weft__outside_read(m->pid, m->symbols + index * (uint64_t)sizeof(*ret_symbol),
			   ret_symbol, sizeof(*ret_symbol)) &&
		   ELF64_ST_TYPE(ret_symbol->st_info) == STT_TLS && ret_symbol->st_shndx != SHN_UNDEF &&
		   ret_symbol->st_name < m->names_size &&
		   weft__outside_read(m->pid, m->names + ret_symbol->st_name, found, size) &&
		   memcmp(found, name, size) == 0;
}

/* By the hash table: its buckets begin chains of hashes, one for each symbol, the last one odd. */
static bool find_symbol(
	const struct module *m, const char *name, uint32_t *ret_index, Elf64_Sym *ret_symbol)
{
	uint32_t head[4]; /* buckets, first symbol in them, words of the filter, its shift */
	uint32_t index, hash;
	const uint32_t wanted = hash_of(name);
	if (!weft__outside_read(m->pid, m->hash, head, sizeof(head)) || !head[0])
		return false;
	const uint64_t buckets = m->hash + sizeof(head) + head[2] * UINT64_C(8);
	const uint64_t chains = buckets + head[0] * UINT64_C(4);
	if (!weft__outside_read(
			m->pid, buckets + wanted % head[0] * UINT64_C(4), &index, sizeof(index)) ||
		index < head[1])
		return false;
	for (int i = 0; i < CHAIN_MAX; i++, index++) {
		if (!weft__outside_read(
				m->pid, chains + (index - head[1]) * UINT64_C(4), &hash, sizeof(hash)))
			return false;
		if ((hash | 1) == (wanted | 1) && is_symbol(m, index, name, ret_symbol)) {
			*ret_index = index;
			return true;
		}
		if (hash & 1)
			return false;
	}
	return false;
}

/* ---- Its slot ---- */

static bool set_static(uint64_t offset, struct weft__outside_local *ret_local)
{
	*ret_local = (struct weft__outside_local){.is_known = true, .offset = offset};
	return (int64_t)offset < 0 && (int64_t)offset > -STATIC_MAX; /* below the thread's pointer */
}

static bool set_dynamic(uint64_t module, uint64_t offset, struct weft__outside_local *ret_local)
{
	*ret_local = (struct weft__outside_local){.is_known = true, .module = module, .offset = offset};
	return module != 0;
}

/* True if the dynamic linker fills a slot for the symbol by this relocation. Without a symbol, it
 * is for the module's own use. */
static bool is_for(const Elf64_Rela *relocation, uint32_t index, const Elf64_Sym *symbol)
{
	const uint64_t type = ELF64_R_TYPE(relocation->r_info);
	const uint64_t of = ELF64_R_SYM(relocation->r_info);
	const bool is_own = of == 0 && (uint64_t)relocation->r_addend == symbol->st_value;
	return (of == index || is_own || (!of && type == R_X86_64_DTPMOD64)) &&
		   (type == R_X86_64_TPOFF64 || type == R_X86_64_DTPMOD64 || type == R_X86_64_TLSDESC);
}

static bool read_slot(const struct module *m, const Elf64_Rela *relocation, const Elf64_Sym *symbol,
	struct weft__outside_local *ret_local)
{
	uint64_t slot[2], indirect[2];
	const uint64_t type = ELF64_R_TYPE(relocation->r_info);
	const uint64_t of = ELF64_R_SYM(relocation->r_info);
	const size_t size = type == R_X86_64_TPOFF64 ? 8 : 16;
	if (!weft__outside_read(m->pid, m->bias + relocation->r_offset, slot, size))
		return false;
	if (type == R_X86_64_TPOFF64)
		return set_static(slot[0], ret_local);
	if (type == R_X86_64_DTPMOD64)
		return set_dynamic(slot[0], of ? slot[1] : symbol->st_value, ret_local);
	if (set_static(slot[1], ret_local))
		return true;
	return weft__outside_read(m->pid, slot[1], indirect, sizeof(indirect)) &&
		   set_dynamic(indirect[0], indirect[1], ret_local);
}

static bool find_slot(const struct module *m, int table, uint32_t index, const Elf64_Sym *symbol,
	struct weft__outside_local *ret_local)
{
	Elf64_Rela read[RELOCATIONS];
	unsigned slots = 0;
	uint64_t left = m->relocations_size[table] / sizeof(*read);
	uint64_t at = m->relocations[table];
	left = left < RELOCATIONS_MAX ? left : RELOCATIONS_MAX;
	while (at && left && slots < SLOTS_MAX) {
		const uint64_t count = left < RELOCATIONS ? left : RELOCATIONS;
		if (!weft__outside_read(m->pid, at, read, count * sizeof(*read)))
			return false;
		for (uint64_t i = 0; i < count; i++) {
			if (!is_for(&read[i], index, symbol))
				continue;
			if (read_slot(m, &read[i], symbol, ret_local))
				return true;
			slots++;
		}
		at += count * sizeof(*read);
		left -= count;
	}
	return false;
}

/* The program's own block ends at the thread's pointer, aligned as its start is in the file. */
static bool find_in_program(
	const struct module *m, const Elf64_Sym *symbol, struct weft__outside_local *ret_local)
{
	const uint64_t mask = m->tls_align - 1, before = -m->tls_address & mask;
	if (m->tls_align & mask || m->tls_size >= STATIC_MAX || m->tls_align >= STATIC_MAX)
		return false;
	const uint64_t size = ((m->tls_size - before + mask) & ~mask) + before;
	return set_static(symbol->st_value - size, ret_local);
}

bool weft__outside_find_local(pid_t pid, uint64_t base, bool is_program, const char *name,
	struct weft__outside_local *ret_local)
{
	struct module m;
	Elf64_Sym symbol;
	uint32_t index;
	struct weft__outside_local local;
	if (!read_module(pid, base, &m) || !find_symbol(&m, name, &index, &symbol))
		return false;
	const bool is_found = is_program ? find_in_program(&m, &symbol, &local)
									 : find_slot(&m, 0, index, &symbol, &local) ||
										   find_slot(&m, 1, index, &symbol, &local);
	if (is_found)
		*ret_local = local;
	return is_found;
}

/* ---- A thread ---- */

uint64_t weft__outside_local_address(
	pid_t pid, uint64_t pointer, const struct weft__outside_local *local)
{
	uint64_t table, block, room;
	if (!local->is_known || !pointer)
		return 0;
	if (!local->module)
		return pointer + local->offset;
	/* The entry before the table has its size; an entry is the block, and where it was allocated.
	 */
	if (!weft__outside_read(pid, pointer + 8, &table, sizeof(table)) ||
		!weft__outside_read(pid, table - 16, &room, sizeof(room)) || local->module > room ||
		!weft__outside_read(pid, table + 16 * local->module, &block, sizeof(block)))
		return 0;
	return block == 0 || block == UINT64_MAX ? 0 : block + local->offset; /* not used so far */
}

/* The kernel knows each thread's list of robust mutexes. glibc keeps it behind the thread's
 * pointer, where the first and the third word are that pointer. */
uint64_t weft__outside_thread_pointer(pid_t pid, pid_t tid)
{
	uint64_t words[THREAD_WORDS];
	void *head = NULL;
	size_t size = 0;
	if (syscall(SYS_get_robust_list, tid, &head, &size) != 0 || !head || (uintptr_t)head % 8)
		return 0;
	const uint64_t start = (uint64_t)(uintptr_t)head - sizeof(words);
	if (!weft__outside_read(pid, start, words, sizeof(words)))
		return 0;
	for (uint64_t i = THREAD_WORDS - 3; i > 0; i--)
		if (words[i] == start + i * 8 && words[i + 2] == words[i])
			return words[i];
	return 0;
}
#else
bool weft__outside_find_local(pid_t pid, uint64_t base, bool is_program, const char *name,
	struct weft__outside_local *ret_local)
{
	(void)pid, (void)base, (void)is_program, (void)name, (void)ret_local;
	return false; /* other machines keep them elsewhere */
}

uint64_t weft__outside_local_address(
	pid_t pid, uint64_t pointer, const struct weft__outside_local *local)
{
	(void)pid, (void)pointer, (void)local;
	return 0;
}

uint64_t weft__outside_thread_pointer(pid_t pid, pid_t tid)
{
	(void)pid, (void)tid;
	return 0;
}
#endif
