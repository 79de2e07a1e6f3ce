// SPDX-License-Identifier: Apache-2.0
// Instances of DICOM series for tests, written in the plainest way.
#pragma once

#include <cstdint>
#include <string>

#include "support/test_images.hpp"

namespace penstock_test {

struct DicomForm {
  std::string series = "1.2.3.4";
  std::string kind = "VOLUME";  // of the image: LABEL and OVERVIEW are no levels
  std::int32_t width = 300, height = 200, tile = 128;
  int number = 1;  // of the instance in its series
  std::uint64_t seed = 0;
  bool sequences_have_lengths = false;
  bool without_types = false;  // as implicit little-endian has them, which is no slide's syntax
};

// Returns the pixels, as libjpeg decodes them.
Image write_dicom(const std::string& path, const DicomForm& form);

}  // namespace penstock_test
