/* SPDX-License-Identifier: ISC
 *
 * Mends libraries that were loaded with RTLD_DEEPBIND. Such a library, and what it needs, find
 * functions among themselves first, and so libc's before ours. Where one of their addresses of a
 * function is that of libc, the hook's address takes its place.
 *
 * Only words that a relocation has filled are changed, and only if they hold the very function that
 * our hook stands in front of: the first one of that name after this library. So a library with a
 * function of its own called `connect` keeps it. A word that is to be filled by the first call
 * (lazily) still leads to the library's own table: it is changed if no other object could fill it.
 *
 * The words vanish with the library. Nothing is kept about it, so it may be closed at any time.
 */
#include "hooks/mend.h"

#ifdef WEFT__HOOKS_MENDS
#include <elf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hooks/object.h"
#include "hooks/unseen.h"
#include "kernel/call.h"

#ifdef __x86_64__
#define SLOT     R_X86_64_JUMP_SLOT
#define ADDRESS  R_X86_64_GLOB_DAT
#define ABSOLUTE R_X86_64_64
#else
#define SLOT     R_AARCH64_JUMP_SLOT
#define ADDRESS  R_AARCH64_GLOB_DAT
#define ABSOLUTE R_AARCH64_ABS64
#endif

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

static bool is_own(const struct dl_phdr_info *info)
{
	return weft__hooks_object_has(info, (uintptr_t)&__ehdr_start, PF_R);
}

/* ---- What was loaded ---- */

static int look(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct weft__hooks_loaded *loaded = argument;
	struct weft__hooks_object object;
	(void)size;
	loaded->added = info->dlpi_adds;
	if (weft__hooks_object_read(&object, info) && *info->dlpi_name)
		loaded->has_rpath |= object.has_rpath; /* only the program has no name */
	return 0;
}

struct weft__hooks_loaded weft__hooks_look_at_loaded(void)
{
	struct weft__hooks_loaded loaded = {0};
	dl_iterate_phdr(look, &loaded);
	return loaded;
}

/* ---- Functions and hooks ---- */

/* A function by its name: our hook, the next one, and how many other objects have one. */
struct search {
	const char *name;
	uintptr_t hook, original;
	unsigned others;
	/* Whether it is a function of the first `old` objects that is at `value`. */
	uintptr_t value;
	unsigned long long old;
	bool is_old;
};

static int find_object(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct search *search = argument;
	struct weft__hooks_object object;
	(void)size;
	bool is_old = search->old && search->old--;
	if (!weft__hooks_object_read(&object, info))
		return 0;
	uintptr_t function = weft__hooks_object_function(&object, search->name);
	search->is_old |= is_old && function && function == search->value;
	if (is_own(info)) {
		search->hook = function;
		return !function; /* there is no hook: the rest is of no interest */
	}
	/* An object without the table may have the function, too. */
	if (!function && object.hash)
		return 0;
	if (function && search->hook && !search->original)
		search->original = function;
	else
		search->others++;
	return 0;
}

/* ---- One object ---- */

struct mending {
	const struct weft__hooks_object *object;
	unsigned long long old; /* the number of objects that were there before */
	bool is_writable;       /* its memory that is read-only after relocation */
	bool has_failed;
};

/* The part of the object that is read-only after relocation. */
static bool find_fixed(const struct dl_phdr_info *info, uintptr_t *ret_begin, uintptr_t *ret_end)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *it = &info->dlpi_phdr[i];
		if (it->p_type != PT_GNU_RELRO)
			continue;
		*ret_begin = (info->dlpi_addr + it->p_vaddr) & ~(page - 1);
		*ret_end = (info->dlpi_addr + it->p_vaddr + it->p_memsz) & ~(page - 1);
		return *ret_begin < *ret_end;
	}
	return false;
}

static bool protect(const struct dl_phdr_info *info, int rights)
{
	uintptr_t begin, end;
	return find_fixed(info, &begin, &end) &&
		   weft__kernel_call(SYS_mprotect, (long)begin, (long)(end - begin), rights, 0, 0, 0) == 0;
}

/* True if the word can be written, or has been made so. */
static bool open_word(struct mending *mending, uintptr_t word)
{
	const struct dl_phdr_info *info = mending->object->info;
	uintptr_t begin, end;
	if (!weft__hooks_object_has(info, word, PF_W))
		return false;
	if (!find_fixed(info, &begin, &end) || word - begin >= end - begin || mending->is_writable)
		return true;
	mending->is_writable = protect(info, PROT_READ | PROT_WRITE);
	return mending->is_writable;
}

/* Another thread may be filling the word at the same time: then it stays as that has left it. */
static void change(struct mending *mending, uintptr_t *word, uintptr_t is, uintptr_t hook)
{
	if (open_word(mending, (uintptr_t)word))
		__atomic_compare_exchange_n(word, &is, hook, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	else
		mending->has_failed = true;
}

static void mend_word(struct mending *mending, const ElfW(Rela) * relocation)
{
	const struct weft__hooks_object *object = mending->object;
	const ElfW(Sym) *symbol = &object->symbols[ELF64_R_SYM(relocation->r_info)];
	const uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
	uintptr_t *word = (uintptr_t *)(object->info->dlpi_addr + relocation->r_offset);
	bool is_function = type == SLOT || type == ADDRESS || type == ABSOLUTE;
	if (!is_function || symbol->st_shndx != SHN_UNDEF || !symbol->st_name ||
		(type == ABSOLUTE && relocation->r_addend) || (uintptr_t)word % sizeof(*word))
		return;
	uintptr_t is = __atomic_load_n(word, __ATOMIC_RELAXED);
	struct search search = {
		.name = object->strings + symbol->st_name, .value = is, .old = mending->old};
	dl_iterate_phdr(find_object, &search);
	if (!search.hook || !search.original || is == search.hook)
		return;
	bool is_lazy = type == SLOT && weft__hooks_object_has(object->info, is, PF_X);
	if (is == search.original || (is_lazy && !search.others))
		change(mending, word, is, search.hook);
	else
		mending->has_failed |= is_lazy || search.is_old;
}

static void mend_object(const struct weft__hooks_object *object, unsigned long long old)
{
	struct mending mending = {.object = object, .old = old};
	for (int table = 0; table < 2; table++)
		for (size_t i = 0; object->relocations[table] && i < object->counts[table]; i++)
			mend_word(&mending, &object->relocations[table][i]);
	if (mending.is_writable)
		protect(object->info, PROT_READ);
	if (mending.has_failed)
		weft__hooks_unseen("deepbind", object->info->dlpi_name);
}

/* ---- New objects ---- */

/* They are the last ones, since the dynamic linker appends. */
struct pass {
	unsigned long long added, removed;
	unsigned long long first; /* the number of the first new one */
	unsigned long long count; /* of objects that were seen */
};

static int count_objects(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct pass *pass = argument;
	(void)size;
	pass->added = info->dlpi_adds;
	pass->removed = info->dlpi_subs;
	pass->count++;
	return 0;
}

/* If another thread has loaded or closed something meanwhile, it is not known which ones are new:
 * the numbers are counted again. */
static int mend_new(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct pass *pass = argument;
	struct weft__hooks_object object;
	(void)size;
	if (info->dlpi_adds != pass->added || info->dlpi_subs != pass->removed)
		return 1;
	if (pass->count++ >= pass->first && !is_own(info) && weft__hooks_object_read(&object, info))
		mend_object(&object, pass->first);
	return 0;
}

void weft__hooks_mend(const struct weft__hooks_loaded *before)
{
	enum {
		TRIES = 8
	};
	if (!weft__hooks_system_begin())
		return;
	int saved = weft__hooks_begin(), tries = 0;
	struct pass pass;
	do {
		pass = (struct pass){0};
		dl_iterate_phdr(count_objects, &pass);
		unsigned long long fresh = pass.added - before->added;
		pass.first = fresh < pass.count ? pass.count - fresh : 0;
		pass.count = 0;
	} while (dl_iterate_phdr(mend_new, &pass) && ++tries < TRIES);
	weft__hooks_end(saved);
	weft__hooks_system_end();
}
#endif
