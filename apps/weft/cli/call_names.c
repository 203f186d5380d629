/* SPDX-License-Identifier: ISC
 *
 * The names of system calls, from <sys/syscall.h> by tools/call_names.py.
 */
#include "call_names.h"

#include <stddef.h>
#include <sys/syscall.h>

static const struct {
	uint64_t number;
	const char *name;
} calls[] = {
#include "call_names.inc"
};

const char *cli_call_name(uint64_t number)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == number)
			return calls[i].name;
	return NULL;
}
