// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/stages/collate.hpp>

#include "pipeline/pipeline_builder.hpp"
#include "stages/check_rows.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

class BucketStage final : public StageModel {
 public:
  explicit BucketStage(BucketSpec item) : item_(std::move(item)) {}
  void join(PipelineBuilder& pipeline) const override {
    const std::string label = "bucket(" + item_.field + ")";
    pipeline.refuse_after_batch(label);
    if (pipeline.data().bucket)
      throw Error(Errc::invalid_argument, "the pipeline has buckets already").with_stage(label);
    check_length(pipeline.at(item_.field, label), label);
    pipeline.data().bucket = item_;
  }

 private:
  const BucketSpec item_;
};

}  // namespace

void check_length(const Field& field, const std::string& label) {
  const bool integer = is_whole(field.dtype) && field.dtype != DType::boolean;
  if (field.shape.rank() == 0 && !integer)
    throw Error(Errc::schema_mismatch, "field \"" + field.name + "\" is " + type_text(field) +
                                           "; a length is the first dimension of a field, or an integer")
        .with_stage(label);
}

void join_bucket(PipelineBuilder& pipeline, BucketSpec& item) {
  const std::string label = "bucket(" + item.field + ")";
  check_length(pipeline.at(item.field, label), label);
  const std::uint64_t rows = pipeline.data().batch->rows, most = max_bucket_window;
  std::uint64_t& window = item.options.window;
  if (window == 0)
    window = pipeline.data().bounded ? std::min(16 * rows, most) : std::min<std::uint64_t>(16, most / rows) * rows;
  if (window == 0 || (!pipeline.data().bounded && window % rows != 0))
    throw Error(Errc::invalid_argument, "batches of " + std::to_string(rows) + " rows can't be cut from windows of " +
                                            std::to_string(window) + " samples: give it a multiple, at most " +
                                            std::to_string(most))
        .with_stage(label);
}

}  // namespace detail::runtime

Stage bucket(std::string field, BucketOptions options) {
  if (options.window > detail::max_bucket_window)
    throw Error(Errc::invalid_argument,
                "a window has at most " + std::to_string(detail::max_bucket_window) + " samples")
        .with_stage("bucket(" + field + ")");
  return detail::make_stage(detail::runtime::BucketStage(detail::BucketSpec{std::move(field), options}));
}

}  // namespace penstock
