// SPDX-License-Identifier: Apache-2.0
// Against Pillow, where there is one: its BILINEAR is the same filter, rounded between its passes as ours is, but with
// the horizontal pass first.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/image/pillow.hpp"
#include "transforms/image/reference.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// What Pillow's resize and ours give.
struct Comparison {
  Image ours, theirs;
};

Comparison compare(const PillowFolder& folder, const Image& source, Size to, Filter filter) {
  std::ofstream(folder / "resize.py") << "import sys\nfrom PIL import Image\n"
                                         "w, h, c, tw, th = map(int, sys.argv[1:6])\n"
                                         "how = {'linear': Image.BILINEAR, 'nearest': Image.NEAREST}[sys.argv[8]]\n"
                                         "mode = {1: 'L', 3: 'RGB'}[c]\n"
                                         "image = Image.frombytes(mode, (w, h), open(sys.argv[6], 'rb').read())\n"
                                         "open(sys.argv[7], 'wb').write(image.resize((tw, th), how).tobytes())\n";
  std::ofstream(folder / "in", std::ios::binary)
      .write(reinterpret_cast<const char*>(source.pixels.data()), static_cast<std::streamsize>(source.pixels.size()));
  std::string command = std::string(python) + " " + (folder / "resize.py");
  for (const int n : {source.shape.width, source.shape.height, source.shape.channels, to.width, to.height})
    command += " " + std::to_string(n);
  command += " " + (folder / "in") + " " + (folder / "out") + (filter == Filter::linear ? " linear" : " nearest");
  REQUIRE(std::system(command.c_str()) == 0);
  ImageOp op(source.shape);
  op.filter_with(filter);
  op.resize(to);
  Comparison both{execute_u8(source, op), Image(op.shape())};
  std::ifstream file(folder / "out", std::ios::binary);
  file.read(reinterpret_cast<char*>(both.theirs.pixels.data()),
            static_cast<std::streamsize>(both.theirs.pixels.size()));
  REQUIRE(static_cast<std::size_t>(file.gcount()) == both.theirs.pixels.size());
  return both;
}

}  // namespace

TEST_CASE("resampling agrees with Pillow") {
  if (!has_pillow()) PENSTOCK_SKIP("no Pillow for /usr/bin/python3: 10 comparisons were not made");
  const PillowFolder folder;
  struct Case {
    ImageShape shape;
    Size to;
    bool noise;
  };
  const Case cases[] = {{{300, 400, 3}, {224, 224}, false}, {{300, 400, 3}, {224, 224}, true},
                        {{140, 180, 3}, {224, 224}, false}, {{140, 180, 3}, {224, 224}, true},
                        {{375, 500, 1}, {256, 341}, true},  {{900, 1200, 3}, {224, 224}, true},
                        {{3000, 40, 1}, {20, 300}, true},   {{224, 500, 3}, {224, 224}, true},
                        {{500, 224, 3}, {224, 224}, true},  {{7, 5, 3}, {300, 200}, true}};
  std::size_t all = 0, differing = 0, beyond = 0;
  for (const Case& test : cases) {
    const Image source = test.noise ? static_noise(test.shape, 3) : photo(test.shape, 3);
    const auto [ours, theirs] = compare(folder, source, test.to, Filter::linear);
    for (std::size_t j = 0; j < ours.pixels.size(); ++j) {
      const int difference = std::abs(ours.pixels[j] - theirs.pixels[j]);
      REQUIRE(difference <= 2);
      differing += difference > 0;
      beyond += difference > 1;
    }
    all += ours.pixels.size();
  }
  std::printf("pillow: of %zu values %zu differ, %zu by 2\n", all, differing, beyond);
  CHECK(beyond * 1000 <= all);
  CHECK(differing < all / 2);
}

TEST_CASE("nearest is Pillow's") {
  if (!has_pillow()) PENSTOCK_SKIP("no Pillow for /usr/bin/python3: 7 comparisons were not made");
  const PillowFolder folder;
  struct Case {
    ImageShape shape;
    Size to;
  };
  // Down and up, by whole factors and not. None where a centre falls on an edge between pixels and Pillow's running
  // sum of a rounded step decides.
  for (const Case& test :
       {Case{{300, 400, 1}, {224, 240}}, Case{{140, 180, 3}, {224, 212}}, Case{{99, 99, 1}, {33, 33}},
        Case{{33, 35, 3}, {99, 105}}, Case{{1, 1, 1}, {5, 7}}, Case{{501, 333, 1}, {1, 1}}, Case{{7, 5, 1}, {6, 4}}}) {
    CAPTURE(test.shape.height, test.shape.width, test.to.height, test.to.width);
    const auto [ours, theirs] = compare(folder, static_noise(test.shape, 5), test.to, Filter::nearest);
    CHECK(ours == theirs);
  }
}
