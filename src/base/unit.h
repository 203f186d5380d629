/* SPDX-License-Identifier: ISC
 *
 * Units of measured numbers.
 */
#ifndef WEFT_BASE_UNIT_H
#define WEFT_BASE_UNIT_H

/* The unit in which a value is shown, and the power of ten that converts to it. */
struct weft__unit {
	const char *name; /* "": none */
	int scale;
};

/* The base unit of numbers in `unit` times 10^scale: of "ms" it is "seconds". A unit that is not
 * known stays. */
struct weft__unit weft__unit_base(const char *unit, int scale);

/* The number times 10^scale, rounded once up to 10^22. */
double weft__unit_scaled(double number, int scale);

#endif
