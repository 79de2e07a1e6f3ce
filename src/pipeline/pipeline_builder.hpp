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

/// A copy of a pipeline that a stage joins: what kinds of stages have in common when they look at what stands before
/// them, and add to it. Each error names the stage.
class PipelineBuilder {
 public:
  PipelineBuilder(PipelineData& data, const Stage& stage) : data_(data), stage_(stage) {}

  PipelineData& data() noexcept { return data_; }
  /// The schema of a row as stages see it now.
  const Schema& schema() const noexcept { return data_.delivered(); }
  /// @throws Error(schema_mismatch) where there is no such field.
  const Field& at(const std::string& field, const std::string& label) const;
  /// Its values were decoded as labels, and are that still.
  bool holds_labels(std::string field) const;
  /// What this occurrence of a stage's name is keyed by.
  std::uint64_t next_key(const std::string& name);
  /// @throws Error(invalid_argument) where there is another one already.
  void set_seed(std::uint64_t seed, const std::string& stage);

  // -- orders --
  /// `label`: for plan(); empty: what the order says of itself.
  void add_order(std::shared_ptr<const OrderModel> model, std::string label = {});
  /// @throws Error(invalid_argument) where batches end with their groups, and stand-ins for bad samples would be
  /// others'.
  void refuse_stand_ins_of_groups() const;
  /// Tells orders how many rows a batch has. @throws what they say of it.
  void tell_orders_of_batches();
  /// @throws Error(invalid_argument) where no order may stand any more.
  void refuse_order(const std::string& name) const;
  /// @throws Error(invalid_argument) after orders by which a position has another record in each epoch.
  void refuse_changing_orders(const std::string& stage) const;
  /// The values of a field of the source, one for each position.
  std::vector<std::int64_t> labels_of_positions(const std::string& field, const std::string& stage) const;

  // -- stages that make something of samples; the stage that joins is a WorkStage --
  /// `options`: its result options in words. `out`: the schema after it.
  void add_stage(const std::string& name, const std::string& label, std::string options, std::uint64_t version,
                 Schema out);
  /// Adds a stage that stands after `batch`.
  void add_device_stage(const std::string& name, const std::string& label, std::string options, std::uint64_t version,
                        Schema out);
  /// Adds a stage that may stand on either side of `batch`.
  void add_stage_anywhere(const std::string& name, const std::string& label, std::string options, std::uint64_t version,
                          Schema out);
  /// One that only says which fields are left. What was said of the rows of a field that goes, goes with it.
  void keep_fields(const std::string& name, std::string names, Schema left);
  void refuse_after_batch(const std::string& stage) const;

 private:
  BoundStage bound(const std::string& name, const std::string& label, std::string options, std::uint64_t version,
                   Schema out);

  PipelineData& data_;
  const Stage& stage_;
};

/// "u8[?, ?, 3]"
std::string type_text(DType dtype, const Shape& shape);
inline std::string type_text(const Field& field) { return type_text(field.dtype, field.shape); }

}  // namespace penstock::detail
