// SPDX-License-Identifier: Apache-2.0
#include "column_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>

#include "cell_scanner.hpp"
#include "errors.hpp"
#include "numbers.hpp"
#include "short_number.hpp"

namespace penstock::csv {

namespace {

constexpr std::size_t read_at_once = std::size_t{4} << 20;

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

// Returns whether the cell looks like a number with a decimal comma, like "0,5".
bool has_decimal_comma(std::string_view cell) noexcept {
  const std::string_view text = trimmed(cell);
  const std::size_t comma = text.find(',');
  return comma != std::string_view::npos && comma != 0 && text.find(',', comma + 1) == std::string_view::npos &&
         text.find_first_not_of("+-0123456789,") == std::string_view::npos &&
         text.find_first_of("0123456789", comma) != std::string_view::npos;
}

// Observations about a column whose type is automatic.
struct ColumnObservations {
  bool any = false, missing = false, whole = true;
  bool number = true;  // f64 holds all cells so far
  std::string odd;     // the first cell that is text, if numbers came before it or it has a decimal comma
  std::size_t odd_file = 0;
  std::uint64_t odd_line = 0;

  bool may_be_numbers() const noexcept { return whole || number; }
  void look(const Csv& options, bool any_may_be_missing, const Cell& cell) {
    if (any && !whole && !number) return;
    if (!any_may_be_missing && says_no_more(cell)) {
      any = true;
      return;
    }
    if (cell.doubled) return look(options, any_may_be_missing, Cell{cell.text()});
    std::array<std::byte, 8> ignored{};
    const bool is_whole = whole && parse_number(cell.raw, DType::i64, ignored.data()) == NumberFault::none;
    const bool is_number = number && parse_number(cell.raw, DType::f64, ignored.data()) == NumberFault::none;
    if (((!is_whole && !is_number) || any_may_be_missing) && is_missing(options, cell.raw)) {
      missing = true;
      return;
    }
    any = true;
    whole = is_whole;
    number = is_number;
  }

  // Returns whether the cell is a short number that changes nothing except `any`, as most cells are. If all cells so
  // far were whole numbers, the cell must be one, too.
  bool says_no_more(const Cell& cell) const noexcept {
    std::int64_t whole_number = 0;
    double any_number = 0;
    return whole ? parse_short(cell.raw, whole_number) : parse_short(cell.raw, any_number);
  }

  void decide(const Csv& options, CsvColumn& column) const {
    std::array<std::byte, 8> ignored{};
    const bool whole_if_missing =
        !missing || !options.missing_value || store_number(*options.missing_value, DType::i64, ignored.data());
    const bool stays_whole = whole && whole_if_missing;
    column.type = any && (stays_whole || number) ? CsvType::number : CsvType::text;
    column.dtype = stays_whole ? DType::i64 : DType::f64;
  }
};

// Goes through all records of file `number`. Bad records throw nothing here, because `read` will refuse them.
void look_through(const Csv& options, std::size_t number, const std::string& path, char delimiter,
                  const RecordIndex& index, const std::vector<std::ptrdiff_t>& seen_by_column,
                  std::vector<ColumnObservations>& seen) {
  const InputFile file(path);
  file.require(index.mark);
  const bool any_may_be_missing = missing_numbers(options).any;
  std::string text;
  for (std::uint64_t first = 0; first < index.begins.size();) {
    std::uint64_t last = first;
    std::size_t bytes = 0, at = 0;
    do bytes += index.bytes(last++);
    while (last < index.begins.size() && bytes < read_at_once);
    if (text.size() < bytes + CellScanner::slack) text.resize(bytes + CellScanner::slack);
    file.read(text.data(), bytes, index.begins[first]);
    for (; first < last; ++first) {
      CellScanner cells({text.data() + at, index.bytes(first)}, delimiter);
      at += index.bytes(first);
      Cell cell;
      for (std::size_t column = 0; column < seen_by_column.size() && cells.next(cell) == CellScanner::Result::cell;
           ++column)
        if (seen_by_column[column] >= 0) {
          ColumnObservations& of_column = seen[static_cast<std::size_t>(seen_by_column[column])];
          const bool had_numbers = of_column.any, might = of_column.may_be_numbers();
          of_column.look(options, any_may_be_missing, cell);
          if (might && !of_column.may_be_numbers() && (had_numbers || has_decimal_comma(cell.raw))) {
            of_column.odd = cell.text();
            of_column.odd_file = number;
            of_column.odd_line = index.line(first);
          }
        }
    }
  }
}

void infer_types(const Csv& options, const std::vector<std::string>& files, const std::vector<char>& delimiters,
                 const std::vector<RecordIndex>& indices, const std::vector<ColumnNames>& names,
                 std::vector<CsvColumn>& columns, std::vector<std::string>& notes) {
  const auto is_automatic = [](const CsvColumn& column) { return column.type == CsvType::automatic; };
  if (std::none_of(columns.begin(), columns.end(), is_automatic)) return;
  if (std::all_of(indices.begin(), indices.end(), [](const RecordIndex& index) { return index.begins.empty(); }))
    refuse(options.path, "there is no record to tell types by; say the `columns` and their types");
  std::vector<ColumnObservations> seen(columns.size());
  for (std::size_t f = 0; f < files.size(); ++f) {
    std::vector<std::ptrdiff_t> by_column(indices[f].columns.size(), -1);
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (is_automatic(columns[i])) by_column[names[f].of(columns[i].column)] = static_cast<std::ptrdiff_t>(i);
    look_through(options, f, files[f], delimiters[f], indices[f], by_column, seen);
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!is_automatic(columns[i])) continue;
    seen[i].decide(options, columns[i]);
    if (!seen[i].odd.empty())
      notes.push_back(
          "column \"" + printable(columns[i].column) + "\" is text, as line " + std::to_string(seen[i].odd_line) +
          " of " + files[seen[i].odd_file] + " has \"" + printable(seen[i].odd) + "\"" +
          (has_decimal_comma(seen[i].odd) ? ": write numbers with a point"
                                          : "; say that it holds numbers to make such records bad samples"));
  }
}

void check_number(const Csv& options, const std::string& field, DType dtype) {
  std::array<std::byte, 8> ignored{};
  if (dtype == DType::f16 || dtype == DType::bf16)
    refuse(options.path, "field \"" + field + "\": " + std::string(to_string(dtype)) +
                             " is not made from text; read f32, and cast it");
  if (options.missing_value && !store_number(*options.missing_value, dtype, ignored.data()))
    refuse(options.path,
           "`missing_value` can't be a value of field \"" + field + "\", which is " + std::string(to_string(dtype)));
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
    } else if (end - t > 1 || targets[t].text) {
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
  const std::string_view text = trimmed(cell);
  return std::find(options.missing_cells.begin(), options.missing_cells.end(), text) != options.missing_cells.end();
}

MissingNumbers missing_numbers(const Csv& options) {
  std::array<std::byte, 8> ignored{};
  MissingNumbers missing;
  for (const std::string& cell : options.missing_cells) {
    if (parse_number(cell, DType::f64, ignored.data()) == NumberFault::not_a_number) continue;
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
  // Only columns whose type is set need this check: an automatic column gets a type that holds the missing value, or
  // has no missing cell.
  for (const CsvColumn& column : columns)
    if (column.type == CsvType::number)
      check_number(options, column.field.empty() ? column.column : column.field, column.dtype);
  ColumnPlan plan;
  infer_types(options, files, delimiters, indices, names, columns, plan.notes);
  plan.files.resize(files.size());
  std::vector<Field> fields;
  const auto add_target = [&](const std::string& column, std::size_t element, bool text, DType dtype) {
    for (std::size_t f = 0; f < files.size(); ++f)
      plan.files[f].targets.push_back({names[f].of(column), fields.size(), element, text, dtype});
  };
  for (const CsvColumn& column : columns) {
    const std::string& name = column.field.empty() ? column.column : column.field;
    const bool text = column.type == CsvType::text;
    add_target(column.column, 0, text, column.dtype);
    fields.push_back(text ? Field{name, DType::u8, {dynamic}} : Field{name, column.dtype, {}});
  }
  for (const CsvVector& vector : options.vectors) {
    if (vector.columns.empty()) refuse(options.path, "vector \"" + vector.field + "\" has no columns");
    check_number(options, vector.field, vector.dtype);
    for (std::size_t i = 0; i < vector.columns.size(); ++i) add_target(vector.columns[i], i, false, vector.dtype);
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
