/* SPDX-License-Identifier: ISC
 *
 * Trace contexts in Xen's own trace. A thread of a guest writes a record (HVMOP_xentrace) when the
 * context changes for which it works. Any guest may write any record.
 *
 *     u32 words[0-3]   the trace id, the higher half first; each half with its lower word first
 *     u32 words[4-5]   the span id, the lower word first; 0: the thread works for none
 *     u32 words[6]     bits 0-7 flags; bits 8-31 "wef"
 */
#ifndef WEFT_ABI_XEN_ABI_H
#define WEFT_ABI_XEN_ABI_H

#include <stdint.h>

#define WEFT_ABI_XEN_CONTEXT       0x7ecu /* the record's number among those of guests */
#define WEFT_ABI_XEN_CONTEXT_WORDS 7u
#define WEFT_ABI_XEN_CONTEXT_NAME  UINT32_C(0x666577) /* "wef" */

#endif
