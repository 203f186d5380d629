/* SPDX-License-Identifier: ISC
 *
 * The four themes.
 */
#include "render/theme.h"

#include "base/export.h"

static const struct weft__theme themes[WEFT_THEMES] = {
	[WEFT_THEME_LIGHT] =
		{
			.background = 0xf7f7f5ff,
			.text = 0x1b1f24ff,
			.dim = 0x5b6570ff,
			.waiting = 0x7a838dff,
			.running = 0x0f1419ff,
			.runnable = 0xc08000ff,
			.idle = 0xe9e9e6ff,
			.gc = 0xe6d5d3ff,
			.grid = 0xdedfdcff,
			.failed = 0xb00020ff,
			.read = 0x1558c0ff,
			.resolve = 0x0b8a52ff,
			.try_read = 0x6e6a10ff,
			.signal = 0xdb6a0eff,
			.selection = 0x6b3fd4ff,
			.found = 0xffe066ff,
			.counters = {0xb4530aff, 0x0f766eff, 0x6d28d9ff, 0x1d4ed8ff, 0xbe185dff, 0x4d6b12ff},
		},
	[WEFT_THEME_DARK] =
		{
			.background = 0x16191dff,
			.text = 0xe6e8ebff,
			.dim = 0x98a2adff,
			.waiting = 0x6f7b87ff,
			.running = 0xffffffff,
			.runnable = 0xe5a000ff,
			.idle = 0x1d2126ff,
			.gc = 0x33262bff,
			.grid = 0x2a2f35ff,
			.failed = 0xff5a52ff,
			.read = 0x7fa6ffff,
			.resolve = 0x6fe0b0ff,
			.try_read = 0xe8e05aff,
			.signal = 0xf0a668ff,
			.selection = 0xb392ffff,
			.found = 0x5c4b00ff,
			.counters = {0xffb26bff, 0x4fd1c5ff, 0xc4a7ffff, 0x7cb7ffff, 0xff8fb8ff, 0xb9d46aff},
		},
	[WEFT_THEME_SAFE] =
		{
			.background = 0xfafaf8ff,
			.text = 0x101418ff,
			.dim = 0x56606aff,
			.waiting = 0x737c86ff,
			.running = 0x000000ff,
			.runnable = 0xc08000ff,
			.idle = 0xecece8ff,
			.gc = 0xdad6eaff,
			.grid = 0xe0e0ddff,
			.failed = 0xc8460aff,
			.read = 0x0b57d0ff,
			.resolve = 0x12a07aff,
			.try_read = 0x3b4652ff,
			.signal = 0xe0359fff,
			.selection = 0x000000ff,
			.found = 0xffe066ff,
			.counters = {0x0477a9ff, 0x751859ff, 0x2b8256ff, 0x1010f8ff, 0x6d2202ff, 0x055fe4ff},
		},
	[WEFT_THEME_SAFE_DARK] =
		{
			.background = 0x14171aff,
			.text = 0xe6e8ebff,
			.dim = 0x98a2adff,
			.waiting = 0x7c8793ff,
			.running = 0xffffffff,
			.runnable = 0xe5a000ff,
			.idle = 0x1d2126ff,
			.gc = 0x2a2740ff,
			.grid = 0x2a2f35ff,
			.failed = 0xff9a5cff,
			.read = 0x4c8dffff,
			.resolve = 0x35e0aeff,
			.try_read = 0xc9ddf2ff,
			.signal = 0xf0469fff,
			.selection = 0xffffffff,
			.found = 0x5c4b00ff,
			.counters = {0x75a7bcff, 0xf0b5f6ff, 0x59af8dff, 0x9e87fbff, 0xf0bbc0ff, 0x8494d6ff},
		},
};

const struct weft__theme *weft__render_theme(enum weft_theme theme)
{
	return &themes[(unsigned)theme < WEFT_THEMES ? theme : WEFT_THEME_LIGHT];
}

WEFT__EXPORT const char *weft_theme_name(enum weft_theme theme)
{
	static const char *const names[WEFT_THEMES] = {"light", "dark", "safe", "safe-dark"};
	return names[(unsigned)theme < WEFT_THEMES ? theme : WEFT_THEME_LIGHT];
}

uint32_t weft__render_faded(uint32_t color, double alpha)
{
	double clamped = alpha < 0 ? 0 : alpha > 1 ? 1 : alpha;
	return (color & 0xffffff00) | (uint32_t)(clamped * 255 + 0.5);
}
