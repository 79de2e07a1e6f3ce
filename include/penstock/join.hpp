// SPDX-License-Identifier: Apache-2.0
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

// These functions join several sources, the parts, into one. A part is given as a source, as the options that open
// it, `concat(Lmdb{…}, Lmdb{…})`, or as a pipeline, whose samples are the part's records (see AnySource). Equal
// pipelines in two parts draw differently. A join has at most 10,000 parts with stages; more throw
// Error(limit_exceeded). A result can begin a pipeline, `from(concat(a, b)) | shuffle() | …`, or be joined again.
// Results are immutable; any thread may use them. A runner opens a reader of a part when it first needs one of the
// part's records, and keeps the reader. The reader's `expect` and `pause` are called as if the part were read by
// itself. Errors name the part's source, file and key. `Error::index` is the index in the join; the cause says which
// record of which part it is.
//
// The parts of `concat`, `interleave` and `mix` must have the same fields in the same order, with the same name, dtype,
// shape and collation. Otherwise the join throws Error(schema_mismatch), which names the parts and the field that
// differs. Names of classes may differ. Numbers are then mapped by name (see `ClassMatching`), with the errors of
// `map_classes`. A join of no parts, or of more than 2^62 records, throws Error(invalid_argument).
//
// The result of `concat`, `interleave` or `mix` has keys if all parts have keys. The same key may occur in two parts.
// The result has the groups of its parts. Groups with the same name in two parts are one group. If only some parts know
// groups, the groups of the other parts come from their keys. If such a part has no keys, or one of its keys has no
// '/', asking for groups throws Error(invalid_argument). The join's identity depends on the parts' identities, on their
// order, and on how classes are renumbered. Blocks that a part's records share are decoded once, as if the part were
// read by itself.

/// What a join does with fields whose numbers stand for classes (`Field::classes`).
enum class ClassMatching : std::uint8_t {
  by_name,  ///< A number means the same class in all records. The first part that has all names sets the numbers. If
            ///< no part has all names, the names are numbered in the order of their bytes. A part with other numbers is
            ///< renumbered, like by `map_classes`. If one part names its classes, all parts have to.
  as_numbers,  ///< Numbers stay as they are. The joined field has names only if all parts have the same names.
};

/// Settings of `concat`.
struct ConcatOptions {
  /// Result option. Default: by name.
  ClassMatching classes = ClassMatching::by_name;
};
/// Joins sources one after the other: all records of the first part, then all of the second, and so on. If all parts
/// that are not empty have `block_ends`, the result has them too.
PENSTOCK_API AnySource concat(const std::vector<AnySource>& parts, ConcatOptions options = {});
/// Joins sources of different types, like `concat` of a vector, with default options.
template <class... S>
  requires(sizeof...(S) > 1 && (std::convertible_to<S, AnySource> && ...))
AnySource concat(S... parts) { return concat(std::vector<AnySource>{AnySource(std::move(parts))...}); }

/// Settings of `interleave`.
struct InterleaveOptions {
  /// Result option: number of consecutive records of one part before the next part's turn. Default: 1.
  std::uint64_t block = 1;
  /// Result option. Default: by name.
  ClassMatching classes = ClassMatching::by_name;
};
/// Joins sources in turns: `block` records of the first part, `block` records of the second part, and so on. After the
/// last part it is the first part's turn again. A part without further records is skipped. Every record is delivered
/// exactly once; records of one part keep their order. Finding a record takes time in proportion to the number of
/// parts.
/// @throws Error(invalid_argument) if `block` is 0.
PENSTOCK_API AnySource interleave(const std::vector<AnySource>& parts, InterleaveOptions options = {});
/// Joins two sources of different types, like `interleave` of a vector.
template <class A, class B>
  requires(std::convertible_to<A, AnySource>&& std::convertible_to<B, AnySource>)
AnySource interleave(A a, B b, InterleaveOptions options = {}) {
  return interleave(std::vector<AnySource>{AnySource(std::move(a)), AnySource(std::move(b))}, options);
}

/// A source or pipeline whose fields are joined with the fields of others.
struct ZipPart {
  /// Takes any source or pipeline, and a prefix for the names of its fields.
  template <class S>
    requires std::convertible_to<S, AnySource> ZipPart(
        S part, std::string before_names = {})  // NOLINT(google-explicit-constructor): any source is a part
        : source(std::move(part)), prefix(std::move(before_names)) {}

    /// The source.
    AnySource source;
    std::string prefix;  ///< put before the names of the source's fields
};
/// What the keys of two records must have in common, so that the records belong together.
enum class PairBy : std::uint8_t {
  stem,  ///< The keys without the file's extension: "cat/7.jpg" and "cat/7.png". If the keys of one source have no
         ///< folders, only the file's name in each key counts, without extension: "cat/7.jpg" and "7.png". An extension
         ///< is a dot and 1 to 8 letters and digits, at least one of them a letter. If the extension is ".gz", ".bz2",
         ///< ".xz" or ".zst", the extension before it is left out too.
  name,  ///< The file's name in the keys, without folders and extension: "img/a.jpg" and "masks/a.png".
  key,   ///< The whole keys, byte for byte.
  position,  ///< Nothing: record i belongs to record i, whatever the keys are.
};

/// Settings of `zip`.
struct ZipOptions {
  /// What the keys of record i must have in common in all parts that have keys. The option decides only which parts are
  /// refused, and changes no result.
  /// Default: the stem.
  PairBy by = PairBy::stem;
};
/// Joins sources record by record: record i has the fields of record i of every part. Each field is written straight
/// into the sample. Keys, groups and `block_ends` come from the first part that has them.
///
///     from(zip({images, {masks, "mask_"}}))
///
/// The parts' records must be in the same order. Use `pair` for parts in different orders. If `by` is not `position`,
/// `zip` compares the keys of all parts that have keys. The calling thread reads the keys for this, and keeps no keys
/// (0.2 s for a million records of an LMDB store). Parts without keys (arrays, HDF5) are not compared.
/// @throws Error(invalid_argument) if
/// - there are no parts, or their sizes differ;
/// - two keys do not match (the error names such a pair);
/// - two fields have the same name.
PENSTOCK_API AnySource zip(std::vector<ZipPart> parts, ZipOptions options = {});
/// Joins two sources, like `zip` of a vector, without prefixes.
template <class A, class B>
  requires(std::convertible_to<A, AnySource>&& std::convertible_to<B, AnySource>)
AnySource zip(A a, B b, ZipOptions options = {}) {
  return zip(std::vector<ZipPart>{ZipPart(std::move(a)), ZipPart(std::move(b))}, options);
}
/// Joins three or more sources, like `zip` of a vector, without prefixes and with default options.
template <class... S>
  requires(sizeof...(S) > 2 && (std::convertible_to<S, AnySource> && ...))
AnySource zip(S... parts) { return zip(std::vector<ZipPart>{ZipPart(std::move(parts))...}); }

/// What `pair` does with records that lack a partner in another part.
enum class Unpaired : std::uint8_t {
  refuse,     ///< `pair` throws an error that says how many such records there are, and names some of them
  leave_out,  ///< `pair` leaves them out; `Pipeline::plan()` says how many
};
/// Settings of `pair`.
struct PairOptions {
  /// Result option: what the keys of two records must have in common, so that the records belong together. For
  /// `position`, use `zip` instead.
  /// Default: the stem.
  PairBy by = PairBy::stem;
  /// Result option. Default: refuse.
  Unpaired unpaired = Unpaired::refuse;
};
/// Joins sources by their keys. A record of the result has the fields of one record of each part, as with `zip`. `by`
/// says which records belong together. Records are in the order of the first part.
///
///     from(pair({images, {masks, "mask_"}}, {.unpaired = Unpaired::leave_out}))
///
/// Reads the keys once if all parts have the same keys in the same ascending order. Otherwise reads them up to four
/// times, and needs about 24 bytes of memory per record of each part until it returns. The result needs 8 bytes per
/// record for each part of which records are left out, or whose order differs from the result's. Keys are not kept.
///
/// Keys come from the first part. Groups come from the first part that has groups. `block_ends` come from the first
/// part that has them and whose order is the result's. Both are without the records that are left out.
/// @throws Error(invalid_argument) if
/// - there are fewer than two parts, or a part has no keys;
/// - `by` is `position`;
/// - two records of one part have the same key (the error names both);
/// - a record lacks a partner in another part, and `unpaired` is `refuse`;
/// - there are records, but no record has a partner in every other part;
/// - two fields have the same name.
PENSTOCK_API AnySource pair(std::vector<ZipPart> parts, PairOptions options = {});
/// Joins two sources, like `pair` of a vector, without prefixes.
template <class A, class B>
  requires(std::convertible_to<A, AnySource>&& std::convertible_to<B, AnySource>)
AnySource pair(A a, B b, PairOptions options = {}) {
  return pair(std::vector<ZipPart>{ZipPart(std::move(a)), ZipPart(std::move(b))}, options);
}

/// A source that is mixed with others.
struct MixPart {
  /// Takes any source or pipeline, and the relative frequency of its records.
  template <class S>
    requires std::convertible_to<S, AnySource> MixPart(S part, double how_often)
        : source(std::move(part)), weight(how_often) {}

    /// The source.
    AnySource source;
    double weight;  ///< relative frequency of the source's records in the mixture, 0 or more
};
/// Settings of `mix`.
struct MixOptions {
  /// Result option: number of records per epoch.
  /// Default (0): the number of records of all parts that have a weight above 0.
  std::uint64_t count = 0;
  /// Result option: the pipeline's seed. Default: the seed that another stage sets, or 0.
  std::optional<std::uint64_t> seed = {};
  /// Result option. Default: by name.
  ClassMatching classes = ClassMatching::by_name;
};
/// Begins a shuffled pipeline over parts in given proportions, whatever the parts' sizes are:
///
///     mix({{photos, 0.7}, {drawings, 0.3}}, {.count = 100'000}) | batch(64)
///
/// Proportions are exact, up to rounding. Draws are divided into windows of 64 records. With more than 64 parts, a
/// window has as many records as there are parts. At the end of each window and of each epoch, every part has its share
/// of all records drawn since the first epoch. Inside a window the parts are mixed at random. Shares are rounded in a
/// tree that halves the list of parts again and again. Each halving adds an error of at most 1/2 record: with 8 parts a
/// share is off by at most 1.5 records.
///
/// Every record of a part is drawn once before any record of the part is drawn again, even across epochs. Each of these
/// passes over a part has a new order. A record has the same index as in `concat` of the parts. `mix` needs no memory
/// per record.
/// @throws Error(invalid_argument) if
/// - a weight is negative or not finite, or all weights are 0;
/// - a part with a weight above 0 is empty;
/// - `count` is above 2^62.
PENSTOCK_API Pipeline mix(const std::vector<MixPart>& parts, MixOptions options = {});

}  // namespace penstock
