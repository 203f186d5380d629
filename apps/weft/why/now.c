/* SPDX-License-Identifier: ISC
 *
 * See now.h.
 */
#include "now.h"

#include <stdlib.h>
#include <string.h>

#include <weft/chain.h>
#include <weft/text.h>

#include "outside.h"

/* The number of the thread that has a task, in our PID namespace; 0: none. */
static uint64_t thread_of(const struct weft_model *model, uint64_t at, uint32_t task)
{
	struct weft_thread_state *list = malloc((model->thread_count + (size_t)1) * sizeof(*list));
	uint64_t tid = 0;
	if (!list)
		return 0;
	weft_thread_states(model, at, list);
	for (uint32_t i = 0; i < model->thread_count && !tid; i++)
		if (list[i].task == task)
			tid = model->threads[i].tid;
	free(list);
	return tid;
}

void why_now(struct weft__outside_host *host, const struct cli_live *live, uint64_t at,
	uint32_t task, char ret_now[static WEFT_CALLS_BYTES])
{
	static const char before[] = ", in ";
	const size_t size = sizeof(before) - 1;
	const uint64_t tid = thread_of(live->model, at, task);
	struct weft_text text = {0};
	if (!tid)
		return;
	why_outside_add_frames(host, live->pid, (pid_t)tid, &text);
	/* The process may be another program by now. */
	if (!text.error && text.size > size && text.size - size < WEFT_CALLS_BYTES &&
		!cli_live_is_replaced(live)) {
		memcpy(ret_now, text.bytes + size, text.size - size);
		ret_now[text.size - size] = '\0';
	}
	weft_text_finish(&text);
}
