/* SPDX-License-Identifier: ISC
 *
 * Parses the header of a buffer. Every size and offset is checked here against the others and
 * against the input, so that later code need not check them.
 */
#include "format/weft/buffer.h"

#include <stdlib.h>
#include <string.h>

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "base/little_endian.h"
#include "format/live_memory.h"
#include "format/weft/packet.h"
#include "format/weft/guest_facts.h"
#include "format/weft/tables.h"

static uint32_t u32(const struct weft__buffer *b, size_t offset)
{
	return weft__load_u32(b->header + offset);
}

static uint64_t u64(const struct weft__buffer *b, size_t offset)
{
	return weft__load_u64(b->header + offset);
}

#define AT(field) offsetof(struct weft_abi_buffer, field)

static void report_damage(const struct weft__input *input, size_t offset, const char *message)
{
	weft_diagnostics_add(input->diagnostics, offset, message);
}

static int find_packets(struct weft__buffer *b, const struct weft__input *input)
{
	uint64_t offset = u64(b, AT(packets_offset));
	uint32_t bytes = u32(b, AT(packet_bytes)), count = u32(b, AT(packet_count));
	uint64_t whole;
	b->packet_bytes = bytes;
	if (bytes < WEFT_ABI_PACKET_MIN_BYTES || bytes > WEFT_ABI_PACKET_MAX_BYTES ||
		(bytes & (bytes - 1)) || offset < sizeof(struct weft_abi_buffer) || offset % 8) {
		report_damage(
			input, AT(packets_offset), "the header's offset or number of packets is invalid");
		return WEFT_ERROR_DAMAGED;
	}
	if (offset > input->size) {
		report_damage(input, AT(packets_offset), "the buffer ends before its first packet");
		return WEFT_ERROR_DAMAGED;
	}
	whole = (input->size - offset) / bytes;
	if (whole < count) {
		report_damage(input, input->size, "the buffer is cut short");
		count = (uint32_t)whole;
	}
	b->packets_offset = offset;
	b->packet_count = count;
	return 0;
}

static void find_names(struct weft__buffer *b, const struct weft__input *input)
{
	uint64_t offset = u64(b, AT(names_offset)), bytes = u32(b, AT(names_bytes));
	uint64_t index = (uint64_t)u32(b, AT(names_index)) * sizeof(uint32_t);
	uint64_t packets_end = b->packets_offset + (uint64_t)b->packet_count * b->packet_bytes;
	if (offset < sizeof(struct weft_abi_buffer) || offset > input->size || index > bytes ||
		bytes > input->size - offset ||
		(offset < packets_end && offset + bytes > b->packets_offset)) {
		report_damage(input, AT(names_offset), "the header's offset or size of names is invalid");
		return;
	}
	b->names = input->bytes + offset + index;
	b->names_bytes = bytes - index;
}

/* The time that a reading has in the trace. 0: not taken. */
static struct weft__reading reading(const struct weft__buffer *b, uint64_t ticks, uint64_t ns)
{
	const struct weft__reading none = {ticks, 0, 0};
	uint64_t noted_ns = ns;
	if (!ns)
		return none;
	if (u32(b, AT(time_base)) == WEFT_ABI_TIME_COUNTER) {
		ns = b->host_clock ? weft__format_ticks_to_ns(b->host_clock->xen, ticks) : ticks;
		return (struct weft__reading){ticks, ns, noted_ns};
	}
	ns += u64(b, AT(time_offset_ns));
	if (b->host_clock)
		ns = weft__format_ticks_to_ns(
			b->host_clock->xen, ns - (uint64_t)b->own_host_clock->offset_ns);
	return (struct weft__reading){ticks, ns, noted_ns};
}

static struct weft__reading reading_at(const struct weft__buffer *b, size_t offset)
{
	return reading(b, u64(b, offset), u64(b, offset + 8));
}

static void keep_latest(struct weft__reading *latest, struct weft__reading reading)
{
	if (reading.ticks > latest->ticks && reading.ns > latest->ns)
		*latest = reading;
}

/* The reading at the end. No packet confirms it, and a damaged one would stretch the trace or
 * falsify the clock's rate: so its two clocks have to agree within 2 % since the start. Zero if it
 * was not taken. */
static struct weft__reading reading_of_end(const struct weft__buffer *b)
{
	const struct weft__reading start = reading_at(b, AT(start));
	const struct weft__reading second = reading_at(b, AT(second));
	const struct weft__reading end = reading_at(b, AT(end)), none = {0, 0, 0};
	struct weft__ticks clock;
	if (end.ticks < start.ticks || (end.ns && end.ns < start.ns))
		return none;
	if (end.ns == 0) /* another process noted the end, which cannot read the program's own clock */
		return end;
	if (second.ticks > start.ticks && second.ns > start.ns)
		weft__format_ticks_init(
			&clock, start.ticks, start.ns, second.ticks - start.ticks, second.ns - start.ns);
	else if (u32(b, AT(clock)) >= WEFT_ABI_CLOCK_MONOTONIC)
		weft__format_ticks_init(&clock, start.ticks, start.ns, 1, 1);
	else
		return end;
	return weft__format_ticks_agree(&clock, end.ticks, end.ns, 50) ? end : none;
}

/* The latest clock reading in the buffer: the longer the baseline, the more precise the rate. */
static struct weft__reading last_reading(const struct weft__buffer *b)
{
	struct weft__reading last = reading_at(b, AT(start));
	keep_latest(&last, reading_at(b, AT(second)));
	keep_latest(&last, reading_of_end(b));
	for (uint32_t i = 0; i < b->packet_count; i++) {
		struct weft_abi_packet header;
		if (weft__format_packet_is_readable(weft__format_packet_read(b, i, &header)))
			keep_latest(&last, reading(b, header.reading_ticks, header.reading_ns));
	}
	return last;
}

uint32_t weft__format_buffer_comparisons(
	const struct weft__buffer *b, struct weft_abi_comparison ret_comparisons[WEFT_ABI_COMPARISONS])
{
	uint32_t count = u32(b, AT(comparison_count));
	memcpy(ret_comparisons, b->header + AT(comparisons),
		WEFT_ABI_COMPARISONS * sizeof(*ret_comparisons));
	return count > WEFT_ABI_COMPARISONS || !ret_comparisons[0].xen_ns ? 0 : count;
}

/* Collects the readings of all packets and of the header. Returns their number. */
static size_t collect_readings(const struct weft__buffer *b, struct weft__guest_reading *readings)
{
	static const size_t offsets[] = {AT(start), AT(second), AT(end)};
	size_t count = 0;
	for (size_t i = 0; i < 3; i++)
		readings[count++] =
			(struct weft__guest_reading){u64(b, offsets[i]), u64(b, offsets[i] + 8)};
	for (uint32_t i = 0; i < b->packet_count; i++) {
		struct weft_abi_packet header;
		if (weft__format_packet_is_readable(weft__format_packet_read(b, i, &header)))
			readings[count++] =
				(struct weft__guest_reading){header.reading_ticks, header.reading_ns};
	}
	return count;
}

/* Finds the difference between the guest's CLOCK_MONOTONIC and Xen's time. Processes of one guest
 * that are opened together have the same one. A part of a trace has that of the whole. */
static int find_guest_clock(struct weft__buffer *b, const struct weft__input *input,
	const struct weft_abi_comparison *comparisons)
{
	uint32_t guest = u32(b, AT(guest)), count = u32(b, AT(comparison_count));
	b->guest_clock = (struct weft__guest_clock){
		(int64_t)u64(b, AT(time_offset_ns)), u32(b, AT(offset_error_ns))};
	if (!b->guest_clock.offset_ns) {
		struct weft__guest_reading *readings =
			malloc((b->packet_count + (size_t)3) * sizeof(*readings));
		if (!readings)
			return WEFT_ERROR_MEMORY;
		b->guest_clock = weft__format_guest_clock_find(
			readings, collect_readings(b, readings), comparisons, count);
		free(readings);
	}
	struct weft__guest_clock clock = b->guest_clock;
	if (input->readings)
		clock = weft__format_share_guest_clock(input->readings, guest, clock);
	uint32_t error_ns = clock.error_ns < UINT32_MAX ? (uint32_t)clock.error_ns : UINT32_MAX;
	memcpy(b->header + AT(time_offset_ns), &clock.offset_ns, sizeof(clock.offset_ns));
	memcpy(b->header + AT(offset_error_ns), &error_ns, sizeof(error_ns));
	if (clock.offset_ns) {
		weft__format_host_clock_shift(b->own_host_clock, b->host_clock, clock.offset_ns);
		b->own_host_clock->error_ns += clock.error_ns;
	}
	b->host_clock = clock.offset_ns ? b->own_host_clock : NULL;
	if (!b->host_clock) /* its times are not of this boot's clock */
		memset(b->header + AT(boot_id), 0, sizeof(b->about.boot_id));
	return 0;
}

/* Finds the clocks of the host, if the reader of a guest stored comparisons of them. */
static int find_host_clock(struct weft__buffer *b, const struct weft__input *input)
{
	struct weft_abi_comparison list[WEFT_ABI_COMPARISONS];
	uint32_t count = weft__format_buffer_comparisons(b, list);
	if (!count)
		return 0;
	b->own_host_clock = malloc(sizeof(*b->own_host_clock));
	if (!b->own_host_clock)
		return WEFT_ERROR_MEMORY;
	weft__format_host_clock_init(b->own_host_clock, list, count);
	bool is_shared = input->readings && input->readings->host.count;
	b->host_clock = is_shared ? &input->readings->host : b->own_host_clock;
	return u32(b, AT(time_base)) == WEFT_ABI_TIME_COUNTER ? find_guest_clock(b, input, list) : 0;
}

/* True if the ticks are those of the host's counter, as far as the buffer's readings tell. */
static bool has_host_counter(const struct weft__buffer *b)
{
	const struct weft__readings *r = &b->readings;
	return b->host_clock && u32(b, AT(clock)) == WEFT_ABI_CLOCK_TSC &&
		   weft__format_host_clock_agrees(b->host_clock, r->first.ticks, r->first.ns) &&
		   weft__format_host_clock_agrees(b->host_clock, r->last.ticks, r->last.ns);
}

/* Two clock readings closer than this give a worse rate than the frequency in the header. */
static const uint64_t BASELINE_MIN_NS = 1000000;

static uint64_t rate_of_clock(struct weft__buffer *b, const struct weft__input *input)
{
	const struct weft__shared_readings *shared = input->readings;
	bool is_shared = shared && shared->counter.last.ticks && weft__format_buffer_has_counter(b);
	const struct weft__readings *readings = is_shared ? &shared->counter : &b->readings;
	const struct weft__reading start = readings->first, last = readings->last;
	uint64_t hz = u64(b, AT(clock_hz));
	uint32_t kind = u32(b, AT(clock));
	const uint64_t second = 1000000000;
	bool is_guests =
		kind == WEFT_ABI_CLOCK_MONOTONIC && u32(b, AT(time_base)) == WEFT_ABI_TIME_COUNTER;
	if ((kind == WEFT_ABI_CLOCK_XEN || is_guests) && b->host_clock) {
		b->clock = b->host_clock->xen[0];
		return second;
	}
	if (kind == WEFT_ABI_CLOCK_MONOTONIC || kind == WEFT_ABI_CLOCK_UNIX ||
		kind == WEFT_ABI_CLOCK_XEN) {
		weft__format_ticks_init(&b->clock, start.ticks, start.ns, 1, 1);
		return second;
	}
	if (last.ns - start.ns >= BASELINE_MIN_NS || (hz == 0 && last.ns > start.ns)) {
		weft__format_ticks_init(
			&b->clock, start.ticks, start.ns, last.ticks - start.ticks, last.ns - start.ns);
		if (has_host_counter(b))
			b->clock = b->host_clock->counter[0];
		return weft__format_ticks_hz(&b->clock);
	}
	if (hz == 0) {
		report_damage(input, AT(clock_hz), "the clock's rate is unknown: a tick counts as 1 ns");
		hz = second;
	}
	weft__format_ticks_init(&b->clock, start.ticks, start.ns, hz, second);
	return hz;
}

static const char *clock_name(uint32_t kind)
{
	static const char *const names[] = {
		[WEFT_ABI_CLOCK_CALLER] = "caller",
		[WEFT_ABI_CLOCK_TSC] = "tsc",
		[WEFT_ABI_CLOCK_CNTVCT] = "cntvct",
		[WEFT_ABI_CLOCK_MONOTONIC] = "monotonic",
		[WEFT_ABI_CLOCK_UNIX] = "unix",
		[WEFT_ABI_CLOCK_XEN] = "xen",
	};
	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "unknown";
}

static uint64_t to_ns(const void *clock, uint64_t ticks)
{
	return weft__format_ticks_to_ns(clock, ticks);
}

static uint64_t ticks_at(const void *clock, uint64_t ns)
{
	return weft__format_ticks_at(clock, ns);
}

/* Ticks of a rate that nobody knows, or that are ns of the axis, are as good as ns. */
static void describe_ticks(struct weft__buffer *b, struct weft_trace_description *description)
{
	const struct weft__reading *first = &b->readings.first, *last = &b->readings.last;
	uint32_t kind = u32(b, AT(clock));
	bool is_ns = kind == WEFT_ABI_CLOCK_MONOTONIC || kind == WEFT_ABI_CLOCK_UNIX;
	bool has_rate = u64(b, AT(clock_hz)) || last->ns > first->ns || kind == WEFT_ABI_CLOCK_XEN;
	if (!b->host_clock && (is_ns || !has_rate))
		return;
	b->ticks = (struct weft__clock_ticks){
		.header = b->header, .to_ns = to_ns, .at = ticks_at, .clock = &b->clock};
	if (last->ticks != first->ticks) {
		b->ticks.last_ticks = last->ticks;
		b->ticks.last_monotonic_ns = last->noted_ns;
	}
	description->ticks = &b->ticks;
}

static void read_clock(struct weft__buffer *b, const struct weft__input *input)
{
	struct weft_clock *clock = &input->description->clock;
	struct weft__reading start = reading_at(b, AT(start));
	uint64_t unix_ns = u64(b, AT(start) + 16);
	b->readings = (struct weft__readings){start, last_reading(b)};
	clock->hz = rate_of_clock(b, input);
	clock->name = clock_name(u32(b, AT(clock)));
	clock->comparisons = b->host_clock ? b->host_clock->count : 0;
	clock->error_ns = b->host_clock ? b->host_clock->error_ns : 0;
	clock->epoch = start.ns ? WEFT_EPOCH_MONOTONIC : WEFT_EPOCH_UNKNOWN;
	clock->offset_ns = unix_ns ? (int64_t)(unix_ns - start.ns) : 0;
	if (u32(b, AT(clock)) == WEFT_ABI_CLOCK_UNIX) {
		clock->epoch = WEFT_EPOCH_UNIX;
		clock->offset_ns = 0;
	}
	describe_ticks(b, input->description);
}

static void copy_again(struct weft__buffer *b, size_t offset, size_t size)
{
	weft__format_live_copy(b->header + offset, b->bytes + offset, size);
}

void weft__format_buffer_load_end(
	struct weft__buffer *b, enum weft_abi_ending ending, uint64_t ticks)
{
	copy_again(b, AT(ending), sizeof(uint32_t));
	copy_again(b, AT(end), sizeof(struct weft_abi_clock_reading));
	copy_again(b, AT(wait_status), sizeof(uint32_t));
	weft__format_buffer_read_end(b);
	if (b->about.ending != WEFT_ENDING_UNKNOWN)
		return;
	b->about.ending = (enum weft_ending)ending;
	b->about.end_ns = weft__format_ticks_to_ns(&b->clock, ticks);
}

static void read_losses(const struct weft__buffer *b, const struct weft__input *input)
{
	uint64_t *losses = input->description->losses;
	for (unsigned cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		if (b->stream || cause != WEFT_LOSS_OVERWRITTEN) /* a buffer's packets count these */
			losses[cause] = u64(b, AT(losses) + cause * sizeof(uint64_t));
}

void weft__format_buffer_load_losses(
	const struct weft__buffer *b, uint64_t losses[WEFT_LOSS_CAUSES])
{
	for (unsigned cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		if (cause != WEFT_LOSS_OVERWRITTEN && cause != WEFT_LOSS_STALLED)
			weft__format_live_copy(
				&losses[cause], b->bytes + AT(losses) + cause * sizeof(uint64_t), sizeof(uint64_t));
}

static void store_guest_facts(struct weft__buffer *b, const struct weft__guest_facts *facts)
{
	struct weft_abi_buffer header;
	memcpy(&header, b->header, sizeof(header));
	weft__format_guest_facts_store(facts, &header);
	memcpy(b->header, &header, sizeof(header));
}

static int read_header(struct weft__buffer *b, const struct weft__input *input, bool stream_too)
{
	*b = (struct weft__buffer){.bytes = input->bytes, .size = input->size};
	if (input->size < sizeof(b->header)) {
		report_damage(input, input->size, "the header is cut short");
		return WEFT_ERROR_DAMAGED;
	}
	weft__format_live_copy(b->header, input->bytes, sizeof(b->header));
	if (input->guest_facts)
		store_guest_facts(b, input->guest_facts);
	if (!weft__format_buffer_probe(b->header, sizeof(b->header)))
		return WEFT_ERROR_FORMAT;
	if (u32(b, AT(version)) != WEFT_ABI_VERSION || u32(b, AT(stream)) > 1) {
		report_damage(input, AT(version), "written by another version of weft");
		return WEFT_ERROR_UNSUPPORTED;
	}
	if (u32(b, AT(stream)) && !stream_too)
		return WEFT_ERROR_FORMAT;
	int error = find_packets(b, input);
	if (error)
		return error;
	if (u32(b, AT(stream)))
		return weft__format_stream_init(b, input);
	find_names(b, input);
	return 0;
}

static void describe(struct weft__buffer *b, struct weft_trace_description *description)
{
	b->about = (struct weft_trace_buffer){.process = b->program,
		.host = b->host,
		.file = "",
		.pid = b->pid,
		.guest = u32(b, AT(guest))};
	memcpy(b->about.boot_id, b->header + AT(boot_id), sizeof(b->about.boot_id));
	memcpy(b->about.uuid, b->header + AT(uuid), sizeof(b->about.uuid));
	b->about.series = u32(b, AT(stream)) ? u64(b, AT(series)) : 0;
	b->about.has_categories = u32(b, AT(has_categories)) == 1;
	weft__format_buffer_read_end(b);
	description->buffers = &b->about;
	description->buffer_count = 1;
}

/* A stream whose writer was killed goes on to its last mark at least. */
void weft__format_buffer_read_end(struct weft__buffer *b)
{
	uint32_t ending = u32(b, AT(ending)), status = u32(b, AT(wait_status));
	uint64_t ticks = ending ? reading_of_end(b).ticks : b->marked;
	b->about.ending = ending < WEFT_ENDINGS ? (enum weft_ending)ending : WEFT_ENDING_UNKNOWN;
	b->about.wait_status = status & WEFT_ABI_WAITED ? status : 0;
	b->about.end_ns = ticks ? weft__format_ticks_to_ns(&b->clock, ticks) : 0;
}

static int init(struct weft__buffer *b, const struct weft__input *input, bool stream_too)
{
	int error = read_header(b, input, stream_too);
	b->forget = input->forget;
	if (!error)
		error = find_host_clock(b, input);
	if (error) {
		weft__format_buffer_finish(b);
		return error;
	}
	read_clock(b, input);
	read_losses(b, input);
	if (u32(b, AT(stop_reason)))
		report_damage(input, AT(stop_reason), WEFT__BUFFER_STOPPED_EARLY);
	b->pid = u32(b, AT(pid));
	memcpy(b->program, b->header + AT(program), sizeof(b->program) - 1);
	memcpy(b->host, b->header + AT(host), sizeof(b->host) - 1);
	memcpy(b->source, b->header + AT(source), sizeof(b->source) - 1);
	describe(b, input->description);
	return 0;
}

int weft__format_buffer_find_parts(struct weft__buffer *b, const struct weft__input *input)
{
	return read_header(b, input, false);
}

int weft__format_buffer_init(struct weft__buffer *b, const struct weft__input *input)
{
	return init(b, input, false);
}

int weft__format_buffer_init_any(struct weft__buffer *b, const struct weft__input *input)
{
	return init(b, input, true);
}

void weft__format_buffer_finish(struct weft__buffer *b)
{
	if (b->stream) {
		free(b->stream->offsets);
		free(b->stream->heads);
		free(b->stream->names);
		free(b->stream->texts);
		free(b->stream);
	}
	b->stream = NULL;
	free(b->own_host_clock);
	b->own_host_clock = NULL;
	free(b->code);
	free(b->unseen);
	b->code = b->unseen = NULL;
	weft__format_tables_finish(b);
	weft__format_buffer_drop_names(b);
}
