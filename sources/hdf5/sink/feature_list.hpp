// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "sink/feature_file.hpp"

namespace penstock::hdf5 {

/// The file `metadata.csv`, which has a line per finished slide. Several processes may append to it. Before a process
/// adds a line, it usually reads only the lines that others have added since its own last line.
class FeatureList {
 public:
  /// `file`: the path of the list. `slides`: the folder of the slides' files, which is next to it.
  FeatureList(std::string file, std::string slides, bool sync);

  /// Updates the list to match the existing slides. @throws Error(invalid_argument) if a slide has a different job or
  /// dtype; Error(io | corrupt).
  void renew(const std::string& job, DType dtype);
  /// Gives the slide's complete `file` its final name, and lists the slide. A sink that opens the folder finds both the
  /// file and the slide's line, or neither. @throws Error(io).
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

  // All complete lines before byte `read_` of the list were read. `device_` and `number_` identify the list's file.
  std::uint64_t read_ = 0, device_ = 0, number_ = 0;
  std::string last_line_;         // the beginning of the last line that was read
  std::uint64_t last_begin_ = 0;  // offset of that line
  std::unordered_set<std::string> listed_;
};

}  // namespace penstock::hdf5
