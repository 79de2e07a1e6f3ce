// SPDX-License-Identifier: Apache-2.0
#include "pipeline/pipeline_data.hpp"

#include <vector>

#include "pipeline/nested_branches.hpp"

namespace penstock::detail {

void PipelineData::open() const {
  if (cache) cache->opened->open();
  for_each_nested_branch(*source, [](const Branch& branch) {
    if (branch.pipeline->cache) branch.pipeline->cache->opened->open(" of " + branch.name);
  });
}

Schema PipelineData::made() const {
  std::vector<Field> fields(schema.begin(), schema.end());
  const std::size_t end = sample().size();
  for (std::size_t i = end - added(); i < end; ++i) fields[i] = {fields[i].name, DType::u8, Shape{0}};
  return Schema(std::move(fields));
}

const std::string* PipelineData::mixing_device_stage() const {
  if (device)
    for (const DeviceStep& step : device->steps)
      if (step.model != nullptr && step.model->mixes_rows()) return &step.label;
  return nullptr;
}

const std::string* PipelineData::mixing_stage() const {
  return after_batch.maps.empty() ? mixing_device_stage() : &after_batch.maps[0].stage.label;
}

}  // namespace penstock::detail
