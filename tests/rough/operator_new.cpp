/* SPDX-License-Identifier: ISC
 *
 * Rule: no guess about whose memory it is. The object of a std::thread lies where the program's own
 * operator new says, here at the end of a page, behind which there is none.
 */
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <sys/mman.h>
#include <thread>

static const std::size_t PAGE = 4096;
static std::atomic<unsigned> objects;

void *operator new(std::size_t size)
{
	std::size_t room = (size + PAGE - 1) / PAGE * PAGE;
	void *pages =
		mmap(nullptr, room + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED || mprotect(static_cast<char *>(pages) + room, PAGE, PROT_NONE))
		std::abort();
	objects++;
	return static_cast<char *>(pages) + room - (size + 7) / 8 * 8;
}

void operator delete(void *) noexcept
{
	objects--;
}

void operator delete(void *, std::size_t) noexcept
{
	objects--;
}

static std::atomic<int> sum;

static void plain()
{
	sum += 1;
}

static void with_number(int number)
{
	sum += number;
}

static void with_several(char a, int b, double c, const char *d)
{
	sum += a + b + static_cast<int>(c) + d[0];
}

static void with_text(const std::string &text)
{
	sum += static_cast<int>(text.size());
}

static void with_reference(int &number)
{
	number++;
}

struct pool {
	void fill(int number)
	{
		sum += number;
	}
	virtual ~pool() = default;
	virtual void drain()
	{
		sum += 1000;
	}
	void operator()() const
	{
		sum += 2000;
	}
};

int main()
{
	int number = 1;
	pool pool;
	std::thread threads[] = {std::thread(plain), std::thread(with_number, 10),
		std::thread(with_several, '\1', 2, 3.0, "\4"), std::thread(with_text, std::string("12345")),
		std::thread(with_reference, std::ref(number)), std::thread(&pool::fill, &pool, 100),
		std::thread(&pool::drain, &pool), std::thread(pool), std::thread([] { sum += 4000; }),
		std::thread([&number] { sum += number > 0; })};
	for (std::thread &it : threads)
		it.join();
	std::thread([] { sum += 8000; }).detach();
	while (sum < 15000)
		std::this_thread::yield();
	std::printf("%d %d\n", sum.load(), number);
}
