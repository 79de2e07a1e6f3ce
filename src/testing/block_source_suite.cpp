// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/testing/block_source.hpp>

#include "at_once.hpp"
#include "findings.hpp"
#include "guarded_memory.hpp"
#include "record.hpp"

namespace penstock::testing {

namespace {

using penstock::detail::BlockSourceModel;

constexpr std::uint64_t max_block_bytes = std::uint64_t{1} << 30;

std::string block_name(std::uint64_t block) { return "block " + std::to_string(block); }

class BlockSourceSuite {
 public:
  BlockSourceSuite(const detail::MakeBlockSource& make, const BlockSourceOptions& options)
      : make_(make), options_(options), made_(make()), source_(made_.blocks) {}

  Report run() {
    const bool described = findings_.runs("size, schema and blocks throw nothing", "one of them", [&] {
      size_ = made_.source->size();
      schema_ = made_.source->schema();
      blocks_ = source_->blocks();
      findings_.check(
          made_.source->size() == size_ && source_->blocks() == blocks_ && made_.source->schema() == schema_,
          "size, schema and blocks are always the same", [] { return "one of them changed"; });
    });
    if (!described) return findings_.report();
    for (const std::uint64_t record : spread(size_, options_.records)) {
      std::vector<std::uint64_t> ids;
      if (!blocks_of(record, ids)) continue;
      indices_.push_back(record);
      ids_.push_back(std::move(ids));
      records_.push_back(read_alone(*source_, indices_.size() - 1, std::byte{0xa5}));
      findings_.check(!records_.back().failure, "every record can be read from its blocks",
                      [&] { return "record " + std::to_string(record) + ": " + records_.back().said; });
    }
    for (std::size_t i = indices_.size(); i-- > 0;)
      compare(i, read_alone(*source_, i, std::byte{0x5a}), "a record follows from its blocks alone",
              "its blocks lying elsewhere");
    for (std::size_t i = 0; i < indices_.size(); ++i) check_rows(i);
    for (std::size_t i = 0; i < indices_.size(); ++i) check_without(i);
    keep_views();
    compare_with_another();
    at_once(std::max(options_.threads, 1u), [&](unsigned thread) {
      for (std::size_t n = 0; n < indices_.size(); ++n) {
        const std::size_t i = thread % 2 == 0 ? (n + thread * 3) % indices_.size() : indices_.size() - 1 - n;
        compare(i, read_alone(*source_, i, std::byte{0x5a}), "blocks and records are the same on any thread",
                "while others were made");
      }
    });
    if (options_.refuses_past_the_end) past_the_end();
    return findings_.report();
  }

 private:
  using Loaded = std::vector<GuardedMemory>;

  bool blocks_of(std::uint64_t record, std::vector<std::uint64_t>& ids) {
    const std::string who = "record " + std::to_string(record);
    return findings_.runs("blocks_of throws nothing for a record that is there", who, [&] {
      source_->blocks_of(record, ids);
      std::vector<std::uint64_t> appended{~std::uint64_t{0}};
      source_->blocks_of(record, appended);
      findings_.check(!appended.empty() && appended[0] == ~std::uint64_t{0}, "blocks_of appends",
                      [&] { return who + ": what was in the list before is gone"; });
      findings_.check(!appended.empty() && std::equal(ids.begin(), ids.end(), appended.begin() + 1, appended.end()),
                      "blocks_of is always the same", [&] { return who + " needs other blocks the second time"; });
      for (const std::uint64_t block : ids)
        if (!findings_.check(block < blocks_, "a record needs blocks that are there", [&] {
              return who + " needs block " + std::to_string(block) + " of " + std::to_string(blocks_);
            }))
          throw Error(Errc::invalid_argument, "block " + std::to_string(block) + " isn't there");
    });
  }

  // Loads the blocks of record `indices_[i]`. Throws whatever the source throws.
  Loaded load(const BlockSourceModel& source, std::size_t i, std::byte content) {
    Loaded loaded;
    for (const std::uint64_t block : ids_[i]) {
      const std::uint64_t bytes = source.block_bytes(block);
      findings_.check(bytes == source.block_bytes(block), "block_bytes is always the same",
                      [&] { return block_name(block) + " has another size the second time"; });
      if (bytes > max_block_bytes)
        throw Error(Errc::limit_exceeded, block_name(block) + " has " + std::to_string(bytes) + " bytes");
      loaded.emplace_back(static_cast<std::size_t>(bytes), content);
      GuardedMemory again(static_cast<std::size_t>(bytes), static_cast<std::byte>(~std::to_integer<int>(content)));
      source.load(block, loaded.back().bytes());
      source.load(block, again.bytes());
      findings_.check(loaded.back().intact() && again.intact(), "nothing is written outside of a block's bytes",
                      [&] { return block_name(block) + " wrote before or after its " + std::to_string(bytes); });
      const auto differs = std::ranges::mismatch(loaded.back().bytes(), again.bytes());
      findings_.check(differs.in1 == loaded.back().bytes().end(), "a block is decoded to the same bytes each time",
                      [&] {
                        return block_name(block) + " differs at byte " +
                               std::to_string(differs.in1 - loaded.back().bytes().begin()) +
                               " (it is not written, or not always the same)";
                      });
    }
    return loaded;
  }

  Record read(const BlockSourceModel& source, std::size_t i, const Loaded& loaded, GuardedCells& cells,
              const Preparation& preparation) {
    std::vector<std::span<const std::byte>> resident;
    std::vector<std::vector<std::byte>> before;
    std::vector<bool> was_intact;
    for (const GuardedMemory& block : loaded) {
      resident.emplace_back(block.bytes());
      before.emplace_back(block.bytes().begin(), block.bytes().end());
      was_intact.push_back(block.intact());
    }
    cells.begin(preparation);
    Record record = make_record(
        cells, findings_, "record " + std::to_string(indices_[i]),
        [&] {
          SampleBuilder out(cells);
          source.read(indices_[i], resident, out);
        },
        options_.jpeg.get());
    for (std::size_t b = 0; b < loaded.size(); ++b)
      findings_.check(std::ranges::equal(loaded[b].bytes(), before[b]) && loaded[b].intact() == was_intact[b],
                      "reading a record leaves its blocks as they are", [&] {
                        return "record " + std::to_string(indices_[i]) + " changed block " + std::to_string(ids_[i][b]);
                      });
    return record;
  }

  Record read_alone(const BlockSourceModel& source, std::size_t i, std::byte content) {
    GuardedCells cells(schema_);
    Record record;
    findings_.runs("every block can be loaded", "record " + std::to_string(indices_[i]), [&] {
      const Loaded loaded = load(source, i, content);
      record = read(source, i, loaded, cells, {.content = content});
    });
    if (record.values.size() != schema_.size() && !record.failure) {
      record.failure = Errc::io;
      record.said = "a block could not be loaded";
    }
    return record;
  }

  void compare(std::size_t i, const Record& now, std::string_view contract, const std::string& when) {
    const std::string differs = difference(schema_, records_[i], now);
    findings_.check(differs.empty(), contract,
                    [&] { return "record " + std::to_string(indices_[i]) + ", " + when + ": " + differs; });
  }

  // Checks blocks that `rows_of` describes as rows of a field.
  void check_rows(std::size_t i) {
    if (records_[i].failure) return;
    const std::uint64_t index = indices_[i];
    const std::string who = "record " + std::to_string(index);
    findings_.runs("rows_of throws nothing for a block that is there", who, [&] {
      Loaded loaded;
      bool rows_there = false;
      for (std::size_t b = 0; b < ids_[i].size(); ++b) {
        const std::optional<BlockRows> rows = source_->rows_of(ids_[i][b]);
        if (!rows) continue;
        if (!findings_.check(
                rows->field < schema_.size() && index >= rows->first && index - rows->first < rows->records,
                "a block of rows has those of the records that need it",
                [&] { return who + " needs " + block_name(ids_[i][b]) + ", which has other rows"; }))
          return;
        if (!findings_.check(rows->first <= size_ && rows->records <= size_ - rows->first,
                             "a block of rows has those of records that are there", [&] {
                               return block_name(ids_[i][b]) + " has rows up to " +
                                      std::to_string(rows->first + rows->records) + " of " + std::to_string(size_) +
                                      " records; say nothing of a last block that reaches beyond them";
                             }))
          return;
        if (loaded.empty()) loaded = load(*source_, i, std::byte{0x33});
        const std::span<std::byte> bytes = loaded[b].bytes();
        const std::vector<std::byte>& value = records_[i].values[rows->field].bytes;
        const std::size_t at = static_cast<std::size_t>(index - rows->first) * value.size();
        if (!findings_.check(
                bytes.size() == rows->records * value.size() &&
                    std::equal(value.begin(), value.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at)),
                "a block of rows is the values of its field, one after the other",
                [&] { return who + " has another value than stands in " + block_name(ids_[i][b]); }))
          return;
        for (std::size_t byte = 0; byte < bytes.size(); ++byte)
          if (byte < at || byte >= at + value.size()) bytes[byte] = ~bytes[byte];
        rows_there = true;
      }
      if (!rows_there) return;
      GuardedCells cells(schema_);
      compare(i, read(*source_, i, loaded, cells, {.content = std::byte{0x33}}),
              "a record reads no row of a block of rows but its own", "the others being changed");
    });
  }

  // Checks that a record stays the same if blocks are left out for which `can_do_without` is true. Leaves out each of
  // these blocks alone, then all of them together.
  void check_without(std::size_t i) {
    if (records_[i].failure) return;
    const std::string who = "record " + std::to_string(indices_[i]);
    findings_.runs("can_do_without throws nothing for a block that is there", who, [&] {
      std::vector<std::size_t> spare;
      for (std::size_t b = 0; b < ids_[i].size(); ++b)
        if (source_->can_do_without(ids_[i][b])) spare.push_back(b);
      const auto read_without = [&](std::span<const std::size_t> absent) {
        Loaded loaded = load(*source_, i, std::byte{0x44});
        for (const std::size_t b : absent) loaded[b] = GuardedMemory(0, std::byte{});
        GuardedCells cells(schema_);
        compare(i, read(*source_, i, loaded, cells, {.content = std::byte{0x44}}),
                "a record is the same without blocks that it can do without",
                std::to_string(absent.size()) + " of " + std::to_string(ids_[i].size()) + " blocks left out");
      };
      for (const std::size_t& b : spare) read_without({&b, 1});
      if (spare.size() > 1) read_without(spare);
    });
  }

  // Checks that views of blocks stay valid while other records are read.
  void keep_views() {
    GuardedCells cells(schema_), others(schema_);
    for (std::size_t i = 0; i < indices_.size(); ++i) {
      if (records_[i].failure) continue;
      findings_.runs("every block can be loaded", "record " + std::to_string(indices_[i]), [&] {
        const Loaded loaded = load(*source_, i, std::byte{0x11});
        const Record now = read(*source_, i, loaded, cells, {.destinations = false});
        const std::size_t other = (i + 1) % indices_.size();
        const Loaded of_other = load(*source_, other, std::byte{0x22});
        read(*source_, other, of_other, others, {.destinations = false});
        if (now.failure) return;
        for (const StoreView& view : cells.views()) {
          const std::vector<std::byte>& was = records_[i].values[view.slot].bytes;
          findings_.check(view.bytes == was.size() && std::equal(was.begin(), was.end(), view.data),
                          "a view stays as long as its blocks", [&] {
                            return "record " + std::to_string(indices_[i]) + ": the bytes of field \"" +
                                   schema_[view.slot].name + "\" changed";
                          });
        }
      });
    }
  }

  void compare_with_another() {
    findings_.runs("another source over the same data can be made", "making it", [&] {
      const detail::MadeBlockSource made = make_();
      const BlockSourceModel* const other = made.blocks;
      if (!findings_.check(
              made.source->size() == size_ && made.source->schema() == schema_ && other->blocks() == blocks_,
              "a source made alike is the same", [] { return "size, schema or blocks differ"; }))
        return;
      for (std::size_t i = 0; i < indices_.size(); ++i) {
        std::vector<std::uint64_t> ids;
        other->blocks_of(indices_[i], ids);
        if (findings_.check(ids == ids_[i], "a source made alike is the same",
                            [&] { return "record " + std::to_string(indices_[i]) + " needs other blocks"; }))
          compare(i, read_alone(*other, i, std::byte{0x5a}), "a source made alike is the same", "made alike");
      }
    });
  }

  void past_the_end() {
    std::vector<std::uint64_t> ids;
    GuardedMemory memory(64, std::byte{});
    findings_.refused("an index past the end is an Error", "blocks_of(size())",
                      [&] { source_->blocks_of(size_, ids); });
    findings_.refused("an index past the end is an Error", "load(blocks())",
                      [&] { source_->load(blocks_, memory.bytes()); });
  }

  const detail::MakeBlockSource& make_;
  const BlockSourceOptions& options_;
  const detail::MadeBlockSource made_;
  const BlockSourceModel* const source_;
  Findings findings_;
  std::uint64_t size_ = 0, blocks_ = 0;
  Schema schema_;
  std::vector<std::uint64_t> indices_;
  std::vector<std::vector<std::uint64_t>> ids_;  // for each of `indices_`: numbers of the blocks that the record needs
  std::vector<Record> records_;                  // records of `indices_`
};

}  // namespace

Report detail::check_block_source(const MakeBlockSource& make, const BlockSourceOptions& options) {
  return BlockSourceSuite(make, options).run();
}

}  // namespace penstock::testing
