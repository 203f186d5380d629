/* SPDX-License-Identifier: ISC
 *
 * The spans of all programs of a host that record, each sent when it has ended: a thread reads the
 * rings, another one sends (export/push). docs/opentelemetry.md has the rules.
 */
#ifndef WEFT_APPS_AGENT_SPANS_H
#define WEFT_APPS_AGENT_SPANS_H

#include "agent/agent.h"
#include "export/push/push.h"

struct agent_spans;

/* NULL after a message. */
struct agent_spans *agent_spans_start(const struct push_options *options, bool folds);

/* Looks for programs that record now. `agent`: only those with counters there; NULL: all. */
void agent_spans_find(struct agent_spans *spans, const struct weft__agent *agent);

/* Sends what has ended, and notes how far that is. NULL is allowed. */
void agent_spans_stop(struct agent_spans *spans);

#endif
