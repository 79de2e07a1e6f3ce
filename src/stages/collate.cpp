// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/stages/collate.hpp>

#include "data/row_layout.hpp"
#include "pipeline/pipeline_builder.hpp"
#include "stages/check_rows.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

class CollateStage final : public StageModel {
 public:
  CollateStage(std::string field, Collate collate) : field_(std::move(field)), collate_(std::move(collate)) {}
  void join(PipelineBuilder& pipeline) const override {
    const std::string label = (collate_.kind == Collate::Kind::ragged ? "ragged(" : "pad(") + field_ + ")";
    pipeline.refuse_after_batch(label);
    Field field = pipeline.at(field_, label);
    if (pipeline.data().collates.contains(field_))
      throw Error(Errc::invalid_argument, "it is said already how rows of this field are put together")
          .with_stage(label);
    field.collate = collate_;
    check_rows(field, label);
    pipeline.data().collates[field_] = collate_;
  }

 private:
  const std::string field_;
  const Collate collate_;
};

}  // namespace

void check_rows(const Field& field, const std::string& label) {
  try {
    check_collate(field);
    if (field.collate.kind == Collate::Kind::pad) element_of(field.dtype, field.collate.value);
  } catch (Error& error) {
    throw error.with_stage(label);
  }
}

}  // namespace detail::runtime

Stage ragged(std::string field) {
  return detail::make_stage(detail::runtime::CollateStage(std::move(field), Collate::ragged()));
}

Stage pad(std::string field, PadOptions options) {
  if (options.to < 0)
    throw Error(Errc::invalid_argument, "rows can't be padded to " + std::to_string(options.to) + " elements")
        .with_stage("pad(" + field + ")");
  return detail::make_stage(detail::runtime::CollateStage(std::move(field), Collate::pad(options.to, options.value)));
}

}  // namespace penstock
