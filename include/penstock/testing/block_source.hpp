#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/detail/source_adapter.hpp>
#include <penstock/extend/block_source.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/testing/report.hpp>

namespace penstock::testing {

/// Settings of `check_block_source`.
struct BlockSourceOptions {
  std::uint64_t records = 100;       ///< at most so many are read, spread over all
  unsigned threads = 4;              ///< that load and read at once
  bool refuses_past_the_end = true;  ///< `load(blocks(), …)` and `blocks_of(size(), …)` are an Error
  /// `jpeg_decoder()`, with default options: what promised images give as their stored JPEGs is decoded by it. Empty:
  /// it is not decoded.
  std::shared_ptr<const ImageDecoder> jpeg = {};
};

namespace detail {

/// A block source of any type behind one interface.
class PENSTOCK_API BlockSourceModel {
 public:
  virtual ~BlockSourceModel() = default;
  virtual std::uint64_t size() const = 0;
  virtual Schema schema() const = 0;
  virtual std::uint64_t blocks() const = 0;
  virtual std::uint64_t block_bytes(std::uint64_t block) const = 0;
  virtual std::optional<BlockRows> rows_of(std::uint64_t block) const = 0;
  virtual bool can_do_without(std::uint64_t block) const = 0;
  virtual void blocks_of(std::uint64_t record, std::vector<std::uint64_t>& ids) const = 0;
  virtual void load(std::uint64_t block, std::span<std::byte> bytes) const = 0;
  virtual void read(std::uint64_t record, std::span<const std::span<const std::byte>> blocks,
                    SampleBuilder& out) const = 0;
};

template <BlockSource S>
class BlockSourceOf final : public BlockSourceModel {
 public:
  explicit BlockSourceOf(S source) : source_(std::move(source)) {}
  std::uint64_t size() const override { return source_.size(); }
  Schema schema() const override { return source_.schema(); }
  std::uint64_t blocks() const override { return source_.blocks(); }
  std::uint64_t block_bytes(std::uint64_t block) const override { return source_.block_bytes(block); }
  std::optional<BlockRows> rows_of(std::uint64_t block) const override {
    if constexpr (requires {
                    { source_.rows_of(block) } -> std::convertible_to<std::optional<BlockRows>>;
                  })
      return source_.rows_of(block);
    else
      return std::nullopt;
  }
  bool can_do_without(std::uint64_t block) const override {
    if constexpr (requires {
                    { source_.can_do_without(block) } -> std::convertible_to<bool>;
                  })
      return source_.can_do_without(block);
    else
      return false;
  }
  void blocks_of(std::uint64_t record, std::vector<std::uint64_t>& ids) const override {
    source_.blocks_of(record, ids);
  }
  void load(std::uint64_t block, std::span<std::byte> bytes) const override { source_.load(block, bytes); }
  void read(std::uint64_t record, std::span<const std::span<const std::byte>> blocks,
            SampleBuilder& out) const override {
    source_.read(record, blocks, out);
  }

 private:
  S source_;
};

using MakeBlockSource = std::function<std::unique_ptr<const BlockSourceModel>()>;
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
    const auto shared = std::make_shared<Make>(std::move(make));
    return detail::check_block_source(
        [shared]() -> std::unique_ptr<const detail::BlockSourceModel> {
          return std::make_unique<detail::BlockSourceOf<std::invoke_result_t<Make&>>>((*shared)());
        },
        options);
  }

}  // namespace penstock::testing
