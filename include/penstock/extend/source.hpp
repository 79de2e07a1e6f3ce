// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/extend/fetch_counts.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/schema.hpp>

namespace penstock {

/// Fills one record at a time. If `read` is not const, only one task at a time uses the reader.
template <class R>
concept Reader = requires(R& reader, std::uint64_t index, SampleBuilder& out) {
  { reader.read(index, out) } -> std::same_as<void>;
};

template <class S>
concept Described = requires(const S& source) {
  { source.size() } -> std::convertible_to<std::uint64_t>;
  { source.schema() } -> std::convertible_to<Schema>;
};

/// A source whose `read` is const. Any thread may call `read` at any time.
template <class S>
concept SharedSource = Described<S> && Reader<const S>;

/// A source whose readers carry state (a transaction, a handle). `open_reader()` is const; any thread may call it. One
/// runner at a time uses a reader. A reader may also have
///
///     void pause();
///         Called when the reader's next `read` may come late, for example because the reader's runner has nothing to
///         do. May be called after every `read`. The reader gives up what must not be held for long. Its next `read`
///         takes these things again.
///     void expect(std::span<const std::uint64_t> indices) noexcept;
///         Advice: the few records that the reader's runner is going to read next, in that order. After a failure, a
///         stop or a pause, the runner possibly reads other records. An empty list withdraws the advice. That happens
///         if the records took long, so that other runners read the rest.
template <class S>
concept LeasedSource = Described<S> && requires(const S& source) {
  { *source.open_reader() } -> Reader;
};

/// Consecutive records that belong together: a slide's tiles, a patient's pictures.
struct Group {
  std::string name;       ///< records with the same group name are one group
  std::uint64_t end = 0;  ///< number of the source's records up to the group's end
  friend bool operator==(const Group&, const Group&) = default;
};

/// Random access to records. A source has
///
///     std::uint64_t size() const;
///         Number of records.
///     Schema schema() const;
///         Fields of every record. If a field's numbers are classes with known names, `Field::classes` has the names.
///     void read(std::uint64_t i, SampleBuilder&) const;    or    auto open_reader() const -> std::unique_ptr<R>
///
/// and may have (a public function with one of these names and another signature does not compile)
///
///     std::string name() const;
///         Name for errors and reports. Default: "source".
///     std::string key(std::uint64_t i) const;
///         Key of record i, for errors, splits and sinks.
///     bool has_keys() const;
///         False if the opened data have no keys; `key` must not be called then. Always returns the same.
///         Default: whether the source has `key`.
///     std::string file() const;
///         The file or folder that the source reads, for errors.
///     std::string file_of(std::uint64_t i) const;
///         The file that record i is in, for errors and reports. A report calls it a few hundred times. Default:
///         file().
///     std::uint64_t identity() const;
///         Hash that is the same for the same data set, whatever the times of its files. The library adds size and
///         schema to it.
///     std::uint64_t revision() const;
///         Hash that changes when the data are changed in place, for caches: see `file_revision`. Default: 0.
///     bool identified() const;
///         Whether `identity` and `revision` distinguish the source's data from all other data.
///         Default: whether the source has `identity`.
///     void will_need(std::span<const std::uint64_t>) const noexcept;
///         Advice: these records are going to be read soon. Any thread.
///     std::vector<std::uint64_t> block_ends() const;
///         For `shuffle({.blocks = true})`: ends of blocks, which are consecutive records that are cheap to read
///         together (a shard, a chunk). Each end is the number of records up to the block's end. Ends ascend; the last
///         one is size(). Default: empty, which means that there are no blocks.
///     std::optional<std::vector<std::int64_t>> labels(std::string_view field) const;
///         Values of a scalar field of whole numbers, one per record, if they can be obtained without reading whole
///         records. For draws by class and for stratified splits. The values equal what `read` gives. If the function
///         returns nothing, the library reads the records.
///     std::vector<Group> groups() const;
///         Groups of the records, for splits by group. Ends ascend; the last end is size(). Empty: groups are not
///         known. May throw Error(invalid_argument) if the source knows the groups of only some records.
///     std::vector<std::string> notes() const;
///         Lines for `Pipeline::plan()`: how the source is read, and why.
///     FetchCounts fetched() const;
///         What was fetched over a network so far, for reports. Any thread, while others read. Must be quick.
template <class S>
concept Source = SharedSource<S> || LeasedSource<S>;

/// Returns a copy of one record. For tests and tools: if the source has readers, opens one on each call.
template <Source S>
OwnedSample read_sample(const S& source, std::uint64_t index) {
  OwnedSample sample(source.schema());
  SampleBuilder out = sample.builder();
  if constexpr (SharedSource<S>) {
    source.read(index, out);
    sample.keep();
  } else {
    auto reader = source.open_reader();
    reader->read(index, out);
    sample.keep();
  }
  return sample;
}

}  // namespace penstock
