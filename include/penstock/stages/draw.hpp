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

// Orders that draw records by weight or by class. They know records by their positions, so they stand directly after
// the source or after orders that are the same in every epoch (take, skip, select, split, repeat). Draws are made by
// integers and by IEEE operations that round correctly: they are the same on every CPU.

/// Settings of `draw_weighted`.
struct WeightedOptions {
  std::vector<double> weights = {};        ///< result option: one for each record, 0 or more, on any scale
  std::uint64_t count = 0;                 ///< result option: draws an epoch; 0 = one for each weight, or, without
                                           ///< replacement, for each weight above 0
  bool replacement = true;                 ///< result option: a record may be drawn again in the same epoch
  std::optional<std::uint64_t> seed = {};  ///< result option: the pipeline's seed; default 0
};
/// Draws records with probabilities proportional to their weights. A weight of 0 is never drawn.
///
/// With replacement each position of each epoch is a draw of its own, in constant time from an alias table: 16 bytes of
/// memory a weight, built once. Probabilities are exact to 2^-60 and to 2^-50 of themselves.
///
/// Without replacement an epoch is `count` different records in the order in which they would be drawn one after the
/// other, each by its weight among those that are left; another one in each epoch. 8 bytes of memory a weight, and 8 a
/// draw for an epoch's table, which takes about 0.2 s a million weights when an epoch begins (of tables at least the
/// last two epochs' are kept, more of them while they are small together, 64 MiB).
/// @throws Error(invalid_argument) for weights that are negative, not finite or all 0, and for more draws than weights
/// above 0 without replacement, or than 2^62; where it joins a pipeline, when that has another number of records, or an
/// order that changes between epochs.
PENSTOCK_API Stage draw_weighted(WeightedOptions options);

/// Settings of `draw_balanced`.
struct BalancedOptions {
  std::vector<std::int64_t> labels = {};  ///< result option: each record's class, any numbers; see `labels_of`
  std::vector<std::pair<std::int64_t, double>> class_weights =
      {};                                  ///< result option: relative frequency of a class; 1 for those not named
  std::uint64_t count = 0;                 ///< result option: draws an epoch; 0 = as many as there are labels
  bool replacement = false;                ///< result option: each position is a draw of its own
  std::optional<std::uint64_t> seed = {};  ///< result option: the pipeline's seed; default 0
};
/// Draws records so that classes are equally frequent, or as frequent as `class_weights` says, and the records of one
/// class equally frequent among each other. A class of weight 0 is never drawn.
///
/// Without replacement the frequencies are exact: where all are equal, the numbers of two classes in an epoch differ by
/// at most 1, and over many epochs too. Classes come mixed, in windows of as many draws as there are classes, at least
/// 64, each of which has its share of each. Every record of a class comes once before one of them comes again, across
/// the ends of epochs as well, in a new order each time. With replacement each position is a draw of its own, first of
/// the class, then of one of its records. 8 bytes of memory a label and about 60 a class.
/// @throws Error(invalid_argument) for no labels, class weights that are negative, not finite or all 0, or of a class
/// no record has, and for more than 2^62 draws; where it joins a pipeline, when that has another number of records, or
/// an order that changes between epochs.
PENSTOCK_API Stage draw_balanced(const BalancedOptions& options);
namespace detail {
PENSTOCK_API Stage draw_balanced_by(std::string field, BalancedOptions options);
}
/// Draws records as with `BalancedOptions::labels`, by the labels that a field of the source holds, one whole number or
/// boolean a record, as the source has them: after a `map` or `rename` that gives the field others it is refused. It
/// stands directly after the source, or after take, skip, select, split and repeat, and goes by the labels of the
/// positions that are left there:
///
///     from(Files{.root = "train"}) | split({.part = 0}) | draw_balanced("label")
///
/// Labels are got as by `labels_of` when it joins a pipeline, which takes 8 bytes of memory a record meanwhile.
/// @throws Error(invalid_argument) for `.labels`, which the field gives; where it joins a pipeline, as with
/// `BalancedOptions::labels`, as `labels_of`, and for a stream.
template <class Name>
  requires std::convertible_to<Name, std::string> Stage draw_balanced(Name field, BalancedOptions options = {}) {
    return detail::draw_balanced_by(std::move(field), std::move(options));
  }

/// The values of a scalar integer or boolean field, one for each record in order: labels for `draw_balanced`. A source
/// that knows them without reading records says them: the classes of a folder of files, the field's dataset alone of
/// HDF5, the value's own bytes in an LMDB record (whose checksum is not compared then), and those of joined parts. Of
/// any other, every record is read once, whole, on the calling thread: it takes as long as one epoch of one thread that
/// does nothing else. No stage is run, no image decoded. Any thread.
/// @throws Error(schema_mismatch) where there is no such field, Error(limit_exceeded) for a value that is no int64,
/// Error(invalid_argument) where a source says labels for another number of records, and whatever reading throws, with
/// the record's index and key.
PENSTOCK_API std::vector<std::int64_t> labels_of(const AnySource& source, std::string_view field);

}  // namespace penstock
