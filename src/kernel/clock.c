/* SPDX-License-Identifier: ISC
 *
 * Finds clock_gettime in the vDSO, which is an ELF library without a file. Valgrind and some
 * sandboxes hide it; then each reading is a system call.
 */
#include "kernel/clock.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

#include "kernel/call.h"

#if WEFT__KERNEL_IS_DIRECT

#ifdef __x86_64__
#define FUNCTION "__vdso_clock_gettime"
#else
#define FUNCTION "__kernel_clock_gettime"
#endif

typedef long (*read_function)(clockid_t clock, struct timespec *ret_time);

static long ask_kernel(clockid_t clock, struct timespec *ret_time)
{
	return weft__kernel_call(SYS_clock_gettime, clock, (long)ret_time, 0, 0, 0, 0);
}

/* ---- The vDSO ---- */

struct library {
	uintptr_t shift; /* from its addresses to those in memory */
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash, *gnu_hash; /* either may be NULL */
};

static bool read_dynamic(struct library *it, const ElfW(Dyn) * entry)
{
	for (; entry && entry->d_tag != DT_NULL; entry++) {
		const void *here = (const void *)(it->shift + entry->d_un.d_ptr);
		if (entry->d_tag == DT_SYMTAB)
			it->symbols = here;
		else if (entry->d_tag == DT_STRTAB)
			it->names = here;
		else if (entry->d_tag == DT_HASH)
			it->hash = here;
		else if (entry->d_tag == DT_GNU_HASH)
			it->gnu_hash = here;
	}
	return it->symbols && it->names && (it->hash || it->gnu_hash);
}

static bool open_library(struct library *it)
{
	uintptr_t base = getauxval(AT_SYSINFO_EHDR);
	const ElfW(Ehdr) *header = (const void *)base;
	const ElfW(Dyn) *dynamic = NULL;
	bool is_placed = false;
	*it = (struct library){0};
	if (!base)
		return false;
	const ElfW(Phdr) *part = (const void *)(base + header->e_phoff);
	for (unsigned i = 0; i < header->e_phnum; i++)
		if (part[i].p_type == PT_LOAD && !is_placed) {
			it->shift = base + part[i].p_offset - part[i].p_vaddr;
			is_placed = true;
		}
	for (unsigned i = 0; i < header->e_phnum; i++)
		if (part[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(base + part[i].p_offset);
	return is_placed && read_dynamic(it, dynamic);
}

/* The GNU table does not say how many symbols there are: the last one is at the end of a chain. */
static uint32_t count_symbols(const struct library *it)
{
	if (it->hash)
		return it->hash[1];
	uint32_t buckets = it->gnu_hash[0], first = it->gnu_hash[1], words = it->gnu_hash[2], last = 0;
	const uint32_t *bucket = it->gnu_hash + 4 + words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	for (uint32_t i = 0; i < buckets; i++)
		if (bucket[i] > last)
			last = bucket[i];
	if (last < first)
		return 0;
	while (!(bucket[buckets + last - first] & 1))
		last++;
	return last + 1;
}

static read_function find_function(void)
{
	struct library it;
	uint32_t count = open_library(&it) ? count_symbols(&it) : 0;
	for (uint32_t i = 0; i < count; i++)
		if (it.symbols[i].st_shndx != SHN_UNDEF &&
			strcmp(it.names + it.symbols[i].st_name, FUNCTION) == 0)
			return (read_function)(it.shift + it.symbols[i].st_value);
	return ask_kernel;
}

/* ---- Reading ---- */

static read_function function; /* NULL: not found yet */

/* Two threads may search at the same time, and find the same. */
bool weft__kernel_read_clock(clockid_t clock, struct timespec *ret_time)
{
	read_function it = __atomic_load_n(&function, __ATOMIC_RELAXED);
	if (!it) {
		it = find_function();
		__atomic_store_n(&function, it, __ATOMIC_RELAXED);
	}
	return it(clock, ret_time) == 0;
}

#else

bool weft__kernel_read_clock(clockid_t clock, struct timespec *ret_time)
{
	int saved = errno;
	bool is_read = clock_gettime(clock, ret_time) == 0;
	errno = saved;
	return is_read;
}

#endif

uint64_t weft__kernel_clock_ns(clockid_t clock)
{
	struct timespec now = {0, 0};
	if (!weft__kernel_read_clock(clock, &now))
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
