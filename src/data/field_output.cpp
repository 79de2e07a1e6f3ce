// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <penstock/detail/field_output.hpp>
#include <penstock/detail/transform_model.hpp>
#include <penstock/error.hpp>
#include <penstock/extend/transform.hpp>

namespace penstock::detail {

std::byte* FieldOutput::emplace(const Shape& shape) {
  if (made_)
    throw Error(Errc::invalid_argument,
                "the callable called emplace() of its Output twice; a sample has one value of \"" +
                    (*cells_->schema)[slot_].name + "\"");
  if (!shape.fixed())
    throw Error(Errc::invalid_argument, "the callable called emplace() of its Output with the shape " +
                                            shape.to_string() + "; each dimension must be a number, 0 or more");
  made_ = true;
  return cells_->make(slot_, shape);
}

void FieldMapModel::make(const TensorView&, FieldOutput&, Context&) const {
  throw Error(Errc::invalid_argument, "this map has its result's shape told");
}

}  // namespace penstock::detail
