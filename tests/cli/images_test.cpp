// SPDX-License-Identifier: Apache-2.0
// Everything the library decodes is decoded by verify and inspect; what isn't is told.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include <zlib.h>

#include "cli/tool.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"
#include "transforms/codec/jpeg/jpeg_files.hpp"
#include "transforms/codec/png/png_files.hpp"

using namespace penstock_test;

namespace {

std::string png(unsigned number, int depth = 8) {
  const Bytes bytes = PngFile({.color = 2, .depth = depth}, {20, 30}, number).bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Begins as AVIF does, which nothing here decodes.
std::string avif() { return std::string("\0\0\0\x20", 4) + "ftypavif" + std::string(50, 'x'); }

// A square of black pixels, in as few bytes as deflate makes of zeros.
std::string black_png(std::uint32_t side) {
  PngFile file({.color = 2}, {1, 1}, 0);
  for (PngFile::Chunk& chunk : file.chunks) {
    if (chunk.type == "IHDR")
      for (std::size_t i = 0; i < 8; ++i) chunk.data[i] = static_cast<std::uint8_t>(side >> (24 - 8 * (i % 4)));
    if (chunk.type != "IDAT") continue;
    std::vector<std::uint8_t> row(std::size_t{side} * 3 + 1), out(1 << 16);
    chunk.data.clear();
    z_stream deflater{};
    deflateInit(&deflater, 9);
    for (std::uint32_t y = 0; y <= side; ++y) {
      deflater.next_in = row.data();
      deflater.avail_in = y < side ? static_cast<uInt>(row.size()) : 0;
      do {
        deflater.next_out = out.data();
        deflater.avail_out = static_cast<uInt>(out.size());
        deflate(&deflater, y < side ? Z_NO_FLUSH : Z_FINISH);
        chunk.data.insert(chunk.data.end(), out.data(), deflater.next_out);
      } while (deflater.avail_out == 0);
    }
    deflateEnd(&deflater);
  }
  const Bytes bytes = file.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TEST_CASE("verify decodes PNGs to their ends") {
  const TempFolder folder;
  write_images(folder, 2, 4);
  folder.write("images/class_0/good.png", png(1));
  folder.write("images/class_0/deep.png", png(2, 16));
  folder.write("images/class_1/cut.png", png(3).substr(0, png(3).size() / 2));
  std::string changed = png(4);
  changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 1);
  folder.write("images/class_1/changed.png", changed);
  for (const std::string store : {"x.lmdb", "images"}) {
    if (store == "x.lmdb") REQUIRE(tool({"pack", folder / "images", "--out", folder / store, "-q"}).status == 0);
    const ToolResult verified = tool({"verify", folder / store, "--json"});
    CHECK(verified.status == 3);
    const auto json = verified.json();
    CHECK(json["decoded"] == 6);
    CHECK(json["not_decoded"].empty());
    REQUIRE(json["bad"].size() == 2);
    CHECK(json["bad"][0]["key"] == "class_1/changed");
    CHECK(json["bad"][1]["key"] == "class_1/cut");
    CHECK(json["bad"][1]["code"] == "corrupt");
  }
}

TEST_CASE("verify calls images bad that no loader decodes, and counts them by kind") {
  const TempFolder folder;
  write_images(folder, 2, 6);
  folder.write("images/class_0/x.png", avif());
  folder.write("images/class_1/y.gif", "GIF89a and what follows");
  for (const std::string store : {"images", "x.lmdb"}) {
    if (store == "x.lmdb") REQUIRE(tool({"pack", folder / "images", "--out", folder / store, "-q"}).status == 0);
    const ToolResult verified = tool({"verify", folder / store, "--json"});
    CHECK(verified.status == 3);
    const auto json = verified.json();
    CHECK(json["decoded"] == 6);
    CHECK(json["not_decoded"]["avif"] == 1);
    CHECK(json["not_decoded"]["gif"] == 1);
    REQUIRE(json["bad"].size() == 2);
    CHECK(json["bad"][0]["key"] == "class_0/x");
    CHECK(json["bad"][1]["key"] == "class_1/y");
    CHECK(json["bad"][1]["code"] == "unsupported");
    const ToolResult text = tool({"verify", folder / store});
    CHECK(text.status == 3);
    CHECK(text.out.find("(GIF), which is none of JPEG, PNG, WebP and TIFF") != std::string::npos);
    CHECK(text.out.find("; 2 bad") != std::string::npos);
    CHECK(text.out.find("1 of kind avif not decoded") != std::string::npos);
    CHECK(tool({"verify", folder / store, "--no-decode"}).status == 0);
  }
}

TEST_CASE("verify has the limits of a loader, and takes others") {
  const TempFolder folder;
  write_images(folder, 1, 2);
  folder.write("images/class_0/large.png", black_png(9500));
  const ToolResult verified = tool({"verify", folder / "images", "--json"});
  CHECK(verified.status == 3);
  REQUIRE(verified.json()["bad"].size() == 1);
  CHECK(verified.json()["bad"][0]["code"] == "limit_exceeded");
  CHECK(verified.json()["bad"][0]["cause"].text().find(
            "an image of 9500x9500x3 bytes is larger than `max_sample_bytes` = 268435456") == 0);
  CHECK(verified.json()["decoded"] == 2);
  const auto with = [&](const char* option, const char* value) {
    return tool({"verify", folder / "images", option, value}).status;
  };
  CHECK(with("--max-sample-bytes", "270750000") == 0);
  CHECK(with("--max-sample-bytes", "270749999") == 3);
  CHECK(with("--max-pixels", "1000000") == 3);
  // A field that is not decoded is a sample's as well.
  CHECK(tool({"verify", folder / "images", "--no-decode", "--max-sample-bytes", "1000"}).status == 3);
  CHECK(tool({"verify", folder / "images", "--max-pixels", "0"}).status == 2);
}

TEST_CASE("pack says at once which files nothing here decodes, by their names and then by their first bytes") {
  const std::string bmp("BM\x0a\0\0\0rest", 10);
  const TempFolder folder;
  write_images(folder, 2, 6);
  CHECK(tool({"pack", folder / "images", "--out", folder / "good.lmdb"}).err.empty());
  folder.write("images/class_0/a.gif", "GIF89a and what follows");
  folder.write("images/class_0/b.GIF", "GIF89a and what follows");
  folder.write("images/class_1/c.bmp", bmp);
  for (const std::string out : {"x.lmdb", "x.tar"}) {
    const ToolResult packed = tool({"pack", folder / "images", "--out", folder / out, "--json"});
    CHECK(packed.status == 0);
    CHECK(packed.err ==
          "penstock: warning: 3 files are of a kind that nothing here decodes: 1 bmp, 2 gif (class_0/a.gif, "
          "class_0/b.GIF, class_1/c.bmp); stored as they are: make JPEG or PNG of them and pack again, or decode them "
          "with a decoder of your own\n");
    CHECK(packed.json()["no_decoder"] == Json::parse(R"({"gif": 2, "bmp": 1})"));
  }
  // Whatever they are called.
  folder.write("images/class_1/d.jpg", bmp);
  folder.write("images/class_1/e.gif", jpeg(3));
  folder.write("images/class_1/f.bmp", "BM, which is none");
  const ToolResult packed = tool({"pack", folder / "images", "--out", folder / "y.lmdb", "--json"});
  CHECK(packed.err.find("5 files are of a kind that nothing here decodes: 2 bmp, 3 gif (class_0/a.gif, "
                        "class_0/b.GIF, class_1/c.bmp, ...)") != std::string::npos);
  CHECK(packed.err.find("warning: 1 file is of a kind that nothing here decodes: 1 bmp (class_1/d.jpg); stored as it "
                        "is: make JPEG or PNG of it") != std::string::npos);
  CHECK(packed.json()["no_decoder"] == Json::parse(R"({"gif": 2, "bmp": 2})"));
}

TEST_CASE("inspect counts the JPEGs that Exif data turns") {
  const TempFolder folder;
  write_images(folder, 2, 6);
  const auto turned = [](unsigned number, int orientation) {
    std::string bytes = jpeg(number);
    return bytes.insert(2, exif_segment(orientation, number % 2 == 0));
  };
  const ToolResult none = tool({"inspect", folder / "images"});
  CHECK(none.out.find("turned") == std::string::npos);
  CHECK(tool({"inspect", folder / "images", "--json"}).json()["turned"] == 0);
  folder.write("images/class_0/a.jpg", turned(1, 6));
  CHECK(tool({"inspect", folder / "images"})
            .out.find("  turned  1 JPEG is to be turned or mirrored, as its Exif data say (orientation: 1 of 6);\n"
                      "          decoders leave them as stored, unless `apply_orientation` says otherwise\n") !=
        std::string::npos);
  folder.write("images/class_0/b.jpg", turned(2, 6));
  folder.write("images/class_0/c.jpg", turned(3, 1));
  folder.write("images/class_1/d.jpg", turned(4, 3));
  folder.write("images/class_1/e.png", png(1));
  const auto json = tool({"inspect", folder / "images", "--json"}).json();
  CHECK(json["turned"] == 3);
  CHECK(json["orientations"] == Json::parse(R"({"3": 1, "6": 2})"));
  CHECK(tool({"inspect", folder / "images"})
            .out.find("3 JPEGs are to be turned or mirrored, as their Exif data say "
                      "(orientation: 1 of 3, 2 of 6);") != std::string::npos);
}

TEST_CASE("inspect measures and draws PNGs, and says why a sample could not be drawn") {
  const TempFolder folder;
  for (unsigned i = 0; i < 4; ++i) folder.write("images/a/" + std::to_string(i) + ".png", png(i, i == 3 ? 16 : 8));
  const ToolResult good =
      tool({"inspect", folder / "images", "--png", folder / "good.png", "--cell", "32", "--json=" + (folder / "j")});
  CHECK(good.status == 0);
  CHECK(good.out.find("height 20 to 20, median 20; width 30 to 30, median 30") != std::string::npos);
  CHECK(good.out.find("could not be drawn") == std::string::npos);
  CHECK(Json::parse(text_in(folder / "j"))["not_drawn"] == 0);

  folder.write("images/a/1.png", png(1).substr(0, 60));
  const ToolResult bad = tool({"inspect", folder / "images", "--png", folder / "bad.png", "--cell", "32"});
  CHECK(bad.status == 3);
  CHECK(bad.out.find("1 of 4 samples could not be drawn: a/1.png: ") != std::string::npos);
  CHECK(bad.out.find("cut off") != std::string::npos);
  CHECK(text_in(folder / "good.png") != text_in(folder / "bad.png"));
  const auto json = tool({"inspect", folder / "images", "--png", folder / "bad.png", "--json"}).json();
  CHECK(json["not_drawn"] == 1);
  CHECK(json["first_not_drawn"].text().find("a/1.png") != std::string::npos);
}

TEST_CASE("inspect names the field with the picture where it can't guess it") {
  const TempFolder folder;
  folder.write("t.csv", "a,b\n1,2\n");
  const ToolResult refused = tool({"inspect", folder / "t.csv", "--png", folder / "x.png"});
  CHECK(refused.status == 2);
  CHECK(one_line(refused.err));
  CHECK(refused.err.find("--field") != std::string::npos);
}

TEST_CASE("inspect says which record can't be read") {
  const TempFolder folder;
  write_images(folder, 1, 3);
  folder.write("images/class_0/0001.jpg", jpeg(1).substr(0, 30));
  const ToolResult text = tool({"inspect", folder / "images"});
  CHECK(text.out.find("1 record can't be read: ") != std::string::npos);
  CHECK(text.out.find("file class_0/0001.jpg") != std::string::npos);
}

TEST_CASE("a pipeline of the bench decodes what the store has") {
  const TempFolder folder;
  write_images(folder, 1, 4);
  folder.write("images/class_0/a.png", png(1));
  CHECK(tool({"bench", folder / "images", "--epochs", "1", "-q"}).status == 0);
}
