// SPDX-License-Identifier: Apache-2.0
// What tests of COCO, VOC and YOLO share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/extend/source.hpp>
#include <penstock/sources/coco.hpp>
#include <penstock/tensor.hpp>

#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

namespace penstock_test {

template <class T>
std::vector<T> values_in(const penstock::TensorView& tensor) {
  const auto* const first = reinterpret_cast<const T*>(tensor.data);
  return {first, first + tensor.shape.elements()};
}

/// The text `n` times over.
inline std::string times_over(std::size_t n, std::string_view text) {
  std::string all;
  for (std::size_t i = 0; i < n; ++i) all += text;
  return all;
}

/// A folder with "a.json" and pictures in "p".
class CocoFolder {
 public:
  explicit CocoFolder(std::string_view text) { write(text); }
  void write(std::string_view text) const { folder_.write("a.json", text); }
  void picture(const std::string& name, std::string_view content = "x") const { folder_.write("p/" + name, content); }
  std::string operator/(std::string_view name) const { return folder_ / name; }

  /// The source, with options that `change` sets.
  penstock::CocoSource open(const std::function<void(penstock::Coco&)>& change = {}) const {
    penstock::Coco options{.annotations = folder_ / "a.json", .images = folder_ / "p"};
    if (change) change(options);
    return penstock::CocoSource(options);
  }

 private:
  TempFolder folder_;
};

inline void with_masks(penstock::Coco& options) { options.masks = true; }
inline void with_keypoints(penstock::Coco& options) { options.keypoints = true; }
inline void with_crowds(penstock::Coco& options) { options.crowd = penstock::CocoCrowd::keep; }

/// A file of annotations with one image of 4 x 3 pixels (width x height), the class "cat", and these annotations.
inline std::string coco_text(std::string_view annotations) {
  return R"({"images": [{"id": 7, "file_name": "a.jpg", "width": 4, "height": 3}], "annotations": [)" +
         std::string(annotations) + R"(], "categories": [{"id": 3, "name": "cat"}]})";
}
/// An annotation with a box, and further members.
inline std::string coco_object(std::string_view members, int id = 1) {
  return R"({"id": )" + std::to_string(id) + R"(, "image_id": 7, "category_id": 3, "bbox": [0, 1, 2, 2])" +
         (members.empty() ? "" : ", ") + std::string(members) + "}";
}

}  // namespace penstock_test
