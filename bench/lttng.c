/* SPDX-License-Identifier: ISC
 *
 * LTTng-UST compared with the floor, in overwrite mode; prints lines like bench/record.c.
 *
 * The daemon and the sessions belong to this program: they live in a directory that is removed at
 * the end. Each event type has a session of its own; it is first recorded once, and the growth of
 * the trace is its size.
 */
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lttng/ust-version.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_events.h"
#include "measure.h"

/* ---- Events ---- */

LOOP(do_resolve, lttng_ust_tracepoint(weft_bench, resolve, i, i))
LOOP(do_byte, lttng_ust_tracepoint(weft_bench, byte, (uint8_t)i))

static bool resolve_is_on(void)
{
	return lttng_ust_tracepoint_enabled(weft_bench, resolve);
}

static bool byte_is_on(void)
{
	return lttng_ust_tracepoint_enabled(weft_bench, byte);
}

static const struct peer {
	struct subject subject;
	const char *event;
	bool (*is_on)(void);
} peers[] = {
	{{"lttng-ust, two u64", do_resolve}, "weft_bench:resolve", resolve_is_on},
	{{"lttng-ust, a byte", do_byte}, "weft_bench:byte", byte_is_on},
};

#define PEERS (sizeof(peers) / sizeof(peers[0]))

/* ---- Bytes of the written trace ---- */

/* The beginning of each packet of an LTTng file: CTF's header and LTTng's context. */
struct packet {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream;
	uint64_t instance;
	uint64_t begin, end;
	uint64_t content_bits; /* of the packet, this included */
	uint64_t packet_bits;
	uint64_t number, discarded;
	uint32_t processor;
} __attribute__((packed));

static double content_bytes;

static void add_packets(FILE *file)
{
	struct packet packet;
	long at = 0;
	while (!fseek(file, at, SEEK_SET) && fread(&packet, sizeof(packet), 1, file) == 1) {
		if (packet.magic != 0xc1fc1fc1 || packet.packet_bits / 8 < sizeof(packet) ||
			packet.content_bits > packet.packet_bits)
			return;
		content_bytes += (double)packet.content_bits / 8 - sizeof(packet);
		at += (long)(packet.packet_bits / 8);
	}
}

static int add_file(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	if (type != FTW_F || strncmp(path + where->base, "ring_", 5) != 0 || strstr(path, "/index/"))
		return 0;
	FILE *file = fopen(path, "rb");
	if (file) {
		add_packets(file);
		fclose(file);
	}
	return 0;
}

/* Bytes per event of a stopped session; 0 if its trace is not as expected. */
static double bytes_an_event(void)
{
	char path[256];
	content_bytes = 0;
	snprintf(path, sizeof(path), "%s/out", getenv("LTTNG_HOME"));
	nftw(path, add_file, 8, FTW_PHYS);
	return content_bytes / MEASURE_EVENTS;
}

/* ---- Sessions ---- */

static bool session(const char *event)
{
	char command[512];
	snprintf(command, sizeof(command),
		"exec >\"$LTTNG_HOME/output\" 2>&1; lttng create bench --output=\"$LTTNG_HOME/out\" && "
		"lttng enable-channel --userspace --overwrite --subbuf-size=1M --num-subbuf=4 ring && "
		"lttng enable-event --userspace --channel=ring %s && lttng start",
		event);
	return system(command) == 0;
}

static bool lttng(const char *command)
{
	char line[256];
	snprintf(line, sizeof(line), "lttng %s >\"$LTTNG_HOME/output\" 2>&1", command);
	return system(line) == 0;
}

/* Waits until an enabled event is active, which takes a little time. */
static bool is_soon_on(const struct peer *peer)
{
	for (int i = 0; i < 500 && !peer->is_on(); i++)
		usleep(10000);
	return peer->is_on();
}

static bool print_peer(const struct peer *peer)
{
	static _Alignas(64) uint64_t ring[MEASURE_RING_WORDS];
	if (!session(peer->event) || !is_soon_on(peer))
		return false;
	peer->subject.run(ring);
	if (!lttng("stop"))
		return false;
	double bytes = bytes_an_event();
	if (!lttng("start") || !is_soon_on(peer))
		return false;
	struct measured measured = measure_subject(&peer->subject, &measure_floor);
	measure_print_line(peer->subject.name, &measured, bytes);
	return lttng("destroy --no-wait bench") && !system("rm -rf \"$LTTNG_HOME/out\"");
}

/* Runs in a process that found the daemon when it started. */
static int measure_all(void)
{
	const struct subject off = {"lttng-ust, two u64, off", do_resolve};
	measure_print_section(
		"LTTng-UST " LTTNG_UST_VERSION ", overwrite mode; the floor is as for weft");
	for (size_t i = 0; i < PEERS; i++) {
		if (!print_peer(&peers[i])) {
			printf("  no session of LTTng can be had:\n");
			fflush(stdout);
			return system("sed 's/^/    /' \"$LTTNG_HOME/output\"") != 0;
		}
	}
	measure_print_section("LTTng-UST, without a session; the floor is the empty loop");
	struct measured measured = measure_subject(&off, &measure_empty);
	measure_print_line(off.name, &measured, 0);
	return 0;
}

/* ---- The daemon ---- */

static void set_environment(const char *home)
{
	setenv("LTTNG_HOME", home, 1);
	setenv("HOME", home, 1);
	setenv("LTTNG_UST_REGISTER_TIMEOUT", "3000", 1); /* ms to wait for the daemon at the start */
	setenv("WEFT_BENCH_LTTNG", "1", 1);
}

static int run_measuring(char **arguments)
{
	int status = 1;
	/* Ctrl-C ends the child that measures; this process then ends the daemon. */
	signal(SIGINT, SIG_IGN);
	pid_t child = fork();
	if (child == 0) {
		signal(SIGINT, SIG_DFL);
		execv("/proc/self/exe", arguments);
		_exit(1);
	}
	waitpid(child, &status, 0);
	return status != 0;
}

static const char *const end_daemon =
	"lttng destroy --all >/dev/null 2>&1; daemon=$(cat \"$LTTNG_HOME/pid\") && kill $daemon && "
	"for i in $(seq 50); do kill -0 $daemon 2>/dev/null || exit 0; sleep 0.1; done; exit 1";

/* The daemon has a home directory of its own; a process registers with it when it starts. */
static int become_child(char **arguments)
{
	char home[] = "/tmp/weft-lttng-XXXXXX";
	int failed = 0;
	if (!mkdtemp(home))
		return 1;
	set_environment(home);
	if (system("lttng-sessiond --daemonize --no-kernel --pidfile=\"$LTTNG_HOME/pid\" "
			   ">\"$LTTNG_HOME/output\" 2>&1")) {
		printf("  LTTng-UST: lttng-sessiond does not start:\n");
		fflush(stdout);
		failed = system("sed 's/^/    /' \"$LTTNG_HOME/output\"") != 0;
	} else {
		failed = run_measuring(arguments);
		if (system(end_daemon))
			printf("the daemon of %s did not end\n", home);
	}
	return system("rm -rf \"$LTTNG_HOME\"") || failed;
}

int main(int count, char **arguments)
{
	(void)count;
	if (getenv("WEFT_BENCH_LTTNG"))
		return measure_all();
	if (system("command -v lttng >/dev/null && command -v lttng-sessiond >/dev/null")) {
		printf("LTTng-UST is not measured: lttng-sessiond is missing (Debian: lttng-tools)\n");
		return 0;
	}
	return become_child(arguments);
}
