// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <utility>

#include <penstock/detail/export.hpp>
#include <penstock/detail/mistakes.hpp>
#include <penstock/detail/source_adapter.hpp>
#include <penstock/detail/source_model.hpp>
#include <penstock/extend/block_source.hpp>
#include <penstock/extend/float_mode.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/source.hpp>
#include <penstock/schema.hpp>

namespace penstock {

class Pipeline;

/// Options that open a source: an aggregate like `Lmdb`. `O::Source` is the type of the source. Functions that take any
/// source also take its options.
template <class O>
concept OpensSource = requires {
  typename O::Source;
}
&&!std::same_as<typename O::Source, O> && std::constructible_from<typename O::Source, O> &&
    (Source<typename O::Source> || BlockSource<typename O::Source>);

/// Holds a source of any type: for lists of sources of different types, or to use one source in several places. A
/// pipeline counts as a source too, if it only has stages that a part of a join may have. Copies share the source. The
/// source lives as long as a copy or a pipeline over it exists. Immutable; any thread.
class AnySource {
 public:
  /// Takes any source.
  template <Source S>
    requires(!BlockSource<S>)
  AnySource(S source)  // NOLINT(google-explicit-constructor): callers may pass a source
      : model_(std::make_shared<detail::SourceOf<S>>(std::move(source))) {}
  /// Takes any source of blocks.
  template <BlockSource S>
  AnySource(S source)  // NOLINT(google-explicit-constructor)
      : model_(std::make_shared<detail::BlockSourceOf<S>>(std::move(source))) {}
  /// Opens the source of these options.
  /// @throws what the constructor of `O::Source` throws.
  template <OpensSource O>
  AnySource(O options)  // NOLINT(google-explicit-constructor): callers may pass options
      : AnySource(typename O::Source(std::move(options))) {}
  /// Takes a pipeline, as a part of a join: `zip({{images | decode_jpeg("image")}, {masks, "mask_"}})`. The samples of
  /// the pipeline are the records. Its stages run each time that a record is read, on the thread that reads it. They
  /// draw with the seed of the whole pipeline, the sample's place there, and the number of the part. If a record is
  /// read without a pipeline (`read_sample`), they draw as at seed 0 in epoch 0, at the record's position.
  ///
  /// The pipeline may have orders that choose the same records in each epoch (`split`, `take`, `skip`, `select`),
  /// stages that make one sample of one sample, and a `cache`. All other stages come after the join.
  /// @throws Error(invalid_argument) that names the stage, if the pipeline has
  /// - an order that draws or repeats records, a `filter`, a `flat_map` or a stream;
  /// - `batch`, `bucket`, or a stage that says how rows become a batch;
  /// - `on_error`, `check`, `seed` or `for_rank`, or a cache that keeps draws.
  PENSTOCK_API AnySource(const Pipeline& part);  // NOLINT(google-explicit-constructor): any pipeline may be a part
  /// For code of the library.
  AnySource(std::shared_ptr<const detail::SourceModel> model) : model_(std::move(model)) {}

  /// Number of records.
  std::uint64_t size() const { return model_->size(); }
  /// Fields of each record.
  Schema schema() const { return model_->schema(); }
  /// For code of the library.
  const std::shared_ptr<const detail::SourceModel>& model() const noexcept { return model_; }

 private:
  std::shared_ptr<const detail::SourceModel> model_;
};

/// Returns the source as an AnySource, for several pipelines or joins. An AnySource is returned unchanged.
template <class S>
  requires std::convertible_to<S, AnySource> AnySource share(S source) { return AnySource(std::move(source)); }
/// Overload for types that are not sources: fails to compile with the reason.
template <class S>
AnySource share(S) {
  detail::explain_source<S>();
  return AnySource(std::shared_ptr<const detail::SourceModel>());
}

/// Returns a copy of one record. For tests and tools: opens a reader on each call.
inline OwnedSample read_sample(const AnySource& source, std::uint64_t index) {
  const FloatMode standard;
  OwnedSample sample(source.schema());
  SampleBuilder out = sample.builder();
  const auto reader = source.model()->open_reader();
  reader->read(index, out);
  sample.keep();
  return sample;
}

}  // namespace penstock
