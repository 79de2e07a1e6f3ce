// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include <penstock/detail/export.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/extend/resample_tables.hpp>

namespace penstock {

/// A runner's memory for the current stage. The memory stays valid until the runner has finished this stage of this
/// sample.
class PENSTOCK_API Scratch {
 public:
  virtual ~Scratch() = default;
  /// Returns memory that is aligned to 64 bytes, with undefined content.
  /// @throws Error(out_of_memory) above the runner's share of the byte budget.
  virtual std::byte* allocate(std::size_t bytes) = 0;
  /// Tells that `piece`, which `allocate` returned last, is no longer used. Its memory may be returned again. Default:
  /// the memory is kept until the runner has finished the stage.
  virtual void give_back(std::byte* piece) noexcept { static_cast<void>(piece); }
};

/// Executes an ImageOp on pixels. `pixels` holds exactly `op.reduced_box()`, or the part of it that `op.needed()`
/// returns. In both cases `pixels.data` points to where the whole box begins, or would begin. `out` has room for
/// op.tensor_shape() elements of op.result_dtype(), contiguous. Any thread. A custom Scratch must also align to 64
/// bytes, because kernels rely on this.
class PENSTOCK_API ImageExecutor {
 public:
  virtual ~ImageExecutor() = default;
  /// Executes `op`.
  /// @throws Error(out_of_memory) like `Scratch::allocate`.
  virtual void run(const Pixels& pixels, const ImageOp& op, std::byte* out, Scratch& scratch) const = 0;
  /// Returns the ResampleTables of `op`, in `scratch`. With these tables, a kernel gives the pixels of `op.kept` the
  /// same bits as `run`. If `op` does not resample, the tables give each output pixel one input pixel. The default
  /// implementation throws Error(unsupported).
  /// @throws Error(unsupported) if the executor has no tables, or the values have 16 bits; Error(out_of_memory).
  virtual std::span<const std::byte> resample_tables(const ImageOp& op, Scratch& scratch) const;
};

}  // namespace penstock
