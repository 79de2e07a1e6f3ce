// SPDX-License-Identifier: Apache-2.0
#include "run_lengths.hpp"

#include <array>
#include <cstddef>
#include <string>

#include <penstock/error.hpp>

namespace penstock::detection {

void RunPainter::add(std::int64_t length) {
  if (length < 0) throw Error(Errc::corrupt, "a run has the length " + std::to_string(length));
  if (length > pixels_ - at_)
    throw Error(Errc::corrupt, "runs have more than the " + std::to_string(pixels_) + " pixels of the picture");
  at_ += length;
  if (at_ < pixels_) ends_.push_back(at_);
}

void RunPainter::add_packed(std::string_view text) {
  // Six bits in each character: five of the number, from the lowest, and one that says whether another character
  // follows. The highest of the five last bits is the sign. From the fourth on, a number is the difference of the
  // length to that of the run two before.
  constexpr unsigned first = '0', value_bits = 0x1f, more_bit = 0x20, sign_bit = 0x10, bits = 5, most_bits = 35;
  std::array<std::int64_t, 2> last{};  // lengths of the last two runs
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++count) {
    std::int64_t number = 0;
    for (unsigned shift = 0;; shift += bits) {
      if (i == text.size()) throw Error(Errc::corrupt, "the string of runs ends inside a number");
      const unsigned six = static_cast<unsigned char>(text[i++]) - first;
      if (six > (value_bits | more_bit))
        throw Error(Errc::corrupt, "the string of runs has a character that is not from '0' to 'o'");
      if (shift == most_bits) throw Error(Errc::corrupt, "the string of runs has a number of more than 35 bits");
      number |= static_cast<std::int64_t>(six & value_bits) << shift;
      if ((six & more_bit) != 0) continue;
      if ((six & sign_bit) != 0) number -= std::int64_t{1} << (shift + bits);
      break;
    }
    if (count > 2) number += last[count % 2];
    add(number);
    last[count % 2] = number;
  }
}

void RunPainter::draw(const Mask& mask) {
  if (at_ != pixels_)
    throw Error(Errc::corrupt,
                "runs have " + std::to_string(at_) + " pixels, and the picture has " + std::to_string(pixels_));
  if (ends_.empty()) return;
  shape_.begin(
      {.left = ends_.front() / mask.height, .right = ends_.back() / mask.height, .top = 0, .bottom = mask.height - 1});
  for (const std::int64_t end : ends_) shape_.change(end / mask.height, end % mask.height);
  shape_.draw(mask);
}

}  // namespace penstock::detection
