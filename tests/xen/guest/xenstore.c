/* SPDX-License-Identifier: ISC
 *
 * XenStore over the shared page: one request at a time, without transactions.
 */
#include "guest.h"

#include <string.h>
#include <xen/io/xs_wire.h>

static struct xenstore_domain_interface *ring;
static uint32_t number; /* of the last request */

void xenstore_init(void)
{
	ring = memory_page(guest_info->store_mfn);
}

static void await_other_side(void)
{
	time_notify(guest_info->store_evtchn);
	time_await(guest_info->store_evtchn, time_now() + 100000000);
}

static void send(const void *bytes, size_t size)
{
	const char *at = bytes;
	while (size > 0) {
		uint32_t produced = ring->req_prod;
		if (produced - __atomic_load_n(&ring->req_cons, __ATOMIC_ACQUIRE) == sizeof(ring->req)) {
			await_other_side();
			continue;
		}
		ring->req[MASK_XENSTORE_IDX(produced)] = *at++;
		size--;
		__atomic_store_n(&ring->req_prod, produced + 1, __ATOMIC_RELEASE);
	}
}

/* Takes the next bytes of an answer; those beyond `room` are dropped. */
static void receive(void *bytes, size_t size, size_t room)
{
	char *at = bytes;
	for (size_t i = 0; i < size;) {
		uint32_t consumed = ring->rsp_cons;
		if (__atomic_load_n(&ring->rsp_prod, __ATOMIC_ACQUIRE) == consumed) {
			await_other_side();
			continue;
		}
		if (i < room)
			at[i] = ring->rsp[MASK_XENSTORE_IDX(consumed)];
		i++;
		__atomic_store_n(&ring->rsp_cons, consumed + 1, __ATOMIC_RELEASE);
	}
}

/* Sends a path with or without a value behind it. Returns the answer's size; -1: an error. */
static int request(uint32_t type, const char *path, const char *value, char *answer, size_t room)
{
	uint32_t path_bytes = 0, value_bytes = 0;
	while (path[path_bytes++])
		continue;
	while (value && value[value_bytes])
		value_bytes++;
	struct xsd_sockmsg head = {.type = type, .req_id = ++number, .len = path_bytes + value_bytes};
	send(&head, sizeof(head));
	send(path, path_bytes);
	send(value, value_bytes);
	time_notify(guest_info->store_evtchn);
	receive(&head, sizeof(head), sizeof(head));
	receive(answer, head.len, room);
	time_notify(guest_info->store_evtchn);
	return head.type == type ? (int)(head.len < room ? head.len : room) : -1;
}

int xenstore_write(const char *path, const char *value)
{
	char answer[16];
	return request(XS_WRITE, path, value, answer, sizeof(answer)) < 0;
}

bool xenstore_read(const char *path, char *value, size_t size)
{
	int got = request(XS_READ, path, NULL, value, size - 1);
	value[got < 0 ? 0 : got] = '\0';
	return got >= 0;
}
