// SPDX-License-Identifier: Apache-2.0
// Pillow, where there is one: what it makes of files is what ours is compared to.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/test_images.hpp"
#include "support/text_in.hpp"

namespace penstock_test {

inline constexpr const char* python = "/usr/bin/python3";

inline bool has_pillow() {
  return std::system((std::string(python) + " -c 'import PIL.Image' 2>/dev/null").c_str()) == 0;
}

class PillowFolder {
 public:
  PillowFolder() : path_(std::filesystem::temp_directory_path() / ("penstock-pillow-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(path_);
  }
  PillowFolder(const PillowFolder&) = delete;
  PillowFolder& operator=(const PillowFolder&) = delete;
  ~PillowFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

  void write(const std::string& name, std::span<const std::byte> bytes) const {
    std::ofstream(*this / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  std::vector<std::byte> read(const std::string& name) const {
    const std::string text = text_in(*this / name);
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    return {first, first + text.size()};
  }
  // Runs `script`, with the folder as its working directory. @throws std::runtime_error where it fails.
  void run(const std::string& script) const {
    std::ofstream(*this / "script.py") << script;
    const std::string command = "cd '" + path_.string() + "' && " + python + " script.py";
    if (std::system(command.c_str()) != 0) throw std::runtime_error("python failed");
  }
  // What Pillow made: raw values.
  Image image(const std::string& name, penstock::ImageShape shape) const {
    const std::vector<std::byte> bytes = read(name);
    Image image(shape);
    if (bytes.size() != image.pixels.size()) throw std::runtime_error("not the size that was expected");
    for (std::size_t i = 0; i < bytes.size(); ++i) image.pixels[i] = std::to_integer<std::uint8_t>(bytes[i]);
    return image;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace penstock_test
