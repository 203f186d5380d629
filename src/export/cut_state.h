/* SPDX-License-Identifier: ISC
 *
 * The state of a cut whose range has not begun, as a trace of its own.
 */
#ifndef WEFT_EXPORT_CUT_STATE_H
#define WEFT_EXPORT_CUT_STATE_H

#include <weft/cut.h>

#include "export/cut_alive.h"

/* Writes the part of no length at `time_ns`, which is after all events so far, to `sink`, without
 * the losses of the whole trace, which `whole` has. More events may be added then. 0 or an error.
 */
int weft__export_cut_state(struct weft_cut *cut, uint64_t time_ns, const struct weft_cut_sink *sink,
	const struct weft_trace_description *description, const struct weft_trace_description *whole);

/* Valid as long as the cut. */
struct weft__alive *weft__export_cut_alive(struct weft_cut *cut);

#endif
