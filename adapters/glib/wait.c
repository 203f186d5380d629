/* SPDX-License-Identifier: ISC
 *
 * Calls that wait for another process.
 */
#include "glib/adapter.h"

static WEFT__OWN_FRAME uint64_t make_call(const char *word, const char *more)
{
	struct weft__hooks_text text = {0};
	weft__hooks_append(&text, word);
	weft__hooks_append(&text, more ? " " : "");
	weft__hooks_append(&text, more ? more : "");
	return weft__hooks_call_task(&text, weft_kind("call"));
}

static struct weft__hooks_wait begin_wait(const char *word, const char *more)
{
	struct weft__hooks_wait wait;
	int saved = weft__hooks_begin();
	weft__hooks_wait_begin(&wait, make_call(word, more), true, word);
	weft__hooks_end(saved);
	return wait;
}

static void end(const struct weft__hooks_wait *wait)
{
	int saved = weft__hooks_begin();
	weft__hooks_wait_got(wait);
	weft__hooks_end(saved);
}

#define WAITS(next, type, name, word, more, parameters, arguments) \
	HOOK(name)                                                     \
	type name parameters                                           \
	{                                                              \
		if (!HOOKS_RECORD)                                         \
			return next(name) arguments;                           \
		struct weft__hooks_wait wait = begin_wait(word, more);     \
		type result = next(name) arguments;                        \
		end(&wait);                                                \
		return result;                                             \
	}

/* GLib warns of NULL, once. */
static const char *identifier_of(GSubprocess *process)
{
	return process ? GIO_NEXT(g_subprocess_get_identifier)(process) : NULL;
}

WAITS(GIO_NEXT, gboolean, g_subprocess_wait, "exit of process", identifier_of(process),
	(GSubprocess * process, GCancellable *cancellable, GError **error),
	(process, cancellable, error))
WAITS(GIO_NEXT, gboolean, g_subprocess_wait_check, "exit of process", identifier_of(process),
	(GSubprocess * process, GCancellable *cancellable, GError **error),
	(process, cancellable, error))
WAITS(GIO_NEXT, gboolean, g_subprocess_communicate, "communicate with process",
	identifier_of(process),
	(GSubprocess * process, GBytes *in, GCancellable *cancellable, GBytes **out, GBytes **err,
		GError **error),
	(process, in, cancellable, out, err, error))
WAITS(GIO_NEXT, gboolean, g_subprocess_communicate_utf8, "communicate with process",
	identifier_of(process),
	(GSubprocess * process, const char *in, GCancellable *cancellable, char **out, char **err,
		GError **error),
	(process, in, cancellable, out, err, error))
WAITS(GIO_NEXT, GVariant *, g_dbus_connection_call_sync, "dbus", method,
	(GDBusConnection * connection, const gchar *bus, const gchar *path, const gchar *interface,
		const gchar *method, GVariant *parameters, const GVariantType *type, GDBusCallFlags flags,
		gint ms, GCancellable *cancellable, GError **error),
	(connection, bus, path, interface, method, parameters, type, flags, ms, cancellable, error))
WAITS(GIO_NEXT, GVariant *, g_dbus_proxy_call_sync, "dbus", method,
	(GDBusProxy * proxy, const gchar *method, GVariant *parameters, GDBusCallFlags flags, gint ms,
		GCancellable *cancellable, GError **error),
	(proxy, method, parameters, flags, ms, cancellable, error))
