// SPDX-License-Identifier: Apache-2.0
#include "picture_files.hpp"

#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <penstock/shape.hpp>

#include "common/file_errors.hpp"
#include "common/lines/input_file.hpp"

namespace penstock::detection {

void read_picture(const std::string& path, std::string_view source, SampleBuilder& out, std::size_t slot) {
  const common::InputFile file(path, source);
  const std::uint64_t bytes = file.mark().bytes;
  std::byte* const to = out.emplace(slot, Shape{static_cast<std::int64_t>(bytes)}).data;
  file.read(reinterpret_cast<char*>(to), static_cast<std::size_t>(bytes), 0);
}

std::uint64_t hash_of_size(const std::string& path, std::string_view name, std::uint64_t seed) {
  constexpr std::uint64_t no_size = ~std::uint64_t{0};
  struct stat status {};
  const bool there = ::stat(path.c_str(), &status) == 0;
  const std::uint64_t size = there ? static_cast<std::uint64_t>(status.st_size) : no_size;
  return hash_of_text(name, XXH3_64bits_withSeed(&size, sizeof size, seed));
}

std::uint64_t hash_of_time(const std::string& path, std::uint64_t seed) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) status = {};
  const std::int64_t facts[3] = {status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
  return XXH3_64bits_withSeed(facts, sizeof facts, seed);
}

std::uint64_t hash_of_text(std::string_view text, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed + text.size());
}

std::string read_annotations(const std::string& path, std::string_view source) {
  constexpr std::uint64_t most = std::uint64_t{64} << 20;
  const common::InputFile file(path, source);
  if (file.mark().bytes > most)
    throw common::FileError{source}(path, Errc::limit_exceeded,
                                    "the file has " + std::to_string(file.mark().bytes) +
                                        " bytes; files of one picture's objects have at most " + std::to_string(most));
  std::string text(static_cast<std::size_t>(file.mark().bytes), '\0');
  file.read(text.data(), text.size(), 0);
  return text;
}

Error no_such_record(std::uint64_t index, std::uint64_t size, std::string_view source, const std::string& file) {
  return common::FileError{source}(file, Errc::not_found, "there are " + std::to_string(size) + " records")
      .with_index(index);
}

}  // namespace penstock::detection
