// SPDX-License-Identifier: Apache-2.0
#include "sink/feature_attribute.hpp"

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sink/stored_dataset.hpp"

namespace penstock::hdf5 {

namespace {

// An attribute's value, in the form in which the library takes it.
struct AttributeValue {
  Handle type, space;
  const void* data;
};

Handle type_of(DType dtype) {
  StoredDataset numbers;
  numbers.dtype = dtype;
  return stored_type(numbers);
}

template <class T>
AttributeValue list_of(DType dtype, const std::vector<T>& values) {
  const hsize_t count = values.size();
  static constexpr std::int64_t none{};  // the library needs an address even if there are no values
  return {type_of(dtype), own_space(H5Screate_simple(1, &count, nullptr)),
          values.empty() ? static_cast<const void*>(&none) : values.data()};
}

}  // namespace

Handle text_type() {
  StoredDataset texts;
  texts.kind = StoredDataset::Kind::texts;
  return stored_type(texts);
}

herr_t write_attribute(hid_t object, const FeatureAttribute& attribute) {
  const char* text = nullptr;
  const AttributeValue value = std::visit(
      [&](const auto& v) -> AttributeValue {
        using V = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<V, std::int64_t>)
          return {type_of(DType::i64), own_space(H5Screate(H5S_SCALAR)), &v};
        else if constexpr (std::is_same_v<V, double>)
          return {type_of(DType::f64), own_space(H5Screate(H5S_SCALAR)), &v};
        else if constexpr (std::is_same_v<V, std::string>) {
          text = v.c_str();
          return {text_type(), own_space(H5Screate(H5S_SCALAR)), &text};
        } else if constexpr (std::is_same_v<V, std::vector<double>>)
          return list_of(DType::f64, v);
        else
          return list_of(DType::i64, v);
      },
      attribute.value);
  const Handle made(
      H5Acreate2(object, attribute.name.c_str(), value.type.get(), value.space.get(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  return made ? H5Awrite(made.get(), value.type.get(), value.data) : -1;
}

}  // namespace penstock::hdf5
