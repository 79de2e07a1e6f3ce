// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

namespace penstock::common {

/// A document of nlohmann's library whose destruction needs no memory. The library's own destructor allocates, to avoid
/// recursion, and ends the process if it can't. Create objects and lists explicitly: if `json["x"]` fails on a null
/// value, that value can't be destroyed either.
template <class Json>
class JsonDocument {
 public:
  explicit JsonDocument(Json json) noexcept : json_(std::move(json)) {}
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;
  JsonDocument(JsonDocument&&) = default;
  ~JsonDocument() { take_apart(json_, 0); }

  Json& operator*() noexcept { return json_; }
  const Json& operator*() const noexcept { return json_; }

 private:
  // No document of this project is nested more deeply. nlohmann's own destructor destroys a deeper document.
  static constexpr std::size_t deepest = 64;

  static void take_apart(Json& json, std::size_t depth) noexcept {
    if (!json.is_structured() || depth == deepest) return;
    for (Json& child : json) take_apart(child, depth + 1);
    json.clear();
  }

  Json json_;
};

}  // namespace penstock::common
