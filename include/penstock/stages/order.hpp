// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Settings of `shuffle`. All are result options.
struct ShuffleOptions {
  /// The seed of the pipeline. Default: the seed that another stage sets, or 0.
  std::optional<std::uint64_t> seed = {};
  /// If true, records of one block stay near each other.
  bool blocks = false;
  /// With `blocks`: number of blocks that are mixed with each other.
  std::uint64_t window_blocks = 16;
  /// With `blocks`: number of consecutive records per block. Default (0): the source's own blocks.
  std::uint64_t block_size = 0;
  /// With `blocks`: number of ranks to make the order for. If this is the real number of ranks, hardly any block is
  /// read by two ranks.
  std::uint64_t ranks = 1;
  /// Streams only, and required for them: number of consecutive records that are mixed with each other, 2 to 2^20.
  std::uint64_t window = 0;
};
/// Permutes all records in a new way in each epoch. The permutation is a bijection that takes no memory, however many
/// records there are.
///
/// `blocks` is for stores that are slow to read at random (shards of an archive, compressed chunks). The stage permutes
/// the blocks, cuts their order into windows of `window_blocks` blocks, and permutes the records of each window. Every
/// record comes once per epoch. At any time, at most `window_blocks` blocks are begun and not finished.
/// With `blocks`, the stage must stand directly after the source, or after orders that keep a block's records together,
/// and are the same in every epoch. These orders are take, skip, and split by key or group. The stage goes through
/// their records once when the pipeline is built.
/// The table of an epoch takes 16 bytes of memory per block. It is built from the seed when the epoch begins. The
/// tables of the two epochs used last are always kept. Up to 62 older tables are kept as long as all tables together
/// take at most 64 MiB.
///
/// Ranks that share each batch (`for_rank`) all read the same blocks, and each rank decodes these blocks. `.ranks = n`
/// avoids that: it cuts the order of blocks into n equal stretches, and each stretch supplies 1/n of every batch. If
/// the number of ranks divides n, each rank reads whole stretches. Then only the blocks at the cuts, and the blocks of
/// an incomplete last batch, are decoded by more than one rank. The order depends on `ranks` and on the batch's rows,
/// never on the real number of ranks.
/// The cuts fit only if the first batch begins where the shuffle's order begins. A `skip` after the shuffle shifts the
/// batches, so ranks read the same blocks again. `repeat` and `Rank::steps_per_epoch` shift the batches too, unless the
/// number of records of a pass is a multiple of the batch's rows.
///
/// The records of a stream are permuted within windows of `window` consecutive records. Two windows are held in memory
/// at a time; each record takes about 3 KiB in addition to its bytes.
/// @throws Error(invalid_argument) if
/// - `blocks` is false, and `block_size`, `ranks` or `window_blocks` is not the default;
/// - `blocks` is true, and `window` is set, or `window_blocks` or `ranks` is 0.
/// @throws Error(invalid_argument) when it joins a pipeline, if
/// - the source is a stream, and `blocks` is set, or `window` is not 2 to 2^20;
/// - the source is not a stream, and `window` is set;
/// - with `blocks`, an order before it changes between epochs, or does not keep a block's records together;
/// - with `blocks`, the source has no `block_ends` and `block_size` is not set, or there are more than 2^27 blocks.
/// @throws Error(invalid_argument) when `batch` joins the pipeline, if `ranks` is above 1, and the number of rows per
/// batch varies or is not a multiple of `ranks`.
PENSTOCK_API Stage shuffle(ShuffleOptions options = {});
/// Keeps the first `n` records.
PENSTOCK_API Stage take(std::uint64_t n);
/// Leaves out the first `n` records.
PENSTOCK_API Stage skip(std::uint64_t n);
/// Keeps the records at these positions, in this order. A position may be named more than once.
/// @throws Error(invalid_argument) when it joins a pipeline, if a position is beyond the end.
PENSTOCK_API Stage select(std::vector<std::uint64_t> positions);
/// Delivers all records `times` times within one epoch. A shuffle before it makes a new permutation each time.
PENSTOCK_API Stage repeat(std::uint64_t times);
/// Sets the seed of every random draw of the pipeline. Two different seeds in one pipeline are refused.
PENSTOCK_API Stage seed(std::uint64_t value);

/// Settings of `bags`. All are result options.
struct BagOptions {
  /// The seed of the pipeline. Default: the seed that another stage sets, or 0.
  std::optional<std::uint64_t> seed = {};
  /// Groups with fewer records are left out; `Pipeline::plan()` reports this. A slide that can't be read is a group
  /// with one record.
  std::uint64_t min_size = 1;
  /// Field of the source that has each group's class. With `balance`, classes come equally often (see `bags`). The
  /// field has one whole number or boolean per record, which is the same for all records of a group. Labels are read
  /// like those of `labels_of` when the stage joins a pipeline. That takes 8 bytes of memory per record until the stage
  /// has joined, and 8 bytes per group after that. Default (empty): each group comes once per epoch.
  std::string balance = {};
};
/// Delivers the records of one group after the other, in a new order of groups in each epoch. A group is, for instance,
/// a slide's tiles, or a patient's pictures (see `SplitOptions::By::group`). In each epoch the stage draws a bag of
/// each group: at most `size` of the group's records, without replacement. With `batch(size, {.by =
/// BatchOptions::By::group})` each batch is one bag. But a `repeat` between these two stages may put two bags of one
/// group side by side, and a batch may then have records of both.
/// Stands directly after the source, or after orders that are the same in every epoch (split by group, take, skip,
/// select, repeat). It draws from the records that these orders leave.
/// Takes 16 bytes of memory for each sequence of consecutive records of one group, 48 bytes per group, and 24 bytes per
/// bag of an epoch.
///
/// With `balance`, an epoch has the same number of bags of each class: the number of groups in the largest class. So no
/// group is left out. Bags come in rounds. A round has one bag of each class, in an order that is drawn again for each
/// round. A batch of whole rounds has the same number of bags of each class.
/// Groups of a smaller class come more than once per epoch. Within a class, the numbers of bags per epoch of two groups
/// differ by at most 1. In an epoch, the bags of a group have different records until too few are left for a whole
/// bag. Then bags are drawn from all records of the group again. Two consecutive bags of an epoch are never of one
/// group.
///
/// All epochs have the same length. For this, the groups of a class form sets of groups whose bags have the same size.
/// The groups with at least `size` records are one set. For each n below `size`, the groups with n records are another
/// set. Each set has a fixed number of bags per epoch. If this number is not a multiple of the number of groups in the
/// set, some of these groups have one bag more than the others. The groups take turns at this from one epoch to the
/// next. So from the first epoch to any later epoch, the numbers of bags of two groups of one set differ by at most 1.
/// This does not hold for groups of two sets: a group of one set may have one bag more than a group of another set in
/// every epoch. If `min_size` is at least `size`, a class has only one set.
///
/// A batch of several bags has whole bags only as long as no sample is left out or replaced. `filter`, `flat_map` and
/// the policies `drop` and `replace` shift or mix the bags after such a sample. `Pipeline::plan()` says if this may
/// happen.
/// @throws Error(invalid_argument) if `size` is 0.
/// @throws Error(invalid_argument) when it joins a pipeline, if
/// - it stands after an order that changes between epochs;
/// - the source is a stream, or a record's key does not name a group;
/// - `min_size` leaves no group or, with `balance`, no group of a class;
/// - with `balance`, a group's records have different values, or an epoch would have more than 2^27 bags.
/// @throws With `balance`, what `labels_of` throws.
PENSTOCK_API Stage bags(std::uint64_t size, BagOptions options = {});

/// Settings of `split`. All are result options.
struct SplitOptions {
  /// Relative sizes of the parts.
  std::vector<double> shares = {0.9, 0.1};
  /// Number of the part that this pipeline gets. Default: 0. It must not be set together with `all_but`.
  std::optional<std::uint64_t> part = {};
  /// Number of the part that is left out: this pipeline gets all other parts. In cross-validation, fold k trains on
  /// `.all_but = k`, and is validated on `.part = k`. Default: one part is kept.
  std::optional<std::uint64_t> all_but = {};
  /// What decides which part a record is in.
  enum class By : std::uint8_t {
    index,  ///< the record's position. Sizes are exact, and no memory is needed. Adding records makes a different split
    /// A hash of the record's key. A record stays in its part when other records are added or removed. Takes 8 bytes of
    /// memory per record that is kept, and one pass over the keys when the pipeline is built.
    key,
    /// A hash of the name of the record's group, so that all records of a group are in one part. Groups are the
    /// source's own (slides, patients). If the source has no groups, the group's name is the key up to its last '/':
    /// "patient-17" for "patient-17/3". A group stays in its part when other groups are added or removed, unless
    /// `stratify` is set. Takes 16 bytes of memory for each sequence of consecutive records of one group.
    group,
  } by = By::index;  ///< what decides. Default: the record's position
  /// A different salt makes a different split. The salt is separate from the pipeline's seed, so that training and
  /// validation agree.
  std::uint64_t salt = 0;
  /// Field of the source with one whole number or boolean per record. Each part gets its share of the records with each
  /// value. By index, this is exact to less than one record; by group, as near as whole groups allow (see `split`). Not
  /// allowed by key. Labels are read like those of `labels_of` when the stage joins a pipeline.
  /// Memory by index: 24 bytes per record until the stage has joined, and 8 bytes per kept record after that.
  /// Memory by group: 16 bytes for each sequence of consecutive records of one group. Until the stage has joined, it
  /// takes 8 bytes per record, about 100 bytes per group, 24 bytes per sequence, and 24 bytes per value in a sequence.
  std::string stratify = {};
};
/// Keeps one of several parts, or all except one. Each record is in exactly one part. Parts are the same in every
/// epoch. With the same shares, salt and `by`, `.part = k` and `.all_but = k` together have each record once. Stands
/// directly after the source. By index, it may also stand after orders that are the same in every epoch (take, skip,
/// select, split, repeat). By key, by group and with `stratify`, records keep their order. By key and by group, parts
/// have their shares on average. By group, `Pipeline::plan()` says how many groups are kept.
///
/// By group with `stratify`, the split begins with the groups' hashes. Then groups are moved to other parts as long as
/// that brings the parts nearer to their shares. Part p has n(p, v) of the N(v) records with value v, and should have
/// the share s(p) of these records; the shares sum to 1. In the end, moving a single group to another part would
/// not reduce the sum of (n(p, v) - s(p) N(v))^2 / N(v) over all p and v. If there are few groups, several splits are
/// made, and the split with the least sum is used.
/// So validation has its share of each class, and each patient is in only one part. If groups are large, or a class has
/// few groups, see `Pipeline::plan()`: it says how many records are kept, and which value is farthest from its share.
/// The split depends on the shares, the salt, each group's name and each group's number of records of each value. It
/// does not depend on the order of groups. When a group is added or removed, other groups may move to another part.
/// @throws Error(invalid_argument) if
/// - a share is negative or not finite, or all shares are 0;
/// - there is no share number `part` or `all_but`, or both are set;
/// - `stratify` is set for a split by key.
/// @throws Error(invalid_argument) when it joins a pipeline, if
/// - the source is a stream;
/// - it splits by key or by group, and stands after another order;
/// - it splits by key, and the source has no keys;
/// - it splits by group, and a record's key does not name a group;
/// - it splits by group, and what is kept has a share above 0 but gets no group.
/// @throws With `stratify`, what `labels_of` throws.
PENSTOCK_API Stage split(SplitOptions options);

}  // namespace penstock
