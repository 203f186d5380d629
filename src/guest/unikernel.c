/* SPDX-License-Identifier: ISC
 *
 * Recording in a unikernel: the recorder's platform is made of the guest's services.
 */
#include <weft/error.h>
#include <weft/xen.h>

#include "abi/buffer_abi.h"
#include "guest/publish.h"
#include "record/recorder.h"

/* One recorder, so one platform, and one buffer. */
static struct weft_platform platform;
static struct {
	struct weft_xen_share share;
	char id[WEFT__GUEST_ID_BYTES];
} own;

static uint64_t system_ticks(void *context)
{
	const struct weft_xen_guest *guest = context;
	uint64_t system_ns, unix_ns;
	guest->clocks(guest->context, &system_ns, &unix_ns);
	return system_ns;
}

static void read_clocks(void *context, uint64_t *ret_monotonic_ns, uint64_t *ret_unix_ns)
{
	const struct weft_xen_guest *guest = context;
	guest->clocks(guest->context, ret_monotonic_ns, ret_unix_ns);
}

/* A reader that maps the pages later finds the whole header. */
static void describe(struct weft_abi_buffer *header, const struct weft_xen_share *share)
{
	if (!share->tsc_hz) {
		header->clock = WEFT_ABI_CLOCK_XEN;
		header->start.ticks = header->start.monotonic_ns;
	}
	header->time_base = WEFT_ABI_TIME_XEN;
	for (size_t i = 0; share->name && share->name[i]; i++)
		header->program[i] = share->name[i];
}

/* The caller's texts need not stay valid until weft_stop(). */
static void remember(const struct weft_xen_share *share)
{
	own.share = (struct weft_xen_share){.id = share->id ? own.id : NULL};
	for (size_t i = 0; share->id && i < sizeof(own.id); i++) {
		own.id[i] = share->id[i];
		if (!own.id[i])
			break;
	}
}

static void withdraw(void)
{
	const struct weft__publication publication = {.guest = platform.context, .share = &own.share};
	weft__guest_unpublish(&publication);
}

WEFT__EXPORT int weft_xen_start(
	const struct weft_xen_guest *guest, const struct weft_xen_share *share)
{
	const struct weft__publication publication = {.guest = guest, .share = share};
	if (!weft__guest_can_publish(share))
		return WEFT_ERROR_ARGUMENT;
	if (weft__record_generation())
		return WEFT_ERROR_STATE;
	platform = (struct weft_platform){
		.context = (void *)(uintptr_t)guest,
		.ticks = share->tsc_hz ? NULL : system_ticks,
		.ticks_hz = share->tsc_hz ? share->tsc_hz : 1000000000,
		.read_clocks = read_clocks,
	};
	int error = weft_start(share->buffer, share->size, &platform);
	if (error)
		return error;
	describe(share->buffer, share);
	error = weft__guest_publish(&publication);
	if (error) {
		weft_stop();
		return error;
	}
	remember(share);
	weft__record_at_stop(withdraw);
	return 0;
}

WEFT__EXPORT void weft_xen_close(
	const struct weft_xen_guest *guest, const struct weft_xen_share *share)
{
	const struct weft__publication publication = {.guest = guest, .share = share};
	weft__record_at_stop(NULL);
	weft_stop();
	weft__guest_unpublish(&publication);
}
