/* SPDX-License-Identifier: ISC
 *
 * A second thread for long work. The reading half creates no threads; a caller that has one lends
 * it, and the result is the same with and without.
 */
#ifndef WEFT_HELP_H
#define WEFT_HELP_H

#ifdef __cplusplus
extern "C" {
#endif

struct weft_help {
	/* Calls both functions with their arguments, in parallel or one after the other, and returns
	 * once both have returned. `first` is called on the caller's thread. */
	void (*both)(void *context, void (*first)(void *), void *first_argument, void (*second)(void *),
		void *second_argument);
	void *context;
};

#ifdef __cplusplus
}
#endif
#endif
