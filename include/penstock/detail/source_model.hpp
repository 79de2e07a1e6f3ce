// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/error.hpp>
#include <penstock/extend/block_source.hpp>
#include <penstock/extend/fetch_counts.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/schema.hpp>

namespace penstock::detail {

using BlockData = std::span<const std::span<const std::byte>>;
class BlockModel;
struct PipelineData;

class PENSTOCK_API ReaderModel {
 public:
  virtual ~ReaderModel() = default;
  virtual void read(std::uint64_t index, SampleBuilder& out) = 0;
  virtual void expect(std::span<const std::uint64_t>) noexcept {}
  virtual void pause() noexcept {}
  /// Lends the blocks of a record for the record's next `read`, in the order of `blocks_of`. If a block could not be
  /// loaded, passes this block's Error, and only the blocks before this block.
  virtual void lend(std::uint64_t, BlockData, const Error*) noexcept {}
  // The next three members are for readers of a source that has a cache.
  virtual bool holds(std::uint64_t) { return false; }
  /// Gives the fields that the cache has of a record. Returns false if the cache does not have the whole record.
  virtual bool recall(std::uint64_t, SampleBuilder&) { return false; }
  virtual void offer(std::uint64_t, Sample&) noexcept {}
};

/// A stream of any type, through one interface.
class PENSTOCK_API StreamModel {
 public:
  virtual ~StreamModel() = default;
  virtual void reset(std::uint64_t epoch) = 0;
  virtual bool next(SampleBuilder& out) = 0;
  virtual bool can_seek() const noexcept = 0;
  virtual void seek(std::uint64_t record) = 0;
};

/// A source of any type, through one interface.
class PENSTOCK_API SourceModel {
 public:
  virtual ~SourceModel() = default;
  virtual std::uint64_t size() const = 0;
  virtual Schema schema() const = 0;
  virtual std::unique_ptr<ReaderModel> open_reader() const = 0;
  /// Opens a reader for one part of a join. `branch`: key of the part; each part of a join has another one.
  virtual std::unique_ptr<ReaderModel> open_branch(std::uint64_t branch) const {
    static_cast<void>(branch);
    return open_reader();
  }
  virtual std::string name() const { return "source"; }
  virtual std::string file() const { return {}; }
  virtual std::string file_of(std::uint64_t) const { return file(); }
  virtual bool has_keys() const noexcept { return false; }
  virtual std::string key(std::uint64_t) const { return {}; }
  virtual std::uint64_t identity() const { return 0; }
  /// Whether identity and revision distinguish the source's data from all other data.
  virtual bool identified() const noexcept { return false; }
  virtual std::uint64_t revision() const { return 0; }
  virtual bool wants_advice() const noexcept { return false; }
  virtual void will_need(std::span<const std::uint64_t>) const noexcept {}
  /// Whether the source can be read only in order. If so, it is read through `open_stream`, never through
  /// `open_reader`.
  virtual bool is_stream() const noexcept { return false; }
  virtual bool can_seek() const noexcept { return false; }
  virtual std::unique_ptr<StreamModel> open_stream() const { return nullptr; }
  virtual std::vector<std::uint64_t> block_ends() const { return {}; }
  virtual std::optional<std::vector<std::int64_t>> labels(std::string_view) const { return std::nullopt; }
  virtual std::vector<Group> groups() const { return {}; }
  virtual std::vector<std::string> notes() const { return {}; }
  /// What the source, and the parts of a join, fetched over networks. Each `FetchCounts::counter` is there once. Empty:
  /// nothing is fetched.
  virtual std::vector<FetchCounts> fetched() const { return {}; }
  /// Notes of the source's cache, if it has one.
  virtual std::vector<std::string> cache_notes() const { return {}; }
  /// Returns the pipeline whose samples are the source's records; null: the records come from a store.
  virtual std::shared_ptr<const PipelineData> pipeline() const { return nullptr; }
  /// Calls `visit` for each part of a join.
  virtual void for_each_part(const std::function<void(std::size_t part, const SourceModel&)>& visit) const {
    static_cast<void>(visit);
  }
  /// Returns how many parts with stages the source has, parts of parts included.
  virtual std::uint64_t branches() const noexcept { return 0; }
  /// Returns whether a stage of a part draws at random.
  virtual bool draws() const { return false; }
  /// Returns whether a record may need other blocks later, because a cache has the record by then.
  virtual bool blocks_vary() const noexcept { return false; }
  /// The blocks that the source's records share. Null: records share no blocks.
  virtual const BlockModel* block_model() const noexcept { return nullptr; }
  /// Sets the source, the file and the key of record `index` in `error`, if they are known. Keeps values that `error`
  /// has already. Does not set the error's index.
  virtual void describe(std::uint64_t index, Error& error) const {
    error.with_source(name());
    if (error.file().empty()) error.with_file(file_of(index));
    if (error.key().empty() && has_keys()) error.with_key(key(index));
  }
  /// Does what `describe` does, for an error of the promised field `slot` of record `index`.
  virtual void describe_field(std::uint64_t index, std::size_t slot, Error& error) const {
    static_cast<void>(slot);
    describe(index, error);
  }
};

/// The blocks of a source of any type, through one interface. The loader loads blocks, and lends them to the source's
/// readers.
class PENSTOCK_API BlockModel {
 public:
  virtual ~BlockModel() = default;
  virtual std::uint64_t blocks() const = 0;
  virtual std::uint64_t block_bytes(std::uint64_t block) const = 0;
  virtual std::optional<BlockRows> rows_of(std::uint64_t) const { return std::nullopt; }
  virtual bool can_do_without(std::uint64_t) const { return false; }
  virtual void blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const = 0;
  virtual void load(std::uint64_t block, std::span<std::byte> bytes) const = 0;
  /// Loads a block into memory of the source's own. Null: call `load`.
  virtual std::shared_ptr<const std::byte> lend(std::uint64_t) const { return nullptr; }
  /// How much the source wants to know through the next two members. No blocks: nothing.
  virtual BlocksAhead blocks_ahead() const { return {}; }
  virtual void will_load(std::span<const std::uint64_t>) const noexcept {}
  virtual void will_not_load(std::span<const std::uint64_t>) const noexcept {}
  /// Offers up to `most` bytes of a loader's memory for announced blocks that wait to be loaded.
  virtual MemoryAhead take_memory(std::size_t) const { return {}; }
};

/// A BlockModel whose source makes each record from the record's blocks.
class PENSTOCK_API BlockSourceModel : public BlockModel {
 public:
  virtual void read(std::uint64_t index, BlockData blocks, SampleBuilder& out) const = 0;
};

/// Makes a reader. The reader makes a record from the blocks that it was lent. If it was not lent a record's blocks, it
/// loads them itself, except blocks that the record can do without. It keeps a few blocks at a time. `model` must
/// outlive the reader.
PENSTOCK_API std::unique_ptr<ReaderModel> make_block_reader(const BlockSourceModel& model);

}  // namespace penstock::detail
