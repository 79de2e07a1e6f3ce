// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/any_source.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

// Orders that draw records by weight or by class. These orders identify records by position. So they must stand
// directly after the source, or after orders that are the same in every epoch (take, skip, select, split, repeat). They
// draw with integers and with IEEE operations that round correctly, so draws are the same on every CPU.

/// Settings of `draw_weighted`. All are result options.
struct WeightedOptions {
  /// One weight per record, 0 or more, on any scale.
  std::vector<double> weights = {};
  /// Number of draws per epoch. Default (0): the number of weights; without replacement, the number of weights above 0.
  std::uint64_t count = 0;
  /// Whether a record may be drawn again in the same epoch.
  bool replacement = true;
  /// The seed of the pipeline. Default: the seed that another stage sets, or 0.
  std::optional<std::uint64_t> seed = {};
};
/// Draws records with probabilities proportional to their weights. A record of weight 0 is never drawn.
///
/// With replacement, each position of each epoch is an independent draw. A draw takes constant time. It uses an alias
/// table that is built once and takes 16 bytes of memory per weight. A record's probability is off by at most 2^-60
/// plus 2^-50 times the probability.
///
/// Without replacement, an epoch has `count` different records, drawn one after the other. Each draw chooses among the
/// records that are left, by their weights. Each epoch draws again. The stage takes 8 bytes of memory per weight, and a
/// table per epoch with 8 bytes per draw. When an epoch begins, building its table takes about 0.2 s per million
/// weights. The tables of the two epochs used last are always kept. Up to 62 older tables are kept as long as all
/// tables together take at most 64 MiB.
/// @throws Error(invalid_argument) if
/// - a weight is negative or not finite, or all weights are 0;
/// - `count` is above 2^62 or, without replacement, above the number of weights above 0.
/// @throws Error(invalid_argument) when it joins a pipeline, if the numbers of records and weights differ, or an order
/// before it changes between epochs.
PENSTOCK_API Stage draw_weighted(WeightedOptions options);

/// Settings of `draw_balanced`. All are result options.
struct BalancedOptions {
  /// Class of each record, as any whole number; see `labels_of`.
  std::vector<std::int64_t> labels = {};
  /// Classes and their relative frequencies. A class that is not named has the relative frequency 1.
  std::vector<std::pair<std::int64_t, double>> class_weights = {};
  /// Number of draws per epoch. Default (0): the number of labels.
  std::uint64_t count = 0;
  /// Whether each position is an independent draw.
  bool replacement = false;
  /// The seed of the pipeline. Default: the seed that another stage sets, or 0.
  std::optional<std::uint64_t> seed = {};
};
/// Draws records so that classes are equally frequent, or as frequent as `class_weights` sets. The records of a class
/// are equally frequent too. A class of weight 0 is never drawn.
///
/// Without replacement, the frequencies are exact. If all weights are equal, the numbers of draws of two classes differ
/// by at most 1, in an epoch and over many epochs. Classes are mixed in windows of draws. A window has as many draws as
/// there are classes, but at least 64, and each class has its share of them. All records of a class are drawn once
/// before any of them is drawn again, also across the ends of epochs. Their order is new each time.
/// With replacement, each position is an independent draw: first of a class, then of one of the class's records.
/// Takes 8 bytes of memory per label and about 60 bytes per class.
/// @throws Error(invalid_argument) if
/// - there are no labels, or `count` is above 2^62;
/// - a class weight is negative or not finite, or all are 0;
/// - `class_weights` names a class that no record has.
/// @throws Error(invalid_argument) when it joins a pipeline, if the numbers of records and labels differ, or an order
/// before it changes between epochs.
PENSTOCK_API Stage draw_balanced(const BalancedOptions& options);
namespace detail {
PENSTOCK_API Stage draw_balanced_by(std::string field, BalancedOptions options);
}
/// Draws records like `draw_balanced` with `BalancedOptions::labels`. The labels are the values of a field of the
/// source, which has one whole number or boolean per record. The stage is refused if a `map` or `rename` before it
/// makes the field with this name. Among orders, it stands first, or after take, skip, select, split and repeat. It
/// uses the labels of the records that these orders leave:
///
///     from(Files{.root = "train"}) | split({.part = 0}) | draw_balanced("label")
///
/// Labels are read like those of `labels_of` when the stage joins a pipeline. Until the stage has joined, labels take 8
/// bytes of memory per record.
/// @throws Error(invalid_argument) if `labels` is set, because the field gives them.
/// @throws when it joins a pipeline: what `labels_of` throws, what `draw_balanced` with labels throws, and
/// Error(invalid_argument) if the source is a stream.
template <class Name>
  requires std::convertible_to<Name, std::string> Stage draw_balanced(Name field, BalancedOptions options = {}) {
    return detail::draw_balanced_by(std::move(field), std::move(options));
  }

/// Returns the values of a scalar integer or boolean field, one per record in order: labels for `draw_balanced`.
/// Some sources get the values without reading whole records. A folder of files knows its classes; HDF5 reads only the
/// field's dataset; LMDB reads only the value's bytes of each record, without comparing the record's checksum. Joined
/// sources ask their parts. From any other source, labels_of reads every whole record once on the calling thread. That
/// takes as long as reading an epoch on one thread. It runs no stage and decodes no image. Any thread may call it.
/// @throws Error(schema_mismatch) if there is no scalar integer or boolean field with this name.
/// @throws Error(limit_exceeded) if a value does not fit into an int64.
/// @throws Error(invalid_argument) if the source gives labels for a different number of records.
/// @throws What reading throws, with the record's index and key.
PENSTOCK_API std::vector<std::int64_t> labels_of(const AnySource& source, std::string_view field);

}  // namespace penstock
