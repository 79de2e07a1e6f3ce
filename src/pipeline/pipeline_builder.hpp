// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <penstock/detail/order_model.hpp>
#include <penstock/schema.hpp>

#include "pipeline/pipeline_data.hpp"
#include "pipeline/stage_model.hpp"

namespace penstock::detail {

/// Lets a stage join a copy of a pipeline. All kinds of stages use its functions to look at the stages before them and
/// to add to the pipeline. Each error names the stage.
class PipelineBuilder {
 public:
  PipelineBuilder(PipelineData& data, const Stage& stage) : data_(data), stage_(stage) {}

  PipelineData& data() noexcept { return data_; }
  /// Returns the schema of a row as the next stage sees it.
  const Schema& schema() const noexcept { return data_.delivered(); }
  /// Returns a field. @throws Error(schema_mismatch) if there is no such field.
  const Field& at(const std::string& field, const std::string& label) const;
  /// Returns whether the field's values were decoded as labels, and still are labels.
  bool holds_labels(std::string field) const;
  /// Returns a key for a stage or order of this name. Each occurrence of the name in the pipeline gets another key.
  std::uint64_t next_key(const std::string& name);
  /// Sets the seed. @throws Error(invalid_argument) if a different seed is set already, or was used for draws that a
  /// cache keeps.
  void set_seed(std::uint64_t seed, const std::string& stage);

  // -- orders --
  /// Adds an order. `label`: the order's text in plan(). If it is empty, the text is the order's name and description.
  void add_order(std::shared_ptr<const OrderModel> model, std::string label = {});
  /// @throws Error(invalid_argument) if batches end with their groups and the policy for bad samples uses stand-ins,
  /// which would come from other groups.
  void refuse_stand_ins_of_groups() const;
  /// Passes the number of rows per batch to the orders; 0 if the pipeline is reordered. @throws what the orders throw.
  void tell_orders_of_batches();
  /// @throws Error(invalid_argument) if an order may not be added any more.
  void refuse_order(const std::string& name) const;
  /// @throws Error(invalid_argument) if an earlier order gives a position a different record in each epoch.
  void refuse_changing_orders(const std::string& stage) const;
  /// Returns the values of a field of the source, one for each position.
  /// @throws like refuse_order, refuse_changing_orders and labels_of; and Error(schema_mismatch) if a stage made the
  /// field.
  std::vector<std::int64_t> labels_of_positions(const std::string& field, const std::string& stage) const;

  // -- stages that work on samples; REQUIRES: the stage that joins is a WorkStage --
  /// Adds a stage before `batch`. `options`: in words, the options that change results. `out`: the schema after the
  /// stage.
  void add_stage(const std::string& name, const std::string& label, std::string options, std::uint64_t version,
                 Schema out);
  /// Adds a stage after `batch`.
  void add_device_stage(const std::string& name, const std::string& label, std::string options, std::uint64_t version,
                        Schema out);
  /// Adds a stage that works on whole batches on the host. `stage.out` becomes the schema of a row.
  void add_batch_map(const std::string& name, std::string options, std::uint64_t version, Schema out,
                     BoundBatchMap map);
  /// Adds a stage that may be on either side of `batch`.
  void add_stage_anywhere(const std::string& name, const std::string& label, std::string options, std::uint64_t version,
                          Schema out);
  /// Adds a stage that only selects fields. The collation of a dropped field is dropped too.
  void keep_fields(const std::string& name, std::string names, Schema left);
  void refuse_after_batch(const std::string& stage) const;

 private:
  BoundStage bound(const std::string& name, const std::string& label, std::string options, std::uint64_t version,
                   Schema out);

  PipelineData& data_;
  const Stage& stage_;
};

/// Returns a type such as "u8[?, ?, 3]".
std::string type_text(DType dtype, const Shape& shape);
inline std::string type_text(const Field& field) { return type_text(field.dtype, field.shape); }

}  // namespace penstock::detail
