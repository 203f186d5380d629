/* SPDX-License-Identifier: ISC
 *
 * A look at an xentrace file before it is opened together with other traces.
 */
#ifndef WEFT_FORMAT_XENTRACE_LOOK_H
#define WEFT_FORMAT_XENTRACE_LOOK_H

#include <stddef.h>
#include <stdint.h>

#include "format/weft/identity.h"
#include "format/xentrace/windows.h"

/* Identifies a file that weft__format_xentrace_probe() accepts: by its first cycles and their
 * estimated rate, and by the boot and the comparisons of clocks that `weft record` notes in it. 0
 * or an error. */
int weft__format_xentrace_look(
	const uint8_t *bytes, size_t size, struct weft__identity *ret_identity);

#endif
