// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/detail/optional_member.hpp>
#include <penstock/detail/source_model.hpp>
#include <penstock/error.hpp>
#include <penstock/extend/block_source.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/source.hpp>
#include <penstock/extend/stream_source.hpp>
#include <penstock/schema.hpp>

namespace penstock::detail {

/// The members that sources and sources of blocks have in common.
template <class S>
class SourceMembers : public SourceModel {
 public:
  explicit SourceMembers(S source) : source_(std::move(source)) {}
  std::uint64_t size() const override { return source_.size(); }
  Schema schema() const override { return source_.schema(); }
  std::string name() const override {
    return call_or(SourceModel::name(), PENSTOCK_MEMBER(name, "std::string name() const"), source_);
  }
  std::string file() const override {
    return call_or(SourceModel::file(), PENSTOCK_MEMBER(file, "std::string file() const"), source_);
  }
  std::string file_of(std::uint64_t i) const override {
    return call_or(file(), PENSTOCK_MEMBER(file_of, "std::string file_of(std::uint64_t index) const"), source_, i);
  }
  bool has_keys() const noexcept override {
    constexpr bool gives_keys = requires(const S& source) { source.key(std::uint64_t{}); };
    return call_or(gives_keys, PENSTOCK_MEMBER(has_keys, "bool has_keys() const"), source_) && gives_keys;
  }
  std::string key(std::uint64_t i) const override {
    if (!has_keys()) return SourceModel::key(i);
    return call_or(SourceModel::key(i), PENSTOCK_MEMBER(key, "std::string key(std::uint64_t index) const"), source_, i);
  }
  std::uint64_t identity() const override {
    return call_or(SourceModel::identity(), PENSTOCK_MEMBER(identity, "std::uint64_t identity() const"), source_);
  }
  bool identified() const noexcept override {
    constexpr bool has_identity = requires(const S& source) { source.identity(); };
    return call_or(has_identity, PENSTOCK_MEMBER(identified, "bool identified() const"), source_);
  }
  std::uint64_t revision() const override {
    return call_or(SourceModel::revision(), PENSTOCK_MEMBER(revision, "std::uint64_t revision() const"), source_);
  }
  bool wants_advice() const noexcept override {
    return requires(std::span<const std::uint64_t> s) { source_.will_need(s); };
  }
  void will_need(std::span<const std::uint64_t> indices) const noexcept override {
    call_if(PENSTOCK_MEMBER(will_need, "void will_need(std::span<const std::uint64_t> indices) const"), source_,
            indices);
  }
  std::vector<std::uint64_t> block_ends() const override {
    return call_or(SourceModel::block_ends(),
                   PENSTOCK_MEMBER(block_ends, "std::vector<std::uint64_t> block_ends() const"), source_);
  }
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const override {
    return call_or(
        SourceModel::labels(field),
        PENSTOCK_MEMBER(labels, "std::optional<std::vector<std::int64_t>> labels(std::string_view field) const"),
        source_, field);
  }
  std::vector<Group> groups() const override {
    return call_or(SourceModel::groups(), PENSTOCK_MEMBER(groups, "std::vector<Group> groups() const"), source_);
  }
  std::vector<std::string> notes() const override {
    return call_or(SourceModel::notes(), PENSTOCK_MEMBER(notes, "std::vector<std::string> notes() const"), source_);
  }
  std::vector<FetchCounts> fetched() const override {
    const auto counts =
        call_or(FetchCounts(), PENSTOCK_MEMBER(fetched, "penstock::FetchCounts fetched() const"), source_);
    return counts.connections == 0 ? SourceModel::fetched() : std::vector{counts};
  }

 protected:
  S source_;
};

template <class P>
struct LeasedReader final : ReaderModel {
  explicit LeasedReader(P r) : reader(std::move(r)) {}
  void read(std::uint64_t i, SampleBuilder& out) override { reader->read(i, out); }
  void expect(std::span<const std::uint64_t> indices) noexcept override {
    call_if(PENSTOCK_MEMBER(expect, "void expect(std::span<const std::uint64_t> indices)"), *reader, indices);
  }
  void pause() noexcept override { call_if(PENSTOCK_MEMBER(pause, "void pause()"), *reader); }
  P reader;
};

template <class S>
class SourceOf final : public SourceMembers<S> {
 public:
  explicit SourceOf(S source) : SourceMembers<S>(std::move(source)) {}
  std::unique_ptr<ReaderModel> open_reader() const override {
    if constexpr (LeasedSource<S>)
      return std::make_unique<Leased>(this->source_.open_reader());
    else
      return std::make_unique<Shared>(&this->source_);
  }

 private:
  struct Shared final : ReaderModel {
    explicit Shared(const S* s) : source(s) {}
    void read(std::uint64_t i, SampleBuilder& out) override { source->read(i, out); }
    const S* source;
  };
  template <class T>
  struct ReaderPointer {
    using type = void;
  };
  template <class T>
    requires LeasedSource<T>
  struct ReaderPointer<T> {
    using type = decltype(std::declval<const T&>().open_reader());
  };
  using Leased = LeasedReader<typename ReaderPointer<S>::type>;
};

/// A block source of any type, through one interface.
template <class S>
concept Announced = requires(const S& source, std::span<const std::uint64_t> blocks) {
  source.blocks_ahead();
  source.will_load(blocks);
  source.will_not_load(blocks);
};
template <class S>
concept NeverAnnounced = !requires(const S& source) {
  source.blocks_ahead();
}
&&!requires(const S& source, std::span<const std::uint64_t> blocks) { source.will_load(blocks); }
&&!requires(const S& source, std::span<const std::uint64_t> blocks) { source.will_not_load(blocks); };

template <class S>
class BlockSourceOf final : public SourceMembers<S>, public BlockSourceModel {
  static_assert(Announced<S> || NeverAnnounced<S>,
                "penstock: a source of blocks has blocks_ahead(), will_load() and will_not_load(), or none of them");

 public:
  explicit BlockSourceOf(S source) : SourceMembers<S>(std::move(source)) {}
  std::unique_ptr<ReaderModel> open_reader() const override {
    if constexpr (LeasedSource<S>)
      if (this->source_.blocks() == 0)
        return std::make_unique<LeasedReader<decltype(this->source_.open_reader())>>(this->source_.open_reader());
    return make_block_reader(*this);
  }
  /// Returns null if the source has no blocks; its records are then read like those of other sources.
  const BlockModel* block_model() const noexcept override { return this->source_.blocks() == 0 ? nullptr : this; }
  std::uint64_t blocks() const override { return this->source_.blocks(); }
  std::uint64_t block_bytes(std::uint64_t block) const override { return this->source_.block_bytes(block); }
  std::optional<BlockRows> rows_of(std::uint64_t block) const override {
    return call_or(BlockModel::rows_of(block),
                   PENSTOCK_MEMBER(rows_of, "std::optional<BlockRows> rows_of(std::uint64_t block) const"),
                   this->source_, block);
  }
  bool can_do_without(std::uint64_t block) const override {
    return call_or(BlockModel::can_do_without(block),
                   PENSTOCK_MEMBER(can_do_without, "bool can_do_without(std::uint64_t block) const"), this->source_,
                   block);
  }
  void blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const override {
    this->source_.blocks_of(index, ids);
  }
  void load(std::uint64_t block, std::span<std::byte> bytes) const override { this->source_.load(block, bytes); }
  std::shared_ptr<const std::byte> lend(std::uint64_t block) const override {
    return call_or(std::shared_ptr<const std::byte>(),
                   PENSTOCK_MEMBER(lend, "std::shared_ptr<const std::byte> lend(std::uint64_t block) const"),
                   this->source_, block);
  }
  BlocksAhead blocks_ahead() const override {
    return call_or(BlockModel::blocks_ahead(), PENSTOCK_MEMBER(blocks_ahead, "BlocksAhead blocks_ahead() const"),
                   this->source_);
  }
  void will_load(std::span<const std::uint64_t> blocks) const noexcept override {
    call_if(PENSTOCK_MEMBER(will_load, "void will_load(std::span<const std::uint64_t> blocks) const"), this->source_,
            blocks);
  }
  void will_not_load(std::span<const std::uint64_t> blocks) const noexcept override {
    call_if(PENSTOCK_MEMBER(will_not_load, "void will_not_load(std::span<const std::uint64_t> blocks) const"),
            this->source_, blocks);
  }
  MemoryAhead take_memory(std::size_t most) const override {
    return call_or(MemoryAhead(), PENSTOCK_MEMBER(take_memory, "MemoryAhead take_memory(std::size_t most) const"),
                   this->source_, most);
  }
  void read(std::uint64_t index, BlockData blocks, SampleBuilder& out) const override {
    this->source_.read(index, blocks, out);
  }
};

/// A stream of any type, through the interface of a source.
template <StreamSource S>
class StreamOf final : public SourceModel {
 public:
  explicit StreamOf(S source) : source_(std::make_shared<S>(std::move(source))) {}
  std::uint64_t size() const override { return unknown_size; }
  Schema schema() const override { return std::as_const(*source_).schema(); }
  std::string name() const override {
    return call_or(std::string("stream"), PENSTOCK_MEMBER(name, "std::string name() const"), std::as_const(*source_));
  }
  std::string file() const override {
    return call_or(SourceModel::file(), PENSTOCK_MEMBER(file, "std::string file() const"), std::as_const(*source_));
  }
  std::uint64_t identity() const override {
    return call_or(SourceModel::identity(), PENSTOCK_MEMBER(identity, "std::uint64_t identity() const"),
                   std::as_const(*source_));
  }
  std::unique_ptr<ReaderModel> open_reader() const override { return std::make_unique<NoReader>(); }
  bool is_stream() const noexcept override { return true; }
  bool can_seek() const noexcept override {
    return requires { source_->seek(std::uint64_t{}); };
  }
  std::unique_ptr<StreamModel> open_stream() const override {
    if constexpr (std::copy_constructible<S>) {
      return std::make_unique<OpenedStream>(std::make_shared<S>(std::as_const(*source_)), nullptr);
    } else {
      if (lent_->exchange(true))
        throw Error(Errc::invalid_argument,
                    "this stream can't be copied and is read by another loader; let that one go first")
            .with_source(name());
      return std::make_unique<OpenedStream>(source_, lent_);
    }
  }

 private:
  struct NoReader final : ReaderModel {
    void read(std::uint64_t, SampleBuilder&) override {
      throw Error(Errc::unsupported, "a stream has no records that could be read one by one");
    }
  };
  struct OpenedStream final : StreamModel {
    OpenedStream(std::shared_ptr<S> s, std::shared_ptr<std::atomic<bool>> l)
        : source(std::move(s)), lent(std::move(l)) {}
    OpenedStream(const OpenedStream&) = delete;
    OpenedStream& operator=(const OpenedStream&) = delete;
    ~OpenedStream() override {
      if (lent != nullptr) lent->store(false);
    }
    void reset(std::uint64_t epoch) override { source->reset(epoch); }
    bool next(SampleBuilder& out) override { return source->next(out); }
    bool can_seek() const noexcept override {
      return requires { source->seek(std::uint64_t{}); };
    }
    void seek(std::uint64_t record) override {
      call_if(PENSTOCK_MEMBER(seek, "void seek(std::uint64_t record)"), *source, record);
    }
    std::shared_ptr<S> source;
    std::shared_ptr<std::atomic<bool>> lent;
  };
  std::shared_ptr<S> source_;
  std::shared_ptr<std::atomic<bool>> lent_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace penstock::detail
