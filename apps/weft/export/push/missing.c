/* SPDX-License-Identifier: ISC
 *
 * weft export --url and weft agent --otlp in a weft that was built without libcurl.
 */
#include "push.h"

#include "cli/cli.h"

int push_check_url(const char *command, const char *option, const char *url)
{
	(void)command, (void)option, (void)url;
	cli_error("this weft was built without a client of HTTP: it needs the packages "
			  "libcurl4-openssl-dev and zlib1g-dev when it is built");
	return CLI_NO;
}

bool push_open(const struct push_options *options, struct push **ret_push)
{
	(void)options, (void)ret_push;
	return false;
}

int push_send(
	struct push *push, enum weft_otlp_signal signal, const void *bytes, size_t size, uint32_t count)
{
	(void)push, (void)signal, (void)bytes, (void)size, (void)count;
	return 0;
}

void push_hurry(struct push *push)
{
	(void)push;
}

int push_close(struct push *push)
{
	(void)push;
	return CLI_NO;
}
