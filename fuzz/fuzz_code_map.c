/* SPDX-License-Identifier: ISC
 *
 * The input is a list of functions that a process has made, as it stands in /tmp/perf-PID.map.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apps/weft/why/code_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(int condition)
{
	if (!condition)
		abort();
}

/* A terminal may show it. */
static void check_text(const char *text, size_t room)
{
	const char *end = memchr(text, '\0', room);
	require(end != NULL);
	for (; text < end; text++)
		require((unsigned char)*text >= ' ' && *text != 0x7f);
}

static void check(const struct code_map *map, uint64_t address)
{
	struct code_map_function it;
	if (!code_map_find(map, address, &it))
		return;
	check_text(it.function, sizeof(it.function));
	check_text(it.file, sizeof(it.file));
	require(it.function[0] != '\0');
	require(it.line != 0 || it.file[0] == '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct code_map *map = code_map_make((const char *)bytes, size);
	require(map != NULL);
	for (uint64_t address = 0; address < 256; address++) {
		check(map, address);
		check(map, UINT64_MAX - address);
	}
	code_map_destroy(map);
	return 0;
}
