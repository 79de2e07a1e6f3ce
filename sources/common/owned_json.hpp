// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

namespace penstock::common {

/// Holds a document of nlohmann's library, and destroys it without allocating memory. nlohmann's own destructor
/// allocates memory, to avoid recursion, and ends the process if there is no memory. Create objects and lists
/// explicitly. Otherwise `json["x"]` first turns a null value into an object. If there is no memory for the object, the
/// value can't be destroyed any more.
template <class Json>
class OwnedJson {
 public:
  explicit OwnedJson(Json json) noexcept : json_(std::move(json)) {}
  OwnedJson(const OwnedJson&) = delete;
  OwnedJson& operator=(const OwnedJson&) = delete;
  OwnedJson(OwnedJson&&) = default;
  ~OwnedJson() { take_apart(json_, 0); }

  Json& operator*() noexcept { return json_; }
  const Json& operator*() const noexcept { return json_; }

 private:
  // No document of this project is nested more deeply than this. In a deeper document, nlohmann's destructor destroys
  // the deeper levels.
  static constexpr std::size_t deepest = 64;

  static void take_apart(Json& json, std::size_t depth) noexcept {
    if (!json.is_structured() || depth == deepest) return;
    for (Json& child : json) take_apart(child, depth + 1);
    json.clear();
  }

  Json json_;
};

}  // namespace penstock::common
