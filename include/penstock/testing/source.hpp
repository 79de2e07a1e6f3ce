// SPDX-License-Identifier: Apache-2.0
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
  /// Largest number of records that are read. They are spread over all records, and their values are kept in memory.
  std::uint64_t records = 200;
  /// Number of threads that read at the same time.
  unsigned threads = 4;
  /// Whether `read(size())` and `key(size())` must throw an Error. The engine never makes these calls. Set it to false
  /// for a source that does not check the index.
  bool refuses_past_the_end = true;
  /// Whether reading a record may throw an Error of one sample. If it does, it must throw the same Error each time.
  bool allow_bad_records = false;
  /// Whether all keys must be different, as sinks require.
  bool unique_keys = false;
  /// Returns a source of a different data set. Its identity must differ from the identity of the checked source.
  /// Default (empty): this is not checked.
  std::function<AnySource()> other = {};
  /// Set this to `jpeg_decoder()` with default options to check that the stored JPEGs of promised images decode to the
  /// images' pixels. Default (empty): stored JPEGs are not decoded.
  std::shared_ptr<const ImageDecoder> jpeg = {};
};

namespace detail {

/// Facts about a source that can be learned from its type, but not from an AnySource.
struct SourceTraits {
  bool views_last = false;  ///< whether `read` is const, so that views stay valid as long as the source lives
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

/// Checks that a source keeps the promises of `Source`:
///
/// - each record has the source's schema;
/// - a record has the same value whenever it is read, in any way and by any thread;
/// - advice (`expect`, `will_need`) and `pause` change no result;
/// - views stay valid as long as they must;
/// - names, keys, identity, blocks, groups and labels are as `Source` describes them.
///
///     const auto report = penstock::testing::check_source([] { return Sines{}; });
///
/// `make` returns a source, the options that open one, or an AnySource (a join), over the same data each time. Starts
/// threads. Throws only what the first call of `make` throws.
template <class Make>
  requires std::convertible_to<std::invoke_result_t<Make&>, AnySource> Report
  check_source(Make make, const SourceOptions& options = {}) {
    using S = std::invoke_result_t<Make&>;
    detail::SourceTraits traits;
    if constexpr (Source<S>)
      traits = detail::source_traits<S>();
    else if constexpr (OpensSource<S>)
      if constexpr (Source<typename S::Source>) traits = detail::source_traits<typename S::Source>();
    // Shared, because std::function requires callables that can be copied.
    const auto shared = std::make_shared<Make>(std::move(make));
    return detail::check_source([shared] { return AnySource((*shared)()); }, traits, options);
  }

}  // namespace penstock::testing
