/* SPDX-License-Identifier: ISC
 *
 * In dom0: sends a guest events and waits for its answers, and records both: into FILE with Xen's
 * system time, or as any program of dom0 records.
 *
 *     rounds DOMAIN ROUNDS [FILE]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xen/xen.h>
#include <xen/hvm/hvm_op.h>
#include <xencall.h>
#include <xenevtchn.h>
#include <xenstore.h>

#include <weft/weft.h>
#include <weft/xen.h>

#define BUFFER_BYTES (4 << 20)

static xencall_handle *calls;
static uint64_t *now;

static uint64_t frame(void *context, const void *page)
{
	(void)context;
	(void)page;
	return 1;
}

static uint32_t grant(void *context, uint16_t domain, uint64_t of_frame, bool is_writable)
{
	(void)context, (void)domain, (void)is_writable;
	return (uint32_t)of_frame;
}

static int write_key(void *context, const char *path, const char *value)
{
	(void)context;
	(void)path;
	(void)value;
	return 0;
}

static void clocks(void *context, uint64_t *ret_system_ns, uint64_t *ret_unix_ns)
{
	(void)context;
	if (xencall2(calls, __HYPERVISOR_hvm_op, HVMOP_get_time, (uintptr_t)now))
		abort();
	*ret_system_ns = *now;
	*ret_unix_ns = 0;
}

static unsigned port_of(const char *domain)
{
	struct xs_handle *store = xs_open(0);
	char path[64];
	unsigned size;
	snprintf(path, sizeof(path), "/local/domain/%s/data/port", domain);
	const char *value = store ? xs_read(store, XBT_NULL, path, &size) : NULL;
	return value ? (unsigned)strtoul(value, NULL, 10) : 0;
}

/* Waits for the next event of the port. */
static void await(xenevtchn_handle *channels)
{
	int port = xenevtchn_pending(channels);
	if (port < 0 || xenevtchn_unmask(channels, (evtchn_port_t)port))
		exit(1);
}

static void play(const char *domain, unsigned rounds)
{
	xenevtchn_handle *channels = xenevtchn_open(NULL, 0);
	int port = channels
				   ? xenevtchn_bind_interdomain(channels, (uint32_t)atoi(domain), port_of(domain))
				   : -1;
	if (port < 0)
		exit(1);
	await(channels); /* Xen raises one when the port is bound */
	for (unsigned i = 0; i < rounds; i++) {
		weft_tag_value("ping", i);
		if (xenevtchn_notify(channels, (evtchn_port_t)port))
			exit(1);
		await(channels);
		weft_tag_value("pong", i);
	}
}

/* Records into memory with Xen's time, and writes it to a file. */
static int play_with_xen(char **arguments)
{
	static const struct weft_xen_guest self = {NULL, frame, grant, write_key, clocks};
	struct weft_xen_share share = {.size = BUFFER_BYTES, .name = "ping"};
	calls = xencall_open(NULL, 0);
	now = calls ? xencall_alloc_buffer(calls, sizeof(*now)) : NULL;
	share.buffer = aligned_alloc(WEFT_XEN_PAGE_BYTES, BUFFER_BYTES);
	if (!now || !share.buffer || weft_xen_start(&self, &share))
		return 2;
	play(arguments[1], (unsigned)atoi(arguments[2]));
	weft_stop();
	FILE *file = fopen(arguments[3], "wb");
	return !file || fwrite(share.buffer, share.size, 1, file) != 1 || fclose(file);
}

int main(int count, char **arguments)
{
	alarm(600); /* 10,000 rounds take 8 s of processor time, so minutes on a loaded machine */
	if (count == 4)
		return play_with_xen(arguments);
	if (count != 3)
		return 2;
	play(arguments[1], (unsigned)atoi(arguments[2]));
	return 0;
}
