// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include <penstock/detail/export.hpp>

namespace penstock {

/// One thing that a job's samples depend on, as printable text. For example, the name is "stage resize(image)", and the
/// words are "64 x 64, version 1 -> image: u8[64, 64, 3]".
struct JobFact {
  std::string name;   ///< what the thing is called
  std::string words;  ///< what the thing is
  friend bool operator==(const JobFact&, const JobFact&) = default;
};

/// Returns in words the first three things in which two jobs differ, and the number of further ones: "stage
/// resize(image): there \"64 x 64, ...\", here ...". Returns "" if the jobs are equal.
PENSTOCK_API std::string job_difference(std::span<const JobFact> there, std::span<const JobFact> here);

}  // namespace penstock
