#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>

#include <penstock/detail/mistakes.hpp>
#include <penstock/detail/source_adapter.hpp>
#include <penstock/detail/source_model.hpp>
#include <penstock/extend/block_source.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/source.hpp>
#include <penstock/schema.hpp>

namespace penstock {

/// Options that a source is opened with, an aggregate like `Lmdb`; `O::Source` is the type of that source. They may
/// stand wherever a source may.
template <class O>
concept OpensSource = requires {
  typename O::Source;
}
&&!std::same_as<typename O::Source, O> && std::constructible_from<typename O::Source, O> &&
    (Source<typename O::Source> || BlockSource<typename O::Source>);

/// A source of any type, shared: for lists of sources that differ in type, and for one source in several places.
/// Copies mean the same source, which lives as long as one of them or a pipeline over it does. Immutable; any thread.
class AnySource {
 public:
  /// Any source.
  template <Source S>
  AnySource(S source)  // NOLINT(google-explicit-constructor): a source is one of any type
      : model_(std::make_shared<detail::SourceOf<S>>(std::move(source))) {}
  /// Any source of blocks.
  template <BlockSource S>
  AnySource(S source)  // NOLINT(google-explicit-constructor)
      : model_(std::make_shared<detail::BlockSourceOf<S>>(std::move(source))) {}
  /// Opens it. @throws what its `Source` does.
  template <OpensSource O>
  AnySource(O options)  // NOLINT(google-explicit-constructor): what opens a source stands for it
      : AnySource(typename O::Source(std::move(options))) {}
  /// For code of the library.
  AnySource(std::shared_ptr<const detail::SourceModel> model) : model_(std::move(model)) {}

  /// Number of its records.
  std::uint64_t size() const { return model_->size(); }
  /// The fields of each record.
  Schema schema() const { return model_->schema(); }
  /// For code of the library.
  const std::shared_ptr<const detail::SourceModel>& model() const noexcept { return model_; }

 private:
  std::shared_ptr<const detail::SourceModel> model_;
};

/// The source as an AnySource, to be given to several pipelines or joins. An AnySource stays what it is.
template <class S>
  requires std::convertible_to<S, AnySource> AnySource share(S source) { return AnySource(std::move(source)); }
/// For a type that is no source: the compiler's error says why.
template <class S>
AnySource share(S) {
  detail::explain_source<S>();
  return AnySource(std::shared_ptr<const detail::SourceModel>());
}

/// One record, copied out. For tests and tools; opens a reader each time.
inline OwnedSample read_sample(const AnySource& source, std::uint64_t index) {
  OwnedSample sample(source.schema());
  SampleBuilder out = sample.builder();
  const auto reader = source.model()->open_reader();
  reader->read(index, out);
  sample.keep();
  return sample;
}

}  // namespace penstock
