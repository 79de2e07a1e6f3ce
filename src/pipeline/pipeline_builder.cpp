// SPDX-License-Identifier: Apache-2.0
#include "pipeline/pipeline_builder.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <penstock/error.hpp>

#include "base/hash.hpp"
#include "data/labels.hpp"
#include "pipeline/add_device_stage.hpp"

namespace penstock::detail {

std::string type_text(DType dtype, const Shape& shape) { return std::string(to_string(dtype)) + shape.to_string(); }

void WorkStage::compile(const BoundStage&, runtime::ChainCompiler&) const {}
void WorkStage::launch(const BoundStage&, DeviceProgramBuilder&) const {}

const Field& PipelineBuilder::at(const std::string& field, const std::string& label) const {
  const Schema& schema = data_.delivered();
  if (const auto slot = schema.find(field)) return schema[*slot];
  throw Error(Errc::schema_mismatch, "there is no field \"" + field + "\"; the fields are " + schema.to_string())
      .with_stage(label);
}

bool PipelineBuilder::holds_labels(std::string field) const {
  for (auto stage = data_.after_batch.device_stages.rbegin(); stage != data_.after_batch.device_stages.rend(); ++stage)
    if (const std::optional<bool> labels = stage->work->gives_labels(field)) return *labels;
  for (auto stage = data_.stages.rbegin(); stage != data_.stages.rend(); ++stage) {
    if (const std::optional<bool> labels = stage->work->gives_labels(field)) return *labels;
    field = std::string(stage->work->name_before(field));
  }
  return false;
}

void PipelineBuilder::set_seed(std::uint64_t seed, const std::string& stage) {
  if (data_.seed && *data_.seed != seed)
    throw Error(Errc::invalid_argument, "a pipeline has one seed: " + std::to_string(*data_.seed) +
                                            " was set before, and here " + std::to_string(seed))
        .with_stage(stage);
  if (data_.cache && data_.cache->allows.random && data_.seed_value() != seed)
    throw Error(Errc::invalid_argument, "what the cache keeps was drawn with the seed " +
                                            std::to_string(data_.seed_value()) + "; say another one before the cache")
        .with_stage(stage);
  data_.seed = seed;
}

std::uint64_t PipelineBuilder::next_key(const std::string& name) { return hash_text(name, data_.occurrences[name]++); }

// -- orders --

void PipelineBuilder::add_order(std::shared_ptr<const OrderModel> model, std::string label) {
  const std::string name = model->name();
  refuse_order(name);
  const std::uint64_t input = data_.size;
  try {
    data_.size = model->size(input);
  } catch (Error& error) {
    throw error.with_stage(name);
  }
  if (label.empty()) label = model->describe().empty() ? name : name + " " + model->describe();
  data_.orders.push_back({std::move(model), std::move(label), next_key(name), input});
}

void PipelineBuilder::refuse_stand_ins_of_groups() const {
  if (data_.groups != nullptr && data_.policy_value().policy == OnError::replace)
    throw Error(Errc::invalid_argument,
                "a stand-in for a bad sample may be of another group than its batch (`.by = group`); use mask or drop")
        .with_stage("on_error");
}

void PipelineBuilder::tell_orders_of_batches() {
  const std::uint64_t rows = data_.reordered() ? 0 : data_.batch->rows;
  for (BoundOrder& order : data_.orders)
    if (auto bound = order.model->for_batches(rows)) order.model = std::move(bound);
}

void PipelineBuilder::refuse_order(const std::string& name) const {
  refuse_after_batch(name);
  if (data_.source->is_stream())
    throw Error(Errc::invalid_argument, "a stream comes in its own order: of orders it has only shuffle with `.window`")
        .with_stage(name);
  if (data_.filters || data_.flat_maps)
    throw Error(Errc::invalid_argument,
                "orders stand before filter and flat_map: after them it is not known yet how many samples there are")
        .with_stage(name);
}

// Some stages find out facts about the record at each position once, and use these facts in all epochs. These stages
// call this function.
void PipelineBuilder::refuse_changing_orders(const std::string& stage) const {
  for (const BoundOrder& order : data_.orders)
    if (!order.model->fixed())
      throw Error(Errc::invalid_argument,
                  "it goes by the records' positions, but after \"" + order.label +
                      "\" a position has another record in each epoch; put it directly after the source, or "
                      "after take, skip, select, split or repeat")
          .with_stage(stage);
}

std::vector<std::int64_t> PipelineBuilder::labels_of_positions(const std::string& field,
                                                               const std::string& stage) const {
  refuse_order(stage);
  refuse_changing_orders(stage);
  if (!data_.source_schema.find(field) && data_.schema.find(field))
    throw Error(Errc::schema_mismatch, "field \"" + field +
                                           "\" is made by a stage; records are drawn and split before any stage is "
                                           "run, by the source's own fields: " +
                                           data_.source_schema.to_string())
        .with_stage(stage);
  for (const BoundStage& before : data_.stages)
    if (before.work->gives(field))
      throw Error(Errc::schema_mismatch, "field \"" + field + "\" is not the source's here, since " + before.label +
                                             " made it; records are drawn and split by the source's own fields, so "
                                             "put this stage before that one")
          .with_stage(stage);
  if (data_.orders.empty()) return labels_of(*data_.source, field, stage);
  // Records that earlier orders leave out are not read, as they may be bad.
  const std::optional<std::vector<std::int64_t>> known = known_labels_of(*data_.source, field, stage);
  std::optional<LabelReader> read;
  if (!known) read.emplace(*data_.source, field, stage);
  std::vector<std::int64_t> of_positions;
  of_positions.reserve(data_.size);
  std::vector<std::uint64_t> indices;
  for (std::uint64_t first = 0; first < data_.size; first += indices.size()) {
    indices.resize(std::min<std::uint64_t>(4096, data_.size - first));
    data_.sample_order().fill(0, first, indices);
    for (const std::uint64_t index : indices) of_positions.push_back(known ? (*known)[index] : (*read)(index));
  }
  return of_positions;
}

// -- stages --

BoundStage PipelineBuilder::bound(const std::string& name, const std::string& label, std::string options,
                                  std::uint64_t version, Schema out) {
  return {std::static_pointer_cast<const WorkStage>(stage_.shared()),
          name,
          label,
          std::move(options),
          next_key(name),
          version,
          data_.delivered(),
          std::move(out)};
}

void PipelineBuilder::add_stage(const std::string& name, const std::string& label, std::string options,
                                std::uint64_t version, Schema out) {
  refuse_after_batch(label);
  data_.stages.push_back(bound(name, label, std::move(options), version, std::move(out)));
  data_.schema = data_.stages.back().out;
}

void PipelineBuilder::add_device_stage(const std::string& name, const std::string& label, std::string options,
                                       std::uint64_t version, Schema out) {
  detail::add_device_stage(data_, bound(name, label, std::move(options), version, std::move(out)));
}

void PipelineBuilder::add_batch_map(const std::string& name, std::string options, std::uint64_t version, Schema out,
                                    BoundBatchMap map) {
  map.stage = bound(name, name, std::move(options), version, std::move(out));
  data_.schema = map.stage.out;
  data_.after_batch.maps.push_back(std::move(map));
}

void PipelineBuilder::add_stage_anywhere(const std::string& name, const std::string& label, std::string options,
                                         std::uint64_t version, Schema out) {
  if (data_.batch)
    add_device_stage(name, label, std::move(options), version, std::move(out));
  else
    add_stage(name, label, std::move(options), version, std::move(out));
}

void PipelineBuilder::keep_fields(const std::string& name, std::string names, Schema left) {
  add_stage(name, name, std::move(names), 0, std::move(left));
  std::erase_if(data_.collates, [this](const auto& said) { return !data_.schema.find(said.first); });
}

void PipelineBuilder::refuse_after_batch(const std::string& stage) const {
  if (data_.batch)
    throw Error(Errc::invalid_argument,
                "per-sample stages and orders stand before batch; after it stand map_batches, decoders, image stages, "
                "changes of colour, and device stages")
        .with_stage(stage);
}

}  // namespace penstock::detail
