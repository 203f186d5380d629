/* SPDX-License-Identifier: ISC
 *
 * The answers about parts of a trace: see serve.h.
 */
#ifndef WEFT_APPS_SERVE_PART_REPLY_H
#define WEFT_APPS_SERVE_PART_REPLY_H

#include "reply.h"

struct serve_trace;

enum MHD_Result serve_part_answer(
	struct MHD_Connection *connection, const struct serve_trace *trace);
enum MHD_Result serve_part_answer_density(
	struct MHD_Connection *connection, const struct serve_trace *trace);

#endif
