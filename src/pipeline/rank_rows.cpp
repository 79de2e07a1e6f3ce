// SPDX-License-Identifier: Apache-2.0
#include "pipeline/rank_rows.hpp"

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

std::uint64_t max_rows_of_rank(const PipelineData& data) noexcept {
  return balanced_share(data.batch->rows, data.rank_value()).count;
}

std::uint64_t window_rows_of_rank(const PipelineData& data) noexcept {
  if (!data.bucket) return 0;
  const std::uint64_t window = data.bucket->options.window;
  return data.bounded ? window : window / data.batch->rows * max_rows_of_rank(data);
}

}  // namespace penstock::detail
