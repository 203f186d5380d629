/* SPDX-License-Identifier: ISC
 *
 * See stack.h. libgcc walks the stack by the tables that exceptions need, without a lock or
 * allocation, aside: it needs some 3 KiB of stack. It costs microseconds, so each thread has a
 * budget. Where code has no such table, as in code that is made at run time, the walk ends.
 *
 * Each list of calls is kept, once for all threads, so that its text is put together only when the
 * buffer does not know it.
 */
#include "hooks/stack.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <string.h>
#include <unwind.h>

#include "hooks/build_id.h"
#include "hooks/library.h"
#include "hooks/unseen.h"
#include "kernel/call.h"

/* An older libweft lacks these (older.c). */
#pragma weak weft__module
#pragma weak weft__stack_name
#pragma weak weft__stack

WEFT_CATEGORY_DEFINE(stack, "stack", "where in the code threads wait");

enum {
	DEPTH = 32,
	KEPT = 1024,
	PROBES = 8,
	PART = 100,        /* the budget: this part of a thread's time, … */
	GRACE_NS = 500000, /* … and so much at first */
	WALK_NS = 50000,   /* a walk that takes longer has lost its processor */
	TEXT_BYTES = 1000,
	STACK_MAX = 64 << 20, /* bytes of one call */
};

/* The calls, as the address of each one's last byte. */
struct calls {
	unsigned count;
	bool is_cut; /* there may be more */
	uintptr_t at[DEPTH];
};

/* A walk, and the stack pointer of the last call. */
struct walk {
	struct calls calls;
	uintptr_t stack;
};

/* A list that was found before. Another thread may write it anew once code was unloaded, so `name`,
 * libweft's cache, has the epoch to which it belongs in the bits that libweft leaves 0. */
struct kept {
	uint32_t epoch; /* of the code; 0: free; UINT32_MAX: it is just written */
	uint64_t name;
	struct calls calls;
};

#define EPOCH_SHIFT 16
#define EPOCH_BITS  (UINT64_C(0xffff) << EPOCH_SHIFT)

static struct kept kept[KEPT];
static uint32_t code_epoch = 1;

/* How much of a thread's time has gone into walks, since the first one. */
static __thread struct {
	uint64_t began_ns, spent_ns;
} budget __attribute__((tls_model("initial-exec")));

/* The addresses of an ELF file's code and data. */
struct range {
	uintptr_t begin, end;
};

static struct range own, libc;

static bool is_in(struct range range, uintptr_t address)
{
	return address - range.begin < range.end - range.begin;
}

static struct range range_of(const void *function)
{
	struct dl_find_object found;
	if (_dl_find_object((void *)(uintptr_t)function, &found) != 0)
		return (struct range){0, 0};
	return (struct range){(uintptr_t)found.dlfo_map_start, (uintptr_t)found.dlfo_map_end};
}

__attribute__((constructor(104))) static void find_ranges(void)
{
	own = range_of((const void *)(uintptr_t)find_ranges);
	libc = range_of((const void *)(uintptr_t)gnu_get_libc_version);
}

/* ---- The walk ---- */

/* True if the caller's stack pointer cannot belong to the same stack. It may be the remains of one
 * that is gone, as below a coroutine that began in a handler of a signal: the next step would read
 * there. */
static bool is_elsewhere(const struct walk *walk, uintptr_t stack)
{
	return walk->stack && stack - walk->stack > STACK_MAX;
}

static _Unwind_Reason_Code take_call(struct _Unwind_Context *context, void *of)
{
	struct walk *walk = of;
	struct calls *calls = &walk->calls;
	const uintptr_t stack = _Unwind_GetCFA(context);
	int is_interrupted = 0;
	uintptr_t at = _Unwind_GetIPInfo(context, &is_interrupted);
	if (!at || is_in(own, at))
		return at ? _URC_NO_REASON : _URC_END_OF_STACK;
	calls->count -= is_interrupted && calls->count; /* the code that ends a handler is no call */
	calls->is_cut = calls->count == DEPTH || is_elsewhere(walk, stack);
	if (calls->is_cut)
		return _URC_END_OF_STACK;
	walk->stack = stack;
	calls->at[calls->count++] = is_interrupted ? at : at - 1;
	/* Where a signal has interrupted code, its stack may be gone, too. */
	calls->is_cut = is_interrupted;
	return is_interrupted ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/* Leaves out what calls main, or a thread's function: libc, and the program's first code. */
static void leave_out_begin(struct calls *calls)
{
	unsigned count = calls->count;
	if (calls->is_cut)
		return;
	if (count > 1 && !is_in(libc, calls->at[count - 1]) && is_in(libc, calls->at[count - 2]))
		count--;
	while (count > 1 && is_in(libc, calls->at[count - 1]))
		count--;
	calls->count = count;
}

/* ---- Kept lists ---- */

static uint64_t hash_of(const struct calls *calls)
{
	uint64_t hash = calls->count * 2 + calls->is_cut;
	for (unsigned i = 0; i < calls->count; i++)
		hash = (hash ^ calls->at[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static bool is_same(const struct calls *calls, const struct calls *others)
{
	return calls->count == others->count && calls->is_cut == others->is_cut &&
		   memcmp(calls->at, others->at, calls->count * sizeof(calls->at[0])) == 0;
}

/* Another thread may write it, or have written it: then it is not ours. */
static bool take(struct kept *it, uint32_t is, uint32_t now, const struct calls *calls)
{
	if (!__atomic_compare_exchange_n(
			&it->epoch, &is, UINT32_MAX, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	it->calls = *calls;
	__atomic_store_n(&it->epoch, now, __ATOMIC_RELEASE);
	return true;
}

/* Another thread may have written it meanwhile. */
static bool has(const struct kept *it, uint32_t now, const struct calls *calls)
{
	bool is = is_same(&it->calls, calls);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return is && __atomic_load_n(&it->epoch, __ATOMIC_RELAXED) == now;
}

static struct kept *find_kept(const struct calls *calls, uint32_t now)
{
	const uint64_t hash = hash_of(calls);
	for (unsigned i = 0; i < PROBES; i++) {
		struct kept *it = &kept[(hash + i) % KEPT];
		const uint32_t epoch = __atomic_load_n(&it->epoch, __ATOMIC_ACQUIRE);
		if (epoch == now ? has(it, now, calls) : epoch != UINT32_MAX && take(it, epoch, now, calls))
			return it;
	}
	weft__hooks_unseen("stacks", "different ones");
	return NULL;
}

static void forget_code(void)
{
	if (__atomic_add_fetch(&code_epoch, 1, __ATOMIC_ACQ_REL) == UINT32_MAX)
		__atomic_store_n(&code_epoch, 1, __ATOMIC_RELEASE);
}

/* Before, because addresses mean other code as soon as this code is unloaded; and after, because a
 * thread may have been in it until then. */
HOOK(dlclose)
int dlclose(void *handle)
{
	forget_code();
	int result = NEXT(dlclose)(handle);
	forget_code();
	weft__hooks_library_unloaded();
	return result;
}

/* ---- Text ---- */

struct text {
	size_t size;
	uint32_t generation; /* of the buffer that has the modules; 0: none so far */
	char bytes[TEXT_BYTES];
};

static void append(struct text *text, const char *bytes, size_t size)
{
	memcpy(text->bytes + text->size, bytes, size);
	text->size += size;
}

static void append_hexadecimal(struct text *text, uint64_t number)
{
	char digits[16];
	unsigned at = sizeof(digits);
	do
		digits[--at] = "0123456789abcdef"[number & 15];
	while (number >>= 4);
	append(text, digits + at, sizeof(digits) - at);
}

/* The file of the program itself has no name in the dynamic linker's list. */
static const char *path_of(const struct link_map *map)
{
	static char program[1024];
	if (*map->l_name)
		return map->l_name;
	if (!program[0]) {
		long size = weft__kernel_readlink("/proc/self/exe", program, sizeof(program) - 1);
		program[size > 0 ? size : 0] = '\0';
	}
	return program;
}

/* Appends " MODULE:ADDRESS". False if the code is in no file, or the buffer has no room. */
static bool append_call(struct text *text, uintptr_t at)
{
	struct dl_find_object found;
	char build_id[WEFT__HOOKS_BUILD_ID_ROOM];
	uint32_t generation;
	if (_dl_find_object((void *)at, &found) != 0)
		return false;
	const struct link_map *map = found.dlfo_link_map;
	weft__hooks_build_id(map, build_id);
	const uint16_t module = weft__module(path_of(map), build_id, &generation);
	if (!module || (text->generation && text->generation != generation))
		return false;
	text->generation = generation;
	if (text->size)
		append(text, " ", 1);
	append_hexadecimal(text, module);
	append(text, ":", 1);
	append_hexadecimal(text, at - map->l_addr);
	return true;
}

#define CALL_BYTES 24 /* the longest one, with a space */

/* `*name` stays 0 if the buffer has no room. */
static void name_calls(const struct calls *calls, uint64_t *name)
{
	struct text text = {0};
	unsigned i = 0;
	while (i < calls->count && text.size + CALL_BYTES + 2 < sizeof(text.bytes) &&
		   append_call(&text, calls->at[i]))
		i++;
	if (i == 0)
		return;
	if (i < calls->count || calls->is_cut)
		append(&text, " +", 2);
	weft__stack_name(name, text.generation, text.bytes, text.size);
}

/* The name of the calls, as libweft's cache; 0: none. */
static uint64_t find_name(const struct calls *calls)
{
	const uint32_t now = __atomic_load_n(&code_epoch, __ATOMIC_ACQUIRE);
	const uint64_t epoch = (uint64_t)now << EPOCH_SHIFT & EPOCH_BITS;
	struct kept *it = find_kept(calls, now);
	uint64_t known = it ? __atomic_load_n(&it->name, __ATOMIC_RELAXED) : 0, name = 0;
	if (!it)
		return 0;
	if ((known & EPOCH_BITS) == epoch)
		name = known & ~EPOCH_BITS;
	if (!weft__stack_name(&name, 0, NULL, 0)) {
		name_calls(calls, &name);
		__atomic_store_n(&it->name, name | epoch, __ATOMIC_RELAXED);
	}
	return name;
}

/* ---- Waits ---- */

struct search {
	uintptr_t here; /* on the program's stack */
	uint64_t name;
};

/* Not on the program's stack, which may be too small. */
static void search_aside(void *of)
{
	struct search *search = of;
	struct walk walk = {0};
	if (search->here - (uintptr_t)__builtin_frame_address(0) < 4096)
		return;
	_Unwind_Backtrace(take_call, &walk);
	leave_out_begin(&walk.calls);
	if (walk.calls.count)
		search->name = find_name(&walk.calls);
}

uint64_t weft__hooks_budget_begin(void)
{
	const uint64_t now_ns = weft__hooks_now_ns();
	if (!budget.began_ns)
		budget.began_ns = now_ns;
	return budget.spent_ns < GRACE_NS + (now_ns - budget.began_ns) / PART ? now_ns : 0;
}

void weft__hooks_budget_end(uint64_t began_ns)
{
	const uint64_t spent_ns = weft__hooks_now_ns() - began_ns;
	budget.spent_ns += spent_ns < WALK_NS ? spent_ns : WALK_NS;
}

uint64_t weft__hooks_stack_find(void)
{
	struct search search = {(uintptr_t)__builtin_frame_address(0), 0};
	if (!weft__allows(&weft_category_stack, WEFT_LEVEL_INFO) || !weft__stack_name)
		return 0;
	const uint64_t began_ns = weft__hooks_budget_begin();
	if (!began_ns)
		return 0;
	weft__hooks_aside(search_aside, &search);
	weft__hooks_budget_end(began_ns);
	return search.name;
}

void weft__hooks_stack_record(uint64_t name)
{
	if (name)
		weft__stack(&name);
}
