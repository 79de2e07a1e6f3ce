#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "sink/feature_file.hpp"

namespace penstock::hdf5 {

/// `metadata.csv`: a line for each slide that is there. Several processes may use it. Of what they append each byte is
/// read once.
class FeatureList {
 public:
  /// `file` beside the folder `slides`, "h5_files".
  FeatureList(std::string file, std::string slides, bool sync);

  /// Makes it agree with the slides that are there. @throws Error(invalid_argument) for one of another job or dtype;
  /// Error(io | corrupt).
  void renew(const std::string& job, DType dtype);
  /// Gives the slide's file, which is whole, its final name, and lists it: nobody who opens the folder sees one without
  /// the other. @throws Error(io).
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

  // The whole lines of the list that were read: all of them before this byte of this file.
  std::uint64_t read_ = 0, device_ = 0, number_ = 0;
  std::string last_line_;         // its first bytes
  std::uint64_t last_begin_ = 0;  // where it stands
  std::unordered_set<std::string> listed_;
};

}  // namespace penstock::hdf5
