/* SPDX-License-Identifier: ISC
 *
 * How wide the browser's text is. Asking it for each text of each frame would cost more than the
 * drawing: ASCII is summed up here from a table that the worker fills once (the page draws without
 * kerning, so the sum is exact); only other text is asked for, and the worker remembers it.
 */
#include "page.h"

#define EM 100.0 /* px of the letters in the table */

/* In EM-sized letters. */
double PAGE_IMPORT(measure)(const char *text, uint32_t bytes, uint32_t bold);

static float advances[2][128];

/* Where the worker writes the advances of ASCII: 128 of plain letters, 128 of bold ones. */
float *PAGE_EXPORT(page_advances)(void)
{
	return advances[0];
}

static double measure_text(void *context, const char *text, size_t bytes, double size, bool bold)
{
	double sum = 0;
	(void)context;
	for (size_t i = 0; i < bytes; i++) {
		unsigned char letter = (unsigned char)text[i];
		if (letter > 127)
			return measure(text, (uint32_t)bytes, bold) * size / EM;
		sum += (double)advances[bold][letter];
	}
	return sum * size / EM;
}

const struct weft_font page_font = {.measure = measure_text};
