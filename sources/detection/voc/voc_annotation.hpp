// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::detection {

struct VocObject {
  std::string class_name;
  std::uint64_t offset = 0;  // of the element in the file
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  bool difficult = false;
};

/// Parses a file of VOC, and returns its objects that have an area. Changes `text`.
/// @throws Error(corrupt), with object, element and offset, but without the file.
std::vector<VocObject> read_voc(std::string& text);

}  // namespace penstock::detection
