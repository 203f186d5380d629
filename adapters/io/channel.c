/* SPDX-License-Identifier: ISC
 *
 * A table of channels by key, from which nothing is removed. A channel has a task from the first
 * wait of the process on. If the table is full, or another thread is making the task, a wait has a
 * task of its own, and its giver is not named.
 */
#include "io/plain.h"

#include "io/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <weft/ends.h>

#include "io/descriptors.h"
#include "kernel/call.h"

#define CHANNELS   256
#define PROBE      16
#define SOON_TICKS (UINT64_C(1) << 17) /* about 50 us: see message.c */

_Static_assert(WEFT__HOOKS_QUEUE == WEFT_KEY_QUEUE, "keys of queues");

struct channel {
	uint64_t key; /* without the type of a message; 0: unused */
	uint32_t epoch, making, given_epoch;
	uint64_t given; /* weft_now() when it was last given to, by any thread, … */
	long part;      /* … with this type */
	struct weft__hooks_alive alive;
};

static struct channel channels[CHANNELS];

static bool has_types(const struct weft__io_channel_name *name)
{
	return name->sort == WEFT__IO_MESSAGES;
}

static bool is_post(const struct weft__io_channel_name *name)
{
	return name->sort == WEFT__IO_POSTS || name->sort == WEFT__IO_POSTS_ROOM;
}

static bool is_room(const struct weft__io_channel_name *name)
{
	return name->sort == WEFT__IO_MESSAGES_ROOM || name->sort == WEFT__IO_POSTS_ROOM;
}

/* ---- Keys ---- */

static uint64_t add(uint64_t hash, uint64_t more)
{
	return weft__hooks_mix(hash ^ weft__hooks_mix(more + 1));
}

static uint64_t identity_in(const struct stat *status)
{
	return add(weft__hooks_mix(status->st_dev), status->st_ino);
}

/* The kernel is asked once for each descriptor. */
static uint64_t post_identity(int fd)
{
	struct weft__io_object *object = weft__io_object(fd);
	struct stat status;
	if (!object)
		return 0;
	if (unlikely(!object->channel) && weft__hooks_system_begin()) {
		if (weft__kernel_stat(fd, &status) == 0)
			object->channel = identity_in(&status);
		weft__hooks_system_end();
	}
	return object->channel;
}

/* Numbers of queues and sets are those of a namespace. */
static uint64_t namespace_identity(void)
{
	static uint64_t known;
	static uint32_t known_epoch;
	struct stat status;
	if (unlikely(__atomic_load_n(&known_epoch, __ATOMIC_ACQUIRE) != weft__hooks_epoch())) {
		if (!weft__hooks_system_begin())
			return 0;
		if (weft__kernel_stat_path("/proc/self/ns/ipc", &status) == 0)
			__atomic_store_n(&known, identity_in(&status), __ATOMIC_RELAXED);
		weft__hooks_system_end();
		__atomic_store_n(&known_epoch, weft__hooks_epoch(), __ATOMIC_RELEASE);
	}
	return __atomic_load_n(&known, __ATOMIC_RELAXED);
}

/* 0: unknown. Messages of all types have the key of type 0, too. */
static WEFT__OWN_FRAME uint64_t key_of(const struct weft__io_channel_name *name)
{
	const uint64_t of = is_post(name) ? post_identity(name->number) : namespace_identity();
	if (!of)
		return 0;
	const uint64_t number = is_post(name) ? 0 : (uint64_t)(uint32_t)name->number;
	const uint64_t object = add(add(of, number), (uint64_t)name->sort);
	return weft__hooks_key(WEFT__HOOKS_QUEUE, add(object, (uint64_t)name->part));
}

static uint64_t base_key(const struct weft__io_channel_name *name)
{
	struct weft__io_channel_name base = *name;
	base.part = has_types(name) ? 0 : name->part;
	return key_of(&base);
}

/* The channel with that key, made if there is none. NULL: there is no room. */
static struct channel *channel_of(uint64_t key)
{
	for (size_t i = 0; key && i < PROBE; i++) {
		struct channel *it = &channels[(key + i) % CHANNELS];
		uint64_t is = __atomic_load_n(&it->key, __ATOMIC_RELAXED);
		if (is == key || (!is && (__atomic_compare_exchange_n(&it->key, &is, key, false,
									  __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
									 is == key)))
			return it;
	}
	return NULL;
}

/* ---- Names ---- */

/* "message queue /jobs" */
static void append_post(struct weft__hooks_text *text, int fd)
{
	static const char gone[] = " (deleted)";
	char path[WEFT__HOOKS_NAME_BYTES];
	weft__io_find_path(fd, path, sizeof(path));
	const size_t end = strlen(path), suffix = sizeof(gone) - 1;
	if (!end)
		return;
	const bool is_gone = end > suffix && memcmp(path + end - suffix, gone, suffix) == 0;
	weft__hooks_append(text, " ");
	weft__hooks_append_bytes(text, path, is_gone ? end - suffix : end);
}

/* The key by which programs find the object. */
static void append_key(struct weft__hooks_text *text, key_t key)
{
	if (key == IPC_PRIVATE)
		return;
	weft__hooks_append(text, ", key ");
	weft__hooks_append_hexadecimal(text, (uint32_t)key);
}

/* "message queue 5, key 0x4d2" */
static void append_queue(struct weft__hooks_text *text, int number)
{
	struct msqid_ds about;
	weft__hooks_append(text, " ");
	weft__hooks_append_number(text, number);
	if (msgctl(number, IPC_STAT, &about) == 0)
		append_key(text, about.msg_perm.__key);
}

/* "semaphore 0 of set 3, key 0x4d2" */
static void append_semaphore(
	struct weft__hooks_text *text, const struct weft__io_channel_name *name)
{
	struct semid_ds about;
	union {
		struct semid_ds *about;
	} argument = {&about};
	if (name->part != WEFT__IO_SEVERAL) {
		weft__hooks_append(text, "semaphore ");
		weft__hooks_append_number(text, name->part);
		weft__hooks_append(text, " of set ");
	} else {
		weft__hooks_append(text, "semaphores of set ");
	}
	weft__hooks_append_number(text, name->number);
	if (semctl(name->number, 0, IPC_STAT, argument) == 0)
		append_key(text, about.sem_perm.__key);
}

static void append_name(struct weft__hooks_text *text, const struct weft__io_channel_name *name)
{
	const int saved = errno;
	if (!weft__hooks_system_begin())
		return;
	if (is_room(name))
		weft__hooks_append(text, "room in ");
	if (name->sort == WEFT__IO_TOKENS) {
		append_semaphore(text, name);
	} else {
		weft__hooks_append(text, "message queue");
		if (is_post(name))
			append_post(text, name->number);
		else
			append_queue(text, name->number);
	}
	weft__hooks_system_end();
	errno = saved;
}

/* ---- Tasks ---- */

struct unmade {
	struct channel *channel; /* NULL: a task for one wait */
	const struct weft__io_channel_name *name;
	uint64_t task;
};

static uint16_t kind_of(const struct weft__io_channel_name *name)
{
	return name->sort == WEFT__IO_TOKENS ? WEFT_KIND_CONDITION
		   : is_room(name)               ? weft_kind("room")
										 : weft_kind("message queue");
}

static void make_task(void *of)
{
	struct unmade *it = of;
	struct weft__hooks_text text = {0};
	append_name(&text, it->name);
	if (!it->channel) {
		it->task = weft__hooks_call_task(&text, weft_kind("call"));
		return;
	}
	weft__hooks_create(&it->channel->alive, WEFT_TASK_NONE, kind_of(it->name), &text);
	weft_tag_value_as(it->channel->alive.task, WEFT_TAG_READS, (int64_t)it->channel->key);
}

/* The channel's task. WEFT_TASK_NONE: another thread makes it just then. */
static uint64_t task_of(struct channel *channel, const struct weft__io_channel_name *name)
{
	const uint32_t own = weft__hooks_epoch();
	struct unmade unmade = {channel, name, WEFT_TASK_NONE};
	if (unlikely(__atomic_load_n(&channel->epoch, __ATOMIC_ACQUIRE) != own)) {
		if (__atomic_exchange_n(&channel->making, own, __ATOMIC_RELAXED) == own)
			return WEFT_TASK_NONE;
		weft__hooks_aside(make_task, &unmade);
		__atomic_store_n(&channel->epoch, own, __ATOMIC_RELEASE);
	}
	return channel->alive.task;
}

static unsigned run_down(void)
{
	unsigned count = 0;
	for (size_t i = 0; i < CHANNELS; i++) {
		const struct channel *it = &channels[i];
		if (__atomic_load_n(&it->epoch, __ATOMIC_ACQUIRE) != weft__hooks_epoch())
			continue;
		weft__hooks_rundown_task(&it->alive, WEFT_TASK_NONE);
		weft_tag_value_as(it->alive.task, WEFT_TAG_READS, (int64_t)it->key);
		count++;
	}
	return count;
}

__attribute__((constructor)) static void offer_rundown(void)
{
	weft__hooks_rundown_add(run_down);
}

/* ---- Giving ---- */

/* The thread that gives first stands for the process. */
static void mark_giver(struct channel *channel)
{
	const uint32_t own = weft__hooks_epoch();
	const uint64_t task = weft__hooks_thread_task();
	if (task != WEFT_TASK_NONE &&
		__atomic_exchange_n(&channel->given_epoch, own, __ATOMIC_RELAXED) != own)
		weft_tag_value_as(task, WEFT_TAG_WRITES, (int64_t)channel->key);
}

static bool was_given_just_now(const struct channel *channel, long part, uint64_t now)
{
	const uint64_t given = __atomic_load_n(&channel->given, __ATOMIC_RELAXED);
	return given && now - given < SOON_TICKS &&
		   __atomic_load_n(&channel->part, __ATOMIC_RELAXED) == part &&
		   __atomic_load_n(&channel->given_epoch, __ATOMIC_RELAXED) == weft__hooks_epoch();
}

void weft__io_channel_give(const struct weft__io_channel_name *name)
{
	const int saved = weft__hooks_begin();
	struct channel *channel = channel_of(base_key(name));
	const uint64_t now = weft_now();
	if (channel && !was_given_just_now(channel, name->part, now)) {
		mark_giver(channel);
		weft_send(channel->key);
		if (has_types(name))
			weft_send(key_of(name));
		__atomic_store_n(&channel->part, name->part, __ATOMIC_RELAXED);
		__atomic_store_n(&channel->given, now, __ATOMIC_RELAXED);
	}
	weft__hooks_end(saved);
}

void weft__io_channel_take_back(const struct weft__io_channel_name *name)
{
	const int saved = weft__hooks_begin();
	struct channel *channel = channel_of(base_key(name));
	if (channel) {
		weft_send_as(WEFT_TASK_NONE, channel->key);
		if (has_types(name))
			weft_send_as(WEFT_TASK_NONE, key_of(name));
		__atomic_store_n(&channel->given, 0, __ATOMIC_RELAXED);
	}
	weft__hooks_end(saved);
}

/* ---- Waiting ---- */

static uint64_t make_own_task(const struct weft__io_channel_name *name)
{
	struct unmade unmade = {NULL, name, WEFT_TASK_NONE};
	weft__hooks_aside(make_task, &unmade);
	return unmade.task;
}

void weft__io_channel_begin(
	struct weft__io_channel_wait *wait, const struct weft__io_channel_name *name, const char *call)
{
	const int saved = weft__hooks_begin();
	struct channel *channel = channel_of(base_key(name));
	const uint64_t task = channel ? task_of(channel, name) : WEFT_TASK_NONE;
	wait->key = 0;
	if (task != WEFT_TASK_NONE) {
		wait->key = name->is_vague ? 0 : key_of(name);
		if (wait->key) {
			__atomic_store_n(&channel->given, 0, __ATOMIC_RELAXED); /* the next may end it, … */
			weft_send_as(WEFT_TASK_NONE, wait->key);                /* … and none before did */
		}
		weft_tag_value_as(task, WEFT_TAG_LIMITED, 1);
		weft__hooks_wait_begin(&wait->wait, task, false, call);
	} else {
		weft__hooks_wait_begin(&wait->wait, make_own_task(name), true, call);
	}
	weft__hooks_end(saved);
}

void weft__io_channel_end(const struct weft__io_channel_wait *wait, bool is_success)
{
	const int saved = weft__hooks_begin();
	if (is_success && wait->key)
		weft_receive_as(wait->wait.source, wait->key);
	if (is_success)
		weft__hooks_wait_got(&wait->wait);
	else
		weft__hooks_wait_ended(&wait->wait);
	weft__hooks_end(saved);
}
