// SPDX-License-Identifier: Apache-2.0
#include "column_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>

#include "column_types.hpp"
#include "common/numbers/numbers.hpp"
#include "common/tables/text_lines.hpp"
#include "errors.hpp"

namespace penstock::csv {

namespace {

[[noreturn]] void refuse(const std::string& file, std::string cause) {
  throw error_in(file, Errc::invalid_argument, std::move(cause));
}

// Finds the columns of a file by name.
class ColumnNames {
 public:
  // Keeps references to both arguments.
  ColumnNames(const RecordIndex& index, const std::string& file)
      : columns_(index.columns), likely_delimiter_(index.likely_delimiter), file_(file) {
    sorted_.reserve(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) sorted_.push_back({columns_[i], i});
    std::sort(sorted_.begin(), sorted_.end(), [](const Place& a, const Place& b) { return a.name < b.name; });
  }

  // Returns the index of the column of that name. @throws Error(invalid_argument) if no column, or more than one, has
  // the name.
  std::size_t of(const std::string& name) const {
    const auto found =
        std::lower_bound(sorted_.begin(), sorted_.end(), std::string_view(name),
                         [](const Place& place, std::string_view wanted) { return place.name < wanted; });
    if (found == sorted_.end() || found->name != name) refuse_unknown(name);
    if (found + 1 != sorted_.end() && found[1].name == name)
      refuse(file_, "two columns are called \"" + printable(name) + "\"; rename one in the header");
    return found->column;
  }

 private:
  struct Place {
    std::string_view name;
    std::size_t column;
  };

  [[noreturn]] void refuse_unknown(const std::string& name) const {
    constexpr std::size_t max_listed = 30;
    std::string list;
    for (std::size_t i = 0; i < std::min(columns_.size(), max_listed); ++i)
      list += (i == 0 ? "" : ", ") + printable(in_list(columns_[i]));
    if (columns_.size() > max_listed) list += ", ...";
    refuse(file_, "there is no column \"" + printable(name) + "\"; the columns are " + list +
                      (likely_delimiter_ == 0     ? ""
                       : likely_delimiter_ == ',' ? "; its first line has commas: leave `delimiter` out"
                       : likely_delimiter_ == ';' ? "; its first line has semicolons: say `delimiter = ';'`"
                                                  : "; its first line has tabs: say `delimiter = '\\t'`"));
  }

  const std::vector<std::string>& columns_;
  char likely_delimiter_;
  const std::string& file_;
  std::vector<Place> sorted_;
};

// Returns every column that is not in a vector and does not hold the keys.
std::vector<CsvColumn> all_columns(const Csv& options, const RecordIndex& index, const std::string& file) {
  std::vector<CsvColumn> columns;
  std::set<std::string_view> in_vectors;
  for (const CsvVector& vector : options.vectors) in_vectors.insert(vector.columns.begin(), vector.columns.end());
  for (std::size_t i = 0; i < index.columns.size(); ++i) {
    const std::string& name = index.columns[i];
    if (name.empty())
      refuse(file, "column " + std::to_string(i) + " (counted from 0) has no name; list the `columns` you want");
    if (name == options.key) continue;
    if (!in_vectors.contains(name)) columns.push_back({.column = name});
  }
  if (columns.empty() && options.vectors.empty())
    refuse(file, "there is no column but \"" + printable(options.key) +
                     "\", which has the keys; name it in `columns` as well to have it as a field");
  return columns;
}

void check_number(const Csv& options, const std::string& field, DType dtype) {
  std::array<std::byte, 8> ignored{};
  if (dtype == DType::f16 || dtype == DType::bf16)
    refuse(options.path, "field \"" + field + "\": " + std::string(to_string(dtype)) +
                             " is not made from text; read f32, and cast it");
  if (options.missing_value && !common::store_number(*options.missing_value, dtype, ignored.data()))
    refuse(options.path,
           "`missing_value` can't be a value of field \"" + field + "\", which is " + std::string(to_string(dtype)));
}

void check_classes(const Csv& options, const CsvColumn& column) {
  const std::string name = "column \"" + printable(column.column) + "\"";
  if (column.type != CsvType::classes) refuse(options.path, name + " has `classes`, but its type is not `classes`");
  if (const std::string* const twice = common::ClassWords(column.classes).repeated())
    refuse(options.path, name + ": two classes have the name \"" + printable(*twice) + "\", so a word has no number");
  for (const std::string& word : column.classes)
    if (common::trimmed(word) != word)
      refuse(options.path, name + ": the class \"" + printable(word) +
                               "\" has spaces around it, which are not part of the words of a column");
}

// Returns the runs that all columns of a file form, in order. `targets` must be sorted by column.
std::vector<ColumnRun> column_runs(const std::vector<Target>& targets, std::size_t columns) {
  using Kind = ColumnRun::Kind;
  std::vector<ColumnRun> runs;
  for (std::size_t column = 0, t = 0; column < columns; column += runs.back().columns, t += runs.back().targets) {
    std::size_t end = t;
    while (end < targets.size() && targets[end].column == column) ++end;
    if (end == t) {
      runs.push_back({Kind::skipped, (t < targets.size() ? targets[t].column : columns) - column, t, 0});
    } else if (end - t > 1 || targets[t].kind != Target::Kind::number) {
      runs.push_back({Kind::other, 1, t, end - t});
    } else {
      // The run ends before a column with several targets.
      const auto goes_on = [&](std::size_t next) {
        const Target &a = targets[next - 1], &b = targets[next];
        return b.column == a.column + 1 && b.slot == a.slot && b.element == a.element + 1 &&
               (next + 1 == targets.size() || targets[next + 1].column != b.column);
      };
      while (end < targets.size() && goes_on(end)) ++end;
      runs.push_back({Kind::numbers, end - t, t, end - t});
    }
  }
  return runs;
}

}  // namespace

bool is_missing(const Csv& options, std::string_view cell) {
  const std::string_view text = common::trimmed(cell);
  return std::find(options.missing_cells.begin(), options.missing_cells.end(), text) != options.missing_cells.end();
}

MissingNumbers missing_numbers(const Csv& options) {
  std::array<std::byte, 8> ignored{};
  MissingNumbers missing;
  for (const std::string& cell : options.missing_cells) {
    if (common::parse_number(cell, DType::f64, ignored.data()) == common::NumberFault::not_a_number) continue;
    missing.any = true;
    missing.digits = missing.digits || cell.find_first_of("0123456789") != std::string::npos;
  }
  return missing;
}

ColumnPlan plan_columns(const Csv& options, const std::vector<std::string>& files, const std::vector<char>& delimiters,
                        const std::vector<RecordIndex>& indices) {
  std::vector<CsvColumn> columns =
      options.columns.empty() ? all_columns(options, indices.front(), files.front()) : options.columns;
  std::vector<ColumnNames> names;
  names.reserve(files.size());
  for (std::size_t f = 0; f < files.size(); ++f) names.emplace_back(indices[f], files[f]);
  // Checks the names before the pass over the files, so that a wrong name is reported without that pass.
  for (std::size_t f = 0; f < files.size(); ++f) {
    if (!options.key.empty()) names[f].of(options.key);
    for (const CsvColumn& column : columns) names[f].of(column.column);
    for (const CsvVector& vector : options.vectors)
      for (const std::string& column : vector.columns) names[f].of(column);
  }
  // An automatic column needs no check of its dtype: it gets a type that holds the missing value, or has no missing
  // cell.
  for (const CsvColumn& column : columns)
    if (column.type == CsvType::number)
      check_number(options, column.field.empty() ? column.column : column.field, column.dtype);
    else if (!column.classes.empty())
      check_classes(options, column);
  ColumnPlan plan;
  std::vector<std::vector<std::size_t>> places(files.size());
  for (std::size_t f = 0; f < files.size(); ++f)
    for (const CsvColumn& column : columns) places[f].push_back(names[f].of(column.column));
  choose_types(options, {files, delimiters, indices, places}, columns, plan.notes);
  plan.files.resize(files.size());
  std::vector<Field> fields;
  const auto add_target = [&](const std::string& column, std::size_t element, Target::Kind kind, DType dtype) {
    for (std::size_t f = 0; f < files.size(); ++f)
      plan.files[f].targets.push_back({names[f].of(column), fields.size(), element, kind, dtype});
  };
  plan.words.resize(columns.size());
  for (const CsvColumn& column : columns) {
    const std::string& name = column.field.empty() ? column.column : column.field;
    if (column.type == CsvType::classes) {
      plan.words[fields.size()] = common::ClassWords(column.classes);
      add_target(column.column, 0, Target::Kind::word, DType::i64);
      fields.push_back({name, DType::i64, {}, {}, column.classes});
    } else if (column.type == CsvType::text) {
      add_target(column.column, 0, Target::Kind::text, DType::u8);
      fields.push_back({name, DType::u8, {dynamic}});
    } else {
      add_target(column.column, 0, Target::Kind::number, column.dtype);
      fields.push_back({name, column.dtype, {}});
    }
  }
  for (const CsvVector& vector : options.vectors) {
    if (vector.columns.empty()) refuse(options.path, "vector \"" + vector.field + "\" has no columns");
    check_number(options, vector.field, vector.dtype);
    for (std::size_t i = 0; i < vector.columns.size(); ++i)
      add_target(vector.columns[i], i, Target::Kind::number, vector.dtype);
    fields.push_back({vector.field, vector.dtype, {static_cast<std::int64_t>(vector.columns.size())}});
  }
  try {
    plan.schema = Schema(std::move(fields));
  } catch (const Error& error) {
    refuse(options.path, error.cause());
  }
  for (std::size_t f = 0; f < files.size(); ++f) {
    FilePlan& file = plan.files[f];
    std::stable_sort(file.targets.begin(), file.targets.end(),
                     [](const Target& a, const Target& b) { return a.column < b.column; });
    if (!options.key.empty()) file.key = names[f].of(options.key);
    file.runs = column_runs(file.targets, indices[f].columns.size());
  }
  return plan;
}

}  // namespace penstock::csv
