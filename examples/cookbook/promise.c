/* SPDX-License-Identifier: ISC
 *
 * Promises with a continuation.
 */
#include "loop.h"

struct promise {
	uint64_t task;
	struct promise *next; /* what `function` makes of the value */
	int (*function)(int);
	int value;
};

/* recipe: */
static void then(struct promise *promise, struct promise *next, int (*function)(int))
{
	promise->next = next;
	promise->function = function;
	next->task = weft_create(WEFT_KIND_MAP);
	weft_try_read_as(next->task, promise->task);
}

static void fulfil(struct promise *promise, int value)
{
	struct promise *next = promise->next;
	promise->value = value;
	weft_resolve(promise->task);
	if (next) {
		weft_enter(next->task);
		weft_read(promise->task);
		fulfil(next, promise->function(value));
		weft_leave();
	}
}
/* end of recipe */

static int twice(int value)
{
	work(1);
	return 2 * value;
}

static void arrive(void *argument)
{
	fulfil(argument, 21);
}

int main(void)
{
	struct promise file = {.task = weft_create(WEFT_KIND_PROMISE)}, parsed = {0}, checked = {0};
	weft_label_as(file.task, "read file");
	then(&file, &parsed, twice);
	then(&parsed, &checked, twice);
	weft_label_as(parsed.task, "parse");
	weft_label_as(checked.task, "check");
	after(3, arrive, &file);
	run_loop();
	printf("%d\n", checked.value);
}
