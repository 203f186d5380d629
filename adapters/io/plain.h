/* SPDX-License-Identifier: ISC
 *
 * Include this first in a file that defines functions with libc's names. The headers of libc then
 * declare them under these names and not under those of their variants: read and not __read_chk,
 * open and not open64.
 */
#ifndef WEFT_ADAPTERS_IO_PLAIN_H
#define WEFT_ADAPTERS_IO_PLAIN_H

#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS

#endif
