/* SPDX-License-Identifier: ISC
 *
 * libmicrohttpd, which is loaded when a server starts: it brings twenty libraries, which no other
 * command needs. Each function is called through a pointer, behind a macro of its name.
 */
#ifndef WEFT_APPS_SERVE_LIBRARY_H
#define WEFT_APPS_SERVE_LIBRARY_H

#include <stdbool.h>
#include <sys/types.h>

#include <microhttpd.h>

/* clang-format off */
#define SERVE_FUNCTIONS(X) \
	X(MHD_add_response_header) \
	X(MHD_create_response_from_buffer) \
	X(MHD_create_response_from_callback) \
	X(MHD_create_response_from_fd_at_offset64) \
	X(MHD_destroy_response) \
	X(MHD_get_connection_info) \
	X(MHD_get_connection_values) \
	X(MHD_lookup_connection_value) \
	X(MHD_queue_response) \
	X(MHD_quiesce_daemon) \
	X(MHD_start_daemon) \
	X(MHD_stop_daemon)

struct serve_library {
#define FUNCTION(name) __typeof__(name) *name##_;
	SERVE_FUNCTIONS(FUNCTION)
#undef FUNCTION
};
/* clang-format on */

extern struct serve_library serve_library;

/* Loads the library; false after a message. */
bool serve_load_library(void);

/* clang-format off */
#define MHD_add_response_header serve_library.MHD_add_response_header_
#define MHD_create_response_from_buffer serve_library.MHD_create_response_from_buffer_
#define MHD_create_response_from_callback serve_library.MHD_create_response_from_callback_
#define MHD_create_response_from_fd_at_offset64 serve_library.MHD_create_response_from_fd_at_offset64_
#define MHD_destroy_response serve_library.MHD_destroy_response_
#define MHD_get_connection_info serve_library.MHD_get_connection_info_
#define MHD_get_connection_values serve_library.MHD_get_connection_values_
#define MHD_lookup_connection_value serve_library.MHD_lookup_connection_value_
#define MHD_queue_response serve_library.MHD_queue_response_
#define MHD_quiesce_daemon serve_library.MHD_quiesce_daemon_
#define MHD_start_daemon serve_library.MHD_start_daemon_
#define MHD_stop_daemon serve_library.MHD_stop_daemon_
/* clang-format on */

#endif
