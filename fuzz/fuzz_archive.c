/* SPDX-License-Identifier: ISC
 *
 * The input is an archive of traces: its files lie one behind the other in it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "input/archive.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(int condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct weft__input_member member;
	size_t position = 0, last = 0;
	if (!weft__input_archive_is(bytes, size))
		return 0;
	while (weft__input_archive_next(bytes, size, &position, &member)) {
		require(member.offset >= last && member.offset <= size);
		require(member.size <= size - member.offset);
		require(position >= member.offset + member.size && position <= size + 1);
		require(memchr(member.name, '\0', sizeof(member.name)) != NULL);
		require(!*member.name || member.name[strlen(member.name) - 1] != '/');
		last = member.offset + member.size;
	}
	return 0;
}
