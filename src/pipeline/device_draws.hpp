// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <penstock/extend/image_decoder.hpp>
#include <penstock/extend/image_executor.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/shape.hpp>
#include <penstock/state.hpp>

#include "pipeline/device_program.hpp"

namespace penstock::detail {

/// Gives `draw_row` the memory and the facts of one row.
class DrawRoom {
 public:
  virtual ~DrawRoom() = default;
  /// Returns memory for the row's value of a hidden field of the batch. Hidden fields have draws, tables or pixels.
  virtual std::byte* make(std::size_t field, std::size_t bytes) = 0;
  /// Returns memory for intermediate results.
  virtual Scratch& scratch() = 0;
  /// Returns the row's value of a field of `program.sample`.
  virtual const std::byte* value(std::size_t field) = 0;
  /// Returns the decoding of step `step`. REQUIRES: the step is of kind `decode`.
  virtual ImageDecoding& decoding(std::size_t step) = 0;
  /// Returns whether the device decodes the images of step `step`. Runners decode the images that the device can't
  /// decode.
  virtual bool decodes_on_device(std::size_t step) const = 0;
  /// Checks a value's size. @throws Error(limit_exceeded) if a value of the field may not have `bytes` bytes.
  virtual void require_size(std::size_t field, std::uint64_t bytes) const = 0;
  /// Returns whether images must be verified. To verify an image, a runner decodes it to its end.
  virtual bool verifies() const = 0;
  /// Adds a decoder's remark on one image, for the report. `text` must live as long as the program.
  virtual void remark(const char* text) = 0;
};

/// Tries the image stages after `batch` with images of several sizes, until a size suits the stages. Returns an ImageOp
/// for each step. The ImageOp has an operation if the step is of kind `image` and its result has one size. Otherwise
/// the ImageOp is empty. Sets `at` to the label of the current stage, for error messages. Sets `at` to null before it
/// throws an Error, because that error names its stage already.
/// @throws what the stages throw; and Error(unsupported) if the stages can't be one operation.
std::vector<ImageOp> try_row(const DeviceProgram& program, const std::string** at);

/// Makes the draws of one row, and decodes the images that the device does not decode. `shapes`: the shape of each
/// field of `program.sample` in this row; the function sets the shapes of decoded fields. `ops`: memory that calls
/// reuse.
/// @throws like try_row, and what decoding throws.
void draw_row(const DeviceProgram& program, std::uint64_t seed, const Place& place, std::span<Shape> shapes,
              DrawRoom& room, std::vector<ImageOp>& ops, const std::string** at);

}  // namespace penstock::detail
