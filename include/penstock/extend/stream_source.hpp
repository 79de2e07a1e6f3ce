#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <penstock/detail/export.hpp>
#include <penstock/error.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/source.hpp>
#include <penstock/schema.hpp>

namespace penstock {

/// A source that can only be read in order, by one task at a time:
///
///     Schema schema() const;
///     void reset(std::uint64_t epoch);     the next record is this epoch's first
///     bool next(SampleBuilder&);           false = the epoch has ended; until then, one record each
///
/// and where they make sense
///
///     void seek(std::uint64_t record);     the next record is the epoch's record of that number, from 0; called after
///                                          `reset`. Without it a resume reads all records before it once more.
///     name(), file(), identity()           as of a Source
///
/// A `next` that throws an Error of one sample (`Error::sample_scoped`) has read past that record: the next call gives
/// the one after it. What is read must depend on the epoch alone. It must give the same records in each run.
template <class S>
concept StreamSource = requires(S& source, const S& shared, std::uint64_t epoch, SampleBuilder& out) {
  { shared.schema() } -> std::convertible_to<Schema>;
  { source.reset(epoch) } -> std::same_as<void>;
  { source.next(out) } -> std::same_as<bool>;
};

/// Number of a stream's records, before it is read.
inline constexpr std::uint64_t unknown_size = ~std::uint64_t{0};

namespace detail {

template <StreamSource S>
class StreamOf final : public SourceModel {
 public:
  explicit StreamOf(S source) : source_(std::make_shared<S>(std::move(source))) {}
  std::uint64_t size() const override { return unknown_size; }
  Schema schema() const override { return std::as_const(*source_).schema(); }
  std::string name() const override {
    if constexpr (requires(const S& s) {
                    { s.name() } -> std::convertible_to<std::string>;
                  })
      return std::as_const(*source_).name();
    else
      return "stream";
  }
  std::string file() const override {
    if constexpr (requires(const S& s) {
                    { s.file() } -> std::convertible_to<std::string>;
                  })
      return std::as_const(*source_).file();
    else
      return {};
  }
  std::uint64_t identity() const override {
    if constexpr (requires(const S& s) { s.identity(); })
      return std::as_const(*source_).identity();
    else
      return 0;
  }
  std::unique_ptr<ReaderModel> open_reader() const override { return std::make_unique<NoReader>(); }
  bool is_stream() const noexcept override { return true; }
  bool can_seek() const noexcept override {
    return requires { source_->seek(std::uint64_t{}); };
  }
  std::unique_ptr<StreamModel> open_stream() const override {
    if constexpr (std::copy_constructible<S>) {
      return std::make_unique<Opened>(std::make_shared<S>(std::as_const(*source_)), nullptr);
    } else {
      if (lent_->exchange(true))
        throw Error(Errc::invalid_argument,
                    "this stream can't be copied and is read by another loader; let that one go first")
            .with_source(name());
      return std::make_unique<Opened>(source_, lent_);
    }
  }

 private:
  struct NoReader final : ReaderModel {
    void read(std::uint64_t, SampleBuilder&) override {
      throw Error(Errc::unsupported, "a stream has no records that could be read one by one");
    }
  };
  struct Opened final : StreamModel {
    Opened(std::shared_ptr<S> s, std::shared_ptr<std::atomic<bool>> l) : source(std::move(s)), lent(std::move(l)) {}
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    ~Opened() override {
      if (lent != nullptr) lent->store(false);
    }
    void reset(std::uint64_t epoch) override { source->reset(epoch); }
    bool next(SampleBuilder& out) override { return source->next(out); }
    bool can_seek() const noexcept override {
      return requires { source->seek(std::uint64_t{}); };
    }
    void seek(std::uint64_t record) override {
      if constexpr (requires { source->seek(record); }) source->seek(record);
    }
    std::shared_ptr<S> source;
    std::shared_ptr<std::atomic<bool>> lent;
  };
  std::shared_ptr<S> source_;
  std::shared_ptr<std::atomic<bool>> lent_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace detail

}  // namespace penstock
