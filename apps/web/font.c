/* SPDX-License-Identifier: ISC
 *
 * Measures text as the browser draws it. Asking the browser for each text of each frame would cost
 * more than drawing: ASCII is summed up from a table that the worker fills once (the page draws
 * without kerning, so the sum is exact). Only other text is measured by the browser, and the worker
 * caches the result.
 */
#include "page.h"

/* The width at size PAGE_EM. */
double PAGE_IMPORT(measure)(const char *text, uint32_t bytes, uint32_t bold);

static float advances[2][128];

/* The address for the widths of ASCII characters: 128 plain ones, 128 bold ones. */
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
			return measure(text, (uint32_t)bytes, bold) * size / PAGE_EM;
		sum += (double)advances[bold][letter];
	}
	return sum * size / PAGE_EM;
}

const struct weft_font page_font = {.measure = measure_text};
