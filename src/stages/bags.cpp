#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/stages/order.hpp>

#include "order/bags.hpp"
#include "order/group_table.hpp"
#include "pipeline/pipeline_builder.hpp"
#include "pipeline/sample_order.hpp"

namespace penstock {

namespace detail {

namespace {

// Calls give(group, first position, positions) for all positions, in order.
template <class F>
void for_each_run(const PipelineData& data, const GroupTable& groups, F give) {
  const SampleOrder order(data);
  std::array<std::uint64_t, 1> record;
  for (std::uint64_t position = 0; position < data.size;) {
    order.fill(0, position, record);
    for (std::uint64_t left = order.run_length(position), first = record[0]; left != 0;) {
      const GroupTable::Run& run = groups.run_of(first);
      const std::uint64_t here = std::min(left, run.end - first);
      give(run.group, position, here);
      position += here;
      first += here;
      left -= here;
    }
  }
}

class BagsStage final : public StageModel {
 public:
  BagsStage(std::uint64_t size, const BagOptions& options) : size_(size), options_(options) {}
  void join(PipelineBuilder& pipeline) const override {
    pipeline.refuse_order("bags");
    pipeline.refuse_changing_orders("bags");
    if (options_.seed) pipeline.set_seed(*options_.seed, "bags");
    const auto groups = pipeline.data().groups_of_source("bags");
    GroupedPositions positions(groups->groups());
    for_each_run(pipeline.data(), *groups, [&](std::uint64_t group, std::uint64_t first, std::uint64_t count) {
      positions.add(group, first, count);
    });
    positions.finish(options_.min_size);
    if (positions.groups() == 0 && pipeline.data().size != 0)
      throw Error(Errc::invalid_argument, "of " + std::to_string(groups->groups()) + " groups none has " +
                                              std::to_string(options_.min_size) + " records; lower `min_size`")
          .with_stage("bags")
          .with_source(pipeline.data().source->name());
    std::vector<std::uint64_t> keys;
    keys.reserve(groups->groups());
    for (std::uint64_t group = 0; group < groups->groups(); ++group) keys.push_back(groups->name_hash(group));
    pipeline.add_order(std::make_shared<const OrderOf<Bags>>(Bags(std::move(positions), std::move(keys), size_)));
  }

 private:
  const std::uint64_t size_;
  const BagOptions options_;
};

}  // namespace

}  // namespace detail

Stage bags(std::uint64_t size, BagOptions options) {
  if (size == 0) throw Error(Errc::invalid_argument, "a bag has at least one record").with_stage("bags");
  return detail::make_stage(detail::BagsStage(size, options));
}

}  // namespace penstock
