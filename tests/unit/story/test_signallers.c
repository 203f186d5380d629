/* SPDX-License-Identifier: ISC
 *
 * The only task that signals a condition: src/story/signallers.c.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "story/signallers.h"
#include "trace_script.h"

/* Task 1 waits for condition 3 from 1 us on. */
#define WAITS \
	"create 0 1 task; create 0 2 task; create 0 3 condition; create 0 4 task; run 1; +1; try 1 3; idle; +3;"

static void the_only_task_that_signals_is_known(void **state)
{
	static const struct {
		const char *what, *script;
		uint64_t task; /* 0: not known */
	} cases[] = {
		{"nobody signals", WAITS, 0},
		{"it signals", WAITS "signal 3 2", 2},
		{"it signals twice", WAITS "signal 3 2; +1; signal 3 2", 2},
		{"another one signals, too", WAITS "signal 3 2; +1; signal 3 4", 0},
		{"it signals the waiter", WAITS "signal 1 2; ~500; read 1 3", 2},
		{"it signals the waiter, which runs at once", WAITS "signal 1 2; read 1 3", 2},
		{"another one signals the waiter", WAITS "signal 1 2; ~500; read 1 3; +1; signal 3 4", 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char script[512];
		snprintf(script, sizeof(script), "%s; +1; note 2 last", cases[i].script);
		struct loaded loaded = trace_script_load(script, 0);
		const uint32_t task = weft__story_only_signaller(
			&loaded.story, weft_model_find_task(loaded.model, 0, 3), 9000);
		const uint64_t id = task == WEFT_NONE ? 0 : loaded.model->tasks.id[task];
		if (id != cases[i].task)
			fail_msg("%s: task %d", cases[i].what, (int)id);
		loaded_finish(&loaded);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_only_task_that_signals_is_known)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
