// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/stages/batch.hpp>

#include "order/group_table.hpp"
#include "pipeline/pipeline_builder.hpp"
#include "ring/batch_bounds.hpp"
#include "stages/check_rows.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

void join_groups(PipelineBuilder& pipeline) {
  const auto refuse = [](const char* cause) { throw Error(Errc::invalid_argument, cause).with_stage("batch"); };
  if (pipeline.data().source->is_stream()) refuse("a stream's records have no groups; leave `.by` out");
  if (pipeline.data().bucket) refuse("`bucket` mixes records of all groups; leave it, or `.by = group`, out");
  pipeline.data().groups = pipeline.data().groups_of_source("batch");
  pipeline.refuse_stand_ins_of_groups();
}

class BatchStage final : public StageModel {
 public:
  explicit BatchStage(BatchSpec item) : item_(std::move(item)) {}
  void join(PipelineBuilder& pipeline) const override {
    pipeline.refuse_after_batch("batch");
    std::vector<Field> fields(pipeline.data().schema.begin(), pipeline.data().schema.end());
    for (Field& f : fields) {
      if (const auto said = pipeline.data().collates.find(f.name); said != pipeline.data().collates.end())
        f.collate = said->second;
      check_rows(f, "batch");
      if (!f.shape.fixed() && f.collate.kind == Collate::Kind::dense)
        throw Error(
            Errc::schema_mismatch,
            "field \"" + f.name + "\" is " + type_text(f) +
                ", which varies from sample to sample; give it a fixed shape (decode, crop, resize, map), say how its "
                "rows are put together (ragged, pad), or leave it out with drop_fields; the fields are " +
                pipeline.data().schema.to_string() +
                (pipeline.data().source_size == 0 ? "; the source has no records" : ""))
            .with_stage("batch");
      if (f.shape.rank() == Shape::max_rank)
        throw Error(Errc::schema_mismatch, "field \"" + f.name +
                                               "\" has 8 dimensions, the most there are; its batch "
                                               "would have one more")
            .with_stage("batch");
    }
    pipeline.data().schema = Schema(std::move(fields));
    try {
      const BatchBounds bounds(pipeline.data().schema, item_);
      pipeline.data().batch = item_;
      pipeline.data().batch->rows = bounds.rows();
      pipeline.data().bounded = bounds.by_size() || item_.options.by == BatchOptions::By::group;
    } catch (Error& error) {
      throw error.with_stage("batch");
    }
    if (item_.options.by == BatchOptions::By::group) join_groups(pipeline);
    if (pipeline.data().bucket) join_bucket(pipeline, *pipeline.data().bucket);
    pipeline.tell_orders_of_batches();
  }

 private:
  const BatchSpec item_;
};

}  // namespace

}  // namespace detail::runtime

Stage batch(std::uint64_t rows, BatchOptions options) {
  if (rows == 0 || rows > (1u << 24))
    throw Error(Errc::invalid_argument, "a batch has 1 to 16,777,216 rows, not " + std::to_string(rows))
        .with_stage("batch");
  if (options.tokens.empty() != (options.max_tokens == 0))
    throw Error(Errc::invalid_argument,
                "`.tokens` and `.max_tokens` belong together: the field that is counted, and how far")
        .with_stage("batch");
  if ((options.max_tokens != 0 || options.max_bytes != 0 || options.by == BatchOptions::By::group) &&
      options.tail != Tail::keep)
    throw Error(Errc::invalid_argument,
                "a batch that is bounded by tokens, bytes or groups is complete with any number of rows: leave `.tail` "
                "as keep")
        .with_stage("batch");
  return detail::make_stage(detail::runtime::BatchStage(detail::BatchSpec{rows, std::move(options)}));
}

}  // namespace penstock
