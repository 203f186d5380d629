/* SPDX-License-Identifier: ISC
 *
 * A packet's header and context, and their declaration, side by side so that they cannot disagree.
 */
#include "export/ctf.h"

#include <string.h>

#define CTF_MAGIC UINT32_C(0xC1FC1FC1)

const char weft__ctf_packet_header[] = "\t\tuint32 magic;\n"
									   "\t\tuint32 stream_id;\n"
									   "\t\tuint64 stream_instance_id;\n";

static void put_header(struct weft__bytes *bytes, const struct weft__ctf_packet *packet)
{
	weft__bytes_put_u32(bytes, CTF_MAGIC);
	weft__bytes_put_u32(bytes, 0); /* the only stream class */
	weft__bytes_put_u64(bytes, packet->thread);
}

const char weft__ctf_packet_context[] = "\t\tclock_time timestamp_begin;\n"
										"\t\tclock_time timestamp_end;\n"
										"\t\tuint64 content_size;\n"
										"\t\tuint64 packet_size;\n"
										"\t\tuint64 packet_seq_num;\n"
										"\t\tuint64 events_discarded;\n"
										"\t\tuint64 _pid;\n"
										"\t\tuint64 _tid;\n"
										"\t\tstring _process;\n"
										"\t\tstring _thread;\n";

static size_t header_bytes(const struct weft__ctf_packet *packet)
{
	return 4 + 4 + 8 + 8 * 8 + packet->process_name.size + 1 + strlen(packet->thread_name) + 1;
}

static void put_context(struct weft__bytes *bytes, const struct weft__ctf_packet *packet)
{
	uint64_t size_bits = 8 * (uint64_t)(header_bytes(packet) + packet->body_bytes);
	weft__bytes_put_u64(bytes, packet->begin_ns);
	weft__bytes_put_u64(bytes, packet->end_ns);
	weft__bytes_put_u64(bytes, size_bits);
	weft__bytes_put_u64(bytes, size_bits);
	weft__bytes_put_u64(bytes, packet->sequence);
	weft__bytes_put_u64(bytes, packet->discarded);
	weft__bytes_put_u64(bytes, packet->pid);
	weft__bytes_put_u64(bytes, packet->tid);
	weft__bytes_put(bytes, packet->process_name.bytes, packet->process_name.size);
	weft__bytes_put(bytes, "", 1);
	weft__bytes_put(bytes, packet->thread_name, strlen(packet->thread_name) + 1);
}

void weft__export_ctf_put_packet(struct weft__bytes *bytes, const struct weft__ctf_packet *packet)
{
	put_header(bytes, packet);
	put_context(bytes, packet);
}
