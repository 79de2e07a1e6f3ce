#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <penstock/detail/export.hpp>
#include <penstock/extend/any_source.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/extend/source.hpp>
#include <penstock/testing/report.hpp>

namespace penstock::testing {

/// Settings of `check_source`.
struct SourceOptions {
  std::uint64_t records = 200;       ///< at most so many are read, spread over all; their values are kept in memory
  unsigned threads = 4;              ///< threads that read at once
  bool refuses_past_the_end = true;  ///< `read(size())` and `key(size())` are an Error. The engine never asks for them;
                                     ///< false for a source that leaves this check out
  bool allow_bad_records = false;    ///< a record may be an Error of one sample; it must then always be the same one
  bool unique_keys = false;          ///< no two records have one key, as sinks need it
  /// A data set that isn't the same: its identity must be another. Empty: not checked.
  std::function<AnySource()> other = {};
  /// `jpeg_decoder()`, with default options: what promised images give as their stored JPEGs is decoded by it. Empty:
  /// it is not decoded.
  std::shared_ptr<const ImageDecoder> jpeg = {};
};

namespace detail {

/// What only the source's own type says.
struct SourceTraits {
  bool views_last = false;  ///< `read` is const, so views stay as long as the source
  bool expect_is_noexcept = true;
  bool will_need_is_noexcept = true;
};

template <class S>
constexpr SourceTraits source_traits() {
  SourceTraits traits;
  traits.views_last = SharedSource<S>;
  using Indices = std::span<const std::uint64_t>;
  if constexpr (requires(const S& source, Indices indices) { source.will_need(indices); })
    traits.will_need_is_noexcept = noexcept(std::declval<const S&>().will_need(std::declval<Indices>()));
  if constexpr (LeasedSource<S>) {
    using P = decltype(std::declval<const S&>().open_reader());
    if constexpr (requires(P & reader, Indices indices) { reader->expect(indices); })
      traits.expect_is_noexcept = noexcept(std::declval<P&>()->expect(std::declval<Indices>()));
  }
  return traits;
}

PENSTOCK_API Report check_source(const std::function<AnySource()>& make, const SourceTraits& traits,
                                 const SourceOptions& options);

}  // namespace detail

/// Holds a source to what `Source` promises: its schema is that of every record, a record has the same value whenever,
/// however and by whichever thread it is read, advice changes nothing, views stay as long as they must, names, keys,
/// identity, blocks and labels are what they have to be.
///
///     const auto report = penstock::testing::check_source([] { return Sines{}; });
///
/// `make` gives a source, the options that open one, or an AnySource (a join), over the same data each time it is
/// called. Threads are started; nothing is thrown, but for what `make` throws the first time.
template <class Make>
  requires std::convertible_to<std::invoke_result_t<Make&>, AnySource> Report
  check_source(Make make, const SourceOptions& options = {}) {
    using S = std::invoke_result_t<Make&>;
    detail::SourceTraits traits;
    if constexpr (Source<S>)
      traits = detail::source_traits<S>();
    else if constexpr (OpensSource<S>)
      if constexpr (Source<typename S::Source>) traits = detail::source_traits<typename S::Source>();
    // Shared, as std::function wants callables that can be copied.
    const auto shared = std::make_shared<Make>(std::move(make));
    return detail::check_source([shared] { return AnySource((*shared)()); }, traits, options);
  }

}  // namespace penstock::testing
