#include "pipeline/field_map_result.hpp"

#include <utility>

#include <penstock/error.hpp>

namespace penstock::detail {

namespace {

std::string describe(DType dtype, const Shape& shape) { return std::string(to_string(dtype)) + shape.to_string(); }

// Where the callable's signature says dtypes and ranks.
void check_input(const FieldMapModel& model, const Field& in, const Schema& all) {
  if (in.dtype != model.in_dtype || in.shape.rank() != model.in_rank)
    throw Error(Errc::schema_mismatch, "field \"" + in.name + "\" is " + describe(in.dtype, in.shape) +
                                           ", but the callable takes a View<" + std::string(to_string(model.in_dtype)) +
                                           ", " + std::to_string(model.in_rank) + ">; the fields are " +
                                           all.to_string());
  model.check(in.shape);
}

Shape every_dimension_varies(std::size_t rank) {
  Shape shape;
  const std::int64_t any[Shape::max_rank] = {dynamic, dynamic, dynamic, dynamic, dynamic, dynamic, dynamic, dynamic};
  if (rank > Shape::max_rank)
    throw Error(Errc::schema_mismatch, "the callable's result has " + std::to_string(rank) + " dimensions; " +
                                           std::to_string(Shape::max_rank) + " are the most there are");
  return Shape(std::span<const std::int64_t>(any, rank));
}

Shape result_shape(const FieldMapItem& item, const FieldMapModel& model, const Field& in) {
  const std::optional<Shape>& said = item.options.shape;
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

}  // namespace

FieldMapResult result_of(const FieldMapItem& item, const Field& in, const Schema& all, const std::string& label) {
  const FieldMapModel& model = *item.model;
  const std::string& out = item.options.out.empty() ? item.field : item.options.out;
  FieldMapResult result{model.describe(), std::nullopt};
  try {
    if (model.any_type) {
      if (item.options.shape)
        throw Error(Errc::invalid_argument, "the callable says the result's shape itself; leave `.shape` away");
      TensorType type = model.result({in.dtype, in.shape});
      result.field = Field{out, type.dtype, std::move(type.shape)};
    } else {
      check_input(model, in, all);
      if (!model.in_place)
        result.field = Field{out, model.out_dtype, result_shape(item, model, in)};
      else if (out != item.field || item.options.shape)
        throw Error(Errc::invalid_argument,
                    "a callable that works in place keeps its field and shape; give it a second view to write to");
    }
  } catch (Error& error) {
    throw error.with_stage(label);
  }
  if (out != item.field) result.options += (result.options.empty() ? "to " : ", to ") + out;
  return result;
}

}  // namespace penstock::detail
