/* SPDX-License-Identifier: ISC
 *
 * Threads of C++ in each way in which their function can be given.
 */
#include <chrono>
#include <future>
#include <mutex>
#include <thread>

namespace store
{
std::mutex table;
struct pool {
	void fill(int)
	{
		std::lock_guard<std::mutex> lock(table);
		std::this_thread::sleep_for(std::chrono::milliseconds(20));
	}
	static void drain()
	{
		std::lock_guard<std::mutex> lock(table);
	}
};
} // namespace store

static void plain(int, long)
{
	std::lock_guard<std::mutex> lock(store::table);
	std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

int main()
{
	store::pool pool;
	std::thread threads[] = {std::thread(plain, 1, 2L), std::thread(&store::pool::fill, &pool, 3),
		std::thread(store::pool::drain), std::thread([] { plain(1, 2); })};
	for (std::thread &it : threads)
		it.join();
	return std::async(std::launch::async, [] { return 0; }).get();
}
