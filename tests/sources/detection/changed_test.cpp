// SPDX-License-Identifier: Apache-2.0
// Files of COCO, VOC and YOLO that were changed at random: each is refused, or becomes what the contract says.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/sources/coco.hpp>
#include <penstock/sources/voc.hpp>
#include <penstock/sources/yolo.hpp>

#include "sources/detection/detection_files.hpp"
#include "support/campaign.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t n) { return engine_() % n; }
  std::uint64_t bits() { return engine_(); }
  std::string_view of(std::initializer_list<std::string_view> list) { return *(list.begin() + below(list.size())); }
  std::string number(std::size_t n) {
    std::string text = std::to_string(below(n));
    if (below(3) == 0) text += "." + std::to_string(below(100));
    return below(12) == 0 ? "-" + text : text;
  }

 private:
  std::mt19937_64 engine_;
};

constexpr int heights[] = {1, 3, 8}, widths[] = {1, 5, 9};

std::string numbers_of(Draws& draws, std::size_t count, std::size_t below) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + draws.number(below);
  return "[" + text + "]";
}

std::string segmentation_of(Draws& draws, int height, int width) {
  const std::string size = "\"size\":[" + std::to_string(height) + "," + std::to_string(width) + "]";
  const int pixels = height * width;
  switch (draws.below(4)) {
    case 0:
      return "{" + size + ",\"counts\":[0," + std::to_string(pixels) + "]}";
    case 1: {
      std::string packed;
      for (int left = pixels; left > 0;) {
        const int run = std::min(left, static_cast<int>(draws.below(16)));
        packed += static_cast<char>('0' + run);  // the third and later runs are differences: most of these are refused
        left -= run;
        if (draws.below(4) == 0) break;
      }
      return "{\"counts\":\"" + packed + "\"," + size + "}";
    }
    case 2:
      return "[" + numbers_of(draws, 6, 10) + "," + numbers_of(draws, 8, 200) + "]";
    default:
      return "[" + numbers_of(draws, 6 + 2 * draws.below(4), 12) + "]";
  }
}

std::string coco_of(Draws& draws) {
  std::string images, annotations;
  for (int i = 0; i < 3; ++i)
    images += (i == 0 ? "{\"id\":" : ",{\"id\":") + std::to_string(i) + ",\"file_name\":\"p" + std::to_string(i) +
              "\",\"height\":" + std::to_string(heights[i]) + ",\"width\":" + std::to_string(widths[i]) + "}";
  const std::size_t count = draws.below(5);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t image = draws.below(3);
    annotations += (i == 0 ? "{\"id\":" : ",{\"id\":") + std::to_string(i) + ",\"image_id\":" + std::to_string(image) +
                   ",\"category_id\":" + std::to_string(1 + draws.below(2)) + ",\"bbox\":" + numbers_of(draws, 4, 20) +
                   ",\"segmentation\":" + segmentation_of(draws, heights[image], widths[image]) +
                   (draws.below(2) == 0 ? ",\"keypoints\":" + numbers_of(draws, 6, 9) : "") +
                   (draws.below(4) == 0 ? ",\"iscrowd\":1" : "") + "}";
  }
  return "{\"annotations\":[" + annotations + "],\"images\":[" + images +
         "],\"categories\":[{\"id\":2,\"name\":\"b\",\"keypoints\":[\"x\",\"y\"]},{\"id\":1,\"name\":\"a\"}]}";
}

std::string voc_of(Draws& draws) {
  std::string text = "<annotation><size><width>9</width></size>";
  for (std::size_t n = draws.below(4); n != 0; --n)
    text += "<object><name>" + std::string(draws.of({"cat", "dog"})) + "</name><difficult>1</difficult><bndbox><xmin>" +
            draws.number(5) + "</xmin><ymin>" + draws.number(5) + "</ymin><xmax>" + draws.number(50) + "</xmax><ymax>" +
            draws.number(50) + "</ymax></bndbox></object>";
  return text + "</annotation>";
}

std::string yolo_of(Draws& draws) {
  std::string text;
  for (std::size_t n = draws.below(4); n != 0; --n)
    text += std::to_string(draws.below(3)) + " 0." + std::to_string(draws.below(1000)) + " 0.5 1 0." +
            std::to_string(draws.below(1000)) + "\n";
  return text;
}

void change(std::string& text, Draws& draws) {
  const std::size_t at = draws.below(text.size() + 1);
  switch (draws.below(7)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(draws.bits());
      break;
    case 1:
      text.insert(at, draws.of({"{",         "}",        "[",     "]",    ",",          ":",
                                "\"",        "\\",       "null",  "-",    "0",          "1e5",
                                "e308",      ".",        "\n",    " ",    "9999999999", "NaN",
                                "</object>", "<object>", "&amp;", "<!--", "\xff",       std::string_view("\0", 1)}));
      break;
    case 2:
      text.erase(at, 1 + draws.below(8));
      break;
    case 3:
      text.insert(at, text.substr(draws.below(text.size() + 1), draws.below(60)));
      break;
    case 4:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << draws.below(8)));
      break;
    case 5:  // another digit
      if (const std::size_t digit = text.find_first_of("0123456789", at); digit != text.npos)
        text[digit] = static_cast<char>('0' + draws.below(10));
      break;
    default:
      text.resize(draws.below(8) == 0 ? at : text.size());
  }
}

struct Outcome {
  std::uint64_t files = 0, opened = 0, read = 0, refused = 0;
};

// Opens a source, reads its records, and calls `check` with each.
template <class Open>
void use(Outcome& outcome, const Open& open, const std::function<void(const OwnedSample&, std::uint64_t)>& check) {
  const auto require_line = [](const Error& error) {
    REQUIRE(std::string(error.what()).find('\n') == std::string::npos);
    REQUIRE(std::string(error.what()).find("basic_string") == std::string::npos);
  };
  ++outcome.files;
  try {
    const auto source = open();
    ++outcome.opened;
    for (std::uint64_t i = 0; i < source.size(); ++i) {
      try {
        check(read_sample(source, i), i);
        ++outcome.read;
      } catch (const Error& error) {
        CAPTURE(error.what());
        ++outcome.refused;
        REQUIRE(error.sample_scoped());
        REQUIRE(!error.file().empty());
        require_line(error);
      }
    }
  } catch (const Error& error) {
    REQUIRE(!error.file().empty());
    require_line(error);
  }
}

void require_boxes(const OwnedSample& sample, std::int64_t classes, bool edges) {
  const std::vector<float> boxes = values_in<float>(sample["boxes"]);
  for (std::size_t i = 0; i < boxes.size(); i += 5) {
    for (std::size_t k = 0; k < 5; ++k) REQUIRE(std::isfinite(boxes[i + k]));
    REQUIRE((edges ? boxes[i + 2] - boxes[i] : boxes[i + 2]) > 0);
    REQUIRE((edges ? boxes[i + 3] - boxes[i + 1] : boxes[i + 3]) > 0);
    REQUIRE(boxes[i + 4] == 1);
  }
  const std::vector<std::int64_t> numbers = values_in<std::int64_t>(sample["classes"]);
  REQUIRE(numbers.size() * 5 == boxes.size());
  for (const std::int64_t number : numbers) REQUIRE((number >= 0 && number < classes));
}

// The boxes that a file of annotations has, by the id of their image.
std::map<std::int64_t, std::vector<float>> boxes_in(const nlohmann::json& file) {
  std::map<std::int64_t, std::vector<float>> boxes;
  for (const nlohmann::json& annotation : file.at("annotations")) {
    const std::vector<double> box = annotation.at("bbox");
    const auto x0 = static_cast<float>(box[0]), y0 = static_cast<float>(box[1]);
    const auto x1 = static_cast<float>(box[0] + box[2]), y1 = static_cast<float>(box[1] + box[3]);
    if (x0 == x1 || y0 == y1) continue;
    std::vector<float>& all = boxes[annotation.at("image_id")];
    all.insert(all.end(), {x0, y0, x1, y1, 1.f});
  }
  return boxes;
}

}  // namespace

// PENSTOCK_RUNS times as many, from PENSTOCK_SEED: tests/campaigns/detection.
TEST_CASE("changed files of COCO are refused, or are what another parser says") {
  const CocoFolder folder("");
  for (const char* name : {"p0", "p1", "p2"}) folder.picture(name);
  Outcome outcome;
  std::uint64_t compared = 0;
  const std::uint64_t first = numbered_seed(1), files = runs(2000);
  for (std::uint64_t seed = first; seed < first + files; ++seed) {
    CAPTURE(seed);
    Draws draws(seed);
    std::string text = coco_of(draws);
    for (std::size_t n = draws.below(4); n != 0; --n) change(text, draws);
    CAPTURE(text);
    folder.write(text);
    const bool masks = draws.below(4) != 0, keypoints = draws.below(4) != 0;
    const auto open = [&] {
      return folder.open([&](Coco& options) {
        options.crowd = CocoCrowd::keep;
        options.masks = masks;
        options.keypoints = keypoints;
        options.max_mask_bytes = 100'000;
      });
    };
    const nlohmann::json file = nlohmann::json::parse(text, nullptr, false);
    use(outcome, open, [&](const OwnedSample& sample, std::uint64_t) {
      require_boxes(sample, 100, true);
      const std::int64_t count = sample["boxes"].shape[0];
      if (masks) {
        REQUIRE(sample["masks"].shape[0] == count);
        for (const std::uint8_t pixel : values_in<std::uint8_t>(sample["masks"])) REQUIRE(pixel <= 1);
      }
      if (keypoints) REQUIRE(sample["keypoints"].shape[0] == count);
      if (file.is_discarded()) return;  // nlohmann's parser refuses numbers beyond f64 that nothing reads
      const std::map<std::int64_t, std::vector<float>> boxes = boxes_in(file);
      const auto found = boxes.find(*sample["image_id"].as<std::int64_t, 0>().data());
      REQUIRE(values_in<float>(sample["boxes"]) == (found == boxes.end() ? std::vector<float>() : found->second));
      ++compared;
    });
  }
  INFO(outcome.opened << " of " << outcome.files << " opened, " << outcome.read << " read, " << outcome.refused
                      << " refused, " << compared << " compared");
  CHECK(outcome.opened > files / 4);
  CHECK(outcome.read > files / 2);
  CHECK(outcome.refused > files / 8);
  CHECK(compared > outcome.read / 2);
}

TEST_CASE("changed files of VOC and YOLO are refused, or have boxes as the contract says") {
  const TempFolder folder;
  folder.write("Annotations/a.xml", "");
  folder.write("JPEGImages/a.jpg", "x");
  folder.write("labels/a.txt", "");
  const std::string root = folder.path().string();
  const YoloSource yolo({.images = root + "/JPEGImages", .labels = root + "/labels", .classes = {"a", "b", "c"}});
  const VocSource given({.root = root, .classes = {"cat", "dog"}});
  Outcome of_voc, of_yolo;
  const std::uint64_t first = numbered_seed(2), files = runs(2000);
  for (std::uint64_t seed = first; seed < first + files; ++seed) {
    CAPTURE(seed);
    Draws draws(seed);
    std::string xml = voc_of(draws), lines = yolo_of(draws);
    for (std::size_t n = draws.below(4); n != 0; --n) change(xml, draws);
    for (std::size_t n = draws.below(4); n != 0; --n) change(lines, draws);
    CAPTURE(xml, lines);
    folder.write("Annotations/a.xml", xml);
    folder.write("labels/a.txt", lines);
    const auto check_voc = [](const OwnedSample& sample, std::uint64_t) {
      require_boxes(sample, 100, true);
      REQUIRE(sample["difficult"].shape[0] == sample["boxes"].shape[0]);
    };
    if (draws.below(2) == 0)
      use(
          of_voc, [&] { return VocSource({.root = root}); }, check_voc);
    else
      use(
          of_voc, [&] { return given; }, check_voc);
    use(
        of_yolo, [&] { return yolo; },
        [](const OwnedSample& sample, std::uint64_t) { require_boxes(sample, 3, false); });
  }
  for (const Outcome& outcome : {of_voc, of_yolo}) {
    INFO(outcome.opened << " of " << outcome.files << " opened, " << outcome.read << " read, " << outcome.refused
                        << " refused");
    CHECK(outcome.read > files / 8);
    CHECK(outcome.refused > files / 20);
  }
}

}  // namespace PENSTOCK_TEST_FILE
