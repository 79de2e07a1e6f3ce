#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Some of a list's items, one after the other.
struct ItemRun {
  /// Number of the first one, and how many there are.
  std::size_t first = 0, count = 0;
};

/// Which of the processes of one training run this is. `int`, as launchers and communication libraries count.
struct Rank {
  int rank = 0;   ///< 0 … world - 1
  int world = 1;  ///< processes that share each batch

  /// Batches an epoch, one pass over the data after the other; 0 = an epoch is a pass. See `for_rank`.
  std::uint64_t steps_per_epoch = 0;

  /// What the launcher set for this process; rank 0 of 1 where none did. Looked for in this order:
  ///
  ///     RANK, WORLD_SIZE                              torchrun, or set by hand
  ///     OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE    Open MPI
  ///     PMI_RANK, PMI_SIZE                            MPICH, Intel MPI
  ///     SLURM_PROCID, SLURM_NTASKS                    srun
  ///
  /// Those of the first three that are set must agree. Slurm also starts launchers, one on each node, and its variables
  /// then count those: they are left aside where an MPI, or torchrun itself (TORCHELASTIC_RUN_ID), set its own, and
  /// must agree with RANK and WORLD_SIZE that came from elsewhere. They describe processes that srun started, not the
  /// script that runs it.
  /// @throws Error(invalid_argument) that names the variables, where they disagree, where one of a pair is missing
  /// (Slurm's: and nothing else is set) or no number, or where the rank is not below the world's size. Any thread,
  /// while none changes the environment.
  PENSTOCK_API static Rank from_environment();

  /// This rank's run of items that are shared as wholes, files for instance: `sizes` are their bytes, or what else
  /// makes work. All items laid end to end, a rank has those whose middle lies in its part of the whole, so ranks have
  /// runs one after the other, each of about equal size: none is longer than the mean by more than an item. Where all
  /// ranks give the same sizes, each item is one rank's. Any thread.
  /// @throws Error(invalid_argument) for a rank outside of the world.
  PENSTOCK_API ItemRun run_of(std::span<const std::uint64_t> sizes) const;
};

/// Shares each batch among the ranks of a run; each has a loader of its own, over the same pipeline but for this stage.
/// It may stand anywhere, once. `batch(n)` stays the batch of all ranks together: of its n rows, rank r has a run of
/// consecutive ones, ranks in order, the first n mod `world` ranks one row more than the others (9 over 4: 3, 2, 2, 2).
/// A loader reads, makes and holds its own rows alone.
///
/// - The ranks' batches of one step, one after the other, are bit for bit the batch of a run of one rank (but for
///   padding to the longest row, which is the longest of a rank's part). Neither
///   order nor draws, stand-ins for bad samples, mask or fingerprint depend on the number of ranks. So a state that any
///   rank saved resumes on any number of ranks, all of which are given that one state.
/// - Every rank has the same number of steps, also where the last batch is incomplete. With `Tail::keep` its rows are
///   shared as evenly as any others; where there are fewer than ranks, the last ranks get a batch of size 0, so that
///   what all ranks do together in a step stays in step. With `Tail::pad` each rank has its usual number of rows, and
///   those after the end are padding, which is all that the last ranks may have.
/// - `Batch::global_size()` is what the gradients' sum over all ranks is to be divided by. (With the policy `mask`, add
///   up the masks as well, and divide by that sum.)
/// - Errors and quotas are a rank's own: what ends the run on one rank, the others don't hear of from here, and
///   `on_error` counts the samples of this rank. A state holds the counts of the rank that saved it; each rank that
///   resumes from it counts on from them.
///
/// `steps_per_epoch` makes epochs of a fixed length, on one rank or several: evaluate after every 500 batches, however
/// long a pass over the data is. An epoch is then exactly so many batches, all of them full (`Tail` says nothing). The
/// data go on: pass after pass, with an order and draws of its own each (`Place::epoch` counts passes), and an epoch
/// ends wherever its last batch does, which may hold the end of one pass and the beginning of the next. The next epoch,
/// also where a loop is left early, begins after the last batch that was delivered; what fails ends the epoch, as
/// always, and the next one begins after the batch that failed. All else stands as above.
///
/// Where only the samples tell how many there are (filter, flat_map, the policy `drop`, `bucket`), ranks would not
/// agree on their steps: such a pipeline needs `steps_per_epoch`, and is shared in another way.
///
/// - Rank r makes the positions p with p mod `world` = r, counted on over all passes, and fills its share of each
///   batch's rows with what is left of them. Which samples meet in a batch so depends on the number of ranks, and so
///   does the fingerprint: each rank saves a state of its own, and resumes from it as the same rank of as many.
/// - `bucket` looks at as many batches at once as without ranks, each rank at its part of them.
/// - The epoch after a failure begins after what failed, without what stood before it in the same batch, or `bucket`'s
///   window.
/// - Where a rank has looked at eight times as many records as there are, one after the other, and nothing is left of
///   any, that is an error.
///
/// `steps_per_epoch` is a result option; `rank` and `world` are where only the samples tell how many there are, else
/// speed options.
/// @throws Error(invalid_argument) for a rank outside of the world and for 2^32 steps or more; when the pipeline is
/// joined, for a second one and for batches of fewer rows than ranks; when a loader is made, for `steps_per_epoch` of a
/// pipeline that is empty. With more than one rank Error(unsupported) where the samples tell how many
/// there are without `steps_per_epoch`, and for batches that end by the sizes or groups of samples; also for a stream,
/// and for its epochs: it has no positions that ranks could share (give each rank a stream of its own, and call
/// `next()` equally often on all).
PENSTOCK_API Stage for_rank(Rank part);

}  // namespace penstock
