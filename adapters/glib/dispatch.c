/* SPDX-License-Identifier: ISC
 *
 * Dispatches of sources. A GSourceFuncs, the table of a source's functions, is changed in place,
 * because libraries compare its address. The table of subjects has the original functions under
 * that address.
 */
#include <dlfcn.h>
#include <link.h>

#include "glib/adapter.h"

struct weft__hooks_library weft__glib_library = {.file = "libglib-2.0.so.0"},
						   weft__gio_library = {.file = "libgio-2.0.so.0"};

/* ---- Called by GLib ---- */

typedef gboolean (*dispatch_function)(GSource *, GSourceFunc, gpointer);
typedef void (*finalize_function)(GSource *);

/* Names a source at its first dispatch, if no hook saw it being attached: a library attached it by
 * a call within the library, or it was attached before recording began. */
static void name_late(struct weft__hooks_subject *subject, const char *word)
{
	struct weft__hooks_text text = {0};
	weft__hooks_append(&text, word);
	weft__hooks_append_callback(&text, subject->callback);
	weft__hooks_subject_label(subject, &text);
}

static void find_task(GSource *source, GSourceFunc callback, const char *word)
{
	struct weft__hooks_subject *subject = weft__hooks_subject_put(source);
	if (!subject)
		return;
	int saved = weft__hooks_begin();
	weft__hooks_callback named =
		subject->callback ? subject->callback : (weft__hooks_callback)callback;
	if (weft__hooks_start(subject, named, weft_kind("source")))
		name_late(subject, word);
	weft__hooks_end(saved);
}

static gboolean on_dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
	const struct weft__hooks_subject *functions = weft__hooks_subject_find(source->source_funcs);
	dispatch_function dispatch = (dispatch_function)functions->callback;
	if (!weft_enabled(WEFT_LEVEL_INFO))
		return dispatch(source, callback, data);
	uintptr_t was_inside = weft__hooks_thread.inside;
	find_task(source, callback, functions->name);
	weft__hooks_thread.inside = was_inside;
	struct weft__hooks_run run = weft__hooks_begin_handle(source, functions->name);
	gboolean goes_on = dispatch(source, callback, data);
	if (!goes_on)
		weft__hooks_ends(&run, WEFT__HOOKS_END(WEFT__HOOKS_RESOLVED));
	weft__hooks_return(&run);
	return goes_on;
}

/* A source that is finalized although its last dispatch did not end it has been removed. */
static void on_finalize(GSource *source)
{
	const struct weft__hooks_subject *functions = weft__hooks_subject_find(source->source_funcs);
	finalize_function finalize = (finalize_function)functions->second;
	uintptr_t was_inside = weft__hooks_thread.inside;
	if (weft_enabled(WEFT_LEVEL_INFO))
		weft__hooks_cancel(source);
	weft__hooks_thread.inside = was_inside;
	weft__hooks_subject_forget(source);
	if (finalize)
		finalize(source);
}

/* ---- Tables of functions ---- */

struct search {
	uintptr_t wanted;
	bool is_writable;
};

/* Finds out whether the wanted address is in this object, and writable: in a writable segment, and
 * not made read-only after relocation (RELRO). */
static int look_at_object(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct search *search = argument;
	bool is_here = false, is_protected = false;
	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *it = &info->dlpi_phdr[i];
		if (search->wanted - (info->dlpi_addr + it->p_vaddr) >= it->p_memsz)
			continue;
		is_here |= it->p_type == PT_LOAD && it->p_flags & PF_W;
		is_protected |= it->p_type == PT_GNU_RELRO;
	}
	if (is_here)
		search->is_writable = !is_protected;
	return is_here;
}

static bool is_writable(const void *variable)
{
	struct search search = {.wanted = (uintptr_t)variable};
	dl_iterate_phdr(look_at_object, &search);
	return search.is_writable;
}

/* Two threads may do this at the same time, and store the same: `finalize` is replaced after
 * `dispatch`, and loaded before it, so both are the original ones if `dispatch` is. */
void weft__glib_watch(const GSourceFuncs *constant, const char *word)
{
	GSourceFuncs *functions = (GSourceFuncs *)(uintptr_t)constant;
	finalize_function finalize = __atomic_load_n(&functions->finalize, __ATOMIC_ACQUIRE);
	dispatch_function dispatch = __atomic_load_n(&functions->dispatch, __ATOMIC_RELAXED);
	if (dispatch == on_dispatch || !dispatch || !is_writable(functions))
		return;
	struct weft__hooks_subject *subject = weft__hooks_subject_put(functions);
	if (!subject)
		return;
	size_t size = 0;
	while (word[size] && size < sizeof(subject->name) - 1) {
		subject->name[size] = word[size];
		size++;
	}
	subject->name[size] = '\0';
	subject->second = (weft__hooks_callback)finalize;
	__atomic_store_n(&subject->callback, (weft__hooks_callback)dispatch, __ATOMIC_RELEASE);
	__atomic_store_n(&functions->dispatch, on_dispatch, __ATOMIC_RELEASE);
	__atomic_store_n(&functions->finalize, on_finalize, __ATOMIC_RELEASE);
}

/* ---- At the start ---- */

static void watch(const char *name, const char *word)
{
	GSourceFuncs *functions = dlsym(RTLD_DEFAULT, name);
	if (functions)
		weft__glib_watch(functions, word);
}

__attribute__((constructor(111))) static void begin(void)
{
	const void *function = dlsym(RTLD_DEFAULT, "g_main_context_dispatch");
	if (!function || !weft_is_recording())
		return;
	watch("g_timeout_funcs", "timeout");
	watch("g_idle_funcs", "idle");
	watch("g_io_watch_funcs", "io");
	watch("g_child_watch_funcs", "child");
	watch("g_unix_fd_source_funcs", "fd");
	watch("g_unix_signal_funcs", "signal");
}
