/* SPDX-License-Identifier: ISC
 *
 * Which process waits for which: keys of messages, and the end of a process.
 */
#define WEFT_CATEGORY always
#include <weft/ends.h>

#include "hooks/hooks.h"
#include "hooks/unseen.h"
#include "kernel/call.h"

/* ---- Keys ---- */

/* Process ids and inodes of two hosts, or of two boots, are about different things. */
static uint64_t host;

__attribute__((constructor(103))) static void find_host(void)
{
	char id[64];
	int fd = weft__kernel_open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC, 0);
	long size = fd < 0 ? 0 : weft__kernel_read(fd, id, sizeof(id));
	if (fd >= 0)
		weft__kernel_close(fd);
	for (long i = 0; i < size; i++)
		host = weft__hooks_mix(host ^ (uint8_t)id[i]);
}

_Static_assert(WEFT__HOOKS_EXECS == WEFT_KEY_EXECS && WEFT__HOOKS_EXITS == WEFT_KEY_EXITS &&
				   WEFT__HOOKS_CHILD_EXITS == WEFT_KEY_CHILD_EXITS,
	"keys of ends of programs");

uint32_t weft__hooks_forks;
static void (*forked)(void);

void weft__hooks_offer_forked(void (*function)(void))
{
	forked = function;
}

void weft__hooks_forked(void)
{
	__atomic_add_fetch(&weft__hooks_forks, 1, __ATOMIC_RELAXED);
	if (forked)
		forked();
}

uint64_t weft__hooks_mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdu;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53u;
	return x ^ x >> 33;
}

uint64_t weft__hooks_key(enum weft__hooks_channel channel, uint64_t what)
{
	uint64_t once = channel == WEFT__HOOKS_BEGINS ? WEFT_KEY_ONCE : 0;
	return once | (uint64_t)channel << 56 | weft__hooks_mix(what ^ host) >> 8;
}

/* ---- The beginning ---- */

static uint64_t own_pid(void)
{
	return (uint64_t)weft__kernel_process();
}

static uint64_t parent_pid(void)
{
	return (uint64_t)weft__kernel_parent();
}

/* It ends with the process. */
static uint64_t main_task;
static uint32_t main_epoch;

uint64_t weft__hooks_main_task(void)
{
	return main_epoch == weft__hooks_epoch() ? main_task : WEFT_TASK_NONE;
}

bool weft__hooks_has_to_wait;
static void (*first_wait)(void);

void weft__hooks_offer_first_wait(void (*function)(void))
{
	first_wait = function;
}

void weft__hooks_first_wait(void)
{
	if (__atomic_exchange_n(&weft__hooks_has_to_wait, false, __ATOMIC_RELAXED))
		first_wait();
}

void weft__hooks_process_begins(uint64_t task)
{
	main_task = task;
	main_epoch = weft__hooks_epoch();
	weft__hooks_title_begins();
	if (!weft__hooks_system_begin())
		return;
	uint64_t pid = own_pid();
	weft_receive_as(task, weft__hooks_key(WEFT__HOOKS_BEGINS, pid));
	weft_receive_as(task, weft__hooks_key(WEFT__HOOKS_EXECS, pid));
	weft_receive_as(task, weft__hooks_key(WEFT__HOOKS_CHILD_BEGINS, parent_pid()));
	/* A wait for the end of this process is one for its first thread; so is one for any child. */
	weft_tag_value_as(task, WEFT_TAG_WRITES, (int64_t)weft__hooks_key(WEFT__HOOKS_EXITS, pid));
	weft_tag_value_as(
		task, WEFT_TAG_WRITES, (int64_t)weft__hooks_key(WEFT__HOOKS_CHILD_EXITS, parent_pid()));
	weft__hooks_system_end();
	weft__hooks_has_to_wait = first_wait != NULL;
	if (weft__hooks_epoch() != 1)
		weft__hooks_unseen_inherited();
}

/* ---- Descriptors ---- */

static void (*received)(int fd, uint64_t task);

void weft__hooks_offer_received(void (*function)(int fd, uint64_t task))
{
	received = function;
}

void weft__hooks_received(int fd, uint64_t task)
{
	if (received)
		received(fd, task);
}

/* ---- The end ---- */

static void (*last_part)(void);

void weft__hooks_at_end(void (*part)(void))
{
	last_part = part;
}

/* In a child of vfork, the thread is the parent's and another one. */
bool weft__hooks_is_this_process(void)
{
	bool is_known = weft__hooks_thread.epoch == weft__hooks_epoch();
	if (!is_known || !weft__hooks_system_begin())
		return false;
	bool is_ours = (uint32_t)weft__kernel_thread() == weft__hooks_thread.number;
	weft__hooks_system_end();
	return is_ours;
}

static uint32_t ended_epoch;

bool weft__hooks_has_ended(void)
{
	return ended_epoch == weft__hooks_epoch();
}

static uint32_t main_ended_epoch;

void weft__hooks_main_ends(void)
{
	uint64_t task = weft__hooks_main_task();
	if (task == WEFT_TASK_NONE || weft__hooks_has_ended())
		return;
	weft_resolve_as(task, task);
	main_ended_epoch = weft__hooks_epoch();
}

void weft__hooks_process_ends(void)
{
	uint64_t task = weft__hooks_main_task();
	if (task == WEFT_TASK_NONE || weft__hooks_has_ended() || !weft__hooks_system_begin())
		return;
	weft__hooks_find_title();
	if (last_part)
		last_part();
	weft__hooks_name_threads();
	weft__hooks_unseen_at_end();
	weft_send_as(task, weft__hooks_key(WEFT__HOOKS_EXITS, own_pid()));
	weft_send_as(task, weft__hooks_key(WEFT__HOOKS_CHILD_EXITS, parent_pid()));
	if (main_ended_epoch != weft__hooks_epoch())
		weft_resolve(task);
	ended_epoch = weft__hooks_epoch();
	weft__hooks_system_end();
}
