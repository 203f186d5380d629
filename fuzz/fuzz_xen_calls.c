/* SPDX-License-Identifier: ISC
 *
 * Calls of Xen, as a recorded program passes them to ioctl: the number of the request, then
 * its struct, then the buffer of a hypercall. Each is in memory of exactly the size that is read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "xen/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(int condition)
{
	if (!condition)
		abort();
}

/* A part of the input of its own; NULL if the input has not so much. */
static uint8_t *take(const uint8_t **bytes, size_t *size, size_t part)
{
	uint8_t *taken = *size >= part ? malloc(part ? part : 1) : NULL;
	if (!taken)
		return NULL;
	memcpy(taken, *bytes, part);
	*bytes += part;
	*size -= part;
	return taken;
}

static void check(const struct weft__xen_call *call)
{
	require(call->name && *call->name);
	require(call->domain >= -1 && call->domain < 0x7ff0);
	require(call->number >= -1 && call->number <= UINT32_MAX);
	require(call->count >= -1 && call->count <= UINT32_MAX);
	require(call->port >= -1 && call->port <= UINT32_MAX);
}

static void decode_hypercall(
	const uint64_t hypercall[static WEFT__XEN_ARGUMENTS], const uint8_t *bytes, size_t size)
{
	const struct weft__xen_part part = weft__xen_find_part(hypercall);
	require(part.size <= WEFT__XEN_PART_BYTES);
	uint8_t *buffer = part.size ? take(&bytes, &size, part.size) : NULL;
	const struct weft__xen_call call = weft__xen_decode_hypercall(hypercall, buffer);
	free(buffer);
	check(&call);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint64_t number, hypercall[WEFT__XEN_ARGUMENTS];
	if (size < sizeof(number))
		return 0;
	memcpy(&number, bytes, sizeof(number));
	const struct weft__xen_request request = weft__xen_find_request((unsigned long)number);
	if (!request.name)
		return 0;
	bytes += sizeof(number);
	size -= sizeof(number);
	require(request.size <= WEFT__XEN_BYTES_MAX);
	uint8_t *it = take(&bytes, &size, request.size);
	const struct weft__xen_call call = weft__xen_decode_request(&request, it);
	check(&call);
	if (request.is_hypercall && it) {
		memcpy(hypercall, it, sizeof(hypercall));
		uint8_t *entry =
			weft__xen_find_entry(hypercall) ? take(&bytes, &size, WEFT__XEN_ENTRY_BYTES) : NULL;
		if (entry)
			weft__xen_take_entry(hypercall, entry);
		free(entry);
		decode_hypercall(hypercall, bytes, size);
	}
	free(it);
	return 0;
}
