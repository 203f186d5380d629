/* SPDX-License-Identifier: ISC
 *
 * Xen's own libraries, loaded when a guest is read: no other user of weft needs them. The types and
 * functions below are those of their stable interfaces.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "xen/access.h"
#include "xen/hypervisor.h"

/* libxentoollog: where the libraries' messages go. */
struct logger {
	void (*message)(struct logger *logger, int level, int error, const char *context,
		const char *format, va_list arguments);
	void (*progress)(struct logger *logger, const char *context, const char *what, int percent,
		unsigned long done, unsigned long total);
	void (*destroy)(struct logger *logger);
};

/* name, type, arguments */
#define STORE_FUNCTIONS(X)                                                 \
	X(xs_open, void *, (unsigned long))                                    \
	X(xs_close, void, (void *))                                            \
	X(xs_read, void *, (void *, uint32_t, const char *, unsigned *))       \
	X(xs_directory, char **, (void *, uint32_t, const char *, unsigned *)) \
	X(xs_watch, bool, (void *, const char *, const char *))                \
	X(xs_unwatch, bool, (void *, const char *, const char *))              \
	X(xs_check_watch, char **, (void *))
#define GRANT_FUNCTIONS(X)                                                                    \
	X(xengnttab_open, void *, (struct logger *, unsigned))                                    \
	X(xengnttab_close, int, (void *))                                                         \
	X(xengnttab_map_domain_grant_refs, void *, (void *, uint32_t, uint32_t, uint32_t *, int)) \
	X(xengnttab_unmap, int, (void *, void *, uint32_t))
#define CALL_FUNCTIONS(X)                                \
	X(xencall_open, void *, (struct logger *, unsigned)) \
	X(xencall_close, int, (void *))                      \
	X(xencall_alloc_buffer, void *, (void *, size_t))    \
	X(xencall_free_buffer, void, (void *, void *))       \
	X(xencall2, int, (void *, unsigned, uint64_t, uint64_t))

#define FIELD(name, type, arguments) type(*name) arguments;
struct store_library {
	STORE_FUNCTIONS(FIELD)
};
struct grant_library {
	GRANT_FUNCTIONS(FIELD)
};
struct call_library {
	CALL_FUNCTIONS(FIELD)
};
#undef FIELD

struct libraries {
	struct store_library store;
	struct grant_library grant;
	struct call_library call;
	void *loaded[3];
	void *xenstore, *grants;
	void *calls;  /* NULL: the hypervisor cannot be asked */
	void *buffer; /* of hypercalls */
	/* The versions of the interfaces about domains and about the machine; 0: not found yet. */
	uint32_t version, system_version;
};

/* ---- XenStore ---- */

static char *read_value(void *context, const char *path, size_t *ret_size)
{
	struct libraries *l = context;
	unsigned size = 0;
	char *value = l->store.xs_read(l->xenstore, 0, path, &size);
	*ret_size = size;
	return value;
}

static char **list_names(void *context, const char *path, size_t *ret_count)
{
	struct libraries *l = context;
	unsigned count = 0;
	char **names = l->store.xs_directory(l->xenstore, 0, path, &count);
	*ret_count = names ? count : 0;
	return names;
}

static const char TOKEN[] = "weft";

static bool watch(void *context, const char *path)
{
	struct libraries *l = context;
	return l->store.xs_watch(l->xenstore, path, TOKEN);
}

static void unwatch(void *context, const char *path)
{
	struct libraries *l = context;
	(void)l->store.xs_unwatch(l->xenstore, path, TOKEN);
}

/* Takes all events: a guest can cause them, and they wait in our memory. */
static bool changed(void *context)
{
	struct libraries *l = context;
	bool found = false;
	for (char **event; (event = l->store.xs_check_watch(l->xenstore)); free(event))
		found = true;
	return found;
}

/* ---- Grants ---- */

static void *map(
	void *context, uint32_t domain, const uint32_t *references, uint32_t count, bool is_writable)
{
	struct libraries *l = context;
	return l->grant.xengnttab_map_domain_grant_refs(l->grants, count, domain,
		(uint32_t *)(uintptr_t)references, is_writable ? PROT_READ | PROT_WRITE : PROT_READ);
}

static void unmap(void *context, void *pages, uint32_t count)
{
	struct libraries *l = context;
	(void)l->grant.xengnttab_unmap(l->grants, pages, count);
}

/* ---- The hypervisor ---- */

static int call(void *context, unsigned operation, uint64_t first, uint64_t second)
{
	struct libraries *l = context;
	return l->call.xencall2(l->calls, operation, first, second);
}

static enum weft__xen_domain look(void *context, uint32_t domain)
{
	struct libraries *l = context;
	return l->buffer ? weft__xen_hypervisor_look(call, l, l->buffer, domain, &l->version)
					 : WEFT__XEN_UNKNOWN;
}

static bool has_counter(void *context, uint32_t domain)
{
	struct libraries *l = context;
	return l->buffer && weft__xen_hypervisor_has_counter(call, l, l->buffer, domain, &l->version);
}

static bool measure(void *context, uint32_t domain, struct weft__xen_usage *ret_usage)
{
	struct libraries *l = context;
	return l->buffer &&
		   weft__xen_hypervisor_measure(call, l, l->buffer, domain, &l->version, ret_usage);
}

static bool measure_vcpu(
	void *context, uint32_t domain, uint32_t vcpu, struct weft__xen_vcpu *ret_vcpu)
{
	struct libraries *l = context;
	return l->buffer && weft__xen_hypervisor_measure_vcpu(
							call, l, l->buffer, domain, vcpu, &l->version, ret_vcpu);
}

static bool now(void *context, uint64_t *ret_ns)
{
	struct libraries *l = context;
	return l->buffer && weft__xen_hypervisor_now(call, l, l->buffer, ret_ns);
}

static bool rate(void *context, uint64_t *ret_hz)
{
	struct libraries *l = context;
	return l->buffer && weft__xen_hypervisor_rate(call, l, l->buffer, &l->system_version, ret_hz);
}

static bool end_trace(void *context)
{
	struct libraries *l = context;
	return l->buffer && weft__xen_hypervisor_end_trace(call, l, l->buffer, &l->system_version);
}

static bool size_trace(void *context, uint32_t pages)
{
	struct libraries *l = context;
	errno = ENOSYS;
	return l->buffer &&
		   weft__xen_hypervisor_size_trace(call, l, l->buffer, &l->system_version, pages);
}

/* ---- Loading ---- */

static void close_all(void *context)
{
	struct libraries *l = context;
	if (l->buffer)
		l->call.xencall_free_buffer(l->calls, l->buffer);
	if (l->calls)
		(void)l->call.xencall_close(l->calls);
	if (l->grants)
		(void)l->grant.xengnttab_close(l->grants);
	if (l->xenstore)
		l->store.xs_close(l->xenstore);
	for (size_t i = 0; i < sizeof(l->loaded) / sizeof(*l->loaded); i++)
		if (l->loaded[i])
			dlclose(l->loaded[i]);
	free(l);
}

/* POSIX says that a function's address fits an object pointer; C does not. */
static bool find_function(void *library, const char *name, void *ret_function)
{
	void *address = dlsym(library, name);
	memcpy(ret_function, &address, sizeof(address));
	return address != NULL;
}

#define FIND(name, type, arguments) good = good && find_function(library, #name, &functions->name);

static bool load_store(struct libraries *l)
{
	struct store_library *functions = &l->store;
	/* Xen 4.16 and later; before. */
	void *library = dlopen("libxenstore.so.4", RTLD_NOW);
	if (!library)
		library = dlopen("libxenstore.so.3.0", RTLD_NOW);
	bool good = (l->loaded[0] = library) != NULL;
	STORE_FUNCTIONS(FIND)
	return good;
}

static bool load_grant(struct libraries *l)
{
	struct grant_library *functions = &l->grant;
	void *library = l->loaded[1] = dlopen("libxengnttab.so.1", RTLD_NOW);
	bool good = library != NULL;
	GRANT_FUNCTIONS(FIND)
	return good;
}

static bool load_call(struct libraries *l)
{
	struct call_library *functions = &l->call;
	void *library = l->loaded[2] = dlopen("libxencall.so.1", RTLD_NOW);
	bool good = library != NULL;
	CALL_FUNCTIONS(FIND)
	return good;
}

static void log_message(struct logger *logger, int level, int error, const char *context,
	const char *format, va_list arguments)
{
	(void)logger, (void)level, (void)error, (void)context, (void)format, (void)arguments;
}

static void log_progress(struct logger *logger, const char *context, const char *what, int percent,
	unsigned long done, unsigned long total)
{
	(void)logger, (void)context, (void)what, (void)percent, (void)done, (void)total;
}

static void log_destroy(struct logger *logger)
{
	(void)logger;
}

/* The libraries would print on standard error what their caller reports itself. */
static struct logger silent = {log_message, log_progress, log_destroy};

/* True if this machine's hypervisor is Xen. */
static bool is_xen(void)
{
	char type[8] = "";
	FILE *file = fopen("/sys/hypervisor/type", "re");
	bool found = file && fgets(type, sizeof(type), file) && strncmp(type, "xen", 3) == 0;
	if (file)
		fclose(file);
	return found || access("/proc/xen/privcmd", F_OK) == 0;
}

/* NULL, or why guests cannot be read. Without the hypervisor's answers they can. */
static const char *connect_all(struct libraries *l)
{
	if (!is_xen())
		return "this machine does not run Xen; guests are read in dom0";
	if (!load_store(l) || !load_grant(l))
		return "Xen's libraries are missing: libxenstore.so.4 and libxengnttab.so.1 (Debian: "
			   "libxenstore4, libxengnttab1)";
	if (!(l->xenstore = l->store.xs_open(0)))
		return "cannot connect to XenStore; guests are read in dom0, as root, while xenstored runs";
	if (!(l->grants = l->grant.xengnttab_open(&silent, 0)))
		return errno == ENOENT ? "/dev/xen/gntdev is missing: load the kernel's module xen-gntdev"
							   : "cannot open /dev/xen/gntdev; guests are read in dom0, as root";
	if (load_call(l) && (l->calls = l->call.xencall_open(&silent, 0)))
		l->buffer = l->call.xencall_alloc_buffer(l->calls, WEFT__XEN_PAGE_BYTES);
	return NULL;
}

bool weft__xen_access_open(struct weft__xen_access *ret_access, char *reason, size_t size)
{
	struct libraries *l = calloc(1, sizeof(*l));
	const char *problem = l ? connect_all(l) : "out of memory";
	if (problem) {
		snprintf(reason, size, "%s", problem);
		if (l)
			close_all(l);
		return false;
	}
	*ret_access =
		(struct weft__xen_access){read_value, list_names, map, unmap, look, measure, measure_vcpu,
			now, rate, end_trace, size_trace, watch, unwatch, changed, has_counter, close_all, l};
	return true;
}
