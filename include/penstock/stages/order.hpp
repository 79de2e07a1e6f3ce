#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Settings of `shuffle`.
struct ShuffleOptions {
  std::optional<std::uint64_t> seed = {};  ///< result option: the pipeline's seed; default 0
  bool blocks = false;                     ///< result option: keep records of one block near each other
  std::uint64_t window_blocks = 16;        ///< result option, `.blocks`: so many blocks are mixed with each other
  std::uint64_t block_size =
      0;                     ///< result option, `.blocks`: consecutive records of a block; 0 = the source's own blocks
  std::uint64_t ranks = 1;   ///< result option, `.blocks`: for so many ranks, which then share hardly any block
  std::uint64_t window = 0;  ///< result option, of a stream only and required: so many records, 2 to 2^20, are mixed
                             ///< with each other
};
/// A new permutation of all records in each epoch: a bijection that takes no memory, however many records there are.
///
/// With `.blocks` for stores that are slow to read at random (shards of an archive, compressed chunks): the blocks are
/// permuted and cut into windows of `window_blocks`; then the records of each window are permuted. So every record
/// comes once, and at no time have more than `window_blocks` blocks been begun and not finished. It stands
/// directly after the source, or after orders that leave what they leave of a block together and are the same in
/// every epoch (split by key, take, skip); these are then gone through once, position by position, when the pipeline is
/// built. 16 bytes of memory a block and epoch, rebuilt from the seed when an epoch begins; at least the last two
/// epochs' are kept, more of them while they are small together (64 MiB).
///
/// Ranks that share each batch (`for_rank`) all go through the same blocks, and each decodes them. With `.ranks = n`
/// the order of blocks is cut into n equal stretches, from each of which comes an n-th of each batch: the rows of a
/// rank where there are n ranks, or fewer by a whole factor. Then only blocks around the cuts, and those of the last,
/// incomplete batch, are decoded by more than one rank. The order depends on `.ranks` and on the
/// batch's rows, never on how many ranks there really are. The cuts suit batches that begin where the shuffle's order
/// does: `skip` after it, and passes whose records are no multiple of the batch's rows (`repeat`, `.steps_per_epoch`),
/// shift the batches, and ranks share blocks again.
///
/// A stream's records are permuted inside consecutive runs of `window`, which are held in memory: two runs
/// at once, each record with about 3 KiB besides its bytes.
/// @throws Error(invalid_argument) for `.block_size`, `.ranks` or another `.window_blocks` without `.blocks`, `.window`
/// with it, and `.window_blocks` or `.ranks` of 0; for ranks, where a batch's rows are no multiple of them, or vary;
/// where it joins a pipeline, for `.window` over records with random access, and for a stream without `.window` or with
/// `.blocks`; when an order before it changes between epochs or tears blocks apart, or the source has no `block_ends`
/// and `.block_size` isn't said, or there are more than 2^27 blocks.
PENSTOCK_API Stage shuffle(ShuffleOptions options = {});
/// The first n.
PENSTOCK_API Stage take(std::uint64_t n);
/// All but the first n.
PENSTOCK_API Stage skip(std::uint64_t n);
/// The records at these positions, in this order; one may come more than once.
/// @throws Error(invalid_argument) when it joins a pipeline that is shorter than that.
PENSTOCK_API Stage select(std::vector<std::uint64_t> positions);
/// The whole input `times` times within one epoch; a shuffle before it shuffles each time anew.
PENSTOCK_API Stage repeat(std::uint64_t times);
/// Sets the seed of every random draw of the pipeline. Two different seeds in one pipeline are refused.
PENSTOCK_API Stage seed(std::uint64_t value);

/// Settings of `bags`.
struct BagOptions {
  std::optional<std::uint64_t> seed = {};  ///< result option: the pipeline's seed; default 0
  std::uint64_t min_size = 1;              ///< result option: groups of fewer records are left out, and told in
                                           ///< `Pipeline::plan()`; a slide that can't be read has one record
  std::string balance = {};  ///< result option: a field of the source, one whole number or boolean a record, that is
                             ///< the same for all records of a group: its class. Classes then come equally often, see
                             ///< `bags`. Labels are got as by `labels_of` when it joins a pipeline, which takes 8 bytes
                             ///< of memory a record meanwhile; 8 more a group stay. Empty: each group comes once
};
/// The groups (a slide's tiles, a patient's pictures; see `SplitOptions::By::group`) one after the other, in a new
/// order in each epoch, and of each at most `size` records, drawn anew in each epoch without replacement. With
/// `batch(size, {.by = BatchOptions::By::group})` each batch is one bag (without `repeat` between them, which may put
/// two bags of one group side by side). 16 bytes of memory a run of a group's records and 48 a group, 24 more a bag of
/// an epoch. It stands directly after the source or after orders that are the same in every epoch (split by group,
/// take, skip, select, repeat), of which it takes what is left of each group.
///
/// With `.balance` an epoch has as many bags of each class as the largest class has groups: classes times that number
/// of bags in all, so that no group is left out. Bags come in rounds of one of each class, in a new order each; batches
/// that hold whole rounds hold as many bags of each class. The groups of a smaller class come again, each as often as
/// the others of its class or once more, with other records as long as as many are left as a bag has; then they are
/// drawn anew. Two bags next to each other in an epoch are never of one group.
///
/// Batches that hold several bags hold them whole as long as no sample is left out or replaced: `filter`, `flat_map`
/// and the policies `drop` and `replace` shift or mix what comes after. `Pipeline::plan()` says where that may be.
///
/// So that epochs are equally long, all groups of a class that give bags of one size (`size`, and those that have fewer
/// records: each number of them) have a fixed number of an epoch's turns together; who has one more goes round from one
/// epoch to the next. Groups of at least `size` records so come equally often over the epochs, to one bag; a group
/// that is smaller may have its one turn more, or not, in every epoch. `min_size` makes them all alike.
/// @throws Error(invalid_argument) for a size of 0; where it joins a pipeline, after an order that changes between
/// epochs, for a stream, and where a record's key names no group; with `.balance` also as `labels_of`, for a group
/// whose records have different values, a class of which `min_size` leaves no group, and for more than 2^27 bags an
/// epoch.
PENSTOCK_API Stage bags(std::uint64_t size, BagOptions options = {});

/// Settings of `split`.
struct SplitOptions {
  std::vector<double> shares = {0.9, 0.1};  ///< result option: relative sizes of the parts
  std::uint64_t part = 0;                   ///< result option: which part this pipeline gets
  /// What decides to which part a record belongs.
  enum class By : std::uint8_t {
    index,  ///< exact sizes, no memory; adding records reshuffles the parts
    key,    ///< by a hash of each record's key: a record keeps its part when others come or go; 8 bytes of memory a
            ///< record of the part, one pass over the keys when the pipeline is built
    group,  ///< by a hash of the name of each record's group, all of whose records are in one part: the source's
            ///< own groups (slides, patients), else what stands before the last '/' of each key, "patient-17" of
            ///< "patient-17/3". A group keeps its part when others come or go, unless `stratify` is said. 16 bytes of
            ///< memory a run of records that follow each other
  } by = By::index;           ///< result option
  std::uint64_t salt = 0;     ///< result option: another value makes another split; not the pipeline's
                              ///< seed, so that training and validation agree
  std::string stratify = {};  ///< result option: a field of the source, one whole number or boolean a record. Each of
                              ///< its values has its share in every part: by index exact to less than one record, by
                              ///< group as near as whole groups allow, see `split`; not by key. Labels are got as by
                              ///< `labels_of` when it joins a pipeline. By index that takes 24 bytes of memory a record
                              ///< meanwhile, and 8 a record of the part stay; by group 8 a record, 24 a run of
                              ///< records of one group, 24 for each value in it and some 100 a group meanwhile, and
                              ///< 16 a run stay
};
/// One of several disjoint parts that together hold every record exactly once, in every epoch the same.
/// It stands directly after the source or, by index, after orders that are the same in every epoch (take, skip,
/// select, split, repeat); by key, by group and stratified it leaves records in their order. Shares by key and by group
/// are met on average: with few groups, `Pipeline::plan()` says how many there are in the part.
///
/// By group with `stratify`, the split by hashes is where it begins; then groups change their part for as long as that
/// brings parts nearer to their shares. What is true in the end: with n(p, v) records of the value v in part p, N(v) in
/// all, and s(p) the part's share of 1, there is no group that another part could have, one with a share, so that the
/// sum of (n(p, v) - s(p) N(v))^2 / N(v) over all p and v were smaller. Of few groups several splits are made, and the
/// nearest is taken. So validation has its share of each class, with each patient on one side; where groups are large,
/// or a class has few of them, `Pipeline::plan()` says how many records the part has, and which value is farthest from
/// its share. Shares, salt, and of each group its name and its number of records of each value decide, not their order;
/// when a group comes or goes, others may change their part too.
/// @throws Error(invalid_argument), where it joins a pipeline after another order too, or a record's key names no
/// group, or a part that has a share gets no group; stratified, then also as `labels_of`.
PENSTOCK_API Stage split(SplitOptions options);

}  // namespace penstock
