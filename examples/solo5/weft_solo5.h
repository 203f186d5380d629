/* SPDX-License-Identifier: ISC
 *
 * The recorder in a unikernel on Solo5: see weft_solo5.c.
 */
#ifndef WEFT_SOLO5_H
#define WEFT_SOLO5_H

/* Begins to record into memory of the unikernel. 0 or an error of weft_start(). */
int weft_solo5_start(void);

#endif
