/* SPDX-License-Identifier: ISC
 *
 * Operands xen:DOMAIN and xen:DOMAIN/BUFFER, see guest.h. Readers of files get a copy of the buffer
 * in memory: its bytes, or a stream of it that ends at once.
 */
#include "runs/guests/guest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/stream.h>

#include "runs/file.h"
#include "runs/message.h"

static const char SCHEME[] = "xen:";

#define PIECE_BYTES ((size_t)256 << 10)

const char *weft__runs_guest_domain(const char *operand)
{
	size_t length = sizeof(SCHEME) - 1;
	bool is_guest = strncmp(operand, SCHEME, length) == 0 && access(operand, F_OK) != 0;
	return is_guest ? operand + length : NULL;
}

void weft__runs_guest_operand(
	uint32_t domain, const char *name, char ret_operand[WEFT__RUNS_GUEST_OPERAND_BYTES])
{
	static const char good[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_+-.";
	bool is_number = strspn(name, "0123456789") == strlen(name);
	bool is_plain = name[strspn(name, good)] == '\0' && strcmp(name, "all") != 0;
	if (is_plain && !is_number)
		snprintf(ret_operand, WEFT__RUNS_GUEST_OPERAND_BYTES, "%s%.63s", SCHEME, name);
	else
		snprintf(ret_operand, WEFT__RUNS_GUEST_OPERAND_BYTES, "%s%u", SCHEME, (unsigned)domain);
}

bool weft__runs_guest_is_dom0(void)
{
	char capabilities[64] = "";
	FILE *file = fopen("/proc/xen/capabilities", "re");
	bool found = file && fgets(capabilities, sizeof(capabilities), file) &&
				 strstr(capabilities, "control_d");
	if (file)
		fclose(file);
	return found;
}

bool weft__runs_guest_try(
	const char *operand, struct weft__runs_guest *ret_guest, char reason[WEFT_GUEST_REASON_BYTES])
{
	struct weft__runs_guest guest = {NULL, NULL};
	const char *domain = weft__runs_guest_domain(operand);
	int error = weft_host_open(&guest.host, reason);
	if (!error)
		error = weft_guest_open_only(guest.host, domain, &guest.guest, reason);
	if (error)
		weft_host_close(guest.host);
	else
		*ret_guest = guest;
	return !error;
}

bool weft__runs_guest_open(const char *operand, struct weft__runs_guest *ret_guest)
{
	char reason[WEFT_GUEST_REASON_BYTES];
	bool good = weft__runs_guest_try(operand, ret_guest, reason);
	if (!good)
		weft__runs_report("%s: %s", weft__runs_shown(operand), reason);
	return good;
}

void weft__runs_guest_close(struct weft__runs_guest *guest)
{
	weft_guest_close(guest->guest);
	weft_host_close(guest->host);
}

/* ---- Copies ---- */

/* Writes the buffer as a stream that ends now. 0 or an error. */
static int copy_stream(struct weft_guest *guest, int fd)
{
	struct weft_stream *stream;
	const void *bytes;
	size_t size;
	int status = weft_stream_open_guest(guest, PIECE_BYTES, &stream);
	if (status)
		return status;
	weft_stream_stop(stream);
	while ((status = weft_stream_next(stream, &bytes, &size)) == WEFT_OK)
		if (!weft__runs_write_all(fd, bytes, size)) {
			status = WEFT_ERROR_SYSTEM;
			break;
		}
	weft_stream_close(stream);
	return status == WEFT_END ? 0 : status;
}

static int copy(struct weft_guest *guest, int fd)
{
	const void *bytes;
	size_t size;
	if (!weft_guest_bytes(guest, &bytes, &size))
		return copy_stream(guest, fd);
	return weft__runs_write_all(fd, bytes, size) ? 0 : WEFT_ERROR_SYSTEM;
}

int weft__runs_guest_copy(const char *operand)
{
	struct weft__runs_guest guest;
	if (!weft__runs_guest_open(operand, &guest))
		return -1;
	/* Only its owner may read it, so that no output made of it is readable for others. */
	int fd = memfd_create("weft-guest", MFD_CLOEXEC);
	int error = fd < 0 || fchmod(fd, 0600) != 0 ? WEFT_ERROR_SYSTEM : copy(guest.guest, fd);
	if (error) {
		weft__runs_report("%s: %s", weft__runs_shown(operand),
			error == WEFT_ERROR_SYSTEM ? strerror(errno) : weft_error_text(error));
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	weft__runs_guest_close(&guest);
	if (fd >= 0)
		(void)lseek(fd, 0, SEEK_SET);
	return fd;
}
