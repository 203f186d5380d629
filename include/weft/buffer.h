/* SPDX-License-Identifier: ISC
 *
 * A buffer as a whole: what can be done to one without reading its events.
 */
#ifndef WEFT_BUFFER_H
#define WEFT_BUFFER_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `copy` was made of `live`, front to back, while a program may have been recording into it; both
 * have `size` bytes. Takes out of the copy what was overwritten meanwhile, counting it as such, and
 * brings in the names that came meanwhile. Afterwards the copy is a buffer like that of a program
 * that died. Of bytes that are no buffer nothing is changed. Neither allocates nor does I/O. */
void weft_buffer_mend_copy(void *copy, const void *live, size_t size);

#ifdef __cplusplus
}
#endif
#endif
