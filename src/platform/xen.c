/* SPDX-License-Identifier: ISC
 *
 * Recording in a process of a Linux guest: the buffer is made of pages that the kernel's gntalloc
 * shares with another domain.
 *
 * Xen's libraries are loaded at run time, so that libweft does not depend on them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <weft/error.h>
#include <weft/xen.h>

#include "abi/buffer_abi.h"
#include "guest/publish.h"
#include "platform/linux.h"
#include "record/atomics.h"
#include "record/recorder.h"

/* More references than this go into a directory. */
#define LIST_MAX 4000

#define HYPERCALL_HVM_OP 34
#define HVMOP_GET_TIME   10

/* The functions of Xen's libraries that are used, as their headers declare them. */
static struct {
	void *(*xengntshr_open)(void *logger, unsigned flags);
	int (*xengntshr_close)(void *shares);
	void *(*xengntshr_share_pages)(
		void *shares, uint32_t domain, int count, uint32_t *refs, int writable);
	void *(*xengntshr_share_page_notify)(void *shares, uint32_t domain, uint32_t *ref, int writable,
		uint32_t notify_offset, uint32_t notify_port);
	void *(*xs_open)(unsigned long flags);
	void (*xs_close)(void *store);
	void *(*xs_read)(void *store, uint32_t transaction, const char *path, unsigned *size);
	bool (*xs_write)(
		void *store, uint32_t transaction, const char *path, const void *value, unsigned size);
	void *(*xencall_open)(void *logger, unsigned flags);
	int (*xencall_close)(void *calls);
	void *(*xencall_alloc_buffer)(void *calls, size_t size);
	int (*xencall2)(void *calls, unsigned number, uint64_t first, uint64_t second);
} xen;

/* As struct xentoollog_logger: Xen's libraries would write their errors to standard error. */
struct logger {
	void (*message)(struct logger *logger, int level, int error, const char *context,
		const char *format, va_list arguments);
	void (*progress)(struct logger *logger, const char *context, const char *what, int percent,
		unsigned long done, unsigned long total);
	void (*destroy)(struct logger *logger);
};

static void write_nothing(struct logger *logger, int level, int error, const char *context,
	const char *format, va_list arguments)
{
	(void)logger, (void)level, (void)error, (void)context, (void)format, (void)arguments;
}

static struct logger quiet = {.message = write_nothing};

void *weft__platform_xen_quiet(void)
{
	return &quiet;
}

/* The shared buffer of this process; it stays mapped to the end. */
static struct {
	struct weft_xen_share share;
	uint32_t *refs;
	void *shares, *store;
	char id[16];
	pid_t pid;
} own;

/* ---- Libraries ---- */

#define LOAD(library, name) (*(void **)&xen.name = dlsym(library, #name))

static bool load(void)
{
	void *grants = dlopen("libxengnttab.so.1", RTLD_NOW | RTLD_LOCAL);
	void *store = dlopen("libxenstore.so.4", RTLD_NOW | RTLD_LOCAL);
	return grants && store && LOAD(grants, xengntshr_open) && LOAD(grants, xengntshr_close) &&
		   LOAD(grants, xengntshr_share_pages) && LOAD(grants, xengntshr_share_page_notify) &&
		   LOAD(store, xs_open) && LOAD(store, xs_close) && LOAD(store, xs_read) &&
		   LOAD(store, xs_write);
}

static bool load_calls(void)
{
	void *calls = dlopen("libxencall.so.1", RTLD_NOW | RTLD_LOCAL);
	return calls && LOAD(calls, xencall_open) && LOAD(calls, xencall_close) &&
		   LOAD(calls, xencall_alloc_buffer) && LOAD(calls, xencall2);
}

/* ---- Time ---- */

/* The recorder's platform, with readings of Xen's system time, which all domains share. */
static struct {
	struct weft_platform platform;
	void *calls;
	uint64_t *now;    /* memory that a hypercall may write to */
	uint32_t is_busy; /* a thread reads the clocks */
} clocks;

/* A thread that finds another one here takes no reading. */
static void read_clocks(void *context, uint64_t *ret_monotonic_ns, uint64_t *ret_unix_ns)
{
	int saved = errno;
	(void)context;
	*ret_monotonic_ns = *ret_unix_ns = 0;
	if (!weft__compare_exchange(&clocks.is_busy, 0, 1))
		return;
	if (xen.xencall2(clocks.calls, HYPERCALL_HVM_OP, HVMOP_GET_TIME, (uintptr_t)clocks.now) == 0) {
		*ret_monotonic_ns = *clocks.now;
		weft__platform_clock(WEFT_CLOCK_REALTIME, ret_unix_ns);
	}
	weft__store_release(&clocks.is_busy, 0);
	errno = saved;
}

#if defined(__x86_64__) || defined(__i386__)
/* Stands in for Xen's time: dom0 may have the same counter, and compares it. */
static void read_counter(void *context, uint64_t *ret_counter, uint64_t *ret_unix_ns)
{
	uint64_t before = __builtin_ia32_rdtsc();
	(void)context;
	weft__platform_clock(WEFT_CLOCK_REALTIME, ret_unix_ns);
	*ret_counter = before + (__builtin_ia32_rdtsc() - before) / 2;
}

static bool reads_counter(const struct weft_platform *platform)
{
	return platform->read_clocks == read_counter;
}

/* NULL: the counter itself is the clock of the events. */
static const struct weft_platform *find_counter(void)
{
	clocks.platform = *weft__platform_default();
	clocks.platform.read_clocks = read_counter;
	return clocks.platform.ticks ? &clocks.platform : NULL;
}
#else
static bool reads_counter(const struct weft_platform *platform)
{
	(void)platform;
	return false;
}

static const struct weft_platform *find_counter(void)
{
	return NULL;
}
#endif

/* NULL: this process may not ask Xen, so readers cannot compare its time with other domains'. */
static const struct weft_platform *find_platform(void)
{
	uint64_t system_ns, unix_ns;
	if (!clocks.calls && load_calls())
		clocks.calls = xen.xencall_open(&quiet, 0);
	if (clocks.calls && !clocks.now)
		clocks.now = xen.xencall_alloc_buffer(clocks.calls, sizeof(*clocks.now));
	if (!clocks.now)
		return find_counter();
	clocks.platform = *weft__platform_default();
	clocks.platform.read_clocks = read_clocks;
	read_clocks(NULL, &system_ns, &unix_ns);
	return system_ns ? &clocks.platform : find_counter();
}

/* Two readings give the counter's rate; packets have more of them. */
#define RATE_BASE_NS 2000000

static void describe_time(struct weft_abi_buffer *header, const struct weft_platform *platform)
{
	if (!platform)
		return;
	bool is_counter = reads_counter(platform);
	const uint64_t *ns = is_counter ? &header->second.ticks : &header->second.monotonic_ns;
	uint64_t start_ns = is_counter ? header->start.ticks : header->start.monotonic_ns;
	do
		header->second = weft__record_read_clocks(platform);
	while (*ns - start_ns < RATE_BASE_NS);
	header->time_base = is_counter ? WEFT_ABI_TIME_COUNTER : WEFT_ABI_TIME_XEN;
	if (is_counter)
		header->clock = WEFT_ABI_CLOCK_MONOTONIC;
	/* Known only since recording started. */
	weft__store(&clocks.platform.barrier, weft__platform_default()->barrier);
}

/* ---- The guest's services ---- */

/* Pages are granted when they are made: a frame is a number of a page, directory included. */
static uint64_t frame(void *context, const void *page)
{
	const char *from = own.share.buffer, *directory = (const char *)own.share.directory;
	size_t count = own.share.size / WEFT_XEN_PAGE_BYTES;
	(void)context;
	if ((const char *)page >= from && (const char *)page < from + own.share.size)
		return (size_t)((const char *)page - from) / WEFT_XEN_PAGE_BYTES;
	return count + (size_t)((const char *)page - directory) / WEFT_XEN_PAGE_BYTES;
}

static uint32_t grant(void *context, uint16_t domain, uint64_t of_frame, bool is_writable)
{
	(void)context, (void)domain, (void)is_writable;
	return own.refs[of_frame];
}

static int write_key(void *context, const char *path, const char *value)
{
	(void)context;
	return !xen.xs_write(own.store, 0, path, value, (unsigned)strlen(value));
}

static const struct weft_xen_guest linux_guest = {NULL, frame, grant, write_key, NULL};

/* ---- Starting and stopping ---- */

static void forget(void)
{
	if (own.shares)
		xen.xengntshr_close(own.shares);
	if (own.store)
		xen.xs_close(own.store);
	free(own.refs);
	memset(&own, 0, sizeof(own));
}

/* The pages of an earlier buffer stay: a thread may still be inside an event. */
static void leave_buffer(void)
{
	if (own.store)
		xen.xs_close(own.store);
	free(own.refs);
	memset(&own, 0, sizeof(own));
}

/* A forked child has the parent's buffer in view, but it is not the child's. */
static void withdraw(void)
{
	const struct weft__publication publication = {.guest = &linux_guest, .share = &own.share};
	if (own.store && own.pid == getpid())
		weft__guest_unpublish(&publication);
}

static void withdraw_at_end(void)
{
	static bool is_registered;
	weft__record_at_stop(withdraw);
	if (!is_registered)
		atexit(withdraw);
	is_registered = true;
}

static size_t directory_pages(size_t count)
{
	const size_t refs = WEFT_XEN_PAGE_BYTES / sizeof(uint32_t);
	return count > LIST_MAX ? (count + refs - 1) / refs : 0;
}

/* Makes pages, which the kernel grants at once. NULL with errno. */
static void *share_pages(size_t count, uint32_t *refs, bool is_writable)
{
	return xen.xengntshr_share_pages(own.shares, own.share.domain, (int)count, refs, is_writable);
}

static bool move_pages(void *from, size_t count, char *to)
{
	size_t size = count * WEFT_XEN_PAGE_BYTES;
	return from && mremap(from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to;
}

/* The first page, which the domain may write to, and behind it the others: two kinds of grants,
 * which the kernel does not make together. */
static void *make_buffer(size_t count)
{
	char *buffer = mmap(NULL, count * WEFT_XEN_PAGE_BYTES, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (buffer == MAP_FAILED)
		return NULL;
	bool good = move_pages(share_pages(1, own.refs, true), 1, buffer) &&
				move_pages(share_pages(count - 1, own.refs + 1, false), count - 1,
					buffer + WEFT_XEN_PAGE_BYTES);
	if (!good)
		munmap(buffer, count * WEFT_XEN_PAGE_BYTES);
	return good ? buffer : NULL;
}

static bool make_pages(size_t count)
{
	size_t more = directory_pages(count);
	own.refs = calloc(count + more, sizeof(*own.refs));
	own.shares = own.refs ? xen.xengntshr_open(&quiet, 0) : NULL;
	if (!own.shares)
		return false;
	own.share.buffer = make_buffer(count);
	if (own.share.buffer && more)
		own.share.directory = share_pages(more, own.refs + count, false);
	return own.share.buffer && (!more || own.share.directory);
}

/* The kernel resets its first byte when the process has ended, in whichever way. */
static uint32_t make_alive_page(void)
{
	uint32_t ref = 0;
	char *page =
		xen.xengntshr_share_page_notify(own.shares, own.share.domain, &ref, 0, 0, UINT32_MAX);
	if (page)
		*page = 1;
	return page ? ref : 0;
}

static void name_buffer(void)
{
	char *end = own.id + sizeof(own.id) - 1;
	unsigned pid = (unsigned)getpid();
	do
		*--end = (char)('0' + pid % 10);
	while (pid /= 10);
	own.pid = getpid();
	own.share.id = end;
}

static int publish(void)
{
	struct weft__publication publication = {.guest = &linux_guest, .share = &own.share};
	publication.alive_ref = make_alive_page();
	return weft__guest_publish(&publication);
}

WEFT__EXPORT int weft_xen_record(uint16_t domain, size_t size)
{
	size_t count = size / WEFT_XEN_PAGE_BYTES;
	if (size % WEFT_XEN_PAGE_BYTES || size < WEFT_ABI_BUFFER_MIN_BYTES || count > INT32_MAX)
		return WEFT_ERROR_ARGUMENT;
	if (weft_is_recording())
		return WEFT_ERROR_STATE;
	if (!load())
		return WEFT_ERROR_UNSUPPORTED;
	leave_buffer();
	own.share = (struct weft_xen_share){.size = size, .domain = domain};
	name_buffer();
	own.store = xen.xs_open(0);
	if (!own.store || !make_pages(count)) {
		int reason = errno;
		forget();
		errno = reason;
		return WEFT_ERROR_SYSTEM;
	}
	own.share.name = weft__platform_linux_program();
	const struct weft_platform *platform = find_platform();
	weft__platform_children_keep_off(own.share.buffer, size);
	int error = weft_start(own.share.buffer, size, platform);
	if (error) {
		forget();
		return error;
	}
	/* From now on threads may write into the pages, which are never unmapped. */
	describe_time(own.share.buffer, platform);
	error = publish();
	if (error)
		weft_stop();
	else
		withdraw_at_end();
	return error;
}

/* A domain that was restored or moved has a new number and an empty folder, and its grants are
 * void. */
static bool was_moved(void)
{
	char path[64];
	unsigned size;
	snprintf(path, sizeof(path), "data/weft/%s/state", own.share.id);
	char *state = xen.xs_read(own.store, 0, path, &size);
	bool is_missing = !state && errno == ENOENT;
	free(state);
	return is_missing;
}

WEFT__EXPORT int weft_xen_renew(void)
{
	if (!own.store || own.pid != getpid() || !weft_is_recording())
		return WEFT_ERROR_STATE;
	if (!was_moved())
		return 0;
	uint16_t domain = own.share.domain;
	size_t size = own.share.size;
	weft__record_at_stop(NULL);
	weft_stop();
	return weft_xen_record(domain, size);
}
