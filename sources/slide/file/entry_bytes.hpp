// SPDX-License-Identifier: Apache-2.0
// Writes values as bytes, one after the other, in the machine's byte order. Reads them back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <penstock/error.hpp>

namespace penstock::slide {

class EntryWriter {
 public:
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  void put(T value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void put(std::string_view text) {
    put(std::uint64_t{text.size()});
    bytes_.append(text);
  }
  template <class T>
    requires std::is_trivially_copyable_v<T>
  void put_all(std::span<const T> values) {
    put(std::uint64_t{values.size()});
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }
  void put_all(const std::vector<std::string>& texts) {
    put(std::uint64_t{texts.size()});
    for (const std::string& text : texts) put(std::string_view(text));
  }
  const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads the values back. Allocates memory only in proportion to the number of bytes, even if the bytes are damaged.
/// If too few bytes are left, every function that reads throws Error(corrupt), which names no file.
class EntryReader {
 public:
  explicit EntryReader(std::string_view bytes) : left_(bytes) {}

  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  T get() {
    T value{};
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  bool truth() { return get<std::uint8_t>() != 0; }
  std::string text() { return bytes(count(1)); }
  template <class T>
    requires std::is_trivially_copyable_v<T> std::vector<T> all() {
      std::vector<T> values(static_cast<std::size_t>(count(sizeof(T))));
      if (!values.empty()) std::memcpy(values.data(), take(values.size() * sizeof(T)), values.size() * sizeof(T));
      return values;
    }
  std::vector<std::string> texts() {
    std::vector<std::string> texts(static_cast<std::size_t>(count(sizeof(std::uint64_t))));
    for (std::string& one : texts) one = text();
    return texts;
  }
  /// Reads `size` bytes.
  std::string bytes(std::uint64_t size) {
    const char* const at = take(size);
    return {at, static_cast<std::size_t>(size)};
  }
  std::size_t left() const noexcept { return left_.size(); }

 private:
  const char* take(std::uint64_t bytes) {
    if (bytes > left_.size()) throw Error(Errc::corrupt, "it ends in the middle of a slide");
    const char* const at = left_.data();
    left_.remove_prefix(static_cast<std::size_t>(bytes));
    return at;
  }
  std::uint64_t count(std::size_t bytes_each) {
    const auto number = get<std::uint64_t>();
    if (number > left_.size() / bytes_each) throw Error(Errc::corrupt, "it says that a slide has more than there is");
    return number;
  }

  std::string_view left_;
};

}  // namespace penstock::slide
