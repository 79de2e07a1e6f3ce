// SPDX-License-Identifier: Apache-2.0
// What a line of JSON should become, by nlohmann's parser and the rules of the contract, written again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock_test {

/// The fields of `model_fields` in one record.
struct ModelRecord {
  double x = 0;                 // member `x`, f64
  std::int64_t k = 0;           // member `m.k`, i64
  std::vector<std::int32_t> a;  // member `a`, i32 [?]
  std::string t;                // member `t`, text
};

/// What a line should become. `record` is empty if it must be refused. `known` is false if nlohmann's parser can't
/// tell: it refuses all numbers beyond f64, and all halves of surrogate pairs.
struct ModelLine {
  bool known = true;
  std::optional<ModelRecord> record;
};

ModelLine model_line(std::string_view line);

}  // namespace penstock_test
