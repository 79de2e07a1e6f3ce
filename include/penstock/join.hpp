#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/any_source.hpp>
#include <penstock/pipeline.hpp>

namespace penstock {

// Several sources as one, each given as a source or as the options that open it: `concat(Lmdb{…}, Lmdb{…})`. What is
// joined begins a pipeline, `from(concat(a, b)) | shuffle() | …`, and can be joined
// again. Results are immutable; any thread. A part's readers are opened when a runner first asks for a record of it,
// and are told what to expect, and when to rest, as if the part were read alone; a runner keeps a reader of every part
// it has read. Errors name the part's source, file and key; `Error::index` stays that of the join, and the cause says
// which record of which part it is.
//
// Parts need the same fields: name, dtype, shape and collation, in the same order; else Error(schema_mismatch) names
// the parts and the field that differs. Names of classes may differ: numbers are mapped by name (`JoinedClasses`),
// which throws what `map_classes` does. No parts at all, and more than 2^62 records, are Error(invalid_argument).
//
// A join has keys where all its parts have them; two parts may have the same. Its groups are those of its parts, told
// by keys where a part knows none and another one does (keys that tell none are then an error of whoever asks); groups
// of one name in two parts are one group. Its identity is that of its parts, in their order, and of how their classes
// are renumbered. Blocks that a part's records share are decoded once, as if it were read alone.

/// What becomes of fields whose numbers stand for classes (`Field::classes`).
enum class JoinedClasses : std::uint8_t {
  by_name,     ///< a number means the same class in all records: the classes are those of the first part that has all
               ///< names, as it numbers them, else all names in the order of their bytes; other parts' numbers are
               ///< changed to these, as by `map_classes`. A part that names no classes beside one that does is refused
  as_numbers,  ///< numbers stay as they are; the field has names where all parts have the same
};

/// Settings of `concat`.
struct ConcatOptions {
  JoinedClasses classes = JoinedClasses::by_name;  ///< result option
};
/// The records of the parts, one part after the other. Its `block_ends` are those of its parts, where all have them.
PENSTOCK_API AnySource concat(const std::vector<AnySource>& parts, ConcatOptions options = {});
/// Joins sources that differ in type, as `concat` of a list, with the options' defaults.
template <class... S>
  requires(sizeof...(S) > 1 && (std::convertible_to<S, AnySource> && ...))
AnySource concat(S... parts) { return concat(std::vector<AnySource>{AnySource(std::move(parts))...}); }

/// Settings of `interleave`.
struct InterleaveOptions {
  std::uint64_t block = 1;  ///< result option: consecutive records of one part before it is the next one's turn
  JoinedClasses classes = JoinedClasses::by_name;  ///< result option
};
/// The records of the parts in turns: `block` of the first, `block` of the second, …; a part that is exhausted falls
/// out. Every record comes exactly once, those of one part in their order. Finding a record takes time in proportion to
/// the number of parts. @throws Error(invalid_argument) for blocks of 0.
PENSTOCK_API AnySource interleave(const std::vector<AnySource>& parts, InterleaveOptions options = {});
/// Joins two sources that differ in type, as `interleave` of a list.
template <class A, class B>
  requires(std::convertible_to<A, AnySource>&& std::convertible_to<B, AnySource>)
AnySource interleave(A a, B b, InterleaveOptions options = {}) {
  return interleave(std::vector<AnySource>{AnySource(std::move(a)), AnySource(std::move(b))}, options);
}

/// A source whose fields stand beside those of others.
struct ZipPart {
  /// Any source, and what is put before the names of its fields.
  template <class S>
    requires std::convertible_to<S, AnySource> ZipPart(
        S part, std::string before_names = {})  // NOLINT(google-explicit-constructor): any source is a part
        : source(std::move(part)), prefix(std::move(before_names)) {}

    /// The source.
    AnySource source;
    std::string prefix;  ///< put before the names of its fields
};
/// What tells that records of several sources belong together.
enum class PairBy : std::uint8_t {
  stem,  ///< their keys without the ending of a file's name: "cat/7.jpg" and "cat/7.png". Where the keys of a source
         ///< have no folders, the last part of them: "cat/7.jpg" and "7.png". An ending is a dot and up to 8 letters
         ///< and digits, at least one of them a letter (".gz", ".bz2", ".xz" and ".zst" take the one before them along)
  name,  ///< the last part of their keys, without the ending: "img/a.jpg" and "masks/a.png"
  key,   ///< their keys, byte for byte
  position,  ///< nothing: record i belongs to record i, whatever the keys are
};

/// Settings of `zip`.
struct ZipOptions {
  PairBy by = PairBy::stem;  ///< what must agree, of parts that have keys. Changes no result: only what is refused
};
/// Record i has the fields of the parts' records i, side by side, each written straight into the sample. Keys, groups
/// and `block_ends` are those of the first part that has them.
///
///     from(zip({images, {masks, "mask_"}}))
///
/// The parts' records must stand in one order, so the keys of those parts that have keys are compared: one pass over
/// them when it is made (0.2 s for a million of an LMDB store), none kept. `pair` joins what stands in another order. A
/// part without keys (arrays, HDF5) is taken as it stands.
/// @throws Error(invalid_argument) when the parts differ in size, for the first two keys that don't agree, when two
/// fields have one name, and for no parts.
PENSTOCK_API AnySource zip(std::vector<ZipPart> parts, ZipOptions options = {});
/// Joins two sources, as `zip` of a list, without prefixes.
template <class A, class B>
  requires(std::convertible_to<A, AnySource>&& std::convertible_to<B, AnySource>)
AnySource zip(A a, B b, ZipOptions options = {}) {
  return zip(std::vector<ZipPart>{ZipPart(std::move(a)), ZipPart(std::move(b))}, options);
}
/// Joins three or more sources, as `zip` of a list, without prefixes and with the options' defaults.
template <class... S>
  requires(sizeof...(S) > 2 && (std::convertible_to<S, AnySource> && ...))
AnySource zip(S... parts) { return zip(std::vector<ZipPart>{ZipPart(std::move(parts))...}); }

/// What becomes of records without a partner.
enum class Unpaired : std::uint8_t {
  refuse,     ///< an error that names some of them and says how many there are
  leave_out,  ///< they are not there; `Pipeline::plan()` says how many
};
/// Settings of `pair`.
struct PairOptions {
  PairBy by = PairBy::stem;              ///< result option: any but `position`, which is `zip`
  Unpaired unpaired = Unpaired::refuse;  ///< result option
};
/// Joins records by their keys: the fields of those that belong together stand side by side, as of `zip`, in the order
/// of the first part.
///
///     from(pair({images, {masks, "mask_"}}, {.unpaired = Unpaired::leave_out}))
///
/// Goes over the keys once where all parts have the same ones in one ascending order, else three times at most, with 16
/// bytes of memory a record of each part meanwhile; 8 bytes a record stay for each part that stands in another order.
/// Keys themselves are not kept. Keys are the first part's; groups and `block_ends` those of the first part that has
/// them, as far as their records are left.
/// @throws Error(invalid_argument) for a part without keys, two records of one part with the same key (both are named),
/// records without a partner, where nothing belongs together, when two fields have one name, and for fewer than two
/// parts.
PENSTOCK_API AnySource pair(std::vector<ZipPart> parts, PairOptions options = {});
/// Joins two sources, as `pair` of a list, without prefixes.
template <class A, class B>
  requires(std::convertible_to<A, AnySource>&& std::convertible_to<B, AnySource>)
AnySource pair(A a, B b, PairOptions options = {}) {
  return pair(std::vector<ZipPart>{ZipPart(std::move(a)), ZipPart(std::move(b))}, options);
}

/// A source that is mixed with others.
struct MixPart {
  /// Any source, and how often it is drawn from.
  template <class S>
    requires std::convertible_to<S, AnySource> MixPart(S part, double how_often)
        : source(std::move(part)), weight(how_often) {}

    /// The source.
    AnySource source;
    double weight;  ///< relative frequency of its records in the mixture, 0 or more
};
/// Settings of `mix`.
struct MixOptions {
  std::uint64_t count = 0;                 ///< result option: records an epoch; 0 = as many as the parts that are drawn
                                           ///< from have together
  std::optional<std::uint64_t> seed = {};  ///< result option: the pipeline's seed; default 0
  JoinedClasses classes = JoinedClasses::by_name;  ///< result option
};
/// Begins a pipeline over the parts in given proportions, however large each is, already shuffled:
///
///     mix({{photos, 0.7}, {drawings, 0.3}}, {.count = 100'000}) | batch(64)
///
/// Proportions are exact: counted from the first epoch on, through all epochs, each part has its share of the records
/// drawn so far, up to rounding, at the end of each window of 64 (or as many as there are parts) and of each epoch;
/// inside a window the parts come mixed. Rounding goes down a tree that halves the list of parts: a share is off by at
/// most 1/2 for each halving, so of 8 parts by at most 1.5. Every record of a part comes once before one of them comes
/// again, across the ends of epochs as well, in a new order each time. Indices are those of `concat` of the parts. No
/// memory for each record.
/// @throws Error(invalid_argument) for weights that are negative, not finite or all 0, for an empty part whose weight
/// is above 0, and for a count above 2^62.
PENSTOCK_API Pipeline mix(const std::vector<MixPart>& parts, MixOptions options = {});

}  // namespace penstock
