/* SPDX-License-Identifier: ISC
 *
 * Whether findings follow each other at equal distances, in time or in the order of their tasks.
 */
#include <inttypes.h>

#include "story/problems/findings.h"

#define TIMES_MIN 4
#define ABOUT     8

uint64_t weft__story_rhythm(const uint64_t *numbers, uint32_t count)
{
	if (count < TIMES_MIN)
		return 0;
	uint64_t mean = (numbers[count - 1] - numbers[0]) / (count - 1);
	for (uint32_t i = 1; i < count; i++) {
		uint64_t distance = numbers[i] - numbers[i - 1];
		if ((distance > mean ? distance - mean : mean - distance) > mean / ABOUT)
			return 0;
	}
	return mean;
}

void weft__story_words_add_ordinal(struct weft__words *words, uint64_t number)
{
	static const char *const endings[] = {"th", "st", "nd", "rd"};
	unsigned digit = number / 10 % 10 == 1 ? 0 : number % 10;
	weft__story_words_add(words, "%" PRIu64 "%s", number, endings[digit < 4 ? digit : 0]);
}
