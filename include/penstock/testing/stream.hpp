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
  std::uint64_t records = 1000;    ///< read of an epoch at most; their values are kept in memory
  std::uint64_t epochs = 2;        ///< at least 1
  bool allow_bad_records = false;  ///< a record may be an Error of one sample; it must then always be the same one
};

namespace detail {
using MakeStream = std::function<std::shared_ptr<const penstock::detail::SourceModel>()>;
PENSTOCK_API Report check_stream(const MakeStream& make, bool can_be_copied, const StreamOptions& options);
}  // namespace detail

/// Holds a stream to what `StreamSource` promises: `reset` begins an epoch anew, whatever was read before; an epoch's
/// records are always the same and match the schema; `next` is false at the end and stays so; `seek(n)` is the same as
/// reading n records; copies do not disturb each other. `make` gives a stream over the same data each time. Nothing is
/// thrown, but for what `make` throws the first time.
template <class Make>
  requires StreamSource<std::invoke_result_t<Make&>> Report check_stream(Make make, const StreamOptions& options = {}) {
    using S = std::invoke_result_t<Make&>;
    const auto shared = std::make_shared<Make>(std::move(make));
    return detail::check_stream([shared] { return std::make_shared<penstock::detail::StreamOf<S>>((*shared)()); },
                                std::copy_constructible<S>, options);
  }

}  // namespace penstock::testing
