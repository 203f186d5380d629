/* SPDX-License-Identifier: ISC
 *
 * A library with functions of its own that have the names of libc's, libuv's and GLib's, and other
 * arguments. It calls them itself, also before any other library has begun.
 */
#include <stdarg.h>
#include <stdio.h>

struct large {
	long numbers[6];
	double more;
};

double connect(double a, int b, float c);
struct large accept(int n, double x, long a, long b, long c, long d, long e, long f);
int poll(const char *format, ...);
long double select(long double x, int n);
int kill(const char *text);
const char *wait(void);
int signal(int a, int b, int c);
int uv_close(int a, int b, int c, int d, int e, int f, int g);
int g_task_new(int a);
int use_own(void);

double connect(double a, int b, float c)
{
	return a + b + (double)c;
}

struct large accept(int n, double x, long a, long b, long c, long d, long e, long f)
{
	return (struct large){{n, a, b, c, d, e + f}, x};
}

int poll(const char *format, ...)
{
	va_list list;
	va_start(list, format);
	int size = vprintf(format, list);
	va_end(list);
	return size;
}

long double select(long double x, int n)
{
	return x * n;
}

int kill(const char *text)
{
	return text[0];
}

const char *wait(void)
{
	return "waited";
}

int signal(int a, int b, int c)
{
	return 100 * a + 10 * b + c;
}

int uv_close(int a, int b, int c, int d, int e, int f, int g)
{
	return a + b + c + d + e + f + g;
}

int g_task_new(int a)
{
	return a + 1;
}

static int early;

__attribute__((constructor)) static void begin(void)
{
	early = (int)connect(1.5, 2, 3.5F) + uv_close(1, 2, 3, 4, 5, 6, 7);
	early += poll("%d %s %.1f\n", 1, "early", 3.0);
}

int use_own(void)
{
	struct large it = accept(3, 2.5, 1, 2, 3, 4, 5, 6);
	printf("%d %.2f\n", early, connect(1.25, 7, 2.5F));
	printf("%ld %ld %ld %.1f\n", it.numbers[0], it.numbers[1], it.numbers[5], it.more);
	poll("%s %d %.1f %s %ld %.2f\n", "x", 1, 2.5, "y", 99L, 4.25);
	printf("%.1Lf %d %s %d\n", select(1.5L, 2), kill("abc"), wait(), signal(1, 2, 3));
	printf("%d %d\n", uv_close(1, 2, 3, 4, 5, 6, 7), g_task_new(1));
	return 0;
}
