// SPDX-License-Identifier: Apache-2.0
// The plan of blocks without threads: whatever is done first of all that can be done, the same blocks are decoded, in
// no more memory than there is, and the oldest sample always gets on.
#include "blocks/block_schedule.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <penstock/detail/source_adapter.hpp>
#include <penstock/detail/source_model.hpp>
#include <penstock/testing/statistics_resource.hpp>

#include "core/blocks/chunks.hpp"
#include "core/help.hpp"
#include "support/catch.hpp"

using namespace help;
using namespace penstock::detail;
using namespace penstock::detail::runtime;

namespace {

// A run of samples through a plan, in an order of work that `random` draws.
class Run {
 public:
  Run(const Chunks& source, std::vector<std::uint64_t> order, std::size_t limit, std::uint64_t ahead,
      std::size_t in_flight)
      : source_(source),
        model_(std::make_shared<BlockSourceOf<Chunks>>(source)),
        order_(std::move(order)),
        limit_(limit),
        in_flight_(in_flight),
        memory_(ps::host_memory()),
        plan_(*model_->block_model(), limit, ahead, in_flight, {3, 3}, memory_) {
    plan_.reset([this, at = std::size_t{0}](std::vector<std::uint64_t>& out) mutable {
      for (std::size_t n = 0; n < 7 && at < order_.size(); ++n) out.push_back(order_[at++]);
    });
  }

  // Each step is drawn: issue, take work, or end some that was taken.
  void to_the_end(std::mt19937_64& random) {
    const auto below = [&](std::size_t n) { return random() % n; };
    for (std::size_t steps = 0; made_ != order_.size(); ++steps) {
      REQUIRE(steps < 100 * order_.size() + 1000);
      switch (below(6)) {
        case 0:
          issue(1 + below(5));
          break;
        case 1:
        case 2:
          if (BlockSchedule::Work work = plan_.take(held_[below(held_.size())])) taken_.push_back(std::move(work));
          break;
        case 3:
          plan_.leave(held_[below(held_.size())]);
          break;
        default:
          if (taken_.empty()) break;
          std::swap(taken_[below(taken_.size())], taken_.back());
          end(std::move(taken_.back()));
          taken_.pop_back();
      }
      CHECK(memory_.used() <= limit_);
    }
    CHECK_FALSE(plan_.take(held_.front()));
  }
  // With nothing else in work, what is taken first lets the oldest sample be made.
  void one_after_the_other() {
    while (made_ != order_.size()) {
      issue(in_flight_);
      BlockSchedule::Work work = plan_.take(held_.front());
      REQUIRE(work);
      end(std::move(work));
    }
  }
  BlockSchedule::Counts counts() const { return plan_.counts(); }

 private:
  void issue(std::size_t most) {
    const std::uint64_t count =
        std::min<std::uint64_t>({most, order_.size() - issued_, in_flight_ - (issued_ - oldest_)});
    if (count == 0) return;
    plan_.prepare(count);
    plan_.issue(issued_, count, count);
    issued_ += count;
  }
  void end(BlockSchedule::Work work) {
    if (work.load != nullptr) {
      plan_.load(std::move(work.load));
      return;
    }
    const std::uint64_t n = *work.sample, record = order_[n];
    std::vector<std::span<const std::byte>> blocks;
    REQUIRE(plan_.blocks_of(n, record, blocks));
    std::vector<std::uint64_t> ids;
    source_.blocks_of(record, ids);
    REQUIRE(blocks.size() == ids.size());
    for (std::size_t b = 0; b < ids.size(); ++b) {
      if (blocks[b].empty() && source_.can_do_without(ids[b])) continue;
      std::uint64_t first = 0;
      REQUIRE(blocks[b].size() == source_.block_bytes(ids[b]));
      std::memcpy(&first, blocks[b].data(), sizeof(first));
      CHECK(first == mix(ids[b] * 1000));
    }
    plan_.done(n);
    done_.resize(order_.size());
    done_[n] = true;
    while (oldest_ < issued_ && done_[oldest_]) ++oldest_;
    ++made_;
  }

  const Chunks& source_;
  std::shared_ptr<const SourceModel> model_;
  std::vector<std::uint64_t> order_;
  std::size_t limit_, in_flight_;
  ps::testing::StatisticsResource memory_;
  BlockSchedule plan_;
  std::vector<BlockSchedule::Work> taken_;
  std::vector<std::uint64_t> held_{std::vector(5, WorkStretches::none)};  // by runners: more than are planned for
  std::vector<bool> done_;
  std::uint64_t issued_ = 0, oldest_ = 0;
  std::size_t made_ = 0;
};

}  // namespace

TEST_CASE("a plan of blocks decodes what the rule says, whatever is done first, and stays in its memory") {
  std::mt19937_64 random(11);
  std::uint64_t again = 0;
  for (int trial = 0; trial < 150; ++trial) {
    Chunks source{.count = 30 + random() % 200, .per_block = 1 + random() % 9, .spanning = random() % 4};
    source.spare = trial % 2 == 1;
    std::vector<std::uint64_t> order;
    for (std::uint64_t i = 0, n = 20 + random() % 200; i < n; ++i)
      order.push_back(trial % 3 == 0 ? i % source.count : random() % source.count);
    const std::size_t limit = 2 * 32 * (source.per_block + 1) + random() % 12 * 32 * source.per_block;
    const std::size_t in_flight = 1 + random() % 20, ahead = in_flight + random() % 20;
    INFO("trial " << trial);
    const std::uint64_t expected = decodes_of(source, order, limit, ahead);
    Run drawn(source, order, limit, ahead, in_flight);
    drawn.to_the_end(random);
    CHECK(drawn.counts().loads == expected);
    CHECK(source.decodes() == expected);
    CHECK(drawn.counts().peak_bytes <= limit);
    again += expected > source.shared->loads.size();
    Run in_order(source, order, limit, ahead, in_flight);
    in_order.one_after_the_other();
    CHECK(in_order.counts().loads == expected);
  }
  CHECK(again > 50);  // the memory was too small for all blocks in most trials
}

TEST_CASE("a plan of blocks that begins again has all of its memory") {
  Chunks source{.count = 100, .per_block = 1};
  const std::shared_ptr<const SourceModel> model = std::make_shared<BlockSourceOf<Chunks>>(source);
  constexpr std::size_t limit = 4 * 32;
  ps::testing::StatisticsResource memory(ps::host_memory());
  BlockSchedule plan(*model->block_model(), limit, 8, 4, {2, 2}, memory);
  const auto feed = [at = std::uint64_t{0}](std::vector<std::uint64_t>& out) mutable { out.push_back(at++); };
  for (int times = 0; times < 3; ++times) {
    plan.reset(feed);
    plan.prepare(4);
    plan.issue(0, 4, 4);
    std::uint64_t held = WorkStretches::none;
    for (int loads = 0; loads < times; ++loads) {  // the others have memory, and never begin
      BlockSchedule::Work work = plan.take(held);
      REQUIRE(work.load != nullptr);
      plan.load(std::move(work.load));
      work = plan.take(held);
      REQUIRE(work.sample);
      plan.done(*work.sample);
    }
    plan.leave(held);
  }
  plan.reset([at = std::uint64_t{50}](std::vector<std::uint64_t>& out) mutable { out.push_back(at++); });
  plan.prepare(4);
  plan.issue(0, 4, 4);
  std::uint64_t held = WorkStretches::none;
  for (int n = 0; n < 8; ++n) {
    BlockSchedule::Work work = plan.take(held);
    REQUIRE(work);
    if (work.load != nullptr)
      plan.load(std::move(work.load));
    else
      plan.done(*work.sample);
  }
  CHECK(plan.counts().peak_bytes <= limit);
  CHECK(memory.used() <= limit);
}

TEST_CASE("blocks that are decoded again are counted pass by pass, of very many by some of them") {
  BlockRepeats few(10);
  for (const std::uint64_t block : {1u, 2u, 1u, 1u, 9u}) few.decoded(block, 0);
  CHECK(few.again() == 2);
  for (const std::uint64_t block : {1u, 2u, 9u}) few.decoded(block, 1);
  CHECK(few.again() == 2);
  few.decoded(9, 1);
  CHECK(few.again() == 3);
  const std::uint64_t most = std::uint64_t{1} << 40;
  BlockRepeats many(most);
  for (int times = 0; times < 2; ++times)
    for (std::uint64_t block = 0; block < most; block += most / 4096) many.decoded(block, 5);
  CHECK(many.again() >= most / (1 << 18) * 4000);
}
