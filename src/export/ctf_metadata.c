/* SPDX-License-Identifier: ISC
 *
 * The metadata of a CTF export, in CTF 1.8's language (TSDL). Kinds, bands and events come from the
 * tables that the rest of weft uses.
 */
#include "export/ctf.h"

#include <string.h>

#define NS_PER_S INT64_C(1000000000)

/* Trace Compass requires the first line. */
static const char types[] =
	"/* CTF 1.8 */\n"
	"\n"
	"typealias integer { size = 8; align = 8; signed = false; } := uint8;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64;\n"
	"typealias integer { size = 64; align = 8; signed = true; } := int64;\n"
	"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := float64;\n";

/* Appends text in double quotes; bytes that are not plain ASCII are octal escapes, the only ones of
 * fixed length. */
static void put_quoted(struct weft__bytes *metadata, const char *text)
{
	weft__bytes_put_u8(metadata, '"');
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			weft__bytes_print(metadata, "\\%c", *c);
		else if (*c < 0x20 || *c > 0x7E)
			weft__bytes_print(metadata, "\\%03o", *c);
		else
			weft__bytes_put_u8(metadata, *c);
	}
	weft__bytes_put_u8(metadata, '"');
}

static void put_trace(struct weft__bytes *metadata)
{
	weft__bytes_print(metadata,
		"\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = le;\n"
		"\tpacket.header := struct {\n%s\t};\n};\n",
		weft__ctf_packet_header);
}

static const char *epoch_name(enum weft_clock_epoch epoch)
{
	switch (epoch) {
	case WEFT_EPOCH_UNIX:
		return "unix";
	case WEFT_EPOCH_MONOTONIC:
		return "monotonic";
	case WEFT_EPOCH_UNKNOWN:
		break;
	}
	return "unknown";
}

/* Appends what CTF has no field for: the origin of the events, and why some are missing. */
static void put_environment(
	struct weft__bytes *metadata, const struct weft_trace_description *description)
{
	weft__bytes_print(metadata, "\nenv {\n\ttracer_name = \"weft\";\n\tformat = ");
	put_quoted(metadata, description->format ? description->format : "");
	weft__bytes_print(metadata, ";\n\tclock_name = ");
	put_quoted(metadata, description->clock.name ? description->clock.name : "");
	weft__bytes_print(
		metadata, ";\n\tclock_epoch = \"%s\";\n", epoch_name(description->clock.epoch));
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++) {
		uint64_t lost = description->losses[cause];
		if (lost)
			weft__bytes_print(metadata, "\tlost_%s = %llu;\n", weft_loss_name(cause),
				(unsigned long long)(lost < INT64_MAX ? lost : INT64_MAX));
	}
	weft__bytes_print(metadata, "};\n");
}

uint64_t weft__export_ctf_clock_offset_ns(const struct weft_clock *clock)
{
	/* Babeltrace 1 does not accept a clock that was set before 1970. */
	return clock->offset_ns > 0 ? (uint64_t)clock->offset_ns : 0;
}

static void put_clock(struct weft__bytes *metadata, const struct weft_clock *clock)
{
	uint64_t offset = weft__export_ctf_clock_offset_ns(clock);
	bool absolute = clock->epoch == WEFT_EPOCH_UNIX || offset != 0;
	weft__bytes_print(metadata,
		"\nclock {\n\tname = \"weft_clock\";\n\tdescription = \"nanoseconds\";\n"
		"\tfreq = %lld;\n\toffset_s = %llu;\n\toffset = %llu;\n\tabsolute = %s;\n};\n"
		"\ntypealias integer { size = 64; align = 8; signed = false; "
		"map = clock.weft_clock.value; } := clock_time;\n",
		(long long)NS_PER_S, (unsigned long long)(offset / NS_PER_S),
		(unsigned long long)(offset % NS_PER_S), absolute ? "true" : "false");
}

/* Appends one mapping for the numbers from `first` to before `end`, if any, which have no names. */
static void put_others(struct weft__bytes *metadata, unsigned first, unsigned end)
{
	if (first + 1 == end)
		weft__bytes_print(metadata, "\t\"other\" = %u,\n", first);
	else if (first < end)
		weft__bytes_print(metadata, "\t\"other\" = %u ... %u,\n", first, end - 1);
}

/* The name of a kind; NULL if it has none. */
static const char *kind_name(const struct weft__strings *kinds, unsigned kind)
{
	uint32_t named = weft__model_named_kind(kind);
	if (named < kinds->count && named < WEFT__NAMED_KINDS_MAX)
		return weft__strings_bytes(kinds, named);
	return weft_kind_name(kind);
}

/* Gives every number a label, because babeltrace 1 warns about numbers without one. */
static void put_kinds(struct weft__bytes *metadata, const struct weft__strings *kinds)
{
	unsigned next = 0;
	weft__bytes_print(metadata, "\ntypealias enum : uint16 {\n");
	for (unsigned kind = 0; kind <= UINT16_MAX; kind++) {
		const char *name = kind_name(kinds, kind);
		if (!name)
			continue;
		put_others(metadata, next, kind);
		weft__bytes_print(metadata, "\t");
		put_quoted(metadata, name);
		weft__bytes_print(metadata, " = %u,\n", kind);
		next = kind + 1;
	}
	put_others(metadata, next, UINT16_MAX + 1);
	weft__bytes_print(metadata, "} := task_kind;\n");
}

static void put_bands(struct weft__bytes *metadata)
{
	weft__bytes_print(metadata, "\ntypealias enum : uint8 {\n\t\"%s\" = %d,\n\t\"%s\" = %d,\n",
		weft_band_name(WEFT_BAND_IDLE), WEFT_BAND_IDLE, weft_band_name(WEFT_BAND_GC), WEFT_BAND_GC);
	put_others(metadata, WEFT_BAND_GC + 1, UINT8_MAX + 1);
	weft__bytes_print(metadata, "} := band_kind;\n");
}

static void put_clocks(struct weft__bytes *metadata)
{
	weft__bytes_print(metadata, "\ntypealias enum : uint16 {\n");
	for (unsigned clock = 0; clock < WEFT_CLOCK_FOREIGN; clock++)
		weft__bytes_print(metadata, "\t\"%s\" = %u,\n", weft_clock_name(clock), clock);
	weft__bytes_print(metadata, "\t\"%s\" = %u ... %u,\n} := span_clock;\n",
		weft_clock_name(WEFT_CLOCK_FOREIGN), WEFT_CLOCK_FOREIGN, UINT16_MAX);
}

static void put_stream(struct weft__bytes *metadata)
{
	weft__bytes_print(metadata,
		"\nstream {\n\tid = 0;\n"
		"\tevent.header := struct {\n\t\tuint8 id;\n\t\tclock_time timestamp;\n\t};\n"
		"\tpacket.context := struct {\n%s\t};\n};\n"
		"\n/* Tasks are 64-bit ids; -1 means no task. Events whose text is empty have a class of their own"
		" (id + 128):\n   babeltrace 2.0 shows old text there otherwise. */\n",
		weft__ctf_packet_context);
}

void weft__export_ctf_put_metadata(struct weft__bytes *metadata,
	const struct weft_trace_description *description, const struct weft__strings *kinds)
{
	weft__bytes_put(metadata, types, strlen(types));
	put_trace(metadata);
	put_environment(metadata, description);
	put_clock(metadata, &description->clock);
	put_kinds(metadata, kinds);
	put_bands(metadata);
	put_clocks(metadata);
	put_stream(metadata);
	for (unsigned type = 0; type < WEFT_EVENT_TYPES; type++) {
		if (weft_event_describe(type)->name)
			weft__export_ctf_declare_event(metadata, type);
	}
}
