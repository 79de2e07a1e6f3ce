// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>

#include "support/text_in.hpp"

namespace penstock_test {

// The file of a store, of pages of 4096 bytes, whose numbers are forged.
class ForgedFile {
 public:
  static constexpr std::uint64_t page_bytes = 4096;
  // In a page of the header.
  static constexpr std::uint64_t page_bytes_at = 40, root_of_free_at = 80, root_of_main_at = 128, last_page_at = 136,
                                 transaction_at = 144;

  explicit ForgedFile(std::string file) : file_(std::move(file)), bytes_(text_in(file_)) {
    header_ = number(transaction_at) > number(page_bytes + transaction_at) ? 0 : page_bytes;
  }

  template <class T = std::uint64_t>
  T number(std::uint64_t at) const {
    T value = 0;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  template <class T = std::uint64_t>
  void put(std::uint64_t at, T value) {
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  // Where the page of the header that counts begins.
  std::uint64_t header() const { return header_; }
  std::uint64_t pages() const { return bytes_.size() / page_bytes; }
  // Where the first node of the main tree's root lies.
  std::uint64_t first_node() const {
    const std::uint64_t root = number(header_ + root_of_main_at) * page_bytes;
    return root + number<std::uint16_t>(root + 16);
  }
  // Appends a leaf with this node, which is named `times` times. Its number.
  std::uint64_t add_leaf(const std::string& node, std::uint64_t times = 1) {
    const std::uint64_t page = pages(), at = page * page_bytes, node_at = page_bytes - node.size();
    bytes_.resize(at + page_bytes);
    put(at, page);
    put<std::uint16_t>(at + 10, 2);
    put<std::uint16_t>(at + 12, static_cast<std::uint16_t>(16 + 2 * times));
    put<std::uint16_t>(at + 14, static_cast<std::uint16_t>(node_at));
    for (std::uint64_t i = 0; i < times; ++i) put<std::uint16_t>(at + 16 + 2 * i, static_cast<std::uint16_t>(node_at));
    bytes_.replace(at + node_at, node.size(), node);
    return page;
  }
  void add_pages(const std::string& bytes) { bytes_ += bytes; }
  // One page more than the file has, which the list of free pages names. Its number.
  std::uint64_t lose_free_page() {
    const std::uint64_t last = pages() + 1;
    put(header_ + root_of_free_at, add_leaf(node_of(16, 0, std::string("\1\0\0\0\0\0\0\0", 8) + text_of(last))));
    put(header_ + last_page_at, last);
    return last;
  }
  // A node whose key has eight bytes; `value_bytes` is what it says of its value.
  static std::string node_of(std::uint32_t value_bytes, std::uint16_t flags, const std::string& value) {
    std::string node(16, '\0');
    std::memcpy(node.data(), &value_bytes, 4);
    std::memcpy(node.data() + 4, &flags, 2);
    node[6] = 8;
    node[8] = 1;
    return node + value;
  }
  static std::string text_of(std::uint64_t number) { return {reinterpret_cast<const char*>(&number), sizeof number}; }
  void write() const { std::ofstream(file_, std::ios::binary | std::ios::trunc) << bytes_; }

 private:
  std::string file_, bytes_;
  std::uint64_t header_;
};

}  // namespace penstock_test
