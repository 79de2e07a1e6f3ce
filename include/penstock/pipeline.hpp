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

/// What will happen, as an immutable value: source, order, stages, batch. Cheap to copy, safe to share between threads
/// and loaders; runs nothing. Each `|` checks the stage against what stands before it, so a mistake is reported on its
/// line.
class PENSTOCK_API Pipeline {
 public:
  /// For code of the library; users call `from`.
  explicit Pipeline(std::shared_ptr<const detail::SourceModel> source);
  /// @throws Error(schema_mismatch | invalid_argument) that names the stage and the fields there are.
  friend PENSTOCK_API Pipeline operator|(const Pipeline& pipeline, const Stage& stage);

  /// Fields of one sample, after the last stage.
  const Schema& schema() const noexcept;
  /// Positions an epoch: samples, where no filter, flat_map or policy changes their number. `unknown_size` for a
  /// stream.
  std::uint64_t size() const noexcept;
  /// Rows a batch, of all ranks of `for_rank` together; 0 before `batch`.
  std::uint64_t batch_size() const noexcept;
  /// Batches an epoch, the same on every rank. @throws Error(invalid_argument) before `batch`, and where their number
  /// is known only after the epoch (filter, flat_map, the policy `drop`, bounds by size, streams) and
  /// `Rank::steps_per_epoch` does not say it.
  std::uint64_t steps_per_epoch() const;
  /// The seed of its draws; 0 where none was set.
  std::uint64_t seed() const noexcept;
  /// Hash of everything that changes results: source identity, stages, their options and versions. Equal = same
  /// batches.
  std::uint64_t fingerprint() const;

  /// What will happen and why, in words, a line a step. For people.
  std::string plan() const;

  /// Source indices of positions [first, first + out.size()) of an epoch. @throws Error(invalid_argument) past the end,
  /// and for a stream; Error(forked) for a pipeline with an order in a child, made by fork(), of a process that had
  /// begun to use threads.
  void fill(std::uint64_t epoch, std::uint64_t first, std::span<std::uint64_t> out) const;
  /// One sample as it would stand in its batch, for debugging and tests: slow, copies, and applies no error policy.
  /// @throws Error(not_found) for one that a filter leaves out and for a child that there isn't;
  /// otherwise as `fill`.
  OwnedSample at(std::uint64_t position, std::uint64_t epoch = 0, std::uint32_t child = 0) const;

  /// For code of the library.
  const detail::PipelineData& data() const noexcept { return *data_; }

 private:
  explicit Pipeline(std::shared_ptr<const detail::PipelineData> data) : data_(std::move(data)) {}
  std::shared_ptr<const detail::PipelineData> data_;
};

/// Begins a pipeline over a source, which is moved into it:
///
///     LmdbSource images(Lmdb{.path = "train.lmdb"});
///     Pipeline train = from(images) | shuffle({.seed = 7}) | batch(64);
template <Source S>
Pipeline from(S source) {
  return Pipeline(std::shared_ptr<const detail::SourceModel>(std::make_shared<detail::SourceOf<S>>(std::move(source))));
}
/// Begins a pipeline over records that share blocks.
template <BlockSource S>
Pipeline from(S source) {
  return Pipeline(
      std::shared_ptr<const detail::SourceModel>(std::make_shared<detail::BlockSourceOf<S>>(std::move(source))));
}
/// Begins a pipeline over the source that these options open: `from(Lmdb{.path = "train.lmdb"})`. @throws what the
/// source's constructor does.
template <OpensSource O>
Pipeline from(O options) {
  return from(typename O::Source(std::move(options)));
}
/// Begins a pipeline over a source that is shared with others.
inline Pipeline from(std::shared_ptr<const detail::SourceModel> source) { return Pipeline(std::move(source)); }
/// Begins a pipeline over a source of any type.
inline Pipeline from(const AnySource& source) { return Pipeline(source.model()); }

/// Begins a pipeline over records that can only be read in order. The source is copied for each loader; one that can't
/// be copied is lent to one loader at a time (@throws Error(invalid_argument) from the second one's constructor).
template <StreamSource S>
Pipeline from(S source) {
  return Pipeline(std::shared_ptr<const detail::SourceModel>(std::make_shared<detail::StreamOf<S>>(std::move(source))));
}

/// A transform of one's own needs no wrapper: as `map(f)`.
template <Transform F>
Pipeline operator|(const Pipeline& pipeline, F f) {
  return pipeline | map(std::move(f));
}
/// A flat map of one's own needs no wrapper: as `flat_map(f)`.
template <FlatMap F>
Pipeline operator|(const Pipeline& pipeline, F f) {
  return pipeline | flat_map(std::move(f));
}
/// An order of one's own needs no wrapper: as `order(o)`.
template <Order O>
Pipeline operator|(const Pipeline& pipeline, O o) {
  return pipeline | order(std::move(o));
}

}  // namespace penstock

#include <penstock/detail/pipeline_mistakes.hpp>
