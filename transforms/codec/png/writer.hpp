// SPDX-License-Identifier: Apache-2.0
// One PNG being written: its chunks, and how its pixels are compressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <penstock/extend/image_encoder.hpp>

#include "chunks.hpp"
#include "compressors.hpp"
#include "filtered_rows.hpp"
#include "run_deflater.hpp"

namespace penstock::png {

class Writer {
 public:
  // `out`, `scratch` and `compressors` must outlive the writer.
  Writer(EncodedFile& out, Scratch& scratch, Compressors& compressors)
      : out_(out), scratch_(scratch), compressors_(compressors) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Writes a complete file.
  void write(const Pixels& pixels);

 private:
  enum class Way : std::uint8_t {
    runs,      // filtered rows, compressed by RunDeflater
    filtered,  // filtered rows, compressed by libdeflate
    plain,     // rows without a filter, compressed by libdeflate
  };

  void header(const ImageShape& shape);
  void chunk(std::string_view type, std::span<const std::byte> data);
  // Compresses a sample of the rows in each way. Returns the way that makes the fewest bytes.
  Way best_way(FilteredRows& rows, RunDeflater& deflater);
  void write_runs(FilteredRows& rows, RunDeflater& deflater);
  void write_compressed(FilteredRows& rows, Way way);
  // Compresses with libdeflate, in `scratch_`.
  std::span<const std::byte> compressed(std::span<const std::uint8_t> bytes);
  // Returns memory for rows, and for what make() may write after them.
  std::uint8_t* room_for(const FilteredRows& rows, std::int32_t count);

  EncodedFile& out_;
  Scratch& scratch_;
  Compressors& compressors_;
};

}  // namespace penstock::png
