// SPDX-License-Identifier: Apache-2.0
// A box of COCO.
#include <penstock/penstock.hpp>
#include <penstock/sources/coco.hpp>

#include <filesystem>
#include <fstream>

#include "say.hpp"

namespace ps = penstock;

int main() {
  std::filesystem::create_directory("pictures");
  std::ofstream("pictures/a.jpg") << "picture";
  std::ofstream("one.json") << R"({"images": [{"id": 1, "file_name": "a.jpg"}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}],
    "categories": [{"id": 1, "name": "cat"}]})";
  float sum = 0;
  const ps::Pipeline pictures = ps::from(ps::Coco{.annotations = "one.json", .images = "pictures"});
  ps::Loader loader(pictures | ps::drop_fields({"image"}) | ps::pad("boxes") | ps::pad("classes") | ps::batch(1));
  for (ps::Batch& batch : loader.epoch())
    for (const float number : batch.view<float, 3>("boxes")) sum += number;
  return say("a box of COCO", sum == 1 + 2 + 4 + 6 + 1);
}
