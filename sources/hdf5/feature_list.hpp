#pragma once

#include <string>

#include "feature_file.hpp"

namespace penstock::hdf5 {

/// `metadata.csv`: a line for each slide that is there. Several processes may use it.
class FeatureList {
 public:
  /// `file` beside the folder `slides`, "h5_files".
  FeatureList(std::string file, std::string slides, bool sync);

  /// Makes it agree with the slides that are there. @throws Error(invalid_argument) for one of another job; Error(io |
  /// corrupt).
  void renew(const std::string& job);
  /// @throws Error(io).
  void add(const std::string& slide, const FeatureFacts& facts);

 private:
  std::string line_of(const std::string& slide, const FeatureFacts& facts) const;

  std::string file_, slides_, folder_name_;
  bool sync_;
};

}  // namespace penstock::hdf5
