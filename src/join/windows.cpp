// SPDX-License-Identifier: Apache-2.0
#include <penstock/windows.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/error.hpp>

#include "base/failure.hpp"
#include "base/hash.hpp"
#include "data/one_record.hpp"
#include "join/forwarded_source.hpp"
#include "join/lent_blocks.hpp"
#include "join/parts.hpp"
#include "join/series.hpp"
#include "order/groups.hpp"

namespace penstock {

namespace {

using detail::BlockData;
using detail::ReaderModel;
using detail::SourceModel;

Error refused(Errc code, const std::string& why, const SourceModel& source) {
  return Error(code, why).with_stage("windows").with_source(source.name());
}

// Reads the rows of one window, and puts them one after the other into the window's values.
class Rows {
 public:
  /// `once`: the slot of the field that is not stacked, if any. Its value is taken from the window's first row.
  Rows(const Schema& row, const Schema& window, std::uint64_t length, std::size_t once)
      : schema_(&row), window_(&window), record_(row), length_(length), once_(once) {
    for (const Field& field : row)
      bytes_.push_back(field.shape.fixed() ? static_cast<std::size_t>(field.shape.elements()) * size_of(field.dtype)
                                           : 0);
    destinations_.resize(bytes_.size());
  }

  /// Calls read(number of the row in the window, builder of the row) for each row.
  template <class F>
  void read(SampleBuilder& out, F read) {
    for (std::size_t slot = 0; slot < bytes_.size(); ++slot)
      if (slot != once_) destinations_[slot] = out.emplace(slot, (*window_)[slot].shape).data;
    for (std::uint64_t row = 0; row < length_; ++row) {
      record_.clear();
      for (std::size_t slot = 0; slot < bytes_.size(); ++slot)
        if (slot != once_) record_.cells[slot].destination = destinations_[slot] + row * bytes_[slot];
      SampleBuilder of_row(record_);
      read(row, of_row);
      for (std::size_t slot = 0; slot < bytes_.size(); ++slot) take(slot, row, out);
    }
  }

  /// Decodes the promised images of the row that is being read.
  void keep() {
    for (std::size_t slot = 0; slot < bytes_.size(); ++slot) record_.value(slot);
  }

 private:
  void take(std::size_t slot, std::uint64_t row, SampleBuilder& out) {
    const detail::Cell& cell = record_.cells[slot];
    const std::byte* const value = record_.value(slot);
    if (slot == once_) {
      if (row != 0) return;
      const auto bytes = static_cast<std::size_t>(cell.shape.elements()) * size_of((*schema_)[slot].dtype);
      std::byte* const to = out.emplace(slot, cell.shape).data;
      if (bytes != 0) std::memcpy(to, value, bytes);
      return;
    }
    std::byte* const to = destinations_[slot] + row * bytes_[slot];
    if (value != to && bytes_[slot] != 0) std::memcpy(to, value, bytes_[slot]);
  }

  const Schema *schema_, *window_;
  detail::OneRecord record_;
  std::uint64_t length_;
  std::size_t once_;
  std::vector<std::size_t> bytes_;  // for each slot, the bytes of a row's value; 0 if its size varies
  std::vector<std::byte*> destinations_;
};

class Windows final : public detail::ForwardedSource {
 public:
  Windows(const AnySource& rows, WindowOptions options)
      : ForwardedSource(rows.model()), options_(std::move(options)), row_(source().schema()) {
    if (source().branches() != 0)
      throw refused(Errc::invalid_argument,
                    "windows are cut from the records of a source, and this source is a pipeline with stages; put the "
                    "stages after it",
                    source());
    if (options_.length == 0 || options_.stride == 0)
      throw refused(Errc::invalid_argument, "`.length` and `.stride` are at least 1 row", source());
    if (!options_.group_by.empty()) {
      const auto slot = row_.find(options_.group_by);
      if (!slot)
        throw refused(Errc::schema_mismatch,
                      "there is no field \"" + options_.group_by + "\"; the fields are " + row_.to_string(), source());
      if (!row_[*slot].shape.fixed()) once_ = *slot;
    }
    stack_fields();
    series_ = detail::Series(source(), options_);
  }

  std::uint64_t size() const override { return series_.windows(); }
  Schema schema() const override { return window_; }
  std::string name() const override { return "windows(" + source().name() + ")"; }
  std::uint64_t identity() const override {
    return detail::hash_mix(detail::hash_text("windows", source().identity()), series_.hash());
  }
  void will_need(std::span<const std::uint64_t> indices) const noexcept override {
    try {
      source().will_need(rows_of_windows(indices));
    } catch (...) {  // no memory for advice
    }
  }
  std::vector<std::uint64_t> block_ends() const override {
    std::vector<std::uint64_t> ends;
    for (const std::uint64_t row : source().block_ends())
      if (const std::uint64_t end = series_.windows_before(row); end != 0 && (ends.empty() || ends.back() != end))
        ends.push_back(end);
    return ends;
  }
  // Returns none, because the source's labels are labels of rows.
  std::optional<std::vector<std::int64_t>> labels(std::string_view) const override { return std::nullopt; }
  // A window belongs to the group of its first row. If the source has no groups and no keys but `group_by` is set, the
  // series are the groups.
  std::vector<Group> groups() const override {
    std::vector<Group> all;
    if (!options_.group_by.empty() && !source().has_keys() && detail::known_groups(source(), "windows").empty())
      return series_.groups(source());
    for (const Group& group : detail::known_groups(source(), "windows"))
      if (const std::uint64_t end = series_.windows_before(group.end); end != (all.empty() ? 0 : all.back().end))
        detail::append_group(all, group.name, end);
    return all;
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> all = series_.notes();
    for (std::string& note : source().notes()) all.push_back(std::move(note));
    return all;
  }
  // Uses the default, because `guarded` has already described the row.
  void describe(std::uint64_t index, Error& error) const override { SourceModel::describe(index, error); }
  void describe_field(std::uint64_t index, std::size_t, Error& error) const override { describe(index, error); }
  std::unique_ptr<ReaderModel> open_branch(std::uint64_t) const override { return std::make_unique<Reader>(*this); }

  // Returns none, because a window has several rows.
  std::optional<BlockRows> rows_of(std::uint64_t) const override { return std::nullopt; }
  void blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const override {
    const std::size_t before = ids.size();
    const std::uint64_t first = first_row(index);
    std::vector<std::uint64_t> of_row, of_last;
    for (std::uint64_t row = first; row < first + options_.length; ++row) {
      of_row.clear();
      ForwardedSource::blocks_of(row, of_row);
      if (of_row == of_last) continue;
      for (const std::uint64_t id : of_row) index_of(id, ids, before);
      of_last.swap(of_row);
    }
  }

 private:
  class Reader final : public ReaderModel {
   public:
    explicit Reader(const Windows& all)
        : all_(&all),
          rows_(all.row_, all.window_, all.options_.length, all.once_),
          reader_(all.source().open_reader()) {}
    void read(std::uint64_t index, SampleBuilder& out) override {
      const std::uint64_t first = all_->first_row(index);
      const auto lent = lent_.take(index);
      ids_.clear();
      of_last_.clear();
      rows_.read(out, [&](std::uint64_t row, SampleBuilder& of) {
        all_->guarded(first + row, [&] {
          if (lent) lend_row(first + row, row == 0, *lent);
          reader_->read(first + row, of);
          rows_.keep();
        });
      });
    }
    void lend(std::uint64_t index, BlockData blocks, const Error* failure) noexcept override {
      lent_.set(index, blocks, failure);
    }
    void expect(std::span<const std::uint64_t> indices) noexcept override {
      try {
        reader_->expect(all_->rows_of_windows(indices));
      } catch (...) {  // no memory for advice
      }
    }
    void pause() noexcept override {
      lent_.forget();
      reader_->pause();
    }

   private:
    // Lends the blocks of one row to the source's reader. The window's blocks were lent in the order in which the
    // window's rows use them first. A row that lacks a block gets the failure.
    void lend_row(std::uint64_t row, bool first, const detail::LentBlocks::Lent& lent) {
      of_row_.clear();
      all_->ForwardedSource::blocks_of(row, of_row_);
      const Error* failure = nullptr;
      if (first || of_row_ != of_last_) {
        blocks_of_row_.clear();
        for (const std::uint64_t id : of_row_) {
          const std::size_t at = index_of(id, ids_, 0);
          if (at >= lent.blocks.size()) failure = lent.failure;
          if (failure != nullptr) break;
          blocks_of_row_.push_back(lent.blocks[at]);
        }
        of_last_ = of_row_;
      }
      reader_->lend(row, blocks_of_row_, failure);
    }

    const Windows* all_;
    Rows rows_;
    std::unique_ptr<ReaderModel> reader_;
    detail::LentBlocks lent_;
    std::vector<std::uint64_t> ids_, of_row_, of_last_;
    std::vector<std::span<const std::byte>> blocks_of_row_;
  };

  void stack_fields() {
    if (options_.length > std::uint64_t{1} << 60)
      throw refused(Errc::limit_exceeded, "a window has at most 2^60 rows", source());
    std::vector<Field> fields;
    for (std::size_t slot = 0; slot < row_.size(); ++slot) {
      Field field = row_[slot];
      if (slot != once_) {
        const std::string what =
            "field \"" + field.name + "\" is " + std::string(to_string(field.dtype)) + field.shape.to_string();
        if (!field.shape.fixed())
          throw refused(Errc::schema_mismatch,
                        what +
                            ", which varies from row to row, so rows of it can't be stacked; give a source without "
                            "it, or join its windows with it later",
                        source());
        if (field.shape.rank() == Shape::max_rank)
          throw refused(Errc::schema_mismatch, what + ": its windows would have a dimension more than there may be",
                        source());
        std::vector<std::int64_t> dims{static_cast<std::int64_t>(options_.length)};
        std::uint64_t elements = options_.length;
        for (const std::int64_t dim : field.shape.dims()) {
          dims.push_back(dim);
          if (__builtin_mul_overflow(elements, static_cast<std::uint64_t>(dim), &elements) ||
              elements > std::uint64_t{1} << 60)
            throw refused(Errc::limit_exceeded, what + ": a window would have more than 2^60 elements", source());
        }
        field.shape = Shape(std::span<const std::int64_t>(dims));
        field.collate = Collate::dense();
      }
      fields.push_back(std::move(field));
    }
    window_ = Schema(std::move(fields));
  }

  // Returns the position of `id` among the ids from `first` on. Appends `id` if it is not among them.
  static std::size_t index_of(std::uint64_t id, std::vector<std::uint64_t>& ids, std::size_t first) {
    const auto found = std::find(ids.begin() + static_cast<std::ptrdiff_t>(first), ids.end(), id);
    const auto at = static_cast<std::size_t>(found - ids.begin()) - first;
    if (found == ids.end()) ids.push_back(id);
    return at;
  }
  // Calls about a window are passed on as calls about its first row.
  detail::RecordOrigin origin(std::uint64_t index) const override { return {source(), first_row(index)}; }
  std::uint64_t first_row(std::uint64_t index) const {
    detail::require_record(*this, index);
    return series_.first_row(index);
  }
  std::vector<std::uint64_t> rows_of_windows(std::span<const std::uint64_t> indices) const {
    std::vector<std::uint64_t> rows;
    for (const std::uint64_t index : indices) {
      if (index >= size()) continue;
      const std::uint64_t first = series_.first_row(index);
      for (std::uint64_t row = first; row < first + options_.length; ++row)
        if (rows.empty() || rows.back() < row) rows.push_back(row);
    }
    return rows;
  }
  // Calls read(), and adds the description of the row to an error that it throws. The engine adds the window's index.
  template <class F>
  void guarded(std::uint64_t row, F read) const {
    try {
      read();
    } catch (...) {
      Error error = detail::current_error();
      try {
        source().describe(row, error);
      } catch (...) {  // the source can't describe the row
      }
      throw detail::of_record(error, "; it is row " + std::to_string(row) + " of " + source().name());
    }
  }

  static constexpr std::size_t none = ~std::size_t{0};

  WindowOptions options_;
  Schema row_, window_;
  std::size_t once_ = none;  // slot of `group_by` if its values can't be stacked
  detail::Series series_;
};

}  // namespace

AnySource windows(AnySource source, WindowOptions options) {
  return AnySource(std::shared_ptr<const SourceModel>(std::make_shared<Windows>(source, std::move(options))));
}

}  // namespace penstock
