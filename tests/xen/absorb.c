/* SPDX-License-Identifier: ISC
 *
 * In dom0: takes the events of a guest's port until it is killed, as a driver would.
 *
 *     absorb DOMAIN
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <xenevtchn.h>
#include <xenstore.h>

static unsigned port_of(const char *domain)
{
	struct xs_handle *store = xs_open(0);
	char path[64];
	unsigned size;
	snprintf(path, sizeof(path), "/local/domain/%s/data/port", domain);
	const char *value = store ? xs_read(store, XBT_NULL, path, &size) : NULL;
	return value ? (unsigned)strtoul(value, NULL, 10) : 0;
}

int main(int count, char **arguments)
{
	xenevtchn_handle *channels = xenevtchn_open(NULL, 0);
	if (count != 2 || !channels)
		return 2;
	int port =
		xenevtchn_bind_interdomain(channels, (uint32_t)atoi(arguments[1]), port_of(arguments[1]));
	while (port >= 0) {
		port = xenevtchn_pending(channels);
		if (port >= 0 && xenevtchn_unmask(channels, (evtchn_port_t)port))
			break;
	}
	perror("absorb");
	return 1;
}
