// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/sources/csv.hpp>

#include "cell_scanner.hpp"
#include "common/lines/record_text.hpp"
#include "common/numbers/numbers.hpp"
#include "common/tables/text_lines.hpp"
#include "errors.hpp"
#include "next_cell.hpp"
#include "number_cells.hpp"
#include "source_impl.hpp"

namespace penstock {

static_assert(csv::CellScanner::slack <= common::RecordText::slack);

class CsvReader::Impl {
 public:
  using Store = CsvSource::Impl;

  explicit Impl(std::shared_ptr<const Store> store) : store_(std::move(store)), values_(store_->plan.schema.size()) {}

  void expect(std::span<const std::uint64_t> indices) const noexcept { store_->records.expect(indices); }

  void read(std::uint64_t index, SampleBuilder& out) {
    const common::RecordFiles::Location location = store_->records.location_of(index);
    try {
      give(location, text_.read(store_->records, location), out);
    } catch (Error& error) {
      throw store_->records.error_of(location, index, error);
    }
  }

 private:
  void give(common::RecordFiles::Location location, std::string_view text, SampleBuilder& out) {
    const csv::FilePlan& plan = store_->plan.files[location.file];
    columns_ = &store_->indices[location.file].columns;
    for (std::size_t slot = 0; slot < values_.size(); ++slot)
      if (const Field& field = store_->plan.schema[slot]; field.shape.fixed())
        values_[slot] = out.emplace(slot, field.shape).data;
    csv::CellScanner cells(text, store_->delimiters[location.file]);
    std::size_t column = 0;
    for (const csv::ColumnRun& run : plan.runs) {
      const csv::Target* const targets = plan.targets.data() + run.target;
      column += run.kind == csv::ColumnRun::Kind::numbers ? give_numbers(targets, run.columns, cells, out)
                                                          : give_cells({targets, run.targets}, run.columns, cells, out);
    }
    for (csv::Cell cell; csv::next_cell(cells, cell);) ++column;
    if (column != columns_->size())
      throw Error(Errc::corrupt, "the record has " + std::to_string(column) + " cells; the file has " +
                                     std::to_string(columns_->size()) + " columns");
  }

  // `give_cells` and `give_numbers` return how many cells they read: fewer than `columns` if the record ends before.
  std::size_t give_cells(std::span<const csv::Target> of_each, std::size_t columns, csv::CellScanner& cells,
                         SampleBuilder& out) {
    csv::Cell cell;
    std::size_t done = 0;
    for (; done < columns && csv::next_cell(cells, cell); ++done)
      for (const csv::Target& target : of_each) give_cell(target, cell, out);
    return done;
  }

  std::size_t give_numbers(const csv::Target* targets, std::size_t columns, csv::CellScanner& cells,
                           SampleBuilder& out) {
    const DType dtype = targets->dtype;
    std::byte* const to = values_[targets->slot] + targets->element * size_of(dtype);
    csv::Cell cell;
    for (std::size_t done = 0;; ++done) {
      // If a number like -999 stands for a missing number, each number must be compared with it.
      if (!store_->missing.digits) done += csv::take_numbers(cells, columns - done, dtype, to + done * size_of(dtype));
      if (done == columns || !csv::next_cell(cells, cell)) return done;
      give_cell(targets[done], cell, out);
    }
  }

  void give_cell(const csv::Target& target, const csv::Cell& cell, SampleBuilder& out) {
    const std::string resolved = cell.doubled ? cell.text() : std::string();
    const std::string_view text = cell.doubled ? std::string_view(resolved) : cell.raw;
    if (target.kind == csv::Target::Kind::word) {
      give_word(target, cell, common::trimmed(text));
      return;
    }
    if (target.kind == csv::Target::Kind::text) {
      const TensorView to = out.emplace(target.slot, Shape{static_cast<std::int64_t>(text.size())});
      if (!text.empty()) std::memcpy(to.data, text.data(), text.size());
      return;
    }
    std::byte* const to = values_[target.slot] + target.element * size_of(target.dtype);
    const common::NumberFault fault = common::parse_number(text, target.dtype, to);
    if (fault == common::NumberFault::none && !says_missing(text)) return;
    if (csv::is_missing(store_->options, text)) {
      const std::optional<double>& value = store_->options.missing_value;
      if (value && common::store_number(*value, target.dtype, to)) return;
      refuse(target, cell,
             "is missing: the cell is \"" + csv::printable(text) + "\"; `missing_value` would stand for it");
    }
    if (fault == common::NumberFault::rounded)
      refuse(target, cell,
             "\"" + csv::printable(text) + "\" is a whole number, which " + std::string(to_string(target.dtype)) +
                 " would round; read the column as " + common::whole_number_types(text));
    refuse(target, cell,
           "\"" + csv::printable(text) + "\" is " +
               (fault == common::NumberFault::out_of_range ? "outside the range of " : "not ") +
               std::string(fault == common::NumberFault::out_of_range ? to_string(target.dtype)
                                                                      : common::describe_number(target.dtype)));
  }

  void give_word(const csv::Target& target, const csv::Cell& cell, std::string_view word) {
    const common::ClassWords& words = store_->plan.words[target.slot];
    if (const std::optional<std::int64_t> number = words.number(word)) {
      std::memcpy(values_[target.slot], &*number, sizeof *number);
      return;
    }
    const std::string text = "\"" + csv::printable(word) + "\"";
    if (csv::is_missing(store_->options, word)) refuse(target, cell, "is missing: the cell is " + text);
    refuse(target, cell, text + " is not one of its " + words.classes().to_string());
  }

  // Returns whether the text is a number that stands for a missing number, like -999.
  bool says_missing(std::string_view text) const {
    return store_->missing.any && csv::is_missing(store_->options, text);
  }

  [[noreturn]] void refuse(const csv::Target& target, const csv::Cell& cell, const std::string& why) const {
    throw Error(Errc::corrupt, "column \"" + csv::printable((*columns_)[target.column]) + "\": " + why)
        .with_offset(cell.offset);
  }

  std::shared_ptr<const Store> store_;
  std::vector<std::byte*> values_;  // by slot: where the record's value of a field of numbers is written
  const std::vector<std::string>* columns_ = nullptr;  // columns of the record's file
  common::RecordText text_;
};

CsvReader::CsvReader(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
CsvReader::~CsvReader() = default;
void CsvReader::expect(std::span<const std::uint64_t> indices) noexcept { impl_->expect(indices); }
void CsvReader::read(std::uint64_t index, SampleBuilder& out) { impl_->read(index, out); }

std::unique_ptr<CsvReader> CsvSource::open_reader() const {
  return std::unique_ptr<CsvReader>(new CsvReader(std::make_unique<CsvReader::Impl>(impl_)));
}

}  // namespace penstock
