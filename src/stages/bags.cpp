// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/stages/order.hpp>

#include "base/failure.hpp"
#include "order/bags.hpp"
#include "order/group_table.hpp"
#include "order/sample_order.hpp"
#include "pipeline/pipeline_builder.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

// Calls give(group, first position, number of positions) for each run of neighbouring positions whose records are of
// one group, in order.
template <class F>
void for_each_run(const PipelineData& data, const GroupTable& groups, F give) {
  const SampleOrder order = data.sample_order();
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

// The class of a record, and the record's position. Errors find the record by its position.
struct PositionLabel {
  std::int64_t label;
  std::uint64_t position;
};

// The class of each group. All records of a group must have the same class.
class ClassesOfGroups {
 public:
  ClassesOfGroups(PipelineBuilder& pipeline, const GroupTable& groups, const std::string& field)
      : pipeline_(pipeline),
        groups_(groups),
        field_(field),
        labels_(pipeline.labels_of_positions(field, "bags")),
        of_group_(groups.groups()) {}

  void look(std::uint64_t group, std::uint64_t first, std::uint64_t positions) {
    std::optional<PositionLabel>& known = of_group_[group];
    for (std::uint64_t position = first; position < first + positions; ++position) {
      if (!known) known = {labels_[position], position};
      if (labels_[position] != known->label) refuse(groups_.name(group), *known, {labels_[position], position});
    }
  }
  // Checks that each class has a group left. Otherwise the class could not be drawn as often as other classes.
  void check(const GroupedPositions& left, std::uint64_t min_size) const {
    std::set<std::int64_t> there;
    for (std::uint64_t group = 0; group < left.groups(); ++group) there.insert(of_group_[left.number_of(group)]->label);
    for (std::uint64_t group = 0; group < of_group_.size(); ++group)
      if (of_group_[group] && !there.contains(of_group_[group]->label))
        throw Error(Errc::invalid_argument, "no group of " + class_text(of_group_[group]->label) + " has " +
                                                std::to_string(min_size) + " records, \"" + groups_.name(group) +
                                                "\" has " + std::to_string(left.added(group)) +
                                                "; lower `min_size`, or see why it has so few")
            .with_stage("bags")
            .with_source(pipeline_.data().source->name());
  }
  Bags::Classes take() const {
    Bags::Classes classes{field_, {}};
    for (const std::optional<PositionLabel>& group : of_group_) classes.labels.push_back(group ? group->label : 0);
    return classes;
  }

 private:
  std::string class_text(std::int64_t label) const {
    std::string text = field_ + " " + std::to_string(label);
    const ClassNames& names = pipeline_.data().source_schema.at(field_).classes;
    if (std::cmp_greater_equal(label, 0) && std::cmp_less(label, names.size()))
      text += " (" + names.names()[static_cast<std::size_t>(label)] + ")";
    return text;
  }
  std::uint64_t record_at(std::uint64_t position) const {
    std::array<std::uint64_t, 1> record;
    pipeline_.data().sample_order().fill(0, position, record);
    return record[0];
  }
  [[noreturn]] void refuse(const std::string& group, const PositionLabel& one, const PositionLabel& other) const {
    const std::uint64_t first = record_at(one.position), record = record_at(other.position);
    Error error(Errc::invalid_argument, "group \"" + group + "\" has records of several classes: record " +
                                            std::to_string(first) + " is of " + class_text(one.label) + ", record " +
                                            std::to_string(record) + " of " + class_text(other.label) +
                                            "; balance by a field that is the same for all records of a group");
    error.with_stage("bags");
    try {
      pipeline_.data().source->describe(record, error);
    } catch (...) {  // the source can't name the record, so the error has only the record's index
    }
    throw error.with_index(record);
  }

  PipelineBuilder& pipeline_;
  const GroupTable& groups_;
  const std::string& field_;
  const std::vector<std::int64_t> labels_;
  std::vector<std::optional<PositionLabel>> of_group_;  // none: no record of the group is left
};

class BagsStage final : public StageModel {
 public:
  BagsStage(std::uint64_t size, BagOptions options) : size_(size), options_(std::move(options)) {}
  void join(PipelineBuilder& pipeline) const override {
    pipeline.refuse_order("bags");
    pipeline.refuse_changing_orders("bags");
    if (options_.seed) pipeline.set_seed(*options_.seed, "bags");
    const PipelineData& data = pipeline.data();
    const auto groups = data.groups_of_source("bags");
    std::optional<ClassesOfGroups> classes;
    if (!options_.balance.empty()) classes.emplace(pipeline, *groups, options_.balance);
    GroupedPositions positions(groups->groups());
    for_each_run(data, *groups, [&](std::uint64_t group, std::uint64_t first, std::uint64_t count) {
      positions.add(group, first, count);
      if (classes) classes->look(group, first, count);
    });
    positions.finish(options_.min_size);
    if (positions.groups() == 0 && data.size != 0)
      throw Error(Errc::invalid_argument, "of " + std::to_string(groups->groups()) + " groups none has " +
                                              std::to_string(options_.min_size) + " records; lower `min_size`")
          .with_stage("bags")
          .with_source(data.source->name());
    std::optional<Bags::Classes> balanced;
    if (classes) {
      classes->check(positions, options_.min_size);
      balanced = classes->take();
    }
    std::vector<std::uint64_t> keys;
    keys.reserve(groups->groups());
    for (std::uint64_t group = 0; group < groups->groups(); ++group) keys.push_back(groups->name_hash(group));
    const std::string left_out = left_out_text(*groups, positions);
    auto order = std::make_shared<const OrderOf<Bags>>(bags_of(std::move(positions), std::move(keys), balanced, data));
    std::string label = order->name() + " " + order->describe() + left_out;
    pipeline.add_order(std::move(order), std::move(label));
  }

 private:
  // Counts the groups that are left out, and names the first. A group whose file can't be read has a single record.
  // Without this text, such a group would be left out silently.
  std::string left_out_text(const GroupTable& groups, const GroupedPositions& positions) const {
    std::uint64_t count = 0, first = 0;
    for (std::uint64_t group = groups.groups(); group-- > 0;)
      if (const std::uint64_t records = positions.added(group); records != 0 && records < options_.min_size) {
        ++count;
        first = group;
      }
    if (count == 0) return {};
    return "; left out: " + std::to_string(count) + (count == 1 ? " group" : " groups") + " of fewer than " +
           std::to_string(options_.min_size) + " records" + (count == 1 ? ", \"" : ", the first is \"") +
           groups.name(first) + "\" of " + std::to_string(positions.added(first));
  }

  Bags bags_of(GroupedPositions positions, std::vector<std::uint64_t> keys, const std::optional<Bags::Classes>& classes,
               const PipelineData& data) const {
    try {
      return {std::move(positions), std::move(keys), size_, classes};
    } catch (...) {
      throw current_error().with_stage("bags").with_source(data.source->name());
    }
  }

  const std::uint64_t size_;
  const BagOptions options_;
};

}  // namespace

}  // namespace detail::runtime

Stage bags(std::uint64_t size, BagOptions options) {
  if (size == 0) throw Error(Errc::invalid_argument, "a bag has at least one record").with_stage("bags");
  return detail::make_stage(detail::runtime::BagsStage(size, std::move(options)));
}

}  // namespace penstock
