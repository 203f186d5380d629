/* SPDX-License-Identifier: ISC
 *
 * Sound: a program that reads its data for long before its loop begins, and writes them for long
 * after the last frame.
 */
#include "world.h"

#define FRAMES 3000

static void draw(uint64_t number)
{
	uint64_t task = make(WEFT_KIND_TASK, "frame");
	weft_switch(task);
	pass(300 * US);
	weft_resolve(task);
	if (number < FRAMES)
		after(5 * MS, draw, number + 1);
}

void program_sound_start_up(void)
{
	uint64_t program = make(WEFT_KIND_TASK, "program");
	weft_switch(program);
	pass(400 * MS);
	draw(1);
	run_loop();
	weft_switch(program);
	pass(200 * MS);
	weft_resolve(program);
}
