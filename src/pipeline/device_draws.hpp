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

/// Where what is drawn for one row goes.
class DrawRoom {
 public:
  virtual ~DrawRoom() = default;
  /// The row of a field of the batch that holds draws.
  virtual std::byte* make(std::size_t field, std::size_t bytes) = 0;
  /// For work on the way.
  virtual Scratch& scratch() = 0;
  /// The row's value of a field of `program.sample`.
  virtual const std::byte* value(std::size_t field) = 0;
  /// The decoding of the step of that number, which decodes.
  virtual ImageDecoding& decoding(std::size_t step) = 0;
  /// What the device could decode of that step, it does.
  virtual bool decodes_on_device(std::size_t step) const = 0;
  /// @throws Error(limit_exceeded) where a value of the field may not have so many bytes.
  virtual void require_size(std::size_t field, std::uint64_t bytes) const = 0;
  /// Images are decoded to their end.
  virtual bool verifies() const = 0;
  /// What a decoder says of one image, for the report. `text` lives as long as the program.
  virtual void remark(const char* text) = 0;
};

/// What image stages after `batch` ask for, tried with images of sizes that suit them: an ImageOp for each step of kind
/// `image` whose result has one size; for the others an empty one. `at` is set to the label of the stage in work, for
/// errors. @throws what the stages throw; Error(unsupported) where they can't be one operation.
std::vector<ImageOp> try_row(const DeviceProgram& program, const std::string** at);

/// Draws for one row, and decodes what the device does not. `shapes`: of the fields of `program.sample`, as the row has
/// them; afterwards of decoded ones. `ops` is room that is kept. @throws as try_row, and what decoding does.
void draw_row(const DeviceProgram& program, std::uint64_t seed, const Place& place, std::span<Shape> shapes,
              DrawRoom& room, std::vector<ImageOp>& ops, const std::string** at);

}  // namespace penstock::detail
