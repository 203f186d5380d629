/* SPDX-License-Identifier: ISC
 *
 * Finds out where the entries of hooks lead to (entry.h).
 *
 * Most do when this library is loaded. A function of a library that is loaded later is looked for
 * at its first call, in what the caller is linked to: only that knows whose function it calls.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define WEFT_CATEGORY always
#include "hooks/hooks.h"
#include "hooks/unseen.h"

/* The linker defines these two, unless no machine code is known for entries. */
extern struct weft__hooks_entry __start_weft_entries[] __attribute__((weak, visibility("hidden")));
extern struct weft__hooks_entry __stop_weft_entries[] __attribute__((weak, visibility("hidden")));

/* ---- Whose function it is ---- */

static const char *file_of(const struct link_map *map)
{
	const char *slash = strrchr(map->l_name, '/');
	return slash ? slash + 1 : map->l_name;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* True if the file is in LD_PRELOAD: its functions are made to be called for libc's, by all. */
static bool is_preloaded(const char *file)
{
	const char *list = getenv("LD_PRELOAD");
	while (list && *list) {
		size_t size = strcspn(list, ": ");
		const char *slash = memrchr(list, '/', size), *name = slash ? slash + 1 : list;
		size_t length = size - (size_t)(name - list);
		if (length && strlen(file) == length && memcmp(file, name, length) == 0)
			return true;
		list += size + strspn(list + size, ": ");
	}
	return false;
}

/* True for libc, and for libraries that have some of its functions with the same arguments. */
static bool has_functions_of_libc(const char *file)
{
	static const char *const known[] = {"libc.so.", "libjemalloc.so", "libtcmalloc", "libasan.so",
		"libtsan.so", "liblsan.so", "libubsan.so", "libhwasan.so", "libgc.so"};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (begins(file, known[i]))
			return true;
	return is_preloaded(file);
}

/* The library or program that has the address; NULL: none. */
static WEFT__OWN_FRAME const struct link_map *map_of(const void *address)
{
	struct dl_find_object found;
	bool is_found = _dl_find_object((void *)(uintptr_t)address, &found) == 0;
	return is_found ? found.dlfo_link_map : NULL;
}

/* A function of the object, or of the libraries that it links to; NULL: there is none. */
static void *find_in(const struct link_map *map, const char *name)
{
	void *handle = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
	void *function = handle ? dlsym(handle, name) : NULL;
	if (handle)
		dlclose(handle);
	return function;
}

/* True if the object itself has a function of that name: a file with another name may contain a
 * copy of the library. */
static bool contains(const struct link_map *map, const char *name)
{
	const void *function = find_in(map, name);
	return function && map_of(function) == map;
}

bool weft__hooks_is_of(const void *function, unsigned library)
{
	const struct link_map *map = map_of(function);
	if (!map)
		return false;
	const char *file = file_of(map);
	if (library == HOOKS_LIBC)
		return has_functions_of_libc(file);
	if (library == HOOKS_UV)
		return begins(file, "libuv.so") || contains(map, "uv_loop_init");
	if (library == HOOKS_URING) /* other versions have other structs */
		return begins(file, "liburing.so.2") || begins(file, "liburing-ffi.so.2");
	return begins(file, "libglib-2.0.so") || begins(file, "libgio-2.0.so") ||
		   contains(map, "g_main_context_new") || contains(map, "g_task_get_type");
}

/* ---- Entries ---- */

/* The function that the code at `caller` would call without this library, if that is in no library
 * that all others see. */
static void *find_for(const void *caller, const char *name)
{
	const struct link_map *map = map_of(caller);
	return map ? find_in(map, name) : NULL;
}

static bool has_found; /* weft__hooks_find_entries has run */

/* The function to which the hook gives way for this caller, or NULL. `*ret_is_kept`: for all
 * others, too. */
static void *find_theirs(
	const struct weft__hooks_entry *entry, const void *caller, bool *ret_is_kept)
{
	void *next = weft__hooks_find_next(entry->name, NULL);
	void *function = next ? next : find_for(caller, entry->name);
	bool is_theirs = function && !weft__hooks_is_of(function, (unsigned)entry->library);
	*ret_is_kept = !is_theirs || (next && has_found);
	return is_theirs ? function : NULL;
}

/* Called by the machine code below, with a call's return address. Returns what is to be called. A
 * function that only this caller sees is not kept, nor one that is called before this library has
 * begun: its first call after that is to be reported. */
void *weft__hooks_enter(struct weft__hooks_entry *entry, const void *caller)
	__attribute__((visibility("hidden"), used));
void *weft__hooks_enter(struct weft__hooks_entry *entry, const void *caller)
{
	int saved = errno;
	bool is_kept = true;
	void *theirs = entry->theirs;
	if (!theirs)
		theirs = find_theirs(entry, caller, &is_kept);
	if (theirs)
		weft__hooks_unseen_passed(entry->name, theirs);
	void *target = theirs ? theirs : entry->hook;
	if (is_kept)
		__atomic_store_n(&entry->target, target, __ATOMIC_RELAXED);
	errno = saved;
	return target;
}

/* The first call of a function that is not the library's still comes here, to be reported. */
void weft__hooks_find_entries(bool (*is_wanted)(const char *name))
{
	for (struct weft__hooks_entry *it = __start_weft_entries; it < __stop_weft_entries; it++) {
		if (!is_wanted(it->name))
			continue;
		void *next = weft__hooks_find_next(it->name, NULL);
		if (next && weft__hooks_is_of(next, (unsigned)it->library))
			__atomic_store_n(&it->target, it->hook, __ATOMIC_RELAXED);
		else
			it->theirs = next;
	}
}

void weft__hooks_has_found_entries(void)
{
	has_found = true;
}

/* ---- The first call ----
 *
 * With the entry in a scratch register. All registers in which arguments may be, and that of the
 * number of vector registers, are as they were when the target begins; but of these, only 16 bytes
 * are kept. */

#if defined(__x86_64__) && defined(__LP64__)
__asm__(".pushsection .text\n"
		".p2align 4\n"
		".type weft__hooks_enter_first, @function\n"
		".hidden weft__hooks_enter_first\n"
		".globl weft__hooks_enter_first\n"
		"weft__hooks_enter_first:\n"
		".cfi_startproc\n"
		"push %rbp\n"
		".cfi_def_cfa_offset 16\n"
		".cfi_offset %rbp, -16\n"
		"mov %rsp, %rbp\n"
		".cfi_def_cfa_register %rbp\n"
		"and $-16, %rsp\n"
		"sub $192, %rsp\n"
		"mov %rdi, (%rsp)\n"
		"mov %rsi, 8(%rsp)\n"
		"mov %rdx, 16(%rsp)\n"
		"mov %rcx, 24(%rsp)\n"
		"mov %r8, 32(%rsp)\n"
		"mov %r9, 40(%rsp)\n"
		"mov %rax, 48(%rsp)\n"
		"mov %r10, 56(%rsp)\n"
		"movaps %xmm0, 64(%rsp)\n"
		"movaps %xmm1, 80(%rsp)\n"
		"movaps %xmm2, 96(%rsp)\n"
		"movaps %xmm3, 112(%rsp)\n"
		"movaps %xmm4, 128(%rsp)\n"
		"movaps %xmm5, 144(%rsp)\n"
		"movaps %xmm6, 160(%rsp)\n"
		"movaps %xmm7, 176(%rsp)\n"
		"mov %r11, %rdi\n"
		"mov 8(%rbp), %rsi\n"
		"call weft__hooks_enter\n"
		"mov %rax, %r11\n"
		"mov (%rsp), %rdi\n"
		"mov 8(%rsp), %rsi\n"
		"mov 16(%rsp), %rdx\n"
		"mov 24(%rsp), %rcx\n"
		"mov 32(%rsp), %r8\n"
		"mov 40(%rsp), %r9\n"
		"mov 48(%rsp), %rax\n"
		"mov 56(%rsp), %r10\n"
		"movaps 64(%rsp), %xmm0\n"
		"movaps 80(%rsp), %xmm1\n"
		"movaps 96(%rsp), %xmm2\n"
		"movaps 112(%rsp), %xmm3\n"
		"movaps 128(%rsp), %xmm4\n"
		"movaps 144(%rsp), %xmm5\n"
		"movaps 160(%rsp), %xmm6\n"
		"movaps 176(%rsp), %xmm7\n"
		"leave\n"
		".cfi_def_cfa %rsp, 8\n"
		"jmp *%r11\n"
		".cfi_endproc\n"
		".size weft__hooks_enter_first, . - weft__hooks_enter_first\n"
		".popsection\n");
#elif defined(__aarch64__) && defined(__LP64__)
__asm__(".pushsection .text\n"
		".p2align 2\n"
		".type weft__hooks_enter_first, %function\n"
		".hidden weft__hooks_enter_first\n"
		".globl weft__hooks_enter_first\n"
		"weft__hooks_enter_first:\n"
		".cfi_startproc\n"
		"stp x29, x30, [sp, #-224]!\n"
		".cfi_def_cfa_offset 224\n"
		".cfi_offset x29, -224\n"
		".cfi_offset x30, -216\n"
		"mov x29, sp\n"
		"stp x0, x1, [sp, #16]\n"
		"stp x2, x3, [sp, #32]\n"
		"stp x4, x5, [sp, #48]\n"
		"stp x6, x7, [sp, #64]\n"
		"str x8, [sp, #80]\n"
		"stp q0, q1, [sp, #96]\n"
		"stp q2, q3, [sp, #128]\n"
		"stp q4, q5, [sp, #160]\n"
		"stp q6, q7, [sp, #192]\n"
		"mov x0, x17\n"
		"mov x1, x30\n"
		"bl weft__hooks_enter\n"
		"mov x16, x0\n"
		"ldp x0, x1, [sp, #16]\n"
		"ldp x2, x3, [sp, #32]\n"
		"ldp x4, x5, [sp, #48]\n"
		"ldp x6, x7, [sp, #64]\n"
		"ldr x8, [sp, #80]\n"
		"ldp q0, q1, [sp, #96]\n"
		"ldp q2, q3, [sp, #128]\n"
		"ldp q4, q5, [sp, #160]\n"
		"ldp q6, q7, [sp, #192]\n"
		"ldp x29, x30, [sp], #224\n"
		".cfi_def_cfa_offset 0\n"
		".cfi_restore x29\n"
		".cfi_restore x30\n"
		"br x16\n"
		".cfi_endproc\n"
		".size weft__hooks_enter_first, . - weft__hooks_enter_first\n"
		".popsection\n");
#endif
