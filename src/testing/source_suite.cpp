// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/testing/source.hpp>

#include "at_once.hpp"
#include "findings.hpp"
#include "record.hpp"

namespace penstock::testing {

namespace {

using penstock::detail::ReaderModel;
using penstock::detail::SourceModel;

constexpr std::string_view always_same = "a record has the same value whenever and however it is read";
constexpr std::string_view from_threads = "a record has the same value on any thread";
constexpr std::string_view advice_is_harmless = "expect, pause and will_need change no record";

class SourceSuite {
 public:
  SourceSuite(const std::function<AnySource()>& make, const detail::SourceTraits& traits, const SourceOptions& options)
      : make_(make), traits_(traits), options_(options), kept_(make()), source_(*kept_.model()) {}

  Report run() {
    findings_.check(traits_.expect_is_noexcept, "expect is noexcept", [] { return "the reader's expect may throw"; });
    findings_.check(traits_.will_need_is_noexcept, "will_need is noexcept", [] { return "it may throw"; });
    if (!describe() || !read_all()) return findings_.report();
    findings_.runs("readers can be opened at any time", "a reader", [&] { read_again(); });
    findings_.runs("another source over the same data can be made", "making it", [&] { compare_with_another(); });
    findings_.runs("readers can be opened at any time", "a reader", [&] { give_advice(); });
    findings_.runs("readers can be opened at any time", "a reader", [&] { keep_views(); });
    read_at_once();
    keys();
    block_ends();
    groups();
    labels();
    error_context();
    if (options_.refuses_past_the_end)
      findings_.runs("readers can be opened at any time", "open_reader", [&] { past_the_end(); });
    return findings_.report();
  }

 private:
  // Checks size, schema, name, file and identity of the source.
  bool describe() {
    return findings_.runs("size, schema, name, file and identity throw nothing", "one of them", [&] {
      size_ = source_.size();
      schema_ = source_.schema();
      findings_.check(source_.size() == size_, "size is always the same",
                      [&] { return "it was " + std::to_string(size_) + ", then " + std::to_string(source_.size()); });
      findings_.check(source_.schema() == schema_, "schema is always the same",
                      [&] { return "it was " + schema_.to_string() + ", then " + source_.schema().to_string(); });
      findings_.check(schema_.size() > 0, "records have fields", [] { return "the schema has none"; });
      const std::string name = source_.name();
      findings_.check(!name.empty() && name.find('\n') == std::string::npos && name == source_.name(),
                      "a name is one line, and always the same", [&] { return "it is \"" + name + "\""; });
      findings_.check(source_.file() == source_.file(), "file is always the same",
                      [&] { return "it was \"" + source_.file() + "\""; });
      identity_ = source_.identity();
    });
  }

  Record read(ReaderModel& reader, GuardedCells& cells, std::uint64_t index, const Preparation& memory = {}) {
    cells.begin(memory);
    Record record = make_record(
        cells, findings_, "record " + std::to_string(index),
        [&] {
          SampleBuilder out(cells);
          reader.read(index, out);
        },
        options_.jpeg.get());
    const auto varying = static_cast<std::size_t>(
        std::ranges::count_if(schema_.fields(), [](const Field& field) { return !field.shape.fixed(); }));
    findings_.check(!memory.destinations || cells.made() <= varying, "every field of the schema is given once",
                    [&] { return "record " + std::to_string(index) + ": a field was given more than once"; });
    return record;
  }

  void compare(std::uint64_t number, const Record& now, std::string_view contract, const std::string& when) {
    const std::string differs = difference(schema_, records_[number], now);
    findings_.check(differs.empty(), contract,
                    [&] { return "record " + std::to_string(indices_[number]) + ", " + when + ": " + differs; });
  }

  // Reads the records with which all later readings are compared.
  bool read_all() {
    indices_ = spread(size_, options_.records);
    const bool opened =
        findings_.runs("readers can be opened", "open_reader", [&] { reader_ = source_.open_reader(); });
    if (!opened) return false;
    GuardedCells cells(schema_);
    for (const std::uint64_t index : indices_) {
      records_.push_back(read(*reader_, cells, index));
      const Record& record = records_.back();
      findings_.check(!record.failure || (options_.allow_bad_records && record.sample_scoped),
                      "every record can be read",
                      [&] { return "record " + std::to_string(index) + ": " + record.said; });
    }
    return true;
  }

  void read_again() {
    GuardedCells cells(schema_);
    for (std::size_t i = indices_.size(); i-- > 0;)
      compare(i, read(*reader_, cells, indices_[i], {.content = std::byte{0x5a}, .destinations = false}), always_same,
              "read again in falling order");
    const auto other = source_.open_reader();
    for (std::size_t i = 0; i < indices_.size(); ++i)
      compare(i, read(*other, cells, indices_[i], {.content = std::byte{0x5a}}), always_same, "by a second reader");
    for (std::size_t i = 0; i < indices_.size(); i += 7) {
      compare(i, read(*reader_, cells, indices_[i]), always_same, "out of order");
      compare(i, read(*reader_, cells, indices_[i]), always_same, "twice in a row");
    }
  }

  void compare_with_another() {
    const AnySource made = make_();
    const SourceModel& other = *made.model();
    findings_.check(other.size() == size_, "a source made alike has as many records",
                    [&] { return std::to_string(other.size()) + " instead of " + std::to_string(size_); });
    findings_.check(other.schema() == schema_, "a source made alike has the same schema",
                    [&] { return other.schema().to_string() + " instead of " + schema_.to_string(); });
    findings_.check(other.identity() == identity_ && source_.identity() == identity_,
                    "identity is that of the data, always the same",
                    [&] { return "it was " + std::to_string(identity_) + ", and another one for the same data"; });
    if (options_.other) {
      const AnySource different = options_.other();
      findings_.check(different.model()->identity() != identity_, "other data has another identity",
                      [&] { return std::to_string(identity_) + " is that of both"; });
    }
    if (other.size() != size_ || !(other.schema() == schema_)) return;
    const auto reader = other.open_reader();
    GuardedCells cells(schema_);
    for (std::size_t i = 0; i < indices_.size(); ++i)
      compare(i, read(*reader, cells, indices_[i]), always_same, "from a source made alike");
  }

  void give_advice() {
    GuardedCells cells(schema_);
    const auto reader = source_.open_reader();
    reader->pause();
    reader->expect({});
    source_.will_need({});
    source_.will_need(indices_);
    for (std::size_t begin = 0; begin < indices_.size(); begin += 5) {
      const std::size_t count = std::min<std::size_t>(5, indices_.size() - begin);
      const std::span<const std::uint64_t> next = std::span(indices_).subspan(begin, count);
      reader->expect(next);
      // Reads records as announced, and some other records in between. Later announcements replace earlier ones.
      for (std::size_t i = begin; i < begin + count; ++i) {
        compare(i, read(*reader, cells, indices_[i]), advice_is_harmless, "announced by expect");
        if (i % 3 == 0)
          compare(indices_.size() - 1 - i, read(*reader, cells, indices_[indices_.size() - 1 - i]), advice_is_harmless,
                  "while others were announced");
        if (i % 4 == 0) reader->pause();
      }
      reader->pause();
      reader->pause();
      source_.will_need(next);
    }
    if (indices_.empty()) return;
    const std::array<std::uint64_t, 4> repeated{indices_[0], indices_[0], indices_.back(), indices_[0]};
    reader->expect(repeated);
    source_.will_need(repeated);
    compare(0, read(*reader, cells, indices_[0]), advice_is_harmless, "announced twice");
    reader->expect(repeated);  // advice may be the last call before the reader is destroyed
  }

  // Checks that views stay valid while other readers work and, if the source's `read` is const, as long as the source
  // lives.
  void keep_views() {
    struct Kept {
      std::size_t number;
      std::vector<StoreView> views;
    };
    std::vector<Kept> kept;
    GuardedCells cells(schema_), others(schema_);
    const auto reader = source_.open_reader(), busy = source_.open_reader();
    const auto look = [&](const Kept& k, std::string_view contract) {
      for (const StoreView& view : k.views) {
        const std::vector<std::byte>& was = records_[k.number].values[view.slot].bytes;
        findings_.check(view.bytes == was.size() && std::equal(was.begin(), was.end(), view.data), contract, [&] {
          return "record " + std::to_string(indices_[k.number]) + ": the bytes of field \"" + schema_[view.slot].name +
                 "\" changed";
        });
      }
    };
    for (std::size_t i = 0; i < indices_.size(); ++i) {
      if (records_[i].failure) continue;
      Record now = read(*reader, cells, indices_[i], {.destinations = false});
      if (now.failure) continue;
      kept.push_back({i, cells.views()});
      const std::size_t another = (i * 7 + 1) % indices_.size();
      read(*busy, others, indices_[another]);
      busy->pause();
      look(kept.back(), "a view stays as it is until its reader is asked for another record");
      if (!traits_.views_last) kept.clear();
    }
    for (const Kept& k : kept) look(k, "where read is const, a view stays as long as the source");
  }

  void read_at_once() {
    at_once(std::max(options_.threads, 1u), [&](unsigned thread) {
      findings_.runs("readers can be opened on any thread", "a reader", [&] {
        GuardedCells cells(schema_);
        const auto reader = source_.open_reader();
        for (std::size_t n = 0; n < indices_.size(); ++n) {
          const std::size_t i = thread % 2 == 0 ? (n + thread * 5) % indices_.size() : indices_.size() - 1 - n;
          if (n % 8 == 0) source_.will_need(std::span(indices_).subspan(i, 1));
          compare(i, read(*reader, cells, indices_[i]), from_threads, "while others read");
          if (n % 16 == 0 && source_.has_keys()) (void)source_.key(indices_[i]);
        }
        reader->pause();
      });
    });
  }

  void keys() {
    const bool there = source_.has_keys();
    findings_.check(source_.has_keys() == there, "has_keys is always the same", [] { return "it changed"; });
    if (!there) return;
    std::map<std::string, std::uint64_t> seen;
    std::vector<std::string> keys(indices_.size());
    for (std::size_t i = 0; i < indices_.size(); ++i)
      findings_.runs("every record has a key", "key(" + std::to_string(indices_[i]) + ")", [&] {
        keys[i] = source_.key(indices_[i]);
        findings_.check(source_.key(indices_[i]) == keys[i], "a key is always the same",
                        [&] { return "that of record " + std::to_string(indices_[i]) + " was \"" + keys[i] + "\""; });
        const auto added = seen.emplace(keys[i], indices_[i]);
        findings_.check(added.second || !options_.unique_keys, "every key is that of one record", [&] {
          return "\"" + keys[i] + "\" is that of records " + std::to_string(added.first->second) + " and " +
                 std::to_string(indices_[i]);
        });
      });
    at_once(std::max(options_.threads, 1u), [&](unsigned) {
      for (std::size_t i = 0; i < indices_.size(); ++i)
        findings_.runs("every record has a key", "key(" + std::to_string(indices_[i]) + ")", [&] {
          const std::string now = source_.key(indices_[i]);
          findings_.check(now == keys[i], "a key is the same on any thread", [&] {
            return "that of record " + std::to_string(indices_[i]) + " is \"" + now + "\" instead of \"" + keys[i] +
                   "\"";
          });
        });
    });
  }

  void block_ends() {
    findings_.runs("block_ends throws nothing", "it", [&] {
      const std::vector<std::uint64_t> ends = source_.block_ends();
      findings_.check(ends == source_.block_ends(), "block_ends is always the same", [] { return "it changed"; });
      if (ends.empty()) return;
      findings_.check(std::ranges::is_sorted(ends), "block_ends ascends", [&] {
        const auto at = std::ranges::is_sorted_until(ends);
        return std::to_string(*at) + " stands after " + std::to_string(*(at - 1));
      });
      findings_.check(ends.back() == size_, "the last of block_ends is size",
                      [&] { return "it is " + std::to_string(ends.back()) + " of " + std::to_string(size_); });
    });
  }

  void groups() {
    findings_.runs("groups throws nothing", "it", [&] {
      std::vector<Group> groups;
      try {
        groups = source_.groups();
      } catch (const Error& error) {  // the source knows the groups of only some records
        if (error.code() != Errc::invalid_argument) throw;
        return;
      }
      findings_.check(groups == source_.groups(), "groups are always the same", [] { return "they changed"; });
      if (groups.empty()) return;
      findings_.check(std::ranges::is_sorted(groups, {}, &Group::end), "the ends of groups ascend", [&] {
        const auto at = std::ranges::is_sorted_until(groups, {}, &Group::end);
        return std::to_string(at->end) + " stands after " + std::to_string((at - 1)->end);
      });
      findings_.check(groups.back().end == size_, "the last end of groups is size",
                      [&] { return "it is " + std::to_string(groups.back().end) + " of " + std::to_string(size_); });
    });
  }

  // Checks the labels that the source knows without reading records.
  void labels() {
    for (std::size_t slot = 0; slot < schema_.size(); ++slot) {
      const Field& field = schema_[slot];
      findings_.runs("labels throws nothing for a field that is there", "field \"" + field.name + "\"", [&] {
        const auto said = source_.labels(field.name);
        findings_.check(said == source_.labels(field.name), "labels are always the same",
                        [&] { return "those of \"" + field.name + "\" changed"; });
        if (!said) return;
        if (!findings_.check(
                whole_number(field), "labels are of a scalar field of whole numbers",
                [&] { return "labels(\"" + field.name + "\") must be empty: the field is no such one"; }) ||
            !findings_.check(said->size() == size_, "there is a label for each record", [&] {
              return std::to_string(said->size()) + " of \"" + field.name + "\" for " + std::to_string(size_);
            }))
          return;
        for (std::size_t i = 0; i < indices_.size(); ++i) {
          if (records_[i].failure) continue;
          const std::int64_t label = (*said)[indices_[i]];
          // Numbers are little-endian, so `label` begins with the bytes that the number has in any integer type.
          const std::vector<std::byte>& value = records_[i].values[slot].bytes;
          findings_.check(std::memcmp(&label, value.data(), value.size()) == 0, "a label is what reading gives", [&] {
            return "record " + std::to_string(indices_[i]) + " has another than " + std::to_string(label);
          });
        }
      });
    }
    findings_.runs("labels throws nothing for a field that isn't there", "it", [&] {
      std::string none = "none";
      while (schema_.find(none)) none += "_";
      findings_.check(!source_.labels(none).has_value(), "a field that isn't there has no labels",
                      [] { return "there are some"; });
    });
  }
  static bool whole_number(const Field& field) { return field.shape.rank() == 0 && is_whole(field.dtype); }

  // Checks the source's descriptions of a record, which the engine adds to errors.
  void error_context() {
    if (indices_.empty()) return;
    const std::uint64_t index = indices_.back();
    findings_.runs("a record can be described", "describing record " + std::to_string(index), [&] {
      findings_.check(source_.file_of(index) == source_.file_of(index), "file is always the same",
                      [&] { return "that of record " + std::to_string(index) + " changed"; });
      Error blank(Errc::corrupt, "as an example");
      source_.describe(index, blank);
      findings_.check(!blank.source().empty(), "an error names its source", [] { return "the name is empty"; });
      findings_.check(!source_.has_keys() || !blank.key().empty() || source_.key(index).empty(),
                      "an error names the record's key", [] { return "the key is empty"; });
      findings_.check(!blank.index(), "describing a record leaves the index to the engine",
                      [&] { return "it was set to " + std::to_string(*blank.index()); });
      Error known(Errc::corrupt, "as an example");
      known.with_source("inner").with_key("k").with_file("f");
      source_.describe(index, known);
      findings_.check(known.source() == "inner" && known.key() == "k" && known.file() == "f",
                      "what an error says already stays", [&] { return "it became: " + std::string(known.what()); });
    });
  }

  void past_the_end() {
    GuardedCells cells(schema_);
    const auto reader = source_.open_reader();
    for (const std::uint64_t index : {size_, size_ + 1, ~std::uint64_t{0}}) {
      cells.begin({});
      findings_.refused("an index past the end is an Error", "reading record " + std::to_string(index), [&] {
        SampleBuilder out(cells);
        reader->read(index, out);
      });
      if (source_.has_keys())
        findings_.refused("an index past the end is an Error", "the key of record " + std::to_string(index),
                          [&] { (void)source_.key(index); });
    }
    if (indices_.empty()) return;
    compare(0, read(*reader, cells, indices_[0]), "a reader goes on after an Error", "after one");
  }

  const std::function<AnySource()>& make_;
  const detail::SourceTraits& traits_;
  const SourceOptions& options_;
  AnySource kept_;
  const SourceModel& source_;
  Findings findings_;
  std::uint64_t size_ = 0, identity_ = 0;
  Schema schema_;
  std::vector<std::uint64_t> indices_;
  std::vector<Record> records_;  // records of `indices_`
  std::unique_ptr<ReaderModel> reader_;
};

}  // namespace

Report detail::check_source(const std::function<AnySource()>& make, const SourceTraits& traits,
                            const SourceOptions& options) {
  return SourceSuite(make, traits, options).run();
}

}  // namespace penstock::testing
