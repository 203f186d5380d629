/* SPDX-License-Identifier: ISC
 *
 * The colours of the themes: a counter never looks like a failure, neither to most people nor, in
 * the safe themes, to colour-blind ones.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <math.h>
#include <cmocka.h>

#include "render/theme.h"

#define LEAST_DIFFERENCE 25.0 /* CIE76; 2.3 is just noticeable */
#define LEAST_CONTRAST   4.5

enum eyes {
	USUAL,
	PROTAN,
	DEUTAN,
	TRITAN,
	EYES
};

/* Linear RGB as other eyes see it: G. M. Machado et al., A Physiologically-based Model for
 * Simulation of Color Vision Deficiency, IEEE TVCG 15 (6), 2009, severity 1. */
static const double seen[EYES][3][3] = {
	[USUAL] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	[PROTAN] = {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216},
		{-0.003882, -0.048116, 1.051998}},
	[DEUTAN] = {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413},
		{-0.011820, 0.042940, 0.968881}},
	[TRITAN] = {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602},
		{0.004733, 0.691367, 0.303900}},
};

/* Linear RGB to CIE XYZ, as shares of the white point D65. */
static const double to_xyz[3][3] = {
	{0.43394, 0.37621, 0.18990}, {0.2126, 0.7152, 0.0722}, {0.01772, 0.10946, 0.87277}};

static void multiply(const double matrix[3][3], const double vector[3], double ret_product[3])
{
	for (int i = 0; i < 3; i++) {
		double sum = 0;
		for (int k = 0; k < 3; k++)
			sum += matrix[i][k] * vector[k];
		ret_product[i] = fmin(fmax(sum, 0), 1);
	}
}

static void linear_of(uint32_t color, double ret_rgb[3])
{
	for (int i = 0; i < 3; i++) {
		double part = (double)(color >> (24 - 8 * i) & 0xff) / 255;
		ret_rgb[i] = part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4);
	}
}

static double lightness(double part)
{
	return part > 0.008856 ? cbrt(part) : 7.787 * part + 16.0 / 116;
}

static void lab_of(uint32_t color, enum eyes eyes, double ret_lab[3])
{
	double rgb[3], others[3], xyz[3];
	linear_of(color, rgb);
	multiply(seen[eyes], rgb, others);
	multiply(to_xyz, others, xyz);
	double x = lightness(xyz[0]), y = lightness(xyz[1]), z = lightness(xyz[2]);
	ret_lab[0] = 116 * y - 16;
	ret_lab[1] = 500 * (x - y);
	ret_lab[2] = 200 * (y - z);
}

static double difference(uint32_t a, uint32_t b, enum eyes eyes)
{
	double l[3], r[3];
	lab_of(a, eyes, l);
	lab_of(b, eyes, r);
	return sqrt(pow(l[0] - r[0], 2) + pow(l[1] - r[1], 2) + pow(l[2] - r[2], 2));
}

static double luminance(uint32_t color)
{
	double rgb[3], xyz[3];
	linear_of(color, rgb);
	multiply(to_xyz, rgb, xyz);
	return xyz[1];
}

static double contrast(uint32_t a, uint32_t b)
{
	double l = luminance(a), r = luminance(b);
	return (fmax(l, r) + 0.05) / (fmin(l, r) + 0.05);
}

static void no_counter_looks_like_a_failure(void **state)
{
	(void)state;
	for (int number = 0; number < WEFT_THEMES; number++) {
		const struct weft__theme *theme = weft__render_theme((enum weft_theme)number);
		bool is_safe = number == WEFT_THEME_SAFE || number == WEFT_THEME_SAFE_DARK;
		for (int i = 0; i < WEFT__COUNTER_COLORS; i++)
			for (int eyes = 0; eyes < (is_safe ? EYES : USUAL + 1); eyes++)
				if (difference(theme->counters[i], theme->failed, (enum eyes)eyes) <
					LEAST_DIFFERENCE)
					fail_msg("theme %d, counter %d, eyes %d", number, i, eyes);
	}
}

static void counters_are_distinct_and_visible(void **state)
{
	(void)state;
	for (int number = 0; number < WEFT_THEMES; number++) {
		const struct weft__theme *theme = weft__render_theme((enum weft_theme)number);
		for (int i = 0; i < WEFT__COUNTER_COLORS; i++) {
			assert_true(contrast(theme->counters[i], theme->background) >= LEAST_CONTRAST);
			for (int k = 0; k < i; k++)
				assert_true(
					difference(theme->counters[i], theme->counters[k], USUAL) >= LEAST_DIFFERENCE);
		}
	}
}

/* A vCPU that waits for a processor looks like neither of the other states, to all eyes. */
static void waits_for_processors_are_distinct(void **state)
{
	(void)state;
	for (int number = 0; number < WEFT_THEMES; number++) {
		const struct weft__theme *theme = weft__render_theme((enum weft_theme)number);
		const uint32_t others[] = {theme->background, theme->idle, theme->waiting, theme->running};
		assert_true(contrast(theme->runnable, theme->background) >= 3);
		for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++)
			for (int eyes = 0; eyes < EYES; eyes++)
				if (difference(theme->runnable, others[i], (enum eyes)eyes) < LEAST_DIFFERENCE)
					fail_msg("theme %d, state %u, eyes %d", number, i, eyes);
	}
}

/* Known values, so that the measure is right: white and black, and a red that looks like a green.
 */
static void colours_are_measured(void **state)
{
	(void)state;
	assert_true(fabs(contrast(0xffffffff, 0x000000ff) - 21) < 0.01);
	assert_true(fabs(difference(0xffffffff, 0x000000ff, USUAL) - 100) < 0.1);
	assert_true(difference(0xb00020ff, 0x4d6b12ff, USUAL) > 80);
	assert_true(difference(0xb00020ff, 0x4d6b12ff, DEUTAN) < 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_processors_are_distinct),
		cmocka_unit_test(no_counter_looks_like_a_failure),
		cmocka_unit_test(counters_are_distinct_and_visible),
		cmocka_unit_test(colours_are_measured),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
