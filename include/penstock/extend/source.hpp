#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/error.hpp>
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
/// a pause may make void.
template <class S>
concept LeasedSource = Described<S> && requires(const S& source) {
  { *source.open_reader() } -> Reader;
};

/// Random access to records.
///
///     std::uint64_t size() const;                          number of records
///     Schema schema() const;                               of every record
///     void read(std::uint64_t i, SampleBuilder&) const;    or  auto open_reader() const -> std::unique_ptr<R>
///
/// and where they make sense
///
///     std::string name() const;                            in errors and reports; default "source"
///     std::string key(std::uint64_t i) const;              the record's key, for errors, splits and sinks
///     std::string file() const;                            the file or folder after it, for errors
///     std::string file_of(std::uint64_t i) const;          the file that record i is in; default file()
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
///     std::vector<std::string> notes() const;              lines for `Pipeline::plan()`: how it is read, and why
template <class S>
concept Source = SharedSource<S> || LeasedSource<S>;

namespace detail {

using BlockData = std::span<const std::span<const std::byte>>;
class BlockModel;

class PENSTOCK_API ReaderModel {
 public:
  virtual ~ReaderModel() = default;
  virtual void read(std::uint64_t index, SampleBuilder& out) = 0;
  virtual void expect(std::span<const std::uint64_t>) noexcept {}
  virtual void pause() noexcept {}
  /// The blocks of record `index` for the next time it is read, or what is wrong with them.
  virtual void lend(std::uint64_t, BlockData, const Error*) noexcept {}
  // Of a source with a cache before it:
  virtual bool holds(std::uint64_t) { return false; }
  /// Gives what the cache has of a record. False: nothing that is whole.
  virtual bool recall(std::uint64_t, SampleBuilder&) { return false; }
  virtual void offer(std::uint64_t, Sample&) noexcept {}
};

/// A stream of any type behind one interface.
class PENSTOCK_API StreamModel {
 public:
  virtual ~StreamModel() = default;
  virtual void reset(std::uint64_t epoch) = 0;
  virtual bool next(SampleBuilder& out) = 0;
  virtual bool can_seek() const noexcept = 0;
  virtual void seek(std::uint64_t record) = 0;
};

/// A source of any type behind one interface.
class PENSTOCK_API SourceModel {
 public:
  virtual ~SourceModel() = default;
  virtual std::uint64_t size() const = 0;
  virtual Schema schema() const = 0;
  virtual std::unique_ptr<ReaderModel> open_reader() const = 0;
  virtual std::string name() const { return "source"; }
  virtual std::string file() const { return {}; }
  virtual std::string file_of(std::uint64_t) const { return file(); }
  virtual bool has_keys() const noexcept { return false; }
  virtual std::string key(std::uint64_t) const { return {}; }
  virtual std::uint64_t identity() const { return 0; }
  /// Identity and revision tell its data from all others.
  virtual bool identified() const noexcept { return false; }
  virtual std::uint64_t revision() const { return 0; }
  virtual bool wants_advice() const noexcept { return false; }
  virtual void will_need(std::span<const std::uint64_t>) const noexcept {}
  /// True for one that can only be read in order: then `open_stream` is used and `open_reader` never.
  virtual bool is_stream() const noexcept { return false; }
  virtual bool can_seek() const noexcept { return false; }
  virtual std::unique_ptr<StreamModel> open_stream() const { return nullptr; }
  virtual std::vector<std::uint64_t> block_ends() const { return {}; }
  virtual std::optional<std::vector<std::int64_t>> labels(std::string_view) const { return std::nullopt; }
  virtual std::vector<std::string> notes() const { return {}; }
  /// Of the cache before it, where there is one.
  virtual std::vector<std::string> cache_notes() const { return {}; }
  /// Where its records share blocks.
  virtual const BlockModel* block_model() const noexcept { return nullptr; }
  /// Says in an error of record `index` what is known of it, each where it isn't said yet: source, file, key. Not the
  /// index.
  virtual void describe(std::uint64_t index, Error& error) const {
    error.with_source(name());
    if (error.file().empty()) error.with_file(file_of(index));
    if (error.key().empty() && has_keys()) error.with_key(key(index));
  }
};

/// What sources of all kinds may have.
template <class S>
class SourceMembers : public SourceModel {
 public:
  explicit SourceMembers(S source) : source_(std::move(source)) {}
  std::uint64_t size() const override { return source_.size(); }
  Schema schema() const override { return source_.schema(); }
  std::string name() const override {
    if constexpr (requires {
                    { source_.name() } -> std::convertible_to<std::string>;
                  })
      return source_.name();
    else
      return "source";
  }
  std::string file() const override {
    if constexpr (requires {
                    { source_.file() } -> std::convertible_to<std::string>;
                  })
      return source_.file();
    else
      return {};
  }
  std::string file_of(std::uint64_t i) const override {
    if constexpr (requires {
                    { source_.file_of(i) } -> std::convertible_to<std::string>;
                  })
      return source_.file_of(i);
    else
      return file();
  }
  bool has_keys() const noexcept override {
    return requires { source_.key(std::uint64_t{}); };
  }
  std::string key(std::uint64_t i) const override {
    if constexpr (requires {
                    { source_.key(i) } -> std::convertible_to<std::string>;
                  })
      return source_.key(i);
    else
      return {};
  }
  std::uint64_t identity() const override {
    if constexpr (requires { source_.identity(); })
      return source_.identity();
    else
      return 0;
  }
  bool identified() const noexcept override {
    if constexpr (requires {
                    { source_.identified() } -> std::convertible_to<bool>;
                  })
      return source_.identified();
    else
      return requires { source_.identity(); };
  }
  std::uint64_t revision() const override {
    if constexpr (requires {
                    { source_.revision() } -> std::convertible_to<std::uint64_t>;
                  })
      return source_.revision();
    else
      return 0;
  }
  bool wants_advice() const noexcept override {
    return requires(std::span<const std::uint64_t> s) { source_.will_need(s); };
  }
  void will_need(std::span<const std::uint64_t> indices) const noexcept override {
    if constexpr (requires { source_.will_need(indices); }) source_.will_need(indices);
  }
  std::vector<std::uint64_t> block_ends() const override {
    if constexpr (requires {
                    { source_.block_ends() } -> std::convertible_to<std::vector<std::uint64_t>>;
                  })
      return source_.block_ends();
    else
      return {};
  }
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const override {
    if constexpr (requires {
                    { source_.labels(field) } -> std::convertible_to<std::optional<std::vector<std::int64_t>>>;
                  })
      return source_.labels(field);
    else
      return std::nullopt;
  }
  std::vector<std::string> notes() const override {
    if constexpr (requires {
                    { source_.notes() } -> std::convertible_to<std::vector<std::string>>;
                  })
      return source_.notes();
    else
      return {};
  }

 protected:
  S source_;
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
  template <class P>
  struct LeasedReader final : ReaderModel {
    explicit LeasedReader(P r) : reader(std::move(r)) {}
    void read(std::uint64_t i, SampleBuilder& out) override { reader->read(i, out); }
    void expect(std::span<const std::uint64_t> indices) noexcept override {
      if constexpr (requires { reader->expect(indices); }) reader->expect(indices);
    }
    void pause() noexcept override {
      if constexpr (requires { reader->pause(); }) reader->pause();
    }
    P reader;
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

}  // namespace detail

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
