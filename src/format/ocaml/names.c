/* SPDX-License-Identifier: ISC
 *
 * The names of the runtime's phases and counters, in the order of their numbers.
 */
#include "format/ocaml/names.h"

#include <stddef.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Those with true came with 5.3, and moved all after them. */
static const struct ocaml_phase {
	const char *name;
	bool is_new;
} phases[] = {
	{"explicit GC set", false},
	{"explicit GC stat", false},
	{"explicit minor GC", false},
	{"explicit major GC", false},
	{"explicit full major GC", false},
	{"explicit compaction", false},
	{"major GC", false},
	{"major GC: sweep", false},
	{"major GC: mark roots", false},
	{"major GC: memprof roots", true},
	{"major GC: mark", false},
	{"minor GC", false},
	{"minor GC: local roots", false},
	{"minor GC: memprof roots", true},
	{"minor GC: memprof clean", true},
	{"minor GC: finalized", false},
	{"explicit major slice", false},
	{"finalise update first", false},
	{"finalise update last", false},
	{"interrupt other domains", false},
	{"major GC: mark ephemerons", false},
	{"major GC: sweep ephemerons", false},
	{"major GC: finish marking", false},
	{"major GC: cycle of domains", false},
	{"major GC: phase change", false},
	{"major GC: stop the world", false},
	{"major GC: opportunistic mark", false},
	{"major GC: slice", false},
	{"major GC: finish cycle", false},
	{"minor GC: clear", false},
	{"minor GC: oldify finalizers", false},
	{"minor GC: global roots", false},
	{"minor GC: leave barrier", false},
	{"stop the world: barrier", false},
	{"stop the world: handler", false},
	{"stop the world: leader", false},
	{"major GC: finish sweeping", false},
	{"major GC: memprof clean", true},
	{"minor GC: finalizers", false},
	{"minor GC: remembered set", false},
	{"minor GC: promote remembered set", false},
	{"minor GC: promote local roots", false},
	{"domain waits", false},
	{"resize heap reservation", false},
	{"compact", false},
	{"compact: evacuate", false},
	{"compact: forward", false},
	{"compact: release", false},
	{"minor GC of an empty heap", false},
	{"minor GC: clean ephemerons", false},
};

static const char LEADER[] = "stop the world: leader", WAITS[] = "domain waits";

/* Before this number, all versions agree. */
#define SAME 9

static const struct ocaml_phase *find(enum weft__ocaml_version version, uint32_t number)
{
	uint32_t at = 0;
	if (version == WEFT__OCAML_UNKNOWN && number >= SAME)
		return NULL;
	for (size_t i = 0; i < COUNT(phases); i++) {
		bool is_there = !phases[i].is_new || version == WEFT__OCAML_5_3;
		if (is_there && at++ == number)
			return &phases[i];
	}
	return NULL;
}

static bool is(enum weft__ocaml_version version, uint32_t phase, const char *name)
{
	const struct ocaml_phase *found = find(version, phase);
	return found && strcmp(found->name, name) == 0;
}

enum weft__ocaml_version weft__format_ocaml_version(uint32_t first_end)
{
	if (is(WEFT__OCAML_5_0, first_end, LEADER))
		return WEFT__OCAML_5_0;
	return is(WEFT__OCAML_5_3, first_end, LEADER) ? WEFT__OCAML_5_3 : WEFT__OCAML_UNKNOWN;
}

const char *weft__format_ocaml_phase(enum weft__ocaml_version version, uint32_t phase)
{
	const struct ocaml_phase *found = find(version, phase);
	return found ? found->name : NULL;
}

bool weft__format_ocaml_is_idle(enum weft__ocaml_version version, uint32_t phase)
{
	return is(version, phase, WAITS);
}

const char *weft__format_ocaml_counter(uint32_t counter)
{
	static const char *const names[] = {"minor GCs forced by small allocations",
		"minor GCs forced by make_vect", "minor GCs forced by a new heap size",
		"minor GCs forced by memprof", "promoted by minor GC", "allocated before minor GC",
		"major GCs asked for by allocations", "major GCs asked for by adjust_gc_speed",
		"minor GCs asked for by the ref table", "minor GCs asked for by the ephe_ref table",
		"minor GCs asked for by the custom table", "heap: words in pools",
		"heap: live words in pools", "heap: words of large blocks", "heap: words lost in pools",
		"heap: live blocks in pools", "heap: large blocks"};
	return counter < COUNT(names) ? names[counter] : NULL;
}
