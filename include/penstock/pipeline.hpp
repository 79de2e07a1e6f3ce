// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <penstock/detail/export.hpp>
#include <penstock/detail/source_adapter.hpp>
#include <penstock/detail/source_model.hpp>
#include <penstock/extend/any_source.hpp>
#include <penstock/extend/block_source.hpp>
#include <penstock/extend/order.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/source.hpp>
#include <penstock/extend/stream_source.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/schema.hpp>
#include <penstock/stages/batch.hpp>
#include <penstock/stages/check.hpp>
#include <penstock/stages/fields.hpp>
#include <penstock/stages/filter.hpp>
#include <penstock/stages/flat_map.hpp>
#include <penstock/stages/map.hpp>
#include <penstock/stages/on_error.hpp>
#include <penstock/stages/order.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

namespace detail {
struct PipelineData;
}

/// Describes what a loader will do: source, order, stages, batch. An immutable value. Cheap to copy, and safe to share
/// between threads and loaders. Runs nothing. Each `|` checks its stage against the pipeline on its left, and throws if
/// the stage has a mistake.
class PENSTOCK_API Pipeline {
 public:
  /// For code of the library only; users call `from`.
  explicit Pipeline(std::shared_ptr<const detail::SourceModel> source);
  /// Returns a pipeline with the stage added. @throws Error(schema_mismatch | invalid_argument) that names the stage
  /// and the fields before it.
  friend PENSTOCK_API Pipeline operator|(const Pipeline& pipeline, const Stage& stage);

  /// Fields of one sample, after the last stage.
  const Schema& schema() const noexcept;
  /// Number of positions in one pass over the data; `unknown_size` for a stream. This is also the number of samples,
  /// unless a filter, a flat_map or a policy changes that number.
  std::uint64_t size() const noexcept;
  /// Rows per batch, of all ranks of `for_rank` together; 0 if the pipeline has no `batch`.
  std::uint64_t batch_size() const noexcept;
  /// Batches per epoch, the same on every rank.
  /// @throws Error(invalid_argument) if
  /// - the pipeline has no `batch`;
  /// - the number of batches is known only after the epoch (filter, flat_map, the policy `drop`, `bucket`,
  ///   bounds by size or group, streams), and `Rank::steps_per_epoch` is not set.
  std::uint64_t steps_per_epoch() const;
  /// The seed of the pipeline's draws; 0 if none was set.
  std::uint64_t seed() const noexcept;
  /// Hash of everything that changes results: source identity, stages, their options and versions. Pipelines with the
  /// same fingerprint make the same batches.
  std::uint64_t fingerprint() const;

  /// Describes in words what will happen and why, one line per step. For people.
  std::string plan() const;

  /// Writes the source indices of the positions [first, first + out.size()) of an epoch to `out`.
  /// @throws Error(invalid_argument) past the end of the epoch, and for a stream.
  /// @throws Error(forked) in a child made by fork() if the pipeline has an order and the parent had begun to use
  /// threads.
  void fill(std::uint64_t epoch, std::uint64_t first, std::span<std::uint64_t> out) const;
  /// Returns one sample as it enters its batch: the stages before `batch` have run, and the stages after `batch` have
  /// not. For debugging and tests: the call is slow, copies the values, and applies no error policy.
  /// @throws what `fill` throws; Error(not_found) if a filter leaves the sample out, or there is no child with number
  /// `child`.
  OwnedSample at(std::uint64_t position, std::uint64_t epoch = 0, std::uint32_t child = 0) const;

  /// For code of the library only.
  const detail::PipelineData& data() const noexcept { return *data_; }

 private:
  explicit Pipeline(std::shared_ptr<const detail::PipelineData> data) : data_(std::move(data)) {}
  std::shared_ptr<const detail::PipelineData> data_;
};

/// Begins a pipeline over a source, which is moved into it:
///
///     LmdbSource images(Lmdb{.path = "train.lmdb"});
///     Pipeline train = from(images) | shuffle({.seed = 7}) | batch(64);
///
/// @throws Error(schema_mismatch) if the source's schema has no fields.
template <Source S>
  requires(!BlockSource<S>)
Pipeline from(S source) {
  return Pipeline(std::shared_ptr<const detail::SourceModel>(std::make_shared<detail::SourceOf<S>>(std::move(source))));
}
/// Begins a pipeline over records that share blocks.
template <BlockSource S>
Pipeline from(S source) {
  return Pipeline(
      std::shared_ptr<const detail::SourceModel>(std::make_shared<detail::BlockSourceOf<S>>(std::move(source))));
}
/// Begins a pipeline over the source that `options` opens: `from(Lmdb{.path = "train.lmdb"})`.
/// @throws what the source's constructor throws.
template <OpensSource O>
Pipeline from(O options) {
  return from(typename O::Source(std::move(options)));
}
/// Begins a pipeline over a source that other pipelines may share.
inline Pipeline from(std::shared_ptr<const detail::SourceModel> source) { return Pipeline(std::move(source)); }
/// Begins a pipeline over a source of any type.
inline Pipeline from(const AnySource& source) { return Pipeline(source.model()); }

/// Begins a pipeline over records that can only be read in order. Each loader gets a copy of the source. If the source
/// can't be copied, one loader at a time uses it, and the constructor of a second loader throws
/// Error(invalid_argument).
template <StreamSource S>
Pipeline from(S source) {
  return Pipeline(std::shared_ptr<const detail::SourceModel>(std::make_shared<detail::StreamOf<S>>(std::move(source))));
}

/// Adds a custom transform without a wrapper, like `map(f)`.
template <Transform F>
Pipeline operator|(const Pipeline& pipeline, F f) {
  return pipeline | map(std::move(f));
}
/// Adds a custom flat map without a wrapper, like `flat_map(f)`.
template <FlatMap F>
Pipeline operator|(const Pipeline& pipeline, F f) {
  return pipeline | flat_map(std::move(f));
}
/// Adds a custom order without a wrapper, like `order(o)`.
template <Order O>
Pipeline operator|(const Pipeline& pipeline, O o) {
  return pipeline | order(std::move(o));
}

}  // namespace penstock

#include <penstock/detail/pipeline_mistakes.hpp>
