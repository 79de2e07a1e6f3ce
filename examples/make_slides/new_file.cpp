// SPDX-License-Identifier: Apache-2.0
#include "new_file.hpp"

#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

namespace make_slides {

NewFile::NewFile(std::string name, std::uint64_t first_bytes)
    : name_(std::move(name)), partial_(name_ + ".partial"), out_(partial_, std::ios::binary | std::ios::trunc) {
  append(std::vector<std::byte>(first_bytes));
}

// After `finish`, no file NAME.partial exists.
NewFile::~NewFile() {
  std::error_code missing;
  std::filesystem::remove(partial_, missing);
}

std::uint64_t NewFile::append(std::span<const std::byte> bytes) {
  write(bytes);
  return std::exchange(bytes_, bytes_ + bytes.size());
}

std::uint64_t NewFile::align(std::uint64_t bytes) {
  append(std::vector<std::byte>((bytes - bytes_ % bytes) % bytes));
  return bytes_;
}

void NewFile::write(std::span<const std::byte> bytes) {
  out_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out_) throw std::runtime_error(partial_ + ": could not be written");
}

void NewFile::finish(std::span<const std::byte> first) {
  out_.seekp(0);
  write(first);
  out_.close();
  if (!out_) throw std::runtime_error(partial_ + ": could not be written");
  std::filesystem::rename(partial_, name_);
}

}  // namespace make_slides
