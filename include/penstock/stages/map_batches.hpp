// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <penstock/detail/batch_map_model.hpp>
#include <penstock/detail/optional_member.hpp>
#include <penstock/extend/host_batch.hpp>
#include <penstock/schema.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Settings of `map_batches`.
struct MapBatchesOptions {
  /// Which thread calls the function. The results are the same.
  enum class On : std::uint8_t {
    runner,  ///< the runner that made the batch's last row; other runners go on with the next batches
    caller,  ///< the thread that takes the batch: the caller of `next()`, or the thread that sends batches to devices
  };
  std::string name = "map_batches";  ///< name of the stage in plans, errors and random keys
  std::string describe = {};         ///< the function's result options in words, which become part of the fingerprint
  std::uint64_t version = 0;         ///< result option: raise the version when the function's result changes
  /// Which thread calls the function. Default: a runner. If an earlier `map_batches` is on the caller, this one is too.
  On on = On::runner;
  /// New fields of the batch, each with the fixed shape of one row. Their rows are zeros before the call. Default:
  /// none.
  std::vector<Field> adds = {};
};

/// A callable for `map_batches`: an object with `void operator()(HostBatch& batch) const`, or a function.
template <class F>
concept BatchMap = requires(const F& f, HostBatch& batch) {
  { f(batch) } -> std::same_as<void>;
};

/// Runs a function on whole batches, on the host:
///     map_batches([](HostBatch& batch) { … })
/// Put it directly after `batch`; several may follow each other. Image stages and device stages may follow. Decoders
/// can't, because runners decode before a batch is complete.
///
/// The function is called once per batch that has a valid row, for several batches at once. It changes fields in place,
/// and fills the fields of `adds`. It keeps shapes, masks and the number of rows.
///
/// The function sees the rows of this rank. So its results depend on the number of ranks: that number becomes part of
/// the fingerprint, and a state is resumed with the same number only.
///
/// If the function throws, `next()` throws an Error with the stage, the number of the batch and the index of its first
/// row, after all batches before it. The epoch is over, and the next one begins as usual. Under `on_error(mask)`, an
/// error that concerns samples (`Error::sample_scoped`) masks all rows of the batch instead. They count as bad samples.
///
/// Optional members of the callable:
/// - `std::string describe() const` returns its result options, in addition to `options.describe`.
/// - `std::uint64_t version() const` returns a number that is added to `options.version`.
template <BatchMap F>
Stage map_batches(F f, MapBatchesOptions options = {}) {
  options.version +=
      detail::call_or(std::uint64_t{0}, PENSTOCK_MEMBER(version, "std::uint64_t version() const"), std::as_const(f));
  return detail::make_map_batches(std::make_shared<detail::BatchMapOf<F>>(std::move(f)), std::move(options));
}
/// Overload for types that can't be called with a batch: fails to compile with the reason.
template <class F>
Stage map_batches(F, MapBatchesOptions = {}) {
  detail::explain_batch_map<F>();
  return detail::make_map_batches(nullptr, {});
}

}  // namespace penstock
