// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "library/access.hpp"

namespace penstock::hdf5 {

/// The head of a question to the reader. A message of `bytes` bytes follows.
struct QuestionHead {
  std::uint32_t kind = 0;  ///< a Question
  std::uint32_t zero = 0;
  std::uint64_t bytes = 0;
};

/// The head of an answer. A message follows, then data, which the receiver can read directly to their
/// destination.
struct AnswerHead {
  std::uint32_t sign = right_sign;
  std::uint32_t failed = 0;  ///< if not 0, the message is an error's code and cause
  std::uint64_t bytes = 0, data_bytes = 0;

  static constexpr std::uint32_t right_sign = 0x52354850;
};

enum class Question : std::uint32_t {
  open,
  list,
  dataset,
  element,
  find_chunk,
  read,
  read_column,
  read_variable,
  convert,
  attributes,
  attribute,
  read_texts,
};

/// Returns the first message that the reader sends. The reader of another version sends another message.
std::string greeting();

/// Writes values one after the other.
class MessageWriter {
 public:
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  MessageWriter& put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  MessageWriter& put(std::string_view text);
  MessageWriter& put(std::span<const std::byte> bytes);
  MessageWriter& put(std::span<const std::uint64_t> values);
  MessageWriter& put(const std::vector<std::string>& texts);
  MessageWriter& put(const std::vector<ListedDataset>& datasets);
  MessageWriter& put(const DatasetFacts& facts);
  MessageWriter& put(const ElementFacts& facts);
  MessageWriter& put(const std::optional<Hdf5Attribute>& attribute);
  MessageWriter& put(const Texts& texts);

  std::span<const std::byte> bytes() const noexcept { return std::as_bytes(std::span(bytes_)); }

 private:
  std::string bytes_;
};

/// Parses a message from an untrusted sender. Allocates memory only in proportion to the message's bytes.
class MessageParser {
 public:
  /// `message` must outlive the object.
  explicit MessageParser(std::span<const std::byte> message) : left_(message) {}

  /// Each of these functions reads the next value. @throws Error(corrupt) if the message is malformed.
  std::uint8_t byte();
  bool truth() { return byte() != 0; }
  std::uint32_t number32();
  std::uint64_t number();
  std::string text();
  std::vector<std::byte> data();
  std::vector<std::uint64_t> numbers();
  std::vector<std::string> texts();
  std::vector<ListedDataset> datasets();
  DatasetFacts dataset();
  ElementFacts element();
  std::optional<Hdf5Attribute> attribute();
  Texts texts_together();
  /// Checks that nothing is left of the message.
  void end() const;

 private:
  std::span<const std::byte> take(std::uint64_t bytes);
  /// Reads a count of items. The rest of the message must have room for that many items of at least `bytes_each` bytes.
  std::uint64_t count(std::uint64_t bytes_each);
  /// Reads an enumerator's number, which must be at most `last`.
  std::uint8_t choice(std::uint8_t last);

  std::span<const std::byte> left_;
};

}  // namespace penstock::hdf5
