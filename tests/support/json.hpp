// SPDX-License-Identifier: Apache-2.0
// JSON as checks look at it. No templates, and nlohmann/json.hpp in json.cpp alone: with it a file of a hundred lines
// takes five seconds to compile.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace penstock_test {

// A document, or a part of one, which keeps the document. It never changes. What is not there, or is of another kind
// than it is asked for, throws std::runtime_error: a check of a name that is missing fails, and can't pass for null.
class Json {
 public:
  // What it is compared with.
  Json(std::nullptr_t);
  Json(bool value);
  Json(int value);
  Json(unsigned value);
  Json(long value);
  Json(unsigned long value);
  Json(double value);
  Json(const char* text);
  Json(const std::string& text);
  Json(const std::vector<std::string>& texts);

  static Json parse(const std::string& text);
  // Whether parse() takes it.
  static bool accept(const std::string& text);

  Json operator[](const std::string& name) const;
  Json operator[](std::size_t index) const;
  Json back() const;
  bool contains(const std::string& name) const;
  // Of an array or an object.
  std::size_t size() const;
  bool empty() const { return size() == 0; }

  bool is_null() const;
  bool is_number() const;
  bool is_object() const;
  std::string text() const;
  double number() const;
  std::int64_t whole() const;
  std::string dump() const;

  // A copy with another value, or without any, where a JSON pointer leads: "/runs/0/hash".
  Json with(const std::string& pointer, const Json& value) const;
  Json without(const std::string& pointer) const;

  // Over the elements of an array.
  class Iterator {
   public:
    Iterator(const Json& array, std::size_t index) : array_(&array), index_(index) {}
    Json operator*() const { return (*array_)[index_]; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return index_ == other.index_; }

   private:
    const Json* array_;
    std::size_t index_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const;

  // A whole number equals a fractional one of the same value. Only numbers have an order.
  friend bool operator==(const Json& a, const Json& b);
  friend std::partial_ordering operator<=>(const Json& a, const Json& b);
  friend std::ostream& operator<<(std::ostream& out, const Json& json);

 private:
  struct Library;
  explicit Json(std::shared_ptr<const void> value) : value_(std::move(value)) {}
  std::shared_ptr<const void> value_;  // a nlohmann::json
};

}  // namespace penstock_test
