// SPDX-License-Identifier: Apache-2.0
#include "field_plan.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>

#include "common/lines/read_records.hpp"
#include "common/numbers/numbers.hpp"
#include "cursor.hpp"
#include "errors.hpp"
#include "find_fields.hpp"
#include "numbers_of.hpp"

namespace penstock::json {

namespace {

[[noreturn]] void refuse(const JsonLines& options, std::string cause) {
  throw error_in(options.path, Errc::invalid_argument, std::move(cause));
}

std::string member_of(const JsonField& field) { return "member \"" + printable(field.member) + "\""; }

bool says_classes(const JsonField& field) { return field.type == JsonType::classes && field.classes.empty(); }

void check_field(const JsonLines& options, const JsonField& field) {
  const std::string member = member_of(field);
  if (field.type != JsonType::classes && !field.classes.empty())
    refuse(options, member + " has `classes`, but its type is not `classes`");
  if (const std::string* const twice = common::ClassWords(field.classes).repeated())
    refuse(options, member + ": two classes have the name \"" + printable(*twice) + "\", so a text has no number");
  if (field.type != JsonType::number) {
    if (field.shape.rank() != 0) refuse(options, member + " has a `shape`, but its type is not `number`");
    return;
  }
  if (field.dtype == DType::f16 || field.dtype == DType::bf16)
    refuse(options,
           member + ": " + std::string(to_string(field.dtype)) + " is not made from text; read f32, and cast it");
  if (field.shape.rank() > max_rank)
    refuse(options, member + " has a shape of more than " + std::to_string(max_rank) + " dimensions");
  for (const std::int64_t dim : field.shape.dims())
    if (dim == 0) refuse(options, member + " has a shape with a dimension of 0");
  std::array<std::byte, 8> ignored{};
  if (options.missing_value && !common::store_number(*options.missing_value, field.dtype, ignored.data()))
    refuse(options,
           "`missing_value` can't be a value of " + member + ", which is " + std::string(to_string(field.dtype)));
}

void check_paths(const JsonLines& options, const FieldPlan& plan) {
  for (std::size_t slot = 0; slot < plan.fields.size(); ++slot)
    if (const MemberTree::Node& node = plan.members[plan.node_of[slot]]; !node.children.empty())
      refuse(options, member_of(plan.fields[slot]) + " is a field, so \"" +
                          printable(plan.members[node.children.front()].path) + "\" can't be a member of it");
}

// Collects the strings of the members of `plan` that `says_classes`. Bad records add nothing here, because `read` will
// refuse them.
void find_classes(const JsonLines& options, const std::vector<std::string>& files,
                  const std::vector<common::LineIndex>& indices, FieldPlan& plan) {
  std::vector<common::DistinctWords> words(plan.fields.size());
  MemberTree wanted;
  std::vector<std::size_t> node_of(plan.fields.size());
  for (std::size_t slot = 0; slot < plan.fields.size(); ++slot)
    if (says_classes(plan.fields[slot])) node_of[slot] = wanted.add(plan.fields[slot].member);
  if (wanted.size() == 1) return;
  std::vector<std::string> found(wanted.size());
  std::vector<bool> has(wanted.size());
  for (std::size_t f = 0; f < files.size(); ++f) {
    MemberWalk walk(wanted);
    std::string buffer;
    common::read_records(files[f], source_name, indices[f], [&](std::uint64_t record, std::string_view text) {
      has.assign(has.size(), false);
      try {
        walk.go(text, [&](std::size_t node, Cursor& cursor) {
          if (cursor.peek() != Kind::text) return cursor.skip();
          found[node] = characters(cursor.text(), buffer);
          has[node] = true;
        });
      } catch (const Error&) {
        return true;
      }
      for (std::size_t slot = 0; slot < words.size(); ++slot)
        if (node_of[slot] != 0 && has[node_of[slot]]) {
          try {
            words[slot].add(found[node_of[slot]], options.max_classes, member_of(plan.fields[slot]));
          } catch (const Error& error) {
            throw error_in(files[f], error.code(),
                           "line " + std::to_string(indices[f].line(record)) + ": " + error.cause());
          }
        }
      return true;
    });
  }
  for (std::size_t slot = 0; slot < words.size(); ++slot)
    if (node_of[slot] != 0) try {
        plan.fields[slot].classes = words[slot].classes(member_of(plan.fields[slot]));
      } catch (const Error& error) {
        refuse(options, error.cause());
      }
}

Field field_of(const JsonField& field) {
  std::string name = field.field.empty() ? field.member : field.field;
  switch (field.type) {
    case JsonType::text:
      return {std::move(name), DType::u8, {dynamic}};
    case JsonType::classes:
      return {std::move(name), DType::i64, {}, {}, field.classes};
    case JsonType::number:
      break;
  }
  return {std::move(name), field.dtype, field.shape};
}

}  // namespace

FieldPlan plan_fields(const JsonLines& options, const std::vector<std::string>& files,
                      const std::vector<common::LineIndex>& indices) {
  FieldPlan plan;
  plan.fields = options.fields.empty() ? find_fields(options, files, indices, plan.notes) : options.fields;
  for (const JsonField& field : options.fields) check_field(options, field);
  for (const JsonField& field : plan.fields) {
    plan.node_of.push_back(plan.members.add(field.member));
  }
  check_paths(options, plan);
  find_classes(options, files, indices, plan);
  plan.slots_of.resize(plan.members.size());
  std::vector<Field> fields;
  for (std::size_t slot = 0; slot < plan.fields.size(); ++slot) {
    plan.slots_of[plan.node_of[slot]].push_back(slot);
    plan.words.emplace_back(plan.fields[slot].classes);
    fields.push_back(field_of(plan.fields[slot]));
  }
  try {
    plan.schema = Schema(std::move(fields));
  } catch (const Error& error) {
    refuse(options, error.cause());
  }
  return plan;
}

}  // namespace penstock::json
