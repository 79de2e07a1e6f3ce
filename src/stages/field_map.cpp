// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <penstock/detail/device_stage_model.hpp>
#include <penstock/detail/transform_model.hpp>
#include <penstock/error.hpp>
#include <penstock/stages/map.hpp>

#include "chain/chain_compiler.hpp"
#include "chain/chain_run.hpp"
#include "chain/step.hpp"
#include "pipeline/device_program.hpp"
#include "pipeline/pipeline_builder.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

// Returns advice to cast the field if only its dtype is wrong; empty if its rank is wrong, or the callable takes bool.
std::string way_to_dtype(const Field& in, const FieldMapModel& model) {
  if (in.shape.rank() != model.in_rank || model.in_dtype == DType::boolean) return "";
  const std::string wanted(to_string(model.in_dtype));
  return "cast(\"" + in.name + "\", DType::" + wanted + ") before it converts the values, and one that " + wanted +
         " does not have makes its sample a bad one; ";
}

// Checks that the field has the dtype, the rank and the shape that the callable takes.
void check_input(const FieldMapModel& model, const Field& in, const Schema& all) {
  if (in.dtype != model.in_dtype || in.shape.rank() != model.in_rank)
    throw Error(Errc::schema_mismatch, "field \"" + in.name + "\" is " + type_text(in.dtype, in.shape) +
                                           ", but the callable takes a View<" + std::string(to_string(model.in_dtype)) +
                                           ", " + std::to_string(model.in_rank) + ">; " + way_to_dtype(in, model) +
                                           "the fields are " + all.to_string());
  model.check(in.shape);
}

Shape every_dimension_varies(std::size_t rank) {
  const std::int64_t any[Shape::max_rank] = {dynamic, dynamic, dynamic, dynamic, dynamic, dynamic, dynamic, dynamic};
  if (rank > Shape::max_rank)
    throw Error(Errc::schema_mismatch, "the callable's result has " + std::to_string(rank) + " dimensions; " +
                                           std::to_string(Shape::max_rank) + " are the most there are");
  return Shape(std::span<const std::int64_t>(any, rank));
}

Shape result_shape(const MapOptions& options, const FieldMapModel& model, const Field& in) {
  const std::optional<Shape>& said = options.shape;
  const Shape shape = said ? *said : model.decides_shape ? every_dimension_varies(model.out_rank) : in.shape;
  if (shape.rank() != model.out_rank)
    throw Error(Errc::schema_mismatch, "the result's shape " + shape.to_string() + " is not of the rank " +
                                           std::to_string(model.out_rank) +
                                           " that the callable writes; say it with `.shape`");
  if (said && !model.decides_shape && !shape.fixed() && !(shape == in.shape))
    throw Error(Errc::invalid_argument,
                "`.shape` must be fixed, or left away to mean the input's; where it depends on the sample, write to an "
                "Output<T, R> instead of a View");
  return shape;
}

// Calls a user's callable on one field.
class FieldMapStep final : public Step {
 public:
  FieldMapStep(const BoundStage& stage, const FieldMapModel& model, const std::string& in, const std::string& out)
      : Step(stage.label, stage.key),
        map_(model),
        in_(stage.out.slot(in)),
        out_(stage.out.slot(out)),
        in_dtype_(stage.in.at(in).dtype),
        result_(stage.out[out_]) {
    schema = stage.out;
    if (map_.decides_shape)
      shape_ = ResultShape::decided;
    else if (result_.shape.fixed())
      shape_ = ResultShape::fixed;
    else if (map_.any_type)
      shape_ = ResultShape::asked;
  }

  bool run(ChainRun& run, const StepCall& call) const override {
    Context context(call.seed, key, call.place, call.index, &run.stop);
    apply(run, context);
    refuse_draws(call, context);
    return true;
  }
  std::string describe(const CheckOptions&) const override {
    return label + (map_.in_place ? ": in place -> " : " -> ") + schema.to_string();
  }
  bool makes(const Schema&, std::size_t slot) const override { return slot == out_ && !map_.in_place; }
  std::optional<std::size_t> only_slot() const override { return out_; }

 private:
  // Where the result's shape comes from. `as_input`: the input's shape. `fixed`: the schema. `asked`: the model returns
  // it for the input's shape. `decided`: the callable chooses it.
  enum class ResultShape : std::uint8_t { as_input, fixed, asked, decided };

  void apply(ChainRun& run, Context& context) const {
    TensorView input{const_cast<std::byte*>(run.value(in_)), in_dtype_, run.cells[in_].shape};
    if (map_.in_place) {
      input.data = run.own(in_);
      return map_.apply(input, input, context);
    }
    if (shape_ == ResultShape::decided) {
      FieldOutput out(run, out_);
      map_.make(input, out, context);
      if (!out.made())
        throw Error(Errc::schema_mismatch, "the callable returned without emplace() of its Output, so field \"" +
                                               result_.name + "\" has no value");
      return;
    }
    Shape asked;
    if (shape_ == ResultShape::asked) asked = map_.result({in_dtype_, input.shape}).shape;
    const Shape& shape = shape_ == ResultShape::as_input ? input.shape
                         : shape_ == ResultShape::fixed  ? result_.shape
                                                         : asked;
    const TensorView to{run.make(out_, shape), result_.dtype, shape};
    check_sizes(run);
    map_.apply(input, to, context);
  }

  const FieldMapModel& map_;
  const std::size_t in_, out_;  // slots
  const DType in_dtype_;
  const Field result_;
  ResultShape shape_ = ResultShape::as_input;
};

class FieldMapStage final : public WorkStage {
 public:
  FieldMapStage(std::string field, std::shared_ptr<const FieldMapModel> model, MapOptions options,
                std::shared_ptr<const DeviceStageModel> on_batches)
      : field_(std::move(field)),
        model_(std::move(model)),
        options_(std::move(options)),
        on_batches_(std::move(on_batches)) {}
  void join(PipelineBuilder& pipeline) const override {
    const std::string label = options_.name + "(" + field_ + ")";
    FieldMapResult result = result_of(pipeline.at(field_, label), pipeline.data().schema, label);
    Schema out = result.field ? pipeline.schema().with(std::move(*result.field)) : pipeline.schema();
    const MapOptions& o = options_;
    if (pipeline.data().batch && on_batches_ != nullptr)
      return pipeline.add_device_stage(o.name, label, std::move(result.options), o.version, std::move(out));
    pipeline.add_stage(o.name, label, std::move(result.options), o.version, std::move(out));
  }
  void compile(const BoundStage& bound, ChainCompiler& chain) const override {
    chain.add(std::make_unique<FieldMapStep>(bound, *model_, field_, out_field()));
  }
  void launch(const BoundStage& bound, DeviceProgramBuilder& program) const override {
    program.add(bound, on_batches_);
  }
  bool draws() const override { return model_->draws(); }
  bool versioned() const override { return options_.version != 0 || model_->versioned(); }
  bool gives(const std::string& field) const override { return field == out_field(); }
  // Numbers that the callable changes in place may still be labels.
  std::optional<bool> gives_labels(const std::string& field) const override {
    return gives(field) && !model_->in_place ? std::optional(false) : std::nullopt;
  }

 private:
  struct FieldMapResult {
    std::string options;         // the stage's options in words
    std::optional<Field> field;  // none: the callable works in place, and the field stays the same
  };

  const std::string& out_field() const { return options_.out.empty() ? field_ : options_.out; }
  // Returns what the stage makes of the field `in` of the schema `all`.
  FieldMapResult result_of(const Field& in, const Schema& all, const std::string& label) const {
    const FieldMapModel& model = *model_;
    const std::string& out = out_field();
    FieldMapResult result{model.describe(), std::nullopt};
    try {
      if (model.any_type) {
        if (options_.shape)
          throw Error(Errc::invalid_argument, "the callable says the result's shape itself; leave `.shape` away");
        TensorType type = model.result({in.dtype, in.shape});
        result.field = Field{out, type.dtype, std::move(type.shape)};
      } else {
        check_input(model, in, all);
        if (!model.in_place)
          result.field = Field{out, model.out_dtype, result_shape(options_, model, in)};
        else if (out != field_ || options_.shape)
          throw Error(Errc::invalid_argument,
                      "a callable that works in place keeps its field and shape; give it a second view to write to");
      }
      name_classes(in, result);
    } catch (Error& error) {
      throw error.with_stage(label);
    }
    if (out != field_) result.options += (result.options.empty() ? "to " : ", to ") + out;
    return result;
  }

  // Sets the classes of the result's numbers.
  void name_classes(const Field& in, FieldMapResult& result) const {
    if (options_.keep_classes && !options_.classes.empty())
      throw Error(Errc::invalid_argument, "say either `.classes`, or `.keep_classes`");
    const ClassNames& classes = options_.keep_classes ? in.classes : options_.classes;
    if (!result.field && classes == in.classes) return;
    if (!result.field) result.field = in;
    result.field->classes = classes;
  }

  const std::string field_;
  const std::shared_ptr<const FieldMapModel> model_;
  const MapOptions options_;
  const std::shared_ptr<const DeviceStageModel> on_batches_;  // null: the stage is not allowed after `batch`
};

}  // namespace

}  // namespace detail::runtime

Stage detail::make_field_map(std::string field, std::shared_ptr<const FieldMapModel> model, MapOptions options,
                             std::shared_ptr<const DeviceStageModel> on_batches) {
  return make_stage(
      runtime::FieldMapStage(std::move(field), std::move(model), std::move(options), std::move(on_batches)));
}

}  // namespace penstock
