// SPDX-License-Identifier: Apache-2.0
#include <penstock/transforms/numeric/one_hot.hpp>

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/bfloat16.hpp>
#include <penstock/extend/half.hpp>
#include <penstock/stages/map.hpp>

#include "with_element.hpp"

namespace penstock {

namespace {

constexpr std::int64_t max_classes = std::int64_t{1} << 24;

template <class T>
T one() {
  if constexpr (std::is_same_v<T, Half>)
    return {to_half(1.0f)};
  else if constexpr (std::is_same_v<T, BFloat16>)
    return {to_bfloat16(1.0f)};
  else
    return T{1};
}

template <class From, class To>
void fill(const TensorView& in, const TensorView& out, std::int64_t classes) {
  const auto* from = reinterpret_cast<const From*>(in.data);
  auto* to = reinterpret_cast<To*>(out.data);
  const std::size_t count = in.shape.elements(), width = static_cast<std::size_t>(classes);
  std::memset(out.data, 0, out.bytes());  // in every dtype, the value whose bits are all 0 is 0
  for (std::size_t i = 0; i < count; ++i) {
    if (std::cmp_less(from[i], 0) || std::cmp_greater_equal(from[i], classes))
      throw Error(Errc::unsupported, "element " + std::to_string(i) + " of " + in.shape.to_string() + " is " +
                                         std::to_string(from[i]) + ", and there are the classes 0 to " +
                                         std::to_string(classes - 1));
    to[i * width + static_cast<std::size_t>(from[i])] = one<To>();
  }
}

}  // namespace

OneHot::OneHot(std::int64_t classes, const OneHotOptions& options) : classes_(classes), options_(options) {
  if (classes < 1 || classes > max_classes)
    throw Error(Errc::invalid_argument,
                "there are 1 to " + std::to_string(max_classes) + " classes, not " + std::to_string(classes))
        .with_stage("one_hot");
}

TensorType OneHot::result(const TensorType& in) const {
  if (!is_whole(in.dtype) || in.dtype == DType::boolean)
    throw Error(Errc::schema_mismatch, "the field is " + std::string(to_string(in.dtype)) + in.shape.to_string() +
                                           ", but numbers of classes are integers; cast it before");
  if (in.shape.rank() == Shape::max_rank)
    throw Error(Errc::schema_mismatch,
                "the field has 8 dimensions, the most there are; its result would have one more");
  std::vector<std::int64_t> dims(in.shape.dims().begin(), in.shape.dims().end());
  dims.push_back(classes_);
  return {options_.dtype, Shape(std::span<const std::int64_t>(dims))};
}

void OneHot::operator()(const TensorView& in, const TensorView& out) const {
  numeric::with_element(in.dtype, [&]<class From>(std::type_identity<From>) {
    if constexpr (std::is_integral_v<From> && !std::is_same_v<From, bool>)
      numeric::with_element(out.dtype, [&]<class To>(std::type_identity<To>) { fill<From, To>(in, out, classes_); });
  });
}

std::string OneHot::describe() const {
  return std::to_string(classes_) + " classes as " + std::string(to_string(options_.dtype));
}

Stage one_hot(std::string field, std::int64_t classes, const OneHotOptions& options) {
  return map(std::move(field), OneHot(classes, options), {.name = "one_hot"});
}

}  // namespace penstock
