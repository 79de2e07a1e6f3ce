#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <penstock/detail/export.hpp>
#include <penstock/detail/source_adapter.hpp>
#include <penstock/detail/source_model.hpp>
#include <penstock/extend/block_source.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/testing/report.hpp>

namespace penstock::testing {

/// Settings of `check_block_source`.
struct BlockSourceOptions {
  std::uint64_t records = 100;       ///< at most so many are read, spread over all
  unsigned threads = 4;              ///< threads that load and read at once
  bool refuses_past_the_end = true;  ///< `load(blocks(), …)` and `blocks_of(size(), …)` are an Error
  /// `jpeg_decoder()`, with default options: what promised images give as their stored JPEGs is decoded by it. Empty:
  /// it is not decoded.
  std::shared_ptr<const ImageDecoder> jpeg = {};
};

namespace detail {

/// A block source, and what makes its records of its blocks.
struct MadeBlockSource {
  std::shared_ptr<const penstock::detail::SourceModel> source;
  const penstock::detail::BlockSourceModel* blocks;
};
using MakeBlockSource = std::function<MadeBlockSource()>;
PENSTOCK_API Report check_block_source(const MakeBlockSource& make, const BlockSourceOptions& options);

}  // namespace detail

/// Holds a source of blocks to what `BlockSource` promises:
///
/// - which blocks a record needs is always the same;
/// - a block is decoded into exactly its bytes, and the same each time, by any thread;
/// - a record follows from its blocks alone, wherever they lie, and matches the schema;
/// - where a block is said to be rows (`rows_of`) it is, and a record reads its own alone;
/// - a record is the same without the blocks that it can do without (`can_do_without`).
///
/// `make` gives a source over the same data each time. Threads are started; nothing is thrown, but for what `make`
/// throws the first time.
template <class Make>
  requires BlockSource<std::invoke_result_t<Make&>> Report check_block_source(Make make,
                                                                              const BlockSourceOptions& options = {}) {
    using Model = penstock::detail::BlockSourceOf<std::invoke_result_t<Make&>>;
    const auto shared = std::make_shared<Make>(std::move(make));
    return detail::check_block_source(
        [shared]() -> detail::MadeBlockSource {
          const auto model = std::make_shared<const Model>((*shared)());
          return {model, model.get()};
        },
        options);
  }

}  // namespace penstock::testing
