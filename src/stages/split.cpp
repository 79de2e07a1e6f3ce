// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/stages/order.hpp>

#include "order/orders.hpp"
#include "order/runs.hpp"
#include "order/splits.hpp"
#include "order/stratified_groups.hpp"
#include "pipeline/pipeline_builder.hpp"
#include "stages/order_stage.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

// Refuses sources whose records can't be read one by one, or whose positions an earlier stage changed.
void require_source(PipelineBuilder& pipeline, const std::string& by) {
  if (pipeline.data().source->is_stream())
    throw Error(Errc::invalid_argument,
                "a stream can't be split by " + by + ": its records can't be read one by one; filter it")
        .with_stage("split");
  if (!pipeline.data().orders.empty())
    throw Error(Errc::invalid_argument, "a split by " + by +
                                            " goes through the source's records, so it must stand directly after "
                                            "the source; orders come after it")
        .with_stage("split");
}

class SplitByKeyStage final : public StageModel {
 public:
  explicit SplitByKeyStage(SplitOptions options) : options_(std::move(options)) {}
  void join(PipelineBuilder& pipeline) const override {
    require_source(pipeline, "key");
    std::vector<std::uint64_t> members = split_members(options_, *pipeline.data().source);
    pipeline.add_order(select_order(std::move(members)), "split " + describe_split(options_));
  }

 private:
  const SplitOptions options_;
};

class SplitByGroupStage final : public StageModel {
 public:
  explicit SplitByGroupStage(SplitOptions options) : options_(std::move(options)) {}
  void join(PipelineBuilder& pipeline) const override {
    require_source(pipeline, "group");
    KeptGroups kept = split_groups(options_, *pipeline.data().source, *pipeline.data().groups_of_source("split"));
    pipeline.add_order(std::make_shared<const OrderOf<Runs>>(std::move(kept.records)),
                       "split " + describe_split(options_) + ": " + std::to_string(kept.groups) + " of " +
                           std::to_string(kept.of) + " groups");
  }

 private:
  const SplitOptions options_;
};

class StratifiedSplitStage final : public StageModel {
 public:
  explicit StratifiedSplitStage(SplitOptions options) : options_(std::move(options)) {}
  void join(PipelineBuilder& pipeline) const override {
    const std::vector<std::int64_t> labels = pipeline.labels_of_positions(options_.stratify, "split");
    pipeline.add_order(select_order(stratified_members(options_, labels)), "split " + describe_split(options_));
  }

 private:
  const SplitOptions options_;
};

class StratifiedGroupSplitStage final : public StageModel {
 public:
  explicit StratifiedGroupSplitStage(SplitOptions options) : options_(std::move(options)) {}
  void join(PipelineBuilder& pipeline) const override {
    require_source(pipeline, "group");
    const std::vector<std::int64_t> labels = pipeline.labels_of_positions(options_.stratify, "split");
    StratifiedGroups kept =
        stratified_groups(options_, *pipeline.data().source, *pipeline.data().groups_of_source("split"), labels);
    pipeline.add_order(std::make_shared<const OrderOf<Runs>>(std::move(kept.records)),
                       "split " + describe_split(options_) + ": " + kept.said);
  }

 private:
  const SplitOptions options_;
};

}  // namespace

}  // namespace detail::runtime

Stage split(SplitOptions options) {
  detail::check_split(options);
  if (!options.stratify.empty() && options.by == SplitOptions::By::group)
    return detail::make_stage(detail::runtime::StratifiedGroupSplitStage(std::move(options)));
  if (!options.stratify.empty()) return detail::make_stage(detail::runtime::StratifiedSplitStage(std::move(options)));
  if (options.by == SplitOptions::By::key)
    return detail::make_stage(detail::runtime::SplitByKeyStage(std::move(options)));
  if (options.by == SplitOptions::By::group)
    return detail::make_stage(detail::runtime::SplitByGroupStage(std::move(options)));
  return detail::make_stage(detail::runtime::OrderStage(detail::split_order(std::move(options)), std::nullopt, true));
}

}  // namespace penstock
