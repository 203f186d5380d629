/* SPDX-License-Identifier: ISC
 *
 * The calls of languages.py, by weft.h: every language must record the same.
 */
#define WEFT_CATEGORY net
#include <weft/weft.h>

WEFT_CATEGORY_DEFINE(net, "net", "connections");

int main(void)
{
	uint64_t task = weft_create(WEFT_KIND_TASK), reply = weft_create_as(task, WEFT_KIND_WAIT);
	weft_label_as(task, "accept");
	weft_switch(task);
	weft_try_read(reply);
	weft_at(WEFT_LEVEL_DEBUG, weft_note("not recorded"));
	weft_mark("request", "bytes", -5, "path", "/index", "ratio", 0.5, "is_new", (bool)true);
	weft_notef("%d of %s", 3, "four");
	weft_tag_value("retry", 2);
	weft_counter_add("queue", -1);
	weft_counter_set("load", 0.75);
	weft_band_begin(WEFT_BAND_IDLE, "poll");
	weft_band_end(WEFT_BAND_IDLE, "poll");
	weft_fail(reply, "timeout");
	weft_resolve(task);
	weft_switch(WEFT_TASK_NONE);
	return 0;
}
