// SPDX-License-Identifier: Apache-2.0
// What tests of lines of JSON share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/sources/json_lines.hpp>

#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

namespace penstock_test {

/// A file in a folder of its own.
class JsonFile {
 public:
  explicit JsonFile(std::string_view text) { folder_.write("t.jsonl", text); }
  std::string path() const { return folder_ / "t.jsonl"; }
  penstock::JsonLinesSource open(std::vector<penstock::JsonField> fields = {}) const {
    return penstock::JsonLinesSource({.path = path(), .fields = std::move(fields)});
  }

 private:
  TempFolder folder_;
};

inline penstock::JsonField number(std::string member, penstock::DType dtype, penstock::Shape shape = {}) {
  return {.member = std::move(member), .dtype = dtype, .shape = shape};
}
inline penstock::JsonField text(std::string member) {
  return {.member = std::move(member), .type = penstock::JsonType::text};
}
inline penstock::JsonField classes(std::string member, penstock::ClassNames names = {}) {
  return {.member = std::move(member), .type = penstock::JsonType::classes, .classes = std::move(names)};
}

template <class T>
std::vector<T> values_of(const penstock::TensorView& tensor) {
  const auto* const first = reinterpret_cast<const T*>(tensor.data);
  return {first, first + tensor.shape.elements()};
}

/// The only value of field `x` of the only record `{"x":VALUE}`.
template <class T>
T value_of(std::string_view value, penstock::DType dtype) {
  const JsonFile file("{\"x\":" + std::string(value) + "}\n");
  const penstock::OwnedSample sample = read_sample(file.open({number("x", dtype)}), 0);
  return values_of<T>(sample["x"]).at(0);
}

}  // namespace penstock_test
