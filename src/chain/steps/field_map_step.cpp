#include <string>

#include <penstock/error.hpp>

#include "chain/chain_run.hpp"
#include "chain/steps/steps.hpp"

namespace penstock::detail {

namespace {

// A callable on one field.
class FieldMapStep final : public Step {
 public:
  FieldMapStep(const BoundStage& stage, const FieldMapItem& item)
      : Step(stage.label, stage.key),
        map_(*item.model),
        in_(stage.out.slot(item.field)),
        out_(stage.out.slot(item.options.out.empty() ? item.field : item.options.out)),
        in_dtype_(stage.in.at(item.field).dtype),
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
  // That of the input, a fixed one, the one that the model gives for the input's, or the callable's choice.
  enum class ResultShape : std::uint8_t { as_input, fixed, asked, decided };

  void apply(ChainRun& run, Context& context) const {
    const Cell& in = run.cells[in_];
    TensorView from{const_cast<std::byte*>(in.data), in_dtype_, in.shape};
    if (map_.in_place) {
      from.data = run.own(in_);
      return map_.apply(from, from, context);
    }
    if (shape_ == ResultShape::decided) {
      FieldOutput out(run, out_);
      map_.make(from, out, context);
      if (!out.made())
        throw Error(Errc::schema_mismatch, "the callable returned without emplace() of its Output, so field \"" +
                                               result_.name + "\" has no value");
      return;
    }
    Shape asked;
    if (shape_ == ResultShape::asked) asked = map_.result({in_dtype_, from.shape}).shape;
    const Shape& shape = shape_ == ResultShape::as_input ? from.shape
                         : shape_ == ResultShape::fixed  ? result_.shape
                                                         : asked;
    const TensorView to{run.make(out_, shape), result_.dtype, shape};
    check_sizes(run);
    map_.apply(from, to, context);
  }

  const FieldMapModel& map_;
  const std::size_t in_, out_;  // slots
  const DType in_dtype_;
  const Field result_;
  ResultShape shape_ = ResultShape::as_input;
};

}  // namespace

std::unique_ptr<Step> make_field_map_step(const BoundStage& stage, const FieldMapItem& item) {
  return std::make_unique<FieldMapStep>(stage, item);
}

}  // namespace penstock::detail
