// SPDX-License-Identifier: Apache-2.0
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
  /// Largest number of records that are read. These records are spread over all records of the source.
  std::uint64_t records = 100;
  /// Number of threads that load and read at the same time.
  unsigned threads = 4;
  /// Whether `load(blocks(), …)` and `blocks_of(size(), …)` must throw an Error.
  bool refuses_past_the_end = true;
  /// Decoder for the stored JPEGs of promised images; set it to `jpeg_decoder()` with default options. Default (empty):
  /// stored JPEGs are not decoded.
  std::shared_ptr<const ImageDecoder> jpeg = {};
};

namespace detail {

/// A source of blocks. `blocks` is the same object as `source`, through its other interface.
struct MadeBlockSource {
  std::shared_ptr<const penstock::detail::SourceModel> source;
  const penstock::detail::BlockSourceModel* blocks;
};
using MakeBlockSource = std::function<MadeBlockSource()>;
PENSTOCK_API Report check_block_source(const MakeBlockSource& make, const BlockSourceOptions& options);

}  // namespace detail

/// Checks that a source of blocks keeps the promises of `BlockSource`:
///
/// - a record always needs the same blocks;
/// - a block is decoded into exactly its bytes, with the same result each time, by any thread;
/// - a record depends only on its blocks, wherever they are in memory, and matches the schema;
/// - if `rows_of` describes a block, the block consists of these rows, and a record reads only its own row;
/// - a record is the same without the blocks for which `can_do_without` is true.
///
/// `make` returns a source over the same data each time. Starts threads. Throws only what the first call of `make`
/// throws.
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
