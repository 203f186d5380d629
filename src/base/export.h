/* SPDX-License-Identifier: ISC
 *
 * Libraries are built with hidden visibility; public functions are marked where they are defined.
 */
#ifndef WEFT_BASE_EXPORT_H
#define WEFT_BASE_EXPORT_H

#define WEFT__EXPORT __attribute__((visibility("default")))

#endif
