/* SPDX-License-Identifier: ISC
 *
 * The clocks that may have measured a span with given times. Times of all clocks but the recorder's
 * own are in ns.
 */
#ifndef WEFT_CLOCKS_H
#define WEFT_CLOCKS_H

/* WEFT_CLOCK_RECORDER: ticks, as weft_now() returns them. WEFT_CLOCK_MONOTONIC and so on: the
 * system's clocks, as clock_gettime() reads them. WEFT_CLOCK_FOREIGN + n, with n below
 * WEFT_CLOCKS_FOREIGN: clocks that only the program knows, such as a GPU's; see weft_clock_sync. */
enum weft_clock_number {
#define CLOCK(number, id, name) WEFT_CLOCK_##id = number,
#include <weft/clocks.def>
#undef CLOCK
};

#define WEFT_CLOCKS_FOREIGN 8

#endif
