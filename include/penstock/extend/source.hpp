#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/extend/sample.hpp>
#include <penstock/schema.hpp>

namespace penstock {

/// Something that fills one record. Where it is not const, one task at a time uses it.
template <class R>
concept Reader = requires(R& reader, std::uint64_t index, SampleBuilder& out) {
  { reader.read(index, out) } -> std::same_as<void>;
};

template <class S>
concept Described = requires(const S& source) {
  { source.size() } -> std::convertible_to<std::uint64_t>;
  { source.schema() } -> std::convertible_to<Schema>;
};

/// A source whose `read` is const, so that any thread may call it at any time.
template <class S>
concept SharedSource = Described<S> && Reader<const S>;

/// A source whose readers carry state (a transaction, a handle). `open_reader()` is const and called from any thread;
/// a reader is leased by one runner at a time. `pause()`, where a reader has it, is called when its runner has nothing
/// to do: give up whatever must not be held for long; the next read takes it again. `expect(indices)`, noexcept, where
/// a reader has it, tells it which few records its runner reads next, in that order: advice, which a failure, a stop or
/// a pause may make void. An empty list says that others read what is left of them, as records turned out to take long.
template <class S>
concept LeasedSource = Described<S> && requires(const S& source) {
  { *source.open_reader() } -> Reader;
};

/// A run of records that follow each other and belong together: a slide's tiles, a patient's pictures.
struct Group {
  std::string name;       ///< runs of one name are one group
  std::uint64_t end = 0;  ///< the number of records up to the run's end
  friend bool operator==(const Group&, const Group&) = default;
};

/// Random access to records.
///
///     std::uint64_t size() const;                          number of records
///     Schema schema() const;                               of every record; where numbers stand for classes whose
///                                                          names are known, `Field::classes` says them
///     void read(std::uint64_t i, SampleBuilder&) const;    or  auto open_reader() const -> std::unique_ptr<R>
///
/// and where they make sense (a public function of such a name and another signature does not compile)
///
///     std::string name() const;                            in errors and reports; default "source"
///     std::string key(std::uint64_t i) const;              the record's key, for errors, splits and sinks
///     bool has_keys() const;                               false where the data that were opened have no keys, so
///                                                          that `key` is not to be called; always the same.
///                                                          Default: whether it has `key`
///     std::string file() const;                            the file or folder after it, for errors
///     std::string file_of(std::uint64_t i) const;          the file that record i is in, for errors and reports, which
///                                                          ask it some hundred times; default file()
///     std::uint64_t identity() const;                      hash of what makes this the same data set (not times);
///                                                          size and schema are added to it
///     std::uint64_t revision() const;                      hash of what tells that its data were changed in place, for
///                                                          caches: see `file_revision`; default 0
///     bool identified() const;                             whether `identity` and `revision` tell its data from all
///                                                          others; default: whether it has an `identity`
///     void will_need(std::span<const std::uint64_t>) const noexcept;
///                                                          advice: these records are read soon. Any thread.
///     std::vector<std::uint64_t> block_ends() const;       for `shuffle({.blocks = true})`: where each run of records
///                                                          that are cheap to read together ends (a shard, a chunk), as
///                                                          the number of records up to there: ascending, the last one
///                                                          is size(). Empty = no such runs
///     std::optional<std::vector<std::int64_t>> labels(std::string_view field) const;
///                                                          the values of a scalar field of whole numbers, one for
///                                                          each record, where they can be had without reading
///                                                          records whole: for draws by class and stratified
///                                                          splits. None: records are read. Equal to what `read`
///                                                          gives
///     std::vector<Group> groups() const;                   whose records they are, for splits by group: runs whose
///                                                          ends ascend, the last one's is size(). Empty = it does not
///                                                          know. May throw Error(invalid_argument) where it knows
///                                                          them of some records only
///     std::vector<std::string> notes() const;              lines for `Pipeline::plan()`: how it is read, and why
template <class S>
concept Source = SharedSource<S> || LeasedSource<S>;

/// One record, copied out. For tests and tools; opens a reader each time.
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
