/* SPDX-License-Identifier: ISC
 *
 * Memory for metrics (record/metrics.h), which other processes read: one memfd for the values of
 * levels, made with the first metric, and one for children, if the program wants any.
 *
 * A child that was made by fork() gets memory of its own.
 */
#include "platform/linux.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include <weft/error.h>

#include "abi/run_abi.h"
#include "kernel/call.h"
#include "kernel/filter.h"
#include "record/metrics.h"

static struct weft__shared_memory values = {.name = WEFT_ABI_METRICS_NAME, .fd = -1};
static struct weft__shared_memory children = {.name = WEFT_ABI_CHILDREN_NAME, .fd = -1};
static bool are_children_shared;
static bool is_prepared;
static bool is_shared_late; /* by weft__metrics_share(), which forked children call themselves */

static uint8_t collected[16]; /* the name of the file of an agent; zero: there is none */

/* ---- Memory ---- */

/* True if others must not read it, or if filters may end the process at the calls that share it. */
static bool is_private(void)
{
	return !weft__platform_attach_is_wanted() || weft__kernel_is_filtered();
}

/* False: a forked child would keep pointers to memory that it does not get. Done here, too, because
 * a copy that is barred did not do it at its start. */
static bool is_wiped(void)
{
	struct weft__metrics *m = weft__record_metrics();
	return madvise(&m->own, sizeof(m->own), MADV_WIPEONFORK) == 0;
}

/* Metrics are in the file of an agent, if there is one, or beside the ring; these keep the values
 * when the process has ended. Readers find an agent's file, whose name is random, by what the memfd
 * has, and need none for that beside the ring. Without random bytes nobody collects them. */
static bool share_values(void)
{
	uint8_t region[16] = {0};
	const bool has_name = weft__kernel_call(SYS_getrandom, (long)region, sizeof(region),
							  GRND_NONBLOCK, 0, 0, 0) == sizeof(region);
	const char *path = weft__platform_linux_beside(WEFT_ABI_RUN_METRICS);
	struct weft_abi_metrics *memory = NULL;
	struct weft_abi_metrics *named =
		has_name ? weft__platform_region_make_metrics(region, path) : NULL;
	memset(collected, 0, sizeof(collected));
	if (named)
		memcpy(collected, region, sizeof(collected));
	else if (path)
		memory = weft__platform_region_make_at(path, WEFT_ABI_METRICS_BYTES);
	values.bytes = WEFT_ABI_METRICS_BYTES;
	if (!memory)
		memory = weft__platform_memory_make(&values);
	if (memory) {
		if (has_name)
			memcpy(memory->region, region, sizeof(region));
		memory->is_elsewhere = named != NULL;
		weft__platform_region_begin_metrics(memory);
	}
	if (named || memory)
		weft__record_metrics_share(named ? named : memory);
	return named || memory;
}

void weft__platform_metrics_keep(void)
{
	static const uint8_t none[16];
	const char *path = weft__platform_linux_beside(WEFT_ABI_RUN_METRICS);
	if (path && weft__load(&weft__record_metrics()->own.cells) &&
		memcmp(collected, none, sizeof(collected)) != 0)
		weft__platform_region_keep(collected, path);
}

static size_t children_bytes(uint32_t count)
{
	return sizeof(struct weft_abi_children) + count * sizeof(struct weft_abi_child);
}

/* Without others that read it, the memory is only ours. */
static bool share_children(struct weft__metric_child *own, uint32_t count)
{
	children.bytes = children_bytes(count);
	struct weft_abi_children *memory =
		are_children_shared ? weft__platform_memory_make(&children) : NULL;
	if (!memory)
		memory = weft__platform_memory_map(-1, children.bytes);
	if (memory)
		weft__record_metrics_share_children(memory, (uint32_t)weft__kernel_process(), own, count);
	return memory;
}

/* ---- Forked children ---- */

/* Called by fork() in the child: see replace_in_child() in attach.c. */
static void replace_in_child(void)
{
	struct weft__metrics *m = weft__record_metrics();
	int saved = errno;
	if (!weft__platform_memory_may_replace())
		return;
	if (values.bytes && !weft__load(&m->own.cells)) {
		weft__platform_memory_forget(&values);
		if (is_shared_late)
			weft__store(&m->has_begun, 0);
		else
			share_values();
	}
	if (children.bytes && !weft__load(&m->own.children)) {
		weft__platform_memory_forget(&children);
		share_children(NULL, weft__load(&m->child_count));
	}
	errno = saved;
}

/* Once in a process and those that it forks. */
static void begin_metrics(void)
{
	static uint32_t has_begun;
	if (!weft__compare_exchange(&has_begun, 0, 1))
		return;
	weft__platform_memory_begin();
	(void)pthread_atfork(NULL, NULL, replace_in_child);
}

void weft__platform_metrics_prepare(void)
{
	int saved = errno;
	if (!is_private() && is_wiped()) {
		begin_metrics();
		weft__platform_region_find();
		is_prepared = true;
	}
	errno = saved;
}

void weft__platform_metrics_begin(bool is_late)
{
	int saved = errno;
	if (!is_late)
		weft__platform_metrics_prepare();
	is_shared_late = is_late;
	if (is_prepared && !weft__kernel_is_filtered())
		share_values();
	errno = saved;
}

/* Our own part of children is inherited: a forked child has handles of its parent's. */
static int reserve(struct weft__metrics *m, uint32_t count)
{
	const size_t bytes = count * sizeof(struct weft__metric_child);
	if (!is_wiped())
		return WEFT_ERROR_UNSUPPORTED;
	if (weft__load(&m->own.children))
		return WEFT_ERROR_STATE;
	if (weft__load(&m->child))
		return count <= weft__load(&m->child_count) && share_children(NULL, m->child_count)
				   ? 0
				   : WEFT_ERROR_STATE;
	struct weft__metric_child *own = mmap(
		NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (own == MAP_FAILED)
		return WEFT_ERROR_MEMORY;
	begin_metrics();
	are_children_shared = !is_private();
	if (share_children(own, count))
		return 0;
	munmap(own, bytes);
	return WEFT_ERROR_MEMORY;
}

int weft__platform_metrics_reserve(uint32_t count)
{
	struct weft__metrics *m = weft__record_metrics();
	int saved = errno;
	/* Two threads would mix their counts and memory. */
	if (!weft__compare_exchange(&m->is_reserving, 0, 1))
		return WEFT_ERROR_STATE;
	int error = reserve(m, count);
	weft__store_release(&m->is_reserving, 0);
	errno = saved;
	return error;
}
