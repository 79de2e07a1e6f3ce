// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <penstock/detail/filter_model.hpp>
#include <penstock/error.hpp>
#include <penstock/stages/filter.hpp>

#include "chain/chain_compiler.hpp"
#include "chain/chain_run.hpp"
#include "chain/step.hpp"
#include "pipeline/pipeline_builder.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

class FilterStep final : public Step {
 public:
  FilterStep(const BoundStage& stage, const FilterModel& model) : Step(stage.label, stage.key), model_(model) {
    schema = stage.out;
  }

  bool run(ChainRun& run, const StepCall& call) const override {
    Context context(call.seed, key, call.place, call.index, &run.stop);
    return model_.keeps(Sample(run), context);
  }
  std::string describe(const CheckOptions&) const override { return label + ": leaves samples out"; }
  bool makes(const Schema&, std::size_t) const override { return false; }

 private:
  const FilterModel& model_;
};

class FilterStage final : public WorkStage {
 public:
  FilterStage(std::shared_ptr<const FilterModel> model, std::string field, DType dtype, std::size_t rank,
              FilterOptions options)
      : model_(std::move(model)), field_(std::move(field)), dtype_(dtype), rank_(rank), options_(std::move(options)) {}
  void join(PipelineBuilder& pipeline) const override {
    const std::string& name = options_.name;
    const std::string label = field_.empty() ? name : name + "(" + field_ + ")";
    if (!field_.empty()) {
      const Field& in = pipeline.at(field_, label);
      if (in.dtype != dtype_ || in.shape.rank() != rank_)
        throw Error(Errc::schema_mismatch, "field \"" + field_ + "\" is " + type_text(in) +
                                               ", but the predicate takes a View<const " +
                                               std::string(to_string(dtype_)) + ", " + std::to_string(rank_) +
                                               ">; the fields are " + pipeline.data().schema.to_string())
            .with_stage(label);
    }
    pipeline.add_stage(name, label, "filter", options_.version, pipeline.data().schema);
    pipeline.data().filters = true;
  }
  void compile(const BoundStage& bound, ChainCompiler& chain) const override {
    chain.add(std::make_unique<FilterStep>(bound, *model_));
  }
  bool changes_count() const override { return true; }

 private:
  const std::shared_ptr<const FilterModel> model_;
  const std::string field_;  // empty: the filter sees the whole sample
  const DType dtype_;        // the field's type
  const std::size_t rank_;
  const FilterOptions options_;
};

}  // namespace

}  // namespace detail::runtime

Stage detail::make_filter(std::shared_ptr<const FilterModel> model, std::string field, DType dtype, std::size_t rank,
                          FilterOptions options) {
  return make_stage(runtime::FilterStage(std::move(model), std::move(field), dtype, rank, std::move(options)));
}

}  // namespace penstock
