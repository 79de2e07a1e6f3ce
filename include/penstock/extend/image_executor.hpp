#pragma once

#include <cstddef>
#include <span>

#include <penstock/detail/export.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/extend/resample_tables.hpp>

namespace penstock {

/// Memory of the runner for the stage in work. What it gives stays valid until that stage of that sample ends.
class PENSTOCK_API Scratch {
 public:
  virtual ~Scratch() = default;
  /// 64-byte aligned, content undefined. @throws Error(out_of_memory) above the runner's share of the byte budget.
  virtual std::byte* allocate(std::size_t bytes) = 0;
};

/// Executes an ImageOp on pixels. `pixels` holds exactly `op.box`, or of it what `op.needed()` says: then its data is
/// where the box would begin. `out` takes op.tensor_shape() elements of op.dtype, contiguous. Any thread.
/// A Scratch of one's own must keep the promise of 64-byte alignment: kernels rely on it.
class PENSTOCK_API ImageExecutor {
 public:
  virtual ~ImageExecutor() = default;
  /// Carries out `op`. @throws Error(out_of_memory) as `Scratch::allocate`.
  virtual void run(const Pixels& pixels, const ImageOp& op, std::byte* out, Scratch& scratch) const = 0;
  /// ResampleTables of `op`, for a kernel that gives the window's pixels the same bits as `run` does; where nothing is
  /// resampled each pixel is its own. What it returns lies in `scratch`. @throws Error(unsupported) for an executor
  /// that has none, which is what this one does, and for values of 16 bits; Error(out_of_memory).
  virtual std::span<const std::byte> resample_tables(const ImageOp& op, Scratch& scratch) const;
};

}  // namespace penstock
