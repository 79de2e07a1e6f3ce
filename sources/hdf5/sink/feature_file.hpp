// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/dtype.hpp>
#include <penstock/sources/feature_sink.hpp>
#include <penstock/tensor.hpp>

#include "library/library.hpp"
#include "sink/writing_driver.hpp"

namespace penstock::hdf5 {

/// What the list of slides says about a slide's file.
struct FeatureFacts {
  std::uint64_t features = 0, dimension = 0;
  DType dtype = DType::f32;
  std::string job;
};

/// A slide's file that is being written. The functions take the library's lock. One thread at a time.
class FeatureFile {
 public:
  /// REQUIRES: `file` exists and is empty.
  FeatureFile(std::string file, const FeatureSinkOptions& options, std::vector<FeatureAttribute> attributes,
              std::string slide);
  FeatureFile(const FeatureFile&) = delete;
  FeatureFile& operator=(const FeatureFile&) = delete;
  ~FeatureFile();

  /// Appends rows to both datasets. @throws Error(schema_mismatch | invalid_argument) before anything is written;
  /// Error(io).
  void put(const TensorView& features, const TensorView& coords);
  /// Completes and closes the file. @throws Error(io).
  FeatureFacts close();

 private:
  void make(std::uint64_t dimension);
  void refuse_beyond_half(const TensorView& features) const;
  void append(hid_t dataset, hid_t type, const TensorView& rows);
  void must(herr_t status, const char* doing) const;
  Handle must(Handle handle, const char* doing) const;

  const std::string path_, slide_;
  const FeatureSinkOptions options_;
  const std::vector<FeatureAttribute> attributes_;
  FeatureFacts facts_;
  WritingDriver driver_;
  Handle file_, features_, coords_;
};

/// Reads the facts from a complete file. @throws Error(corrupt | io).
FeatureFacts read_feature_file(const std::string& file);

}  // namespace penstock::hdf5
