// SPDX-License-Identifier: Apache-2.0
// Decodes PNGs without libpng: inflates all pixels at once, then undoes the rows' filters. What it makes is what libpng
// makes without an error or a warning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/extend/image_executor.hpp>

#include "inflater.hpp"
#include "layout.hpp"
#include "pixel_values.hpp"
#include "row_values.hpp"

namespace penstock::png {

class WholeImage {
 public:
  // Decodes `box` of a checked PNG to `out`: its rows, one after another. With `verify`, the whole file is checked.
  // Returns false if libpng is to decode the box: it may find a fault, or is quicker, or there is no memory for all
  // pixels. `out` may have been written to then. @throws Error(out_of_memory).
  bool decode(std::span<const std::byte> encoded, const Layout& layout, const Box& box, bool verify, std::uint8_t* out,
              Scratch& scratch);

 private:
  // Working memory of an image, in scratch that gets it back.
  struct Memory {
    explicit Memory(Scratch& of) : scratch(of) {}
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() {
      if (joined != nullptr) scratch.give_back(joined);
    }
    Scratch& scratch;
    std::byte* joined = nullptr;  // for Inflater, and the beginning of all
    std::uint8_t* stored;         // the inflated bytes
    std::uint8_t* undone;         // rows whose filters are undone
    std::uint8_t* row;            // a row, as Layout describes it
    std::uint8_t* image;          // all rows of an interlaced image
  };
  static bool take_memory(const Layout& layout, std::size_t inflated_bytes, Scratch& scratch, Memory& memory);
  bool read_rows(const Layout& layout, const Box& box, bool to_the_end, const Memory& memory, std::uint8_t* out) const;
  bool read_passes(const Layout& layout, const Box& box, const Memory& memory, std::uint8_t* out) const;

  Inflater inflater_;
  Palette palette_;
  TransparentColor transparent_;
};

}  // namespace penstock::png
