// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "sink/feature_file.hpp"

namespace penstock::hdf5 {

/// `metadata.csv`: a line for each finished slide. Several processes may append to it; each byte that they append is
/// read once.
class FeatureList {
 public:
  /// `file` is next to the folder `slides`, "h5_files".
  FeatureList(std::string file, std::string slides, bool sync);

  /// Updates the list to match the existing slides. @throws Error(invalid_argument) if a slide has a different job or
  /// dtype; Error(io | corrupt).
  void renew(const std::string& job, DType dtype);
  /// Gives the slide's complete file its final name, and lists it. A process that opens the folder sees either both or
  /// neither. @throws Error(io).
  void end(const std::string& slide, const FeatureFacts& facts, const std::string& file);

 private:
  void list(const std::string& slide, const FeatureFacts& facts);
  void read_on();
  bool goes_on(int descriptor) const;
  void take(std::string_view text);
  std::string file_of(const std::string& slide) const { return slides_ + "/" + slide + ".h5"; }
  std::string line_of(const std::string& slide, const FeatureFacts& facts) const;

  std::string file_, slides_, folder_name_;
  bool sync_;

  // The complete lines of the list that were read: all before this byte of this file.
  std::uint64_t read_ = 0, device_ = 0, number_ = 0;
  std::string last_line_;         // the beginning of the last line
  std::uint64_t last_begin_ = 0;  // where that line begins
  std::unordered_set<std::string> listed_;
};

}  // namespace penstock::hdf5
