// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <span>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/stages/order.hpp>

#include "order/block_shuffle.hpp"
#include "order/orders.hpp"
#include "order/sample_order.hpp"
#include "pipeline/pipeline_builder.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

constexpr std::uint64_t max_stream_window = 1u << 20;

class ShuffleStage final : public StageModel {
 public:
  explicit ShuffleStage(ShuffleOptions options) : options_(std::move(options)) {}
  void join(PipelineBuilder& pipeline) const override {
    if (options_.seed) pipeline.set_seed(*options_.seed, "shuffle");
    if (!pipeline.data().source->is_stream()) {
      if (options_.window != 0)
        throw Error(
            Errc::invalid_argument,
            "`.window` is for streams; records that can be read in any order are shuffled whole without it, or, "
            "with `.blocks = true`, in windows of `.window_blocks` blocks")
            .with_stage("shuffle");
      return pipeline.add_order(shuffle_order());
    }
    pipeline.refuse_after_batch("shuffle");
    if (pipeline.data().stream_window != 0)
      throw Error(Errc::invalid_argument, "the stream is shuffled already").with_stage("shuffle");
    if (options_.window < 2 || options_.window > max_stream_window)
      throw Error(
          Errc::invalid_argument,
          "a stream is shuffled inside blocks of consecutive records: say how many, from 2 to 2^20, with `.window`")
          .with_stage("shuffle");
    pipeline.data().stream_window = options_.window;
    pipeline.data().stream_key = pipeline.next_key("shuffle");
  }

 private:
  const ShuffleOptions options_;
};

// Shuffles records but keeps the records of a block close together.
class BlockShuffleStage final : public StageModel {
 public:
  explicit BlockShuffleStage(ShuffleOptions options) : options_(std::move(options)) {}
  void join(PipelineBuilder& pipeline) const override {
    if (pipeline.data().source->is_stream())
      throw Error(Errc::invalid_argument,
                  "a stream has no blocks that could be read in another order; say `.window` alone")
          .with_stage("shuffle");
    if (options_.seed) pipeline.set_seed(*options_.seed, "shuffle");
    pipeline.refuse_changing_orders("shuffle");
    Blocks blocks(*pipeline.data().source, options_.block_size);
    if (const SampleOrder before = pipeline.data().sample_order(); !pipeline.data().orders.empty())
      blocks = blocks.after(
          pipeline.data().size,
          [&before](std::uint64_t position, std::span<std::uint64_t> records) { before.fill(0, position, records); },
          [&before](std::uint64_t position) { return before.run_length(position); }, *pipeline.data().source,
          pipeline.data().orders.back().label);
    const BlockShuffle order(std::move(blocks), options_.window_blocks, options_.ranks);
    pipeline.add_order(std::make_shared<const OrderOf<BlockShuffle>>(order));
  }

 private:
  const ShuffleOptions options_;
};

}  // namespace

}  // namespace detail::runtime

Stage shuffle(ShuffleOptions options) {
  const auto refuse = [](const char* cause) { throw Error(Errc::invalid_argument, cause).with_stage("shuffle"); };
  if (options.blocks) {
    if (options.window != 0) refuse("`.window` is for streams; of blocks, say `.window_blocks`");
    if (options.window_blocks == 0) refuse("`.window_blocks` is at least 1: a window holds a block");
    if (options.ranks == 0) refuse("`.ranks` is at least 1");
    return detail::make_stage(detail::runtime::BlockShuffleStage(options));
  }
  if (options.block_size != 0) refuse("`.block_size` belongs to `.blocks = true`");
  if (options.ranks != 1) refuse("`.ranks` belongs to `.blocks = true`");
  if (options.window_blocks != ShuffleOptions{}.window_blocks) refuse("`.window_blocks` belongs to `.blocks = true`");
  return detail::make_stage(detail::runtime::ShuffleStage(options));
}

}  // namespace penstock
