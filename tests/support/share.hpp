// SPDX-License-Identifier: Apache-2.0
// Lists of like cases that take too long for every change.
#pragma once

#include <cstdint>
#include <string>

namespace penstock_test {

// What the variable PENSTOCK_FAULTS says: "all", every call fails in every way; "each", every call in a way of its own;
// unset, a share of what "each" tries.
bool all_faults();

// Which cases of a list this run tries: one of every four that follow each other, or with PENSTOCK_FAULTS every one.
// Which one follows from the list's name and the variable PENSTOCK_DRAW: ./test has the commit's name in it.
class Share {
 public:
  explicit Share(std::string list);
  // Asked once for each case, in order.
  bool has_next();
  // How many of `n` cases that follow each other are tried at least.
  std::uint64_t least_of(std::uint64_t n) const { return whole_ ? n : (n < one_of ? 0 : (n - one_of + 1) / one_of); }
  // What it is, and how to have the same again.
  std::string words() const;

 private:
  static constexpr std::uint64_t one_of = 4;
  std::string draw_;
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
  bool whole_;
};

}  // namespace penstock_test
