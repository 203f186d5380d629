/* SPDX-License-Identifier: ISC
 *
 * Sources: timeouts, idle functions, descriptors, child processes, signals, and a program's own.
 */
#include <string.h>

#include "glib/adapter.h"

/* ---- Sources ---- */

/* The source exists, and may even have been dispatched by another thread. */
static void start(GSource *source, weft__hooks_callback callback, struct weft__hooks_text *label)
{
	struct weft__hooks_subject *subject = weft__hooks_subject_put(source);
	if (subject && weft__hooks_start(subject, callback, weft_kind("source")))
		weft__hooks_label_callback(subject, callback, label);
}

/* A source of the default context, which has that id. */
static guint added(guint id, weft__hooks_callback callback, struct weft__hooks_text *label)
{
	GSource *source = id ? GLIB_NEXT(g_main_context_find_source_by_id)(NULL, id) : NULL;
	int saved = weft__hooks_begin();
	if (source)
		start(source, callback, label);
	weft__hooks_end(saved);
	return id;
}

static struct weft__hooks_text word(const char *text)
{
	struct weft__hooks_text made = {0};
	weft__hooks_append(&made, text);
	return made;
}

static struct weft__hooks_text word_number(const char *text, int64_t number)
{
	struct weft__hooks_text made = word(text);
	weft__hooks_append(&made, " ");
	weft__hooks_append_number(&made, number);
	return made;
}

/* GLib's own channels have a descriptor; those of a program's type may have none. */
static struct weft__hooks_text word_channel(GIOChannel *channel)
{
	if (weft__hooks_library_has(&weft__glib_library, (void *)channel->funcs->io_create_watch))
		return word_number("io fd", GLIB_NEXT(g_io_channel_unix_get_fd)(channel));
	return word("io");
}

static struct weft__hooks_text signal_name(int number)
{
	struct weft__hooks_text made = {0};
	weft__hooks_append_signal(&made, number);
	return made;
}

static struct weft__hooks_text word_ms(const char *text, uint64_t ms)
{
	struct weft__hooks_text made = word(text);
	weft__hooks_append(&made, " ");
	if (ms)
		weft__hooks_append_duration(&made, ms * 1000000);
	else
		weft__hooks_append(&made, "0 ms");
	return made;
}

/* ---- Functions that add a source ---- */

#define ADDS(name, label, callback, parameters, arguments)       \
	HOOK(name)                                                   \
	guint name parameters                                        \
	{                                                            \
		guint id = GLIB_NEXT(name) arguments;                    \
		if (!HOOKS_RECORD || !id)                                \
			return id;                                           \
		struct weft__hooks_text text = label;                    \
		return added(id, (weft__hooks_callback)callback, &text); \
	}

ADDS(g_timeout_add, word_ms("timeout", ms), function,
	(guint ms, GSourceFunc function, gpointer data), (ms, function, data))
ADDS(g_timeout_add_full, word_ms("timeout", ms), function,
	(gint priority, guint ms, GSourceFunc function, gpointer data, GDestroyNotify notify),
	(priority, ms, function, data, notify))
ADDS(g_timeout_add_seconds, word_ms("timeout", seconds *UINT64_C(1000)), function,
	(guint seconds, GSourceFunc function, gpointer data), (seconds, function, data))
ADDS(g_timeout_add_seconds_full, word_ms("timeout", seconds *UINT64_C(1000)), function,
	(gint priority, guint seconds, GSourceFunc function, gpointer data, GDestroyNotify notify),
	(priority, seconds, function, data, notify))
ADDS(g_idle_add, word("idle"), function, (GSourceFunc function, gpointer data), (function, data))
ADDS(g_idle_add_full, word("idle"), function,
	(gint priority, GSourceFunc function, gpointer data, GDestroyNotify notify),
	(priority, function, data, notify))
ADDS(g_io_add_watch, word_channel(channel), function,
	(GIOChannel * channel, GIOCondition condition, GIOFunc function, gpointer data),
	(channel, condition, function, data))
ADDS(g_io_add_watch_full, word_channel(channel), function,
	(GIOChannel * channel, gint priority, GIOCondition condition, GIOFunc function, gpointer data,
		GDestroyNotify notify),
	(channel, priority, condition, function, data, notify))
ADDS(g_child_watch_add, word_number("child", pid), function,
	(GPid pid, GChildWatchFunc function, gpointer data), (pid, function, data))
ADDS(g_child_watch_add_full, word_number("child", pid), function,
	(gint priority, GPid pid, GChildWatchFunc function, gpointer data, GDestroyNotify notify),
	(priority, pid, function, data, notify))
ADDS(g_unix_fd_add, word_number("fd", fd), function,
	(gint fd, GIOCondition condition, GUnixFDSourceFunc function, gpointer data),
	(fd, condition, function, data))
ADDS(g_unix_fd_add_full, word_number("fd", fd), function,
	(gint priority, gint fd, GIOCondition condition, GUnixFDSourceFunc function, gpointer data,
		GDestroyNotify notify),
	(priority, fd, condition, function, data, notify))
ADDS(g_unix_signal_add, signal_name(number), function,
	(gint number, GSourceFunc function, gpointer data), (number, function, data))
ADDS(g_unix_signal_add_full, signal_name(number), function,
	(gint priority, gint number, GSourceFunc function, gpointer data, GDestroyNotify notify),
	(priority, number, function, data, notify))

#if GLIB_CHECK_VERSION(2, 74, 0)
ADDS(g_timeout_add_once, word_ms("timeout", ms), function,
	(guint ms, GSourceOnceFunc function, gpointer data), (ms, function, data))
ADDS(g_idle_add_once, word("idle"), function, (GSourceOnceFunc function, gpointer data),
	(function, data))
#endif

/* ---- Any source ---- */

/* The function that a source calls, as far as its table of functions lets ask. */
static weft__hooks_callback callback_of(GSource *source)
{
	GSourceFunc function = NULL;
	gpointer data;
	if (source->callback_data && source->callback_funcs && source->callback_funcs->get)
		source->callback_funcs->get(source->callback_data, source, &function, &data);
	return (weft__hooks_callback)function;
}

/* "source NAME", or the word for its table of functions, behind which the callback is named. */
static struct weft__hooks_text label_of(const GSource *source)
{
	const struct weft__hooks_subject *functions = weft__hooks_subject_find(source->source_funcs);
	if (!source->name)
		return word(functions ? functions->name : "source");
	struct weft__hooks_text text = word("source ");
	weft__hooks_append(&text, source->name);
	return text;
}

/* A name for sources of a library's own type: that of their dispatch function. */
static void watch(GSource *source)
{
	char name[WEFT__HOOKS_SUBJECT_BYTES];
	struct weft__hooks_text text = word("source ");
	weft__hooks_append_symbol(&text, (const void *)source->source_funcs->dispatch);
	size_t size = text.size < sizeof(name) ? text.size : sizeof(name) - 1;
	memcpy(name, text.bytes, size);
	name[size] = '\0';
	weft__glib_watch(source->source_funcs, name);
}

struct attached {
	GSource *source;
	weft__hooks_callback callback;
};

static void record(void *of)
{
	const struct attached *it = of;
	GSource *source = it->source;
	if (!weft__hooks_subject_find(source->source_funcs))
		watch(source);
	struct weft__hooks_text label = label_of(source);
	if (weft__hooks_subject_find(source->source_funcs)) /* others are never seen to run */
		start(source, it->callback, &label);
}

HOOK(g_source_attach)
guint g_source_attach(GSource *source, GMainContext *context)
{
	if (HOOKS_RECORD && source) {
		int saved = weft__hooks_begin();
		/* Not aside: this may call the program's code. */
		weft__hooks_callback callback = source->name ? NULL : callback_of(source);
		struct attached attached = {source, callback};
		weft__hooks_aside(record, &attached);
		weft__hooks_end(saved);
	}
	return GLIB_NEXT(g_source_attach)(source, context);
}

HOOK(g_source_destroy)
void g_source_destroy(GSource *source)
{
	if (HOOKS_RECORD)
		weft__hooks_cancel(source);
	GLIB_NEXT(g_source_destroy)(source);
}
