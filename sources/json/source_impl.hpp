// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/sources/json_lines.hpp>

#include "common/lines/line_index.hpp"
#include "common/lines/record_files.hpp"
#include "field_plan.hpp"

namespace penstock {

/// State that a source and its readers share. Immutable.
class JsonLinesSource::Impl {
 public:
  explicit Impl(JsonLines json_options);

  std::string key(std::uint64_t index) const;

  JsonLines options;
  std::vector<common::LineIndex> indices;
  json::FieldPlan plan;
  common::RecordFiles records;
  std::uint64_t identity = 0;

 private:
  void identify();

  json::MemberTree key_member_;  // the member that has the keys
};

}  // namespace penstock
