/* SPDX-License-Identifier: ISC
 *
 * Locks of C++, Rust, Go and GLib, and those inside of glibc, by the functions in which a
 * thread waits. Few of them name their holder. Where it is a thread inside of the same function,
 * such threads are named.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "parts.h"

#define ANY_SIGNAL ", which any thread may signal"
#define NO_HOLDER  ", which does not name its holder"

enum {
	/* Frames from the innermost one: a function further out may wait for something else. */
	DIRECT_MAX = 4,
	OUTER_MAX = 12, /* of a function by which others wait */
	/* In glibc's struct pthread, to which a stream's lock points. */
	SELF = 16,
	NUMBER = 720,
	SHOWN = 3,
};

struct named_wait {
	const char *function;
	enum weft__outside_kind kind;
	bool is_general; /* the function is one by which others wait, which say more */
	bool has_address;
	const char *words, *about;
};

/* clang-format off */
static const struct named_wait waits[] = {
	{"__cxa_guard_acquire",          WEFT__OUTSIDE_ONCE,      false, true,  "the end of an initialisation, ", ""},
	{"pthread_once",                 WEFT__OUTSIDE_ONCE,      false, true,  "the end of an initialisation, ", ""},
	{"Once::call",                   WEFT__OUTSIDE_ONCE,      false, true,  "the end of an initialisation, ", ""},
	{"Mutex::lock_contended",        WEFT__OUTSIDE_MUTEX,     false, true,  "mutex ", NO_HOLDER},
	{"g_mutex_lock",                 WEFT__OUTSIDE_MUTEX,     false, true,  "mutex ", NO_HOLDER},
	{"RwLock::read_contended",       WEFT__OUTSIDE_RWLOCK,    false, true,  "rwlock ", NO_HOLDER},
	{"RwLock::write_contended",      WEFT__OUTSIDE_RWLOCK,    false, true,  "rwlock ", NO_HOLDER},
	{"Condvar::wait",                WEFT__OUTSIDE_CONDITION, false, true,  "condition ", ANY_SIGNAL},
	{"g_cond_wait",                  WEFT__OUTSIDE_CONDITION, false, true,  "condition ", ANY_SIGNAL},
	{"Barrier::wait",                WEFT__OUTSIDE_BARRIER,   false, false, "the other threads of a barrier", ""},
	{"Receiver<T>::recv",            WEFT__OUTSIDE_CONDITION, false, false, "a message of a channel", ", which nobody owns: any thread may send it"},
	{"Sender<T>::send",              WEFT__OUTSIDE_CONDITION, false, false, "room in a channel", ", which nobody owns: any thread may receive from it"},
	{"std::latch::",                 WEFT__OUTSIDE_BARRIER,   false, false, "a latch", ""},
	{"std::barrier<",                WEFT__OUTSIDE_BARRIER,   false, false, "the other threads of a barrier", ""},
	{"__atomic_futex_unsigned_base", WEFT__OUTSIDE_CONDITION, false, false, "the result of a future", ""},
	{"__atomic_wait_address",        WEFT__OUTSIDE_CONDITION, true,  true,  "a change of the atomic variable ", ""},
	{"Thread::park",                 WEFT__OUTSIDE_CONDITION, true,  false, "a call of unpark()", ", which any thread may make, also by a channel"},
	{"runtime.stopm",                WEFT__OUTSIDE_CONDITION, false, false, "a goroutine that can run", ""},
	{"functions::park",              WEFT__OUTSIDE_CONDITION, true,  false, "a call of unpark()", ", which any thread may make"},
};
/* clang-format on */

/* True if a name contains a function's, and not as the end of a longer word: FnOnce is no Once. */
static bool contains(const char *name, const char *function)
{
	const char *at = strstr(name, function);
	return at && (at == name || !isalnum((unsigned char)at[-1]));
}

static const struct named_wait *find(const struct weft__outside_thread *thread, uint32_t *ret_frame)
{
	const struct named_wait *general = NULL;
	for (uint32_t i = 0; i < thread->frame_count && i < (general ? OUTER_MAX : DIRECT_MAX); i++)
		for (size_t k = 0; k < sizeof(waits) / sizeof(*waits); k++) {
			const struct named_wait *wait = &waits[k];
			if (!contains(thread->frames[i].function, wait->function) ||
				(general && wait->is_general))
				continue;
			*ret_frame = i;
			if (!wait->is_general)
				return wait;
			general = wait;
			break;
		}
	return general;
}

/* ---- Threads inside of the same function ---- */

static bool is_in_exactly(const struct weft__outside_thread *thread, const char *function)
{
	for (uint32_t i = 0; i < thread->frame_count; i++)
		if (strcmp(thread->frames[i].function, function) == 0)
			return true;
	return false;
}

/* Names the threads that are in a function, but do not wait for the same word: "; thread 7 'a' is
 * in FUNCTION". Which of several initialisations theirs is, is not known. */
static void add_threads_in(const struct weft__outside_process *process,
	struct weft__outside_thread *thread, const char *function)
{
	const uint64_t word = thread->kernel.arguments[0];
	uint32_t count = 0;
	for (uint32_t i = 0; i < process->count; i++) {
		const struct weft__outside_thread *other = &process->threads[i];
		const bool waits_for_same = other->kernel.has_call &&
									other->kernel.number == thread->kernel.number &&
									other->kernel.arguments[0] == word;
		if (other == thread || waits_for_same || !is_in_exactly(other, function))
			continue;
		if (count < SHOWN)
			weft__outside_add(thread, "%sthread %d '%s'", count ? ", " : "; ", (int)other->tid,
				other->kernel.name);
		count++;
	}
	if (count > SHOWN)
		weft__outside_add(thread, " and %u more", (unsigned)(count - SHOWN));
	if (count)
		weft__outside_add(thread, count == 1 ? " is in %s" : " are in %s", function);
}

/* ---- Inside of glibc ---- */

static const struct weft__outside_thread *find_owner(
	const struct weft__outside_process *process, uint64_t owner)
{
	uint64_t self = 0;
	uint32_t inner = 0;
	if (!owner || !weft__outside_read(process->alive, owner + SELF, &self, sizeof(self)) ||
		self != owner || !weft__outside_read(process->alive, owner + NUMBER, &inner, sizeof(inner)))
		return NULL;
	for (uint32_t i = 0; inner && i < process->count; i++)
		if ((uint32_t)process->threads[i].inner == inner)
			return &process->threads[i];
	return NULL;
}

/* A stream's lock: its word, how often its owner has taken it, and the owner. */
static bool resolve_stream(
	const struct weft__outside_process *process, struct weft__outside_thread *thread)
{
	struct {
		uint32_t word, count;
		uint64_t owner;
	} lock;
	if (!weft__outside_read(process->alive, thread->kernel.arguments[0], &lock, sizeof(lock)) ||
		!lock.word || !lock.count)
		return false;
	const struct weft__outside_thread *owner = find_owner(process, lock.owner);
	if (!owner)
		return false;
	thread->kind = WEFT__OUTSIDE_MUTEX;
	thread->address = thread->kernel.arguments[0];
	weft__outside_add(
		thread, "waits for the lock of a stream (0x%llx)", (unsigned long long)thread->address);
	weft__outside_add_holder(process, thread, owner);
	return true;
}

/* The heap's locks have no owner. */
static bool resolve_heap(
	const struct weft__outside_process *process, struct weft__outside_thread *thread)
{
	static const char *const functions[] = {"malloc", "free", "calloc", "realloc"};
	const char *function = NULL;
	for (size_t k = 0; thread->frame_count > 1 && k < sizeof(functions) / sizeof(*functions); k++)
		for (uint32_t i = 1; i < 4 && i < thread->frame_count && !function; i++)
			if (strstr(thread->frames[i].function, functions[k]))
				function = functions[k];
	if (!function)
		return false;
	thread->kind = WEFT__OUTSIDE_MUTEX;
	thread->address = thread->kernel.arguments[0];
	weft__outside_add(thread, "waits for a lock of the heap (0x%llx)" NO_HOLDER,
		(unsigned long long)thread->address);
	for (size_t k = 0; k < sizeof(functions) / sizeof(*functions); k++)
		add_threads_in(process, thread, functions[k]);
	return true;
}

bool weft__outside_resolve_named(
	const struct weft__outside_process *process, struct weft__outside_thread *thread)
{
	uint32_t frame = 0;
	if (thread->frame_count && strcmp(thread->frames[0].function, "__lll_lock_wait_private") == 0)
		return resolve_stream(process, thread) || resolve_heap(process, thread);
	const struct named_wait *wait = find(thread, &frame);
	if (!wait)
		return false;
	thread->kind = wait->kind;
	weft__outside_add(thread, "waits for %s", wait->words);
	if (wait->has_address)
		weft__outside_add_object(thread, 0);
	weft__outside_add(thread, "%s", wait->about);
	/* C++'s guard is taken by the function that has the variable. */
	frame += strcmp(wait->function, "__cxa_guard_acquire") == 0;
	if (wait->kind == WEFT__OUTSIDE_ONCE && frame < thread->frame_count)
		add_threads_in(process, thread, thread->frames[frame].function);
	return true;
}

/* ---- Locks of programs ---- */

/* A function in which a known program waits. The stack shows only its name; the meaning is that of
 * the program that has such a function. */
struct known_lock {
	const char *function, *meaning;
	bool has_number; /* the number of the process and ")" follow */
};

void weft__outside_name_lock(struct weft__outside_thread *thread)
{
	static const struct known_lock locks[] = {
		{"ProcSleep", "PostgreSQL's wait for a lock, whose holders are those of pg_blocking_pids(",
			true},
		{"MDL_wait::timed_wait", "the wait of MariaDB and MySQL for a metadata lock", false},
		{"ObjectMonitor::EnterI", "Java's wait for a monitor, whose holder jstack names", false},
		{"ObjectMonitor::wait", "Object.wait() of Java", false}};
	char number[16];
	snprintf(number, sizeof(number), "%d)", (int)thread->inner);
	for (uint32_t i = 0; i < thread->frame_count; i++)
		for (size_t k = 0; k < sizeof(locks) / sizeof(*locks); k++)
			if (strcmp(thread->frames[i].function, locks[k].function) == 0) {
				snprintf(thread->outcome, sizeof(thread->outcome), "%s is %s%s", locks[k].function,
					locks[k].meaning, locks[k].has_number ? number : "");
				return;
			}
}
