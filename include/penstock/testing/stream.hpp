// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <penstock/detail/export.hpp>
#include <penstock/detail/source_adapter.hpp>
#include <penstock/detail/source_model.hpp>
#include <penstock/extend/stream_source.hpp>
#include <penstock/testing/report.hpp>

namespace penstock::testing {

/// Settings of `check_stream`.
struct StreamOptions {
  /// Largest number of records that are read per epoch. Their values are kept in memory.
  std::uint64_t records = 1000;
  /// Number of epochs; at least 1.
  std::uint64_t epochs = 2;
  /// Whether reading a record may throw an Error of one sample. If it does, it must throw the same Error each time.
  bool allow_bad_records = false;
};

namespace detail {
using MakeStream = std::function<std::shared_ptr<const penstock::detail::SourceModel>()>;
PENSTOCK_API Report check_stream(const MakeStream& make, bool can_be_copied, const StreamOptions& options);
}  // namespace detail

/// Checks that a stream keeps the promises of `StreamSource`:
///
/// - `reset` begins an epoch from its first record, whatever was read before;
/// - an epoch's records are always the same, and match the schema;
/// - `next` returns false at the end, and in all calls after that;
/// - `seek(n)` has the same effect as reading n records;
/// - copies of a stream do not disturb each other.
///
/// `make` returns a stream over the same data each time. Throws only what the first call of `make` throws.
template <class Make>
  requires StreamSource<std::invoke_result_t<Make&>> Report check_stream(Make make, const StreamOptions& options = {}) {
    using S = std::invoke_result_t<Make&>;
    const auto shared = std::make_shared<Make>(std::move(make));
    return detail::check_stream([shared] { return std::make_shared<penstock::detail::StreamOf<S>>((*shared)()); },
                                std::copy_constructible<S>, options);
  }

}  // namespace penstock::testing
