/* SPDX-License-Identifier: ISC
 *
 * See ran_parts.h, and perf_event_open(2). The kernel allows events of a process with all that it
 * starts only for each processor alone, each with a ring of its own. An event is taken when all
 * rings were read after its time, so that a sample comes after the mappings that it needs.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <weft/parse.h>

#include "ran_parts.h"

enum {
	STACK_BYTES = 8 << 10, /* of a sample, a multiple of 8 */
	PAGES = 128,           /* of a ring: what perf_event_mlock_kb allows by default */
	PAGES_MIN = 16,
};

struct ring {
	int fd;
	struct perf_event_mmap_page *page;
	size_t bytes; /* of the data behind the page; a power of two */
};

struct ran_kernel {
	struct ring *rings;
	uint32_t count;
	bool has_kernel;
	uint64_t lost;
	/* Events that were read, but may come before others that were not. */
	struct ran_event **waiting;
	size_t waiting_count, waiting_room;
};

/* The kernel's numbers of the registers, in DWARF's order. */
static const uint8_t registers[WEFT__OUTSIDE_REGISTERS] = {
	0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- Opening ---- */

static struct perf_event_attr describe(unsigned hz, bool has_kernel)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = 1000000000 / hz,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER |
					   PERF_SAMPLE_STACK_USER,
		.disabled = 1,
		.inherit = 1,
		.exclude_kernel = !has_kernel,
		.exclude_hv = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.enable_on_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.watermark = 1,
		.wakeup_watermark = 1 << 30, /* nothing waits for it */
		.clockid = CLOCK_MONOTONIC,
		.sample_stack_user = STACK_BYTES,
	};
	for (unsigned i = 0; i < WEFT__OUTSIDE_REGISTERS; i++)
		attr.sample_regs_user |= UINT64_C(1) << registers[i];
	return attr;
}

static int open_event(pid_t process, int processor, unsigned hz, bool has_kernel)
{
	struct perf_event_attr attr = describe(hz, has_kernel);
	return (int)syscall(SYS_perf_event_open, &attr, process, processor, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Other programs of this user may have used up the memory that the kernel allows. */
static bool map_ring(struct ring *ring)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	for (size_t pages = PAGES; pages >= PAGES_MIN; pages /= 2) {
		void *bytes =
			mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
		if (bytes == MAP_FAILED)
			continue;
		ring->page = bytes;
		ring->bytes = pages * page;
		return true;
	}
	return false;
}

/* The file is missing if the kernel has no perf events; then the setting is empty. */
static void read_setting(char ret_setting[16])
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	ret_setting[0] = '\0';
	if (file && !fgets(ret_setting, 16, file))
		ret_setting[0] = '\0';
	if (file)
		fclose(file);
	ret_setting[strcspn(ret_setting, "\n")] = '\0';
}

static void explain(int error, char ret_denied[RAN_DENIED_BYTES])
{
	char setting[16];
	uint64_t level = 0; /* -1 is no number */
	read_setting(setting);
	(void)weft_parse_number(setting, strlen(setting), &level);
	if (!setting[0])
		snprintf(ret_denied, RAN_DENIED_BYTES, "this kernel has no perf events");
	else if (error != EACCES && error != EPERM)
		snprintf(ret_denied, RAN_DENIED_BYTES, "perf_event_open: %s", strerror(error));
	else if (level > 2)
		snprintf(ret_denied, RAN_DENIED_BYTES,
			"kernel.perf_event_paranoid is %s and must be 2, or a filter of system calls denies it",
			setting);
	else
		snprintf(ret_denied, RAN_DENIED_BYTES,
			"a filter of system calls denies perf_event_open, as in many containers");
}

/* A processor may be switched off. False with errno. */
static bool open_rings(struct ran_kernel *k, pid_t process, unsigned hz)
{
	const long processors = sysconf(_SC_NPROCESSORS_CONF);
	k->rings = calloc(processors > 0 ? (size_t)processors : 1, sizeof(*k->rings));
	for (int i = 0; k->rings && i < processors; i++) {
		struct ring *ring = &k->rings[k->count];
		ring->fd = open_event(process, i, hz, k->has_kernel);
		if (ring->fd < 0 && k->has_kernel && k->count == 0 && (errno == EACCES || errno == EPERM)) {
			k->has_kernel = false;
			ring->fd = open_event(process, i, hz, false);
		}
		if (ring->fd < 0 && errno == ENODEV)
			continue;
		if (ring->fd < 0)
			return false;
		k->count++;
		if (!map_ring(ring))
			return false;
	}
	if (!k->count)
		errno = k->rings ? ENODEV : ENOMEM;
	return k->count > 0;
}

struct ran_kernel *ran_kernel_open(pid_t process, unsigned hz, char ret_denied[RAN_DENIED_BYTES])
{
	struct ran_kernel *k = calloc(1, sizeof(*k));
	if (k) {
		k->has_kernel = true;
		if (open_rings(k, process, hz))
			return k;
	}
	explain(k ? errno : ENOMEM, ret_denied);
	if (k)
		ran_kernel_close(k);
	return NULL;
}

void ran_kernel_close(struct ran_kernel *k)
{
	for (uint32_t i = 0; i < k->count; i++) {
		if (k->rings[i].page)
			munmap(k->rings[i].page, k->rings[i].bytes + (size_t)sysconf(_SC_PAGESIZE));
		close(k->rings[i].fd);
	}
	for (size_t i = 0; i < k->waiting_count; i++)
		free(k->waiting[i]);
	free(k->waiting);
	free(k->rings);
	free(k);
}

bool ran_kernel_has_kernel(const struct ran_kernel *k)
{
	return k->has_kernel;
}

uint64_t ran_kernel_lost(const struct ran_kernel *k)
{
	return k->lost;
}

/* ---- Records ---- */

/* A record that was copied out of the ring. */
struct record_bytes {
	const unsigned char *at;
	size_t left;
};

/* Zero if the record is too short. */
static void take(struct record_bytes *from, void *to, size_t size)
{
	memset(to, 0, size);
	if (size > from->left) {
		from->left = 0;
		return;
	}
	memcpy(to, from->at, size);
	from->at += size;
	from->left -= size;
}

static uint64_t take_u64(struct record_bytes *from)
{
	uint64_t value;
	take(from, &value, sizeof(value));
	return value;
}

static uint32_t take_u32(struct record_bytes *from)
{
	uint32_t value;
	take(from, &value, sizeof(value));
	return value;
}

static struct ran_event *make_event(const struct ran_event *like, const void *bytes, size_t size)
{
	struct ran_event *event = malloc(sizeof(*event) + size);
	if (!event)
		return NULL;
	*event = *like;
	event->size = size;
	if (size)
		memcpy(event->bytes, bytes, size);
	return event;
}

static void take_registers(struct record_bytes *from, struct ran_event *event)
{
	uint64_t by_number[64] = {0};
	const uint64_t abi = take_u64(from);
	uint64_t mask = 0;
	for (unsigned i = 0; i < WEFT__OUTSIDE_REGISTERS; i++)
		mask |= UINT64_C(1) << registers[i];
	for (unsigned i = 0; i < 64 && abi != PERF_SAMPLE_REGS_ABI_NONE; i++)
		if (mask >> i & 1)
			by_number[i] = take_u64(from);
	for (unsigned i = 0; i < WEFT__OUTSIDE_REGISTERS; i++)
		event->registers[i] = by_number[registers[i]];
	event->has_registers = abi == PERF_SAMPLE_REGS_ABI_64;
}

static struct ran_event *read_sample(struct record_bytes from, unsigned misc)
{
	struct ran_event event = {.type = RAN_SAMPLE};
	(void)take_u64(&from); /* registers have it, unless it is in the kernel */
	event.pid = (pid_t)take_u32(&from);
	event.tid = (pid_t)take_u32(&from);
	event.time_ns = take_u64(&from);
	event.is_in_kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	take_registers(&from, &event);
	size_t room = take_u64(&from), size = 0;
	const unsigned char *stack = from.at;
	if (room && room < from.left) {
		from.at += room;
		from.left -= room;
		size = take_u64(&from);
		size = size < room ? size : room;
	}
	return event.pid > 0 ? make_event(&event, stack, size) : NULL;
}

static struct ran_event *read_mapped(struct record_bytes from)
{
	struct ran_event event = {.type = RAN_MAPPED};
	event.pid = (pid_t)take_u32(&from);
	event.tid = (pid_t)take_u32(&from);
	event.address = take_u64(&from);
	event.length = take_u64(&from);
	event.offset = take_u64(&from);
	(void)take_u64(&from); /* the device's numbers */
	event.inode = take_u64(&from);
	(void)take_u64(&from);
	(void)take_u64(&from); /* protection and flags */
	const void *end = from.left ? memchr(from.at, '\0', from.left) : NULL;
	return end ? make_event(&event, from.at, (size_t)((const unsigned char *)end - from.at) + 1)
			   : NULL;
}

static struct ran_event *read_forked(struct record_bytes from)
{
	struct ran_event event = {.type = RAN_FORKED};
	event.pid = (pid_t)take_u32(&from);
	event.parent = (pid_t)take_u32(&from);
	return event.pid != event.parent ? make_event(&event, NULL, 0) : NULL;
}

static struct ran_event *read_executed(struct record_bytes from)
{
	struct ran_event event = {.type = RAN_EXECUTED};
	event.pid = (pid_t)take_u32(&from);
	return make_event(&event, NULL, 0);
}

/* The time is at the end of all records but samples. */
static struct ran_event *read_record(struct ran_kernel *k, const struct perf_event_header *header,
	const unsigned char *bytes, size_t size)
{
	const struct record_bytes from = {bytes, size};
	struct record_bytes end = {bytes + (size > 8 ? size - 8 : 0), size > 8 ? 8 : 0};
	struct ran_event *event = NULL;
	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		return read_sample(from, header->misc);
	case PERF_RECORD_MMAP2:
		event = read_mapped(from);
		break;
	case PERF_RECORD_FORK:
		event = read_forked(from);
		break;
	case PERF_RECORD_COMM:
		event = header->misc & PERF_RECORD_MISC_COMM_EXEC ? read_executed(from) : NULL;
		break;
	case PERF_RECORD_LOST: {
		struct record_bytes lost = from;
		(void)take_u64(&lost);
		k->lost += take_u64(&lost);
		break;
	}
	default:
		break;
	}
	if (event)
		event->time_ns = take_u64(&end);
	return event;
}

static void add_waiting(struct ran_kernel *k, struct ran_event *event)
{
	if (k->waiting_count == k->waiting_room) {
		const size_t room = k->waiting_room ? 2 * k->waiting_room : 256;
		struct ran_event **more = realloc(k->waiting, room * sizeof(*more));
		if (!more) {
			k->lost++;
			free(event);
			return;
		}
		k->waiting = more;
		k->waiting_room = room;
	}
	k->waiting[k->waiting_count++] = event;
}

/* Copies bytes out of a ring, at whose end they may continue at its begin. */
static void copy_out(const struct ring *ring, uint64_t at, unsigned char *to, size_t size)
{
	const unsigned char *data = (const unsigned char *)ring->page + ring->page->data_offset;
	const size_t begin = (size_t)(at & (ring->bytes - 1));
	const size_t first = size < ring->bytes - begin ? size : ring->bytes - begin;
	memcpy(to, data + begin, first);
	memcpy(to + first, data, size - first);
}

static void read_ring(struct ran_kernel *k, struct ring *ring)
{
	static unsigned char bytes[1 << 16]; /* a record's size has 16 bits */
	const uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;
	struct perf_event_header header;
	while (head - tail >= sizeof(header)) {
		copy_out(ring, tail, (unsigned char *)&header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail)
			break;
		copy_out(ring, tail + sizeof(header), bytes, header.size - sizeof(header));
		struct ran_event *event = read_record(k, &header, bytes, header.size - sizeof(header));
		if (event)
			add_waiting(k, event);
		tail += header.size;
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

/* Mappings before samples. */
static int by_time(const void *left, const void *right)
{
	const struct ran_event *l = *(struct ran_event *const *)left,
						   *r = *(struct ran_event *const *)right;
	if (l->time_ns != r->time_ns)
		return l->time_ns < r->time_ns ? -1 : 1;
	return (l->type == RAN_SAMPLE) - (r->type == RAN_SAMPLE);
}

void ran_kernel_take(
	struct ran_kernel *k, void (*take_event)(void *context, struct ran_event *event), void *context)
{
	const uint64_t until_ns = now_ns();
	size_t done = 0;
	for (uint32_t i = 0; i < k->count; i++)
		read_ring(k, &k->rings[i]);
	if (k->waiting_count)
		qsort(k->waiting, k->waiting_count, sizeof(*k->waiting), by_time);
	while (done < k->waiting_count && k->waiting[done]->time_ns < until_ns)
		take_event(context, k->waiting[done++]);
	k->waiting_count -= done;
	if (k->waiting_count)
		memmove(k->waiting, k->waiting + done, k->waiting_count * sizeof(*k->waiting));
}
