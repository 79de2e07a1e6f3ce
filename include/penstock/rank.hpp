// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Consecutive items of a list.
struct ItemRange {
  /// `first`: number of the first item. `count`: number of items.
  std::size_t first = 0, count = 0;
};

/// Which process of a training run this is. Launchers and communication libraries count ranks with `int`, and so does
/// this type.
struct Rank {
  int rank = 0;   ///< 0 … world - 1
  int world = 1;  ///< number of processes that share each batch

  /// Batches per epoch; see `for_rank`. Default (0): an epoch is one pass over the data.
  std::uint64_t steps_per_epoch = 0;

  /// Returns the rank that the launcher set for this process, or rank 0 of 1 if it set none. Reads these variables, in
  /// this order:
  ///
  ///     RANK, WORLD_SIZE                              torchrun, or set by hand
  ///     OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE    Open MPI
  ///     PMI_RANK, PMI_SIZE                            MPICH, Intel MPI
  ///     SLURM_PROCID, SLURM_NTASKS                    srun
  ///
  /// If several of the first three pairs are set, they must agree. If Slurm starts a launcher on each node, Slurm's
  /// variables count launchers. So Slurm's variables are ignored if both variables of an MPI are set, or if torchrun
  /// has set TORCHELASTIC_RUN_ID besides RANK and WORLD_SIZE. Otherwise, if RANK, WORLD_SIZE and both of Slurm's
  /// variables are set, the two pairs must agree. Slurm's variables describe the processes that srun started, not the
  /// script that runs srun.
  ///
  /// Any thread, while no thread changes the environment.
  /// @throws Error(invalid_argument), which names the variables, if
  /// - two pairs disagree;
  /// - only one variable of a pair is set; for Slurm's pair, this is an error only if no other pair is set;
  /// - a value is not a whole number from 0 on, or the rank is not below the world's size.
  PENSTOCK_API static Rank from_environment();

  /// Returns this rank's share of items that can't be divided, files for instance. `sizes` are the items' bytes, or
  /// another measure of their work. If all ranks pass the same sizes, each item belongs to exactly one rank.
  ///
  /// The items are laid end to end, and the whole length is cut into `world` equal parts. A rank gets the items whose
  /// middle is in its part. So each rank gets consecutive items, and their total size exceeds the mean of all ranks by
  /// at most about the largest item. Each size counts as one more than it is, so that empty items are shared out too.
  /// Any thread.
  /// @throws Error(invalid_argument) if the rank is not in the world.
  PENSTOCK_API ItemRange items_of(std::span<const std::uint64_t> sizes) const;
};

/// Shares each batch among the ranks of a run. Each rank has its own loader. The ranks' pipelines differ only in this
/// stage. The stage may be anywhere in the pipeline, once.
///
/// `batch(n)` is still the batch of all ranks together. Each rank gets consecutive rows of this batch, in the order of
/// the ranks. The first n mod `world` ranks get one row more than the others (9 rows over 4 ranks: 3, 2, 2, 2). A
/// loader reads, makes and holds only its own rows.
///
/// - The ranks' batches of one step, put together in order, are bit for bit the batch of a run with one rank. (A field
///   that is padded to the longest row is padded to the longest row of the rank's part.) Order, draws, stand-ins for
///   bad samples, mask and fingerprint don't depend on the number of ranks. So any number of ranks can resume a state
///   that any rank saved; all of them must resume the same state.
/// - Every rank has the same number of steps, even if the last batch is incomplete. `Tail::keep` shares the last
///   batch's rows like those of other batches. If the last batch has fewer rows than there are ranks, the last ranks
///   get a batch of size 0, so that all ranks take part in every step. With `Tail::pad` each rank gets its usual number
///   of rows. Rows after the end are padding; the last ranks may get only padding.
/// - Divide the sum of the gradients of all ranks by `Batch::global_size()`. With the policy `mask`, divide by the sum
///   of all ranks' masks instead.
/// - Errors and quotas belong to one rank. If an error ends the run on one rank, the library does not inform the
///   others. `on_error` counts only the samples of this rank. A state holds the counts of the rank that saved it, and
///   each rank that resumes from it continues from these counts.
///
/// `steps_per_epoch` makes epochs of a fixed length, on one rank or several: for example, to evaluate after every 500
/// batches, no matter how long a pass over the data is. An epoch is then exactly `steps_per_epoch` batches. All of them
/// are full, so `Tail` has no effect.
///
/// The data continue across epochs, pass after pass. Each pass has its own order and draws (`Place::epoch` counts
/// passes). A batch may hold the end of one pass and the beginning of the next. The next epoch begins after the last
/// batch that was delivered, even if a loop was left early. An error ends the epoch, as always, and the next epoch
/// begins after the batch that failed.
///
/// Some pipelines don't know in advance how many samples they have: those with filter, `flat_map`, the policy `drop` or
/// `bucket`. With several ranks they need `steps_per_epoch`, because otherwise the ranks would make different numbers
/// of batches. The ranks then share the samples by these rules:
///
/// - Rank r makes the samples at positions p with p mod `world` = r, where p is counted over all passes. The samples
///   that stages keep fill the rank's share of each batch's rows. So the number of ranks decides which samples share a
///   batch, and the fingerprint depends on that number. Each rank saves its own state, and resumes from it with the
///   same rank and world.
/// - Ranks share the window of `bucket` like the rows of a batch. With `batch(n)`, a rank that has k rows of each batch
///   sorts k x `window` / n samples together. For a window of 20, `batch(5)` and 2 ranks, these are 12 and 8 samples.
/// - After a failure the next epoch begins after the sample that failed. Samples before it in the same batch, or in the
///   same window of `bucket`, are skipped until the next pass.
/// - A rank's loader throws Error(invalid_argument) if the rank keeps no sample during 8 passes over the data.
///
/// `steps_per_epoch` is a result option: it changes the fingerprint. `rank` and `world` change the fingerprint only in
/// pipelines that don't know in advance how many samples they have.
/// @throws Error(invalid_argument) if
/// - the rank is not in the world, or `steps_per_epoch` is 2^32 or more;
/// - the pipeline already has a `for_rank`, or its batches have fewer rows than there are ranks;
/// - `steps_per_epoch` is set and the pipeline is empty (thrown when a loader is made).
/// @throws Error(unsupported) with more than one rank if
/// - the number of samples is not known in advance, and `steps_per_epoch` is not set;
/// - batches end by the sizes or groups of samples;
/// - the source is a stream, which has no positions that ranks could share. Give each rank its own stream, and call
///   `next()` equally often on all ranks.
/// @throws Error(unsupported) if `steps_per_epoch` is set for a stream.
PENSTOCK_API Stage for_rank(Rank part);

}  // namespace penstock
