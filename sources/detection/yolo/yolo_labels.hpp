// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <penstock/class_names.hpp>

namespace penstock::detection {

struct YoloObject {
  std::int64_t class_number = 0;
  std::array<float, 4> box{};  // centre and size, as shares of the picture
};

/// Parses a file of labels, and returns its objects that have an area. `classes`: empty if there are no names.
/// @throws Error(corrupt | unsupported), with line and offset, but without the file.
std::vector<YoloObject> read_yolo(std::string_view text, const ClassNames& classes);

}  // namespace penstock::detection
