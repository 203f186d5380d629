/* SPDX-License-Identifier: ISC
 *
 * An echo server and its clients, in one process, with asio. There is no line of weft in it: it is
 * recorded if it is compiled with
 *
 *     c++ -DASIO_CUSTOM_HANDLER_TRACKING='"weft/asio.hpp"' asio-echo.cpp -lweft -pthread
 */
#include <asio.hpp>
#include <cstdio>
#include <memory>

using asio::ip::tcp;

class session : public std::enable_shared_from_this<session>
{
  public:
	explicit session(tcp::socket socket) : socket_(std::move(socket))
	{
	}

	void read()
	{
		auto self = shared_from_this();
		socket_.async_read_some(
			asio::buffer(bytes_), [self](asio::error_code error, std::size_t size) {
				if (!error)
					self->write(size);
			});
	}

  private:
	void write(std::size_t size)
	{
		auto self = shared_from_this();
		asio::async_write(
			socket_, asio::buffer(bytes_, size), [self](asio::error_code error, std::size_t) {
				if (!error)
					self->read();
			});
	}

	tcp::socket socket_;
	char bytes_[1024];
};

static void accept(tcp::acceptor &acceptor, int count)
{
	acceptor.async_accept([&acceptor, count](asio::error_code error, tcp::socket socket) {
		if (error)
			return;
		std::make_shared<session>(std::move(socket))->read();
		if (count > 1)
			accept(acceptor, count - 1);
	});
}

/* Sends a line again and again, a millisecond after each answer. */
class client
{
  public:
	client(asio::io_context &context, tcp::endpoint server, int rounds)
		: socket_(context), timer_(context), rounds_(rounds)
	{
		socket_.async_connect(server, [this](asio::error_code) { write(); });
	}

  private:
	void write()
	{
		asio::async_write(socket_, asio::buffer("hello, world\n", 13),
			[this](asio::error_code, std::size_t) { read(); });
	}
	void read()
	{
		asio::async_read(
			socket_, asio::buffer(answer_, 13), [this](asio::error_code, std::size_t size) {
				std::printf("%.*s", static_cast<int>(size), answer_);
				if (--rounds_ == 0)
					socket_.close();
				else
					sleep();
			});
	}
	void sleep()
	{
		timer_.expires_after(std::chrono::milliseconds(1));
		timer_.async_wait([this](asio::error_code) { write(); });
	}

	tcp::socket socket_;
	asio::steady_timer timer_;
	int rounds_;
	char answer_[13];
};

int main()
{
	asio::io_context context;
	tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
	accept(acceptor, 2);
	client first(context, acceptor.local_endpoint(), 5),
		second(context, acceptor.local_endpoint(), 5);
	context.run();
}
