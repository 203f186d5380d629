/* SPDX-License-Identifier: ISC
 *
 * Metrics in C++17: a family has a name, a unit and a type; labels give its metrics, which keep
 * their value until the program ends; children come and go below one.
 *
 *     inline weft::family<weft::counter> acked{"tcp_acked", {"bytes", "Bytes that were
 * acknowledged"}};
 *
 *     static const weft::counter acme = acked.get({{"pool", "eu"}, {"customer", "acme"}});
 *     {
 *         weft::child<weft::counter> stream{acme, "stream", 1234567};
 *         stream.add(1460);                              acme has it, too
 *     }                                                  and keeps it
 *
 * metrics.h says what each call means, and when it may be made. Texts are copied.
 */
#ifndef WEFT_METRICS_HPP
#define WEFT_METRICS_HPP

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>

#include <weft/metrics.h>
#include <weft/weft.hpp>

namespace weft
{

/* ---- Values ---- */

/* A metric or a child, as a handle that is copied freely; without one it counts nowhere. */
class metric
{
  public:
	constexpr metric() noexcept = default;
	constexpr explicit metric(weft_metric handle) noexcept : handle_(handle)
	{
	}
	[[nodiscard]] constexpr weft_metric handle() const noexcept
	{
		return handle_;
	}
	/* A value, or a counter's change, that is worth a look. */
	void exemplar(std::uint64_t value) const noexcept
	{
		weft_metric_exemplar(handle_, value);
	}

  protected:
	[[nodiscard]] weft_metric_value read() const noexcept
	{
		weft_metric_value found{};
		(void)weft_metric_read(handle_, &found);
		return found;
	}

  private:
	weft_metric handle_ = 0;
};

/* It only grows. */
class counter : public metric
{
  public:
	static constexpr weft_metric_kind kind = WEFT_METRIC_COUNTER;
	using metric::metric;
	void add(std::uint64_t count = 1) const noexcept
	{
		weft_metric_add(handle(), count);
	}
	/* With all below it; 0 if it counts nowhere. */
	[[nodiscard]] std::uint64_t value() const noexcept
	{
		return static_cast<std::uint64_t>(read().value);
	}
};

/* It grows and shrinks. */
class gauge : public metric
{
  public:
	static constexpr weft_metric_kind kind = WEFT_METRIC_GAUGE;
	using metric::metric;
	void change(std::int64_t by) const noexcept
	{
		weft_metric_change(handle(), by);
	}
	void set(std::int64_t value) const noexcept
	{
		weft_metric_set(handle(), value);
	}
	[[nodiscard]] std::int64_t value() const noexcept
	{
		return read().value;
	}
};

/* How often there was a value of each size. */
class histogram : public metric
{
  public:
	static constexpr weft_metric_kind kind = WEFT_METRIC_HISTOGRAM;
	using metric::metric;
	void record(std::uint64_t value) const noexcept
	{
		weft_metric_record(handle(), value);
	}
	[[nodiscard]] std::uint64_t count() const noexcept
	{
		return static_cast<std::uint64_t>(read().value);
	}
	[[nodiscard]] std::uint64_t sum() const noexcept
	{
		return read().sum;
	}
};

/* ---- Families ---- */

/* The rest of struct weft_metric_type. */
struct about {
	std::string_view unit = {};
	std::string_view help = {};
	int scale = 0;
	bool is_billable = false;
	unsigned first_exponent = 0, last_exponent = 0;
};

struct label {
	std::string_view key, value;
};

/* All metrics of one name; as a metric itself it is the one without labels. The texts must last as
 * long as the family, as literals do. Make it a static or global variable. */
template <class Metric> class family : public Metric
{
	static_assert(std::is_base_of_v<metric, Metric> && !std::is_same_v<metric, Metric>,
		"a family is of weft::counter, weft::gauge or weft::histogram");

  public:
	explicit family(std::string_view name, const about &more = {}) noexcept
		: Metric(find(name, more, {})), name_(name), about_(more)
	{
	}
	/* The metric with these labels, of which the first is the highest level. It costs a search. */
	[[nodiscard]] Metric get(std::initializer_list<label> labels) const noexcept
	{
		return Metric(find(name_, about_, labels));
	}

  private:
	[[nodiscard]] static weft_metric find([[maybe_unused]] std::string_view name,
		[[maybe_unused]] const about &more,
		[[maybe_unused]] std::initializer_list<label> labels) noexcept
	{
		if constexpr (detail::is_compiled) {
			const weft_ffi_metric type{name.data(), more.unit.data(), more.help.data(), name.size(),
				more.unit.size(), more.help.size(), static_cast<std::uint8_t>(Metric::kind),
				static_cast<std::int8_t>(more.scale),
				static_cast<std::uint8_t>(more.first_exponent),
				static_cast<std::uint8_t>(more.last_exponent), more.is_billable};
			weft_ffi_pair pairs[WEFT_METRIC_PAIRS_MAX]{};
			unsigned count = 0;
			for (const label &one : labels)
				if (count < WEFT_METRIC_PAIRS_MAX)
					pairs[count++] = {
						one.key.data(), one.value.data(), one.key.size(), one.value.size()};
			return weft_ffi_metric_get(&type, pairs, count);
		} else {
			return 0;
		}
	}

	std::string_view name_;
	about about_;
};

/* ---- Children ---- */

/* A child of a metric or of another child, until the end of the scope or of the object that has it.
 * weft_metrics_reserve() makes room for children. */
template <class Metric> class child : public Metric
{
	static_assert(!std::is_same_v<Metric, histogram>, "a histogram has no children");

  public:
	[[nodiscard]] child(const Metric &parent, std::string_view key, std::string_view value) noexcept
		: Metric(begin(parent, key, value))
	{
	}
	template <class Number,
		std::enable_if_t<std::is_integral_v<Number> && !std::is_same_v<Number, bool>, int> = 0>
	[[nodiscard]] child(const Metric &parent, std::string_view key, Number value) noexcept
		: Metric(begin_numbered(parent, key, static_cast<std::uint64_t>(value)))
	{
	}
	~child()
	{
		weft_metric_end(this->handle());
	}
	child(child &&other) noexcept : Metric(other)
	{
		static_cast<Metric &>(other) = Metric();
	}
	child &operator=(child &&other) noexcept
	{
		std::swap(static_cast<Metric &>(*this), static_cast<Metric &>(other));
		return *this;
	}
	child(const child &) = delete;
	child &operator=(const child &) = delete;

  private:
	[[nodiscard]] static weft_metric begin([[maybe_unused]] const Metric &parent,
		[[maybe_unused]] std::string_view key, [[maybe_unused]] std::string_view value) noexcept
	{
		if constexpr (detail::is_compiled)
			return weft_ffi_metric_child(
				parent.handle(), key.data(), key.size(), value.data(), value.size());
		else
			return 0;
	}
	[[nodiscard]] static weft_metric begin_numbered([[maybe_unused]] const Metric &parent,
		[[maybe_unused]] std::string_view key, [[maybe_unused]] std::uint64_t value) noexcept
	{
		if constexpr (detail::is_compiled)
			return weft_ffi_metric_child_n(parent.handle(), key.data(), key.size(), value);
		else
			return 0;
	}
};

/* ---- Limits ---- */

/* A bound on a counter: see weft_limit_allows(). */
class limit
{
  public:
	limit(const counter &of, std::uint64_t most) noexcept : limit_ WEFT_LIMIT(of.handle(), most)
	{
	}
	/* True if `count` more may be added, which is the caller's part. */
	[[nodiscard]] bool allows(std::uint64_t count = 1) noexcept
	{
		return weft_limit_allows(&limit_, count);
	}
	limit(const limit &) = delete;
	limit &operator=(const limit &) = delete;

  private:
	weft_limit limit_;
};

} // namespace weft

#endif
