// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <penstock/schema.hpp>
#include <penstock/sources/json_lines.hpp>

#include "common/class_words.hpp"
#include "common/lines/line_index.hpp"
#include "member_tree.hpp"

namespace penstock::json {

/// How records become fields.
struct FieldPlan {
  std::vector<JsonField> fields;  ///< by slot
  Schema schema;
  MemberTree members;                              ///< the members of all fields
  std::vector<std::size_t> node_of;                ///< by slot
  std::vector<std::vector<std::size_t>> slots_of;  ///< by node: the slots that its value goes to
  std::vector<common::ClassWords> words;           ///< by slot; empty for fields that are not of classes
  std::vector<std::string> notes;                  ///< what JsonLinesSource::notes says
};

/// Chooses the fields, and finds classes. Reads the first records if `fields` is not set, and all records if they
/// decide classes. @throws the Errors of JsonLinesSource.
FieldPlan plan_fields(const JsonLines& options, const std::vector<std::string>& files,
                      const std::vector<common::LineIndex>& indices);

}  // namespace penstock::json
