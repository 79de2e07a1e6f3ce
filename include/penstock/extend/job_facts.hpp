#pragma once

#include <span>
#include <string>

#include <penstock/detail/export.hpp>

namespace penstock {

/// One thing that samples depend on, as printable text: its name, "stage resize(image)", and what it is, "64 x 64,
/// version 1 -> image: u8[64, 64, 3]".
struct JobFact {
  std::string name;   ///< what it is called
  std::string words;  ///< what it is
  friend bool operator==(const JobFact&, const JobFact&) = default;
};

/// The first things in which two jobs differ, in words: "stage resize(image): there \"64 x 64, ...\", here ...". Empty
/// where they are equal.
PENSTOCK_API std::string job_difference(std::span<const JobFact> there, std::span<const JobFact> here);

}  // namespace penstock
