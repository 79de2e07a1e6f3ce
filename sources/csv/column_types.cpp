// SPDX-License-Identifier: Apache-2.0
#include "column_types.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>

#include "cell_scanner.hpp"
#include "column_plan.hpp"
#include "common/class_words.hpp"
#include "common/lines/read_records.hpp"
#include "common/numbers/numbers.hpp"
#include "common/numbers/short_number.hpp"
#include "common/tables/text_lines.hpp"
#include "errors.hpp"

namespace penstock::csv {

namespace {

[[noreturn]] void refuse_types(const std::string& file, std::string cause) {
  throw error_in(file, Errc::invalid_argument, std::move(cause));
}

// Returns whether the cell looks like a number with a decimal comma, like "0,5".
bool has_decimal_comma(std::string_view cell) noexcept {
  const std::string_view text = common::trimmed(cell);
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
    const bool is_whole =
        whole && common::parse_number(cell.raw, DType::i64, ignored.data()) == common::NumberFault::none;
    const bool is_number =
        number && common::parse_number(cell.raw, DType::f64, ignored.data()) == common::NumberFault::none;
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
    return whole ? common::parse_short(cell.raw, whole_number) : common::parse_short(cell.raw, any_number);
  }

  void decide(const Csv& options, CsvColumn& column) const {
    std::array<std::byte, 8> ignored{};
    const bool whole_if_missing =
        !missing || !options.missing_value || common::store_number(*options.missing_value, DType::i64, ignored.data());
    const bool stays_whole = whole && whole_if_missing;
    column.type = any && (stays_whole || number) ? CsvType::number : CsvType::text;
    column.dtype = stays_whole ? DType::i64 : DType::f64;
  }
};

// What the cells of one column say, as they are looked at.
struct ColumnInQuestion {
  bool automatic = false;  // otherwise its words are collected
  ColumnObservations seen;
  common::DistinctWords words;
};

// Whether the records decide something about the column.
bool is_open(const CsvColumn& column) {
  return column.type == CsvType::automatic || (column.type == CsvType::classes && column.classes.empty());
}

std::string name_of(const CsvColumn& column) { return "column \"" + printable(column.column) + "\""; }

// Looks at the columns that are open. Bad records throw nothing here, because `read` will refuse them.
class ColumnLook {
 public:
  ColumnLook(const Csv& options, const OpenedFiles& opened, const std::vector<CsvColumn>& columns)
      : options_(options), opened_(opened), columns_(columns), in_question_(columns.size()) {
    for (std::size_t i = 0; i < columns.size(); ++i) in_question_[i].automatic = columns[i].type == CsvType::automatic;
  }

  // Goes through all records of file `number`.
  void look_through(std::size_t number) {
    std::vector<std::vector<std::size_t>> columns_at(opened_.indices[number].columns.size());
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (is_open(columns_[i])) columns_at[opened_.places[number][i]].push_back(i);
    common::read_records(
        opened_.files[number], source_name, opened_.indices[number], [&](std::uint64_t record, std::string_view text) {
          CellScanner cells(text, opened_.delimiters[number]);
          Cell cell;
          for (std::size_t c = 0; c < columns_at.size() && cells.next(cell) == CellScanner::Result::cell; ++c)
            for (const std::size_t column : columns_at[c]) look(column, cell, number, record);
          return true;
        });
  }

  const ColumnInQuestion& of(std::size_t column) const { return in_question_[column]; }

 private:
  void look(std::size_t column, const Cell& cell, std::size_t file, std::uint64_t record) {
    ColumnInQuestion& in_question = in_question_[column];
    if (!in_question.automatic) return add_word(column, cell, file, record);
    ColumnObservations& seen = in_question.seen;
    const bool had_numbers = seen.any, might = seen.may_be_numbers();
    seen.look(options_, any_may_be_missing_, cell);
    if (might && !seen.may_be_numbers() && (had_numbers || has_decimal_comma(cell.raw))) {
      seen.odd = cell.text();
      seen.odd_file = file;
      seen.odd_line = opened_.indices[file].line(record);
    }
  }

  void add_word(std::size_t column, const Cell& cell, std::size_t file, std::uint64_t record) {
    const std::string resolved = cell.doubled ? cell.text() : std::string();
    const std::string_view word = common::trimmed(cell.doubled ? std::string_view(resolved) : cell.raw);
    if (is_missing(options_, word)) return;
    try {
      in_question_[column].words.add(word, options_.max_classes, name_of(columns_[column]));
    } catch (const Error& error) {
      throw error_in(opened_.files[file], error.code(),
                     "line " + std::to_string(opened_.indices[file].line(record)) + ": " + error.cause());
    }
  }

  const Csv& options_;
  const OpenedFiles& opened_;
  const std::vector<CsvColumn>& columns_;
  const bool any_may_be_missing_ = missing_numbers(options_).any;
  std::vector<ColumnInQuestion> in_question_;
};

}  // namespace

void choose_types(const Csv& options, const OpenedFiles& opened, std::vector<CsvColumn>& columns,
                  std::vector<std::string>& notes) {
  if (std::ranges::none_of(columns, is_open)) return;
  if (std::ranges::all_of(opened.indices, [](const RecordIndex& index) { return index.begins.empty(); }))
    refuse_types(options.path,
                 "there is no record to tell types by; say the `columns`, their types, and the `classes` of words");
  ColumnLook look(options, opened, columns);
  for (std::size_t f = 0; f < opened.files.size(); ++f) look.look_through(f);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    CsvColumn& column = columns[i];
    if (!is_open(column)) continue;
    const ColumnInQuestion& found = look.of(i);
    if (!found.automatic) {
      try {
        column.classes = found.words.classes(name_of(column));
      } catch (const Error& error) {
        refuse_types(options.path, error.cause());
      }
      continue;
    }
    const ColumnObservations& seen = found.seen;
    seen.decide(options, column);
    if (!seen.odd.empty())
      notes.push_back("column \"" + printable(column.column) + "\" is text, as line " + std::to_string(seen.odd_line) +
                      " of " + opened.files[seen.odd_file] + " has \"" + printable(seen.odd) + "\"" +
                      (has_decimal_comma(seen.odd) ? ": write numbers with a point"
                                                   : "; say that it holds numbers to make such records bad samples"));
  }
}

}  // namespace penstock::csv
