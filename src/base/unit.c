/* SPDX-License-Identifier: ISC
 *
 * See unit.h.
 */
#include "base/unit.h"

#include <stddef.h>
#include <string.h>

struct weft__unit weft__unit_base(const char *unit, int scale)
{
	static const struct {
		const char *name;
		struct weft__unit base;
	} known[] = {
		{"ns", {"seconds", -9}},
		{"nanoseconds", {"seconds", -9}},
		{"us", {"seconds", -6}},
		{"microseconds", {"seconds", -6}},
		{"ms", {"seconds", -3}},
		{"milliseconds", {"seconds", -3}},
		{"s", {"seconds", 0}},
		{"second", {"seconds", 0}},
		{"B", {"bytes", 0}},
		{"byte", {"bytes", 0}},
		{"kB", {"bytes", 3}},
		{"MB", {"bytes", 6}},
		{"%", {"ratio", -2}},
		{"percent", {"ratio", -2}},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(unit, known[i].name) == 0)
			return (struct weft__unit){known[i].base.name, known[i].base.scale + scale};
	return (struct weft__unit){unit, scale};
}

double weft__unit_scaled(double number, int scale)
{
	double power = 1; /* exact up to 10^22 */
	for (int i = scale < 0 ? -scale : scale; i > 0; i--)
		power *= 10;
	return scale < 0 ? number / power : number * power;
}
