#pragma once

#include <memory>

#include "chain/step.hpp"
#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

// One for each kind, in a file of its name. What they are made of must outlive them.
std::unique_ptr<Step> make_read_step(const Schema& schema);
std::unique_ptr<Step> make_cache_step(const BoundCache& cache, const SourceModel& source, const Schema& schema);
std::unique_ptr<Step> make_draws_step(const DeviceProgram& program, const Schema& schema);
std::unique_ptr<Step> make_map_step(const BoundStage& stage, const TransformModel& model);
std::unique_ptr<Step> make_field_map_step(const BoundStage& stage, const FieldMapItem& item);
std::unique_ptr<Step> make_filter_step(const BoundStage& stage, const FilterModel& model);
std::unique_ptr<Step> make_flat_map_step(const BoundStage& stage, const FlatMapModel& model);
std::unique_ptr<Step> make_select_step(const BoundStage& stage);
std::unique_ptr<Step> make_rename_step(const BoundStage& stage, const RenameItem& item);

}  // namespace penstock::detail
