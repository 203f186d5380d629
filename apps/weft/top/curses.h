/* SPDX-License-Identifier: ISC
 *
 * ncursesw, which is loaded when `weft top` shows the terminal: no other command needs it. Each
 * function is called through a pointer, behind a macro of its name.
 */
#ifndef WEFT_APPS_TOP_CURSES_H
#define WEFT_APPS_TOP_CURSES_H

#include <stdbool.h>
#include <stdio.h>

#define NCURSES_NOMACROS 1
#include <curses.h>

/* clang-format off */
#define TOP_CURSES_FUNCTIONS(X) \
	X(cbreak) \
	X(curs_set) \
	X(delscreen) \
	X(endwin) \
	X(getmaxx) \
	X(getmaxy) \
	X(keypad) \
	X(newterm) \
	X(newwin) \
	X(nodelay) \
	X(noecho) \
	X(set_escdelay) \
	X(tigetstr) \
	X(waddnwstr) \
	X(wattr_set) \
	X(wclrtoeol) \
	X(werase) \
	X(wget_wch) \
	X(wmove) \
	X(wrefresh)

struct top_curses {
#define FUNCTION(name) __typeof__(name) *name##_;
	TOP_CURSES_FUNCTIONS(FUNCTION)
#undef FUNCTION
};
/* clang-format on */

extern struct top_curses top_curses;

/* Loads the library; false after a message. */
bool top_load_curses(void);

/* clang-format off */
#define cbreak top_curses.cbreak_
#define curs_set top_curses.curs_set_
#define delscreen top_curses.delscreen_
#define endwin top_curses.endwin_
#define getmaxx top_curses.getmaxx_
#define getmaxy top_curses.getmaxy_
#define keypad top_curses.keypad_
#define newterm top_curses.newterm_
#define newwin top_curses.newwin_
#define nodelay top_curses.nodelay_
#define noecho top_curses.noecho_
#define set_escdelay top_curses.set_escdelay_
#define tigetstr top_curses.tigetstr_
#define waddnwstr top_curses.waddnwstr_
#define wattr_set top_curses.wattr_set_
#define wclrtoeol top_curses.wclrtoeol_
#define werase top_curses.werase_
#define wget_wch top_curses.wget_wch_
#define wmove top_curses.wmove_
#define wrefresh top_curses.wrefresh_
/* clang-format on */

#endif
