/* SPDX-License-Identifier: ISC
 *
 * Libraries that a program opens so that their calls pass by the hooks.
 *
 * With RTLD_DEEPBIND, they are mended as soon as they are loaded. dlmopen loads them with a libc of
 * their own, which the hooks must not call: that is recorded as not seen.
 *
 * dlopen and dlsym depend on the caller: they search where its object says, in its namespace, or
 * among the objects after it. They find it by the return address. So the hooks here jump to the
 * original, which returns to the caller. They are written in assembly language, since compilers do
 * not promise to jump. A library whose path depends on nothing is mended when it has been opened,
 * others by the next dlsym of the same thread: a program cannot call them earlier, unless they are
 * called by their own constructors.
 */
#include "hooks/mend.h"

#ifdef WEFT__HOOKS_MENDS
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/single_threaded.h>

#define WEFT_CATEGORY always
#include "hooks/hooks.h"
#include "hooks/unseen.h"

/* The thread is about to open a library, with a path that depends on the caller. */
static __thread struct {
	struct weft__hooks_loaded before;
	uint32_t epoch; /* of the process; 0: nothing */
} opening __attribute__((tls_model("initial-exec")));

static bool has_namespaces;     /* dlmopen was called for another one */
static bool has_opened_in_base; /* dlmopen was called for the program's: their callers differ */

/* In the child of a program with threads, the dynamic linker's lock may be held for ever. */
static bool is_unsafe;

static void begin_child(void)
{
	is_unsafe = !__libc_single_threaded;
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, begin_child);
}

/* False: the adapters record nothing here. */
static bool is_on(void)
{
	bool is_recorded = weft__hooks_main_task() != WEFT_TASK_NONE || weft__hooks_epoch() != 1;
	return is_recorded && !is_unsafe && !weft__hooks_thread.inside && !weft__hooks_is_confined();
}

static void mend_opened(void)
{
	uint32_t epoch = opening.epoch;
	opening.epoch = 0;
	if (epoch == weft__hooks_epoch() && is_on())
		weft__hooks_mend(&opening.before);
}

/* ---- dlopen ---- */

/* True if the same file and libraries are loaded for all callers. DT_RPATH counts for what an
 * object loads, and for what that loads. */
static bool is_absolute(const char *file, const struct weft__hooks_loaded *loaded)
{
	return strchr(file, '/') && !strchr(file, '$') && !loaded->has_rpath && !has_opened_in_base;
}

static void *open_and_mend(const char *file, int mode)
{
	struct weft__hooks_loaded before = weft__hooks_look_at_loaded();
	void *handle = NEXT(dlopen)(file, mode);
	if (handle)
		weft__hooks_mend(&before);
	return handle;
}

/* These return the function to jump to. */
__attribute__((visibility("hidden"))) void *weft__hooks_before_dlopen(const char *file, int mode);
__attribute__((visibility("hidden"))) void *weft__hooks_before_dlmopen(
	Lmid_t space, const char *file, int mode);
__attribute__((visibility("hidden"))) void *weft__hooks_before_dlsym(void *handle);

void *weft__hooks_before_dlopen(const char *file, int mode)
{
	if (unlikely(opening.epoch))
		mend_opened();
	if (likely(!(mode & RTLD_DEEPBIND)) || !file || !is_on())
		return (void *)NEXT(dlopen);
	struct weft__hooks_loaded loaded = weft__hooks_look_at_loaded();
	if (is_absolute(file, &loaded))
		return (void *)open_and_mend;
	opening.before = loaded;
	opening.epoch = weft__hooks_epoch();
	return (void *)NEXT(dlopen);
}

void *weft__hooks_before_dlmopen(Lmid_t space, const char *file, int mode)
{
	if (unlikely(opening.epoch))
		mend_opened();
	has_namespaces |= space != LM_ID_BASE;
	has_opened_in_base |= space == LM_ID_BASE;
	if (space == LM_ID_BASE && mode & RTLD_DEEPBIND && file && is_on()) {
		opening.before = weft__hooks_look_at_loaded();
		opening.epoch = weft__hooks_epoch();
	}
	return (void *)NEXT(dlmopen);
}

/* ---- dlsym ---- */

/* A handle is the address of the object's entry in the dynamic linker's list. */
static void report_space(void *handle)
{
	const struct link_map *map = handle;
	Lmid_t space;
	if (handle == RTLD_DEFAULT || handle == RTLD_NEXT || !is_on() ||
		dlinfo(handle, RTLD_DI_LMID, &space) != 0 || space == LM_ID_BASE)
		return;
	int saved = weft__hooks_begin();
	weft__hooks_unseen("dlmopen", map->l_name);
	weft__hooks_end(saved);
}

/* The runtime of a sanitizer calls dlsym before any of its functions works, such as its strcmp. So
 * this calls nothing but dlvsym, which has no hook. */
static void *next_dlsym(void)
{
	static void *next;
	void *found = __atomic_load_n(&next, __ATOMIC_RELAXED);
	if (likely(found))
		return found;
	found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	__atomic_store_n(&next, found, __ATOMIC_RELAXED);
	return found;
}

void *weft__hooks_before_dlsym(void *handle)
{
	if (unlikely(opening.epoch))
		mend_opened();
	if (unlikely(has_namespaces))
		report_space(handle);
	return next_dlsym();
}

/* ---- The hooks ---- */

/* Keeps the arguments, of which there are three at most, and jumps. */
#ifdef __x86_64__
#define JUMPING_HOOK(name)                        \
	__asm__(".text\n"                             \
			".globl " #name "\n"                  \
			".type " #name ", @function\n"        \
			".balign 16\n" #name ":\n"            \
			".cfi_startproc\n"                    \
			"endbr64\n"                           \
			"push %rdi\n"                         \
			".cfi_adjust_cfa_offset 8\n"          \
			"push %rsi\n"                         \
			".cfi_adjust_cfa_offset 8\n"          \
			"push %rdx\n"                         \
			".cfi_adjust_cfa_offset 8\n"          \
			"call weft__hooks_before_" #name "\n" \
			"pop %rdx\n"                          \
			".cfi_adjust_cfa_offset -8\n"         \
			"pop %rsi\n"                          \
			".cfi_adjust_cfa_offset -8\n"         \
			"pop %rdi\n"                          \
			".cfi_adjust_cfa_offset -8\n"         \
			"jmp *%rax\n"                         \
			".cfi_endproc\n"                      \
			".size " #name ", . - " #name "\n")
#else
#define JUMPING_HOOK(name)                      \
	__asm__(".text\n"                           \
			".globl " #name "\n"                \
			".type " #name ", %function\n"      \
			".balign 16\n" #name ":\n"          \
			".cfi_startproc\n"                  \
			"hint #34\n" /* bti c */            \
			"stp x29, x30, [sp, #-48]!\n"       \
			".cfi_def_cfa_offset 48\n"          \
			".cfi_offset 29, -48\n"             \
			".cfi_offset 30, -40\n"             \
			"stp x0, x1, [sp, #16]\n"           \
			"str x2, [sp, #32]\n"               \
			"bl weft__hooks_before_" #name "\n" \
			"mov x16, x0\n"                     \
			"ldp x0, x1, [sp, #16]\n"           \
			"ldr x2, [sp, #32]\n"               \
			"ldp x29, x30, [sp], #48\n"         \
			".cfi_restore 29\n"                 \
			".cfi_restore 30\n"                 \
			".cfi_def_cfa_offset 0\n"           \
			"br x16\n"                          \
			".cfi_endproc\n"                    \
			".size " #name ", . - " #name "\n")
#endif

JUMPING_HOOK(dlopen);
JUMPING_HOOK(dlmopen);
JUMPING_HOOK(dlsym);
#endif
