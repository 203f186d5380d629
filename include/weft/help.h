/* SPDX-License-Identifier: ISC
 *
 * A second pair of hands for long work. The reading half knows no threads; who has one lends it,
 * and the work comes out the same with it or without.
 */
#ifndef WEFT_HELP_H
#define WEFT_HELP_H

#ifdef __cplusplus
extern "C" {
#endif

struct weft_help {
	/* Calls both with their arguments, at the same time or in turn, and returns once both have
	 * returned. `first` is called by the caller's thread. */
	void (*both)(void *context, void (*first)(void *), void *first_argument, void (*second)(void *),
		void *second_argument);
	void *context;
};

#ifdef __cplusplus
}
#endif
#endif
