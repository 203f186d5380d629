/* SPDX-License-Identifier: ISC
 *
 * Records numbered requests until dom0 writes another command to the guest's key `data/command`:
 *
 *     pause      records nothing until another command comes
 *     record     goes on
 *     stop       completes the buffer; the domain stays
 *     ping       answers events of a port, which it writes to `data/port`; records both
 *     answer     the same for the domain `data/peer`: takes messages and sends answers
 *     ask        sends 10,000 messages to the port `data/peer-port` of the domain `data/peer`
 *     storm      records and sends events to the domain `data/peer` without a pause
 *     compare    records Xen's system time as a hypercall returns it, 10,000 times
 *     hostile    damages the buffer at random, and reports so in `data/state`
 *     crash, poweroff, reboot
 *
 * It writes the number of requests so far to `data/number`. The command line has words: pages=N,
 * gap_us=N between requests, tsc (the clock), directory, id=TEXT, seed=N for `hostile`; mprof:
 * shares its ramdisk, a trace of mirage-profile, at first only half of it, the rest at the next
 * command, and does nothing else.
 */
#include "guest.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weft/weft.h>
#include <weft/xen.h>
#include <xen/hvm/hvm_op.h>
#include <xen/sched.h>

#include "../../hostile/writer.h"

#define PAGES_MAX 1024

const start_info_t *guest_info;

static _Alignas(PAGE_BYTES) uint8_t buffer[PAGES_MAX][PAGE_BYTES];
static _Alignas(PAGE_BYTES) uint8_t template[PAGES_MAX][PAGE_BYTES];
static _Alignas(PAGE_BYTES) uint32_t directory[PAGES_MAX];

static struct {
	uint64_t pages, gap_us, seed;
	char id[33];
	bool tsc, has_directory;
} options = {.pages = 64, .gap_us = 1000, .id = "0"};

/* ---- The command line ---- */

/* The text behind NAME= in the command line, or behind NAME; NULL: it is not there. */
static const char *option(const char *name)
{
	const char *line = (const char *)guest_info->cmd_line;
	for (const char *at = line; *at; at++) {
		size_t i = 0;
		while (name[i] && at[i] == name[i])
			i++;
		if (!name[i] && (at == line || at[-1] == ' '))
			return at + i + (at[i] == '=');
	}
	return NULL;
}

static void read_number(const char *name, uint64_t *number)
{
	const char *text = option(name);
	if (!text)
		return;
	for (*number = 0; *text >= '0' && *text <= '9'; text++)
		*number = *number * 10 + (uint64_t)(*text - '0');
}

static void read_options(void)
{
	const char *id = option("id");
	read_number("pages", &options.pages);
	read_number("gap_us", &options.gap_us);
	read_number("seed", &options.seed);
	if (options.pages > PAGES_MAX)
		options.pages = PAGES_MAX;
	options.tsc = option("tsc") != NULL;
	options.has_directory = option("directory") != NULL;
	for (size_t i = 0; id && id[i] > ' ' && i < sizeof(options.id) - 1; i++)
		options.id[i] = id[i];
}

/* ---- What weft needs ---- */

static uint64_t frame(void *context, const void *page)
{
	(void)context;
	return memory_frame(page);
}

static uint32_t grant(void *context, uint16_t domain, uint64_t of_frame, bool is_writable)
{
	(void)context;
	return memory_grant(domain, of_frame, is_writable);
}

static int write_key(void *context, const char *path, const char *value)
{
	(void)context;
	return xenstore_write(path, value);
}

static void clocks(void *context, uint64_t *ret_system_ns, uint64_t *ret_unix_ns)
{
	(void)context;
	*ret_system_ns = time_now();
	*ret_unix_ns = time_unix(*ret_system_ns);
}

static const struct weft_xen_guest guest = {NULL, frame, grant, write_key, clocks};
static struct weft_xen_share share = {.buffer = buffer, .id = options.id, .name = "test guest"};

/* ---- Commands ---- */

static char command[32];

static bool is_command(const char *name)
{
	size_t i = 0;
	while (name[i] && command[i] == name[i])
		i++;
	return command[i] == name[i];
}

/* Looks into XenStore, but not often. True if there is another command. */
static bool look(void)
{
	static uint64_t next;
	char text[sizeof(command)] = "";
	uint64_t now = time_now();
	if (now < next)
		return false;
	next = now + 20000000;
	if (!xenstore_read("data/command", text, sizeof(text)) ||
		memcmp(text, command, sizeof(text)) == 0)
		return false;
	memcpy(command, text, sizeof(text));
	return true;
}

#define DIGITS 20

static void format(char text[DIGITS + 1], uint64_t number)
{
	text[DIGITS] = '\0';
	for (char *at = text + DIGITS; at > text; number /= 10)
		*--at = (char)('0' + number % 10);
}

static void write_number(const char *path, uint64_t number)
{
	char text[DIGITS + 1];
	format(text, number);
	xenstore_write(path, text);
}

static void record_request(uint64_t number)
{
	uint64_t task = weft_create(WEFT_KIND_TASK);
	weft_label_as(task, "request");
	weft_switch(task);
	weft_tag_value("number", number);
	weft_resolve(task);
	weft_switch(WEFT_TASK_NONE);
}

static void record(void)
{
	static uint64_t number;
	do {
		record_request(number++);
		if (number % 64 == 0)
			write_number("data/number", number);
		if (options.gap_us)
			time_sleep(options.gap_us * 1000);
	} while (!look());
	write_number("data/number", number);
}

static void wait_for_command(void)
{
	while (!look())
		time_sleep(20000000);
}

static void ping(void)
{
	uint64_t number = 0;
	uint32_t port = time_listen(0);
	uint64_t task = weft_create(WEFT_KIND_TASK);
	write_number("data/port", port);
	weft_label_as(task, "event channel");
	weft_switch(task);
	do {
		if (!time_await(port, time_now() + 20000000))
			continue;
		weft_receive(weft_xen_channel(WEFT_XEN_SELF, port));
		weft_tag_value("ping", number);
		weft_tag_value("pong", number);
		time_notify(port);
		weft_tag_value("sent", number++);
	} while (!look());
	weft_resolve(task);
	weft_switch(WEFT_TASK_NONE);
}

static uint64_t read_key(const char *path)
{
	char text[DIGITS + 1];
	uint64_t number = 0;
	xenstore_read(path, text, sizeof(text));
	for (const char *at = text; *at >= '0' && *at <= '9'; at++)
		number = number * 10 + (uint64_t)(*at - '0');
	return number;
}

/* The number of a message has the lowest bit set if it is an answer. */
#define MESSAGES 10000

static uint32_t listen_for_peer(void)
{
	uint32_t port = time_listen((uint16_t)read_key("data/peer"));
	write_number("data/port", port);
	return port;
}

static void answer(void)
{
	uint64_t task = weft_create(WEFT_KIND_TASK), number = 0;
	uint32_t port = listen_for_peer();
	weft_label_as(task, "server");
	while (!look()) {
		if (!time_await(port, time_now() + 20000000))
			continue;
		weft_receive_as(task, WEFT_KEY_ONCE | 2 * number);
		weft_switch(task);
		weft_send(WEFT_KEY_ONCE | (2 * number + 1));
		weft_switch(WEFT_TASK_NONE);
		time_notify(port);
		number++;
	}
}

static void send_message(uint64_t task, uint32_t port, uint64_t number)
{
	weft_switch(task);
	weft_send(WEFT_KEY_ONCE | 2 * number);
	weft_switch(WEFT_TASK_NONE);
	time_notify(port);
	while (!time_await(port, time_now() + 20000000))
		continue;
	weft_receive_as(task, WEFT_KEY_ONCE | (2 * number + 1));
}

static void ask(void)
{
	uint64_t task = weft_create(WEFT_KIND_TASK);
	uint32_t peer_port = (uint32_t)read_key("data/peer-port");
	uint32_t port = time_connect((uint16_t)read_key("data/peer"), peer_port);
	weft_label_as(task, "client");
	(void)time_await(port, time_now()); /* Xen raises one event when the port is bound */
	for (uint64_t i = 0; i < MESSAGES; i++)
		send_message(task, port, i);
	xenstore_write("data/state", "answered");
	wait_for_command();
}

/* The other side need not take the events: some become one. */
static void storm(void)
{
	uint64_t number = 0;
	uint32_t port = listen_for_peer();
	do
		for (int i = 0; i < 1000; i++) {
			weft_tag_value("raised", number++);
			time_notify(port);
		}
	while (!look());
	write_number("data/raised", number);
}

/* A reader sees whether the clock of the events agrees. */
static void compare(void)
{
	static xen_hvm_get_time_t time;
	for (int i = 0; i < 10000; i++) {
		weft_tag("before");
		hypercall(__HYPERVISOR_hvm_op, HVMOP_get_time, (uintptr_t)&time, 0, 0);
		weft_tag_value("xen", (int64_t)time.now);
	}
	xenstore_write("data/state", "compared");
	wait_for_command();
}

/* For attack.c. */
int nanosleep(const struct timespec *time, struct timespec *rest)
{
	(void)rest;
	time_sleep((uint64_t)time->tv_nsec);
	return 0;
}

int ftruncate(int file, off_t size)
{
	(void)file;
	(void)size;
	return -1;
}

static void be_hostile(void)
{
	static struct ring ring = {.bytes = buffer[0], .template = template[0]};
	ring.size = options.pages * PAGE_BYTES;
	memcpy(template, buffer, ring.size);
	attack_init(&ring, options.seed);
	xenstore_write("data/state", "hostile");
	while (!look())
		attack_rewrite();
	xenstore_write("data/state", "hostile no more");
}

static void obey(void)
{
	if (is_command("record"))
		record();
	else if (is_command("ping"))
		ping();
	else if (is_command("answer"))
		answer();
	else if (is_command("ask"))
		ask();
	else if (is_command("storm"))
		storm();
	else if (is_command("compare"))
		compare();
	else if (is_command("hostile"))
		be_hostile();
	else if (is_command("crash"))
		time_end(SHUTDOWN_crash);
	else if (is_command("poweroff"))
		time_end(SHUTDOWN_poweroff);
	else if (is_command("reboot"))
		time_end(SHUTDOWN_reboot);
	else if (is_command("stop")) {
		weft_stop();
		wait_for_command();
	} else
		wait_for_command();
}

/* Empties the packets in the second half of the old trace, and keeps them in the buffer. Returns
 * where they begin. */
static char *hide_later_packets(void)
{
	static const char magic[] = {(char)0xc1, 0x1f, (char)0xfc, (char)0xc1};
	char *end = (char *)guest_info->mod_start + guest_info->mod_len;
	char *later = end - guest_info->mod_len / 2;
	while (later < end && memcmp(later, magic, sizeof(magic)) != 0)
		later++;
	memcpy(buffer, later, (size_t)(end - later));
	memset(later, 0, (size_t)(end - later));
	return later;
}

/* As mirage-profile publishes its trace: one list. */
static void share_old_trace(void)
{
	static char list[2000];
	char digits[DIGITS + 1], *at = list;
	const char *pages = (const char *)guest_info->mod_start;
	for (uint64_t i = 0; i < guest_info->mod_len; i += PAGE_BYTES) {
		uint32_t ref = memory_grant(0, memory_frame(pages + i), false);
		format(digits, ref);
		*at++ = ',';
		at = (char *)memcpy(at, digits + DIGITS - 4, 4) + 4;
	}
	char *later = hide_later_packets();
	xenstore_write("data/mprof/ring-ref", list + 1);
	wait_for_command(); /* grow */
	memcpy(later, buffer, (size_t)(pages + guest_info->mod_len - later));
	for (;;)
		wait_for_command();
}

void guest_start(const start_info_t *info);
void guest_start(const start_info_t *info)
{
	guest_info = info;
	memory_init();
	xenstore_init();
	if (option("mprof"))
		share_old_trace();
	read_options();
	share.size = options.pages * PAGE_BYTES;
	share.tsc_hz = options.tsc ? time_tsc_hz() : 0;
	share.directory = options.has_directory ? directory : NULL;
	if (weft_xen_start(&guest, &share))
		time_end(SHUTDOWN_crash);
	memcpy(command, "record", sizeof("record"));
	for (;;)
		obey();
}
