/* SPDX-License-Identifier: ISC
 *
 * See ran_parts.h. Few functions call many different ones, so the callees of each are a list.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ran_parts.h"

static bool make_room(struct ran_functions *f)
{
	if (f->list)
		return f->count < WEFT_BUFFER_CODES_MAX;
	f->list = malloc(WEFT_BUFFER_CODES_MAX * sizeof(*f->list));
	f->first_callee = calloc(WEFT_BUFFER_CODES_MAX, sizeof(*f->first_callee));
	f->next_sibling = calloc(WEFT_BUFFER_CODES_MAX, sizeof(*f->next_sibling));
	if (f->list && f->first_callee && f->next_sibling)
		return true;
	ran_functions_finish(f);
	return false;
}

uint32_t ran_functions_find(struct ran_functions *f, uint32_t caller, const char *function)
{
	uint32_t *first = caller ? &f->first_callee[caller - 1] : &f->outermost;
	for (uint32_t at = *first; at; at = f->next_sibling[at - 1])
		if (strcmp(f->list[at - 1].function, function) == 0)
			return at;
	if (!make_room(f))
		return 0;
	struct weft_buffer_code *code = &f->list[f->count];
	*code = (struct weft_buffer_code){.caller = caller};
	snprintf(code->function, sizeof(code->function), "%s", function);
	first = caller ? &f->first_callee[caller - 1] : &f->outermost;
	f->next_sibling[f->count++] = *first;
	return *first = f->count;
}

void ran_functions_finish(struct ran_functions *f)
{
	free(f->list);
	free(f->first_callee);
	free(f->next_sibling);
	*f = (struct ran_functions){0};
}
