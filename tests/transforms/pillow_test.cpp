// Against Pillow, where there is one: its BILINEAR is the same filter, rounded between its passes as ours is, but with
// the horizontal pass first.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/reference.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

const char* const python = "/usr/bin/python3";

bool has_pillow() { return std::system((std::string(python) + " -c 'import PIL.Image' 2>/dev/null").c_str()) == 0; }

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("penstock-pillow-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("resampling agrees with Pillow") {
  if (!has_pillow()) PENSTOCK_SKIP("no Pillow for /usr/bin/python3: 10 comparisons were not made");
  const Folder folder;
  std::ofstream(folder / "resize.py")
      << "import sys\nfrom PIL import Image\n"
         "w, h, c, tw, th = map(int, sys.argv[1:6])\n"
         "mode = {1: 'L', 3: 'RGB'}[c]\n"
         "image = Image.frombytes(mode, (w, h), open(sys.argv[6], 'rb').read())\n"
         "open(sys.argv[7], 'wb').write(image.resize((tw, th), Image.BILINEAR).tobytes())\n";
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
    std::ofstream(folder / "in", std::ios::binary)
        .write(reinterpret_cast<const char*>(source.pixels.data()), static_cast<std::streamsize>(source.pixels.size()));
    std::string command = std::string(python) + " " + (folder / "resize.py");
    for (const int n : {test.shape.width, test.shape.height, test.shape.channels, test.to.width, test.to.height})
      command += " " + std::to_string(n);
    REQUIRE(std::system((command + " " + (folder / "in") + " " + (folder / "out")).c_str()) == 0);
    ImageOp op(test.shape);
    op.resize(test.to);
    const Image ours = execute_u8(source, op);
    Image theirs(ours.shape);
    std::ifstream file(folder / "out", std::ios::binary);
    file.read(reinterpret_cast<char*>(theirs.pixels.data()), static_cast<std::streamsize>(theirs.pixels.size()));
    REQUIRE(static_cast<std::size_t>(file.gcount()) == theirs.pixels.size());
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
