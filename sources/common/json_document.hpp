#pragma once

#include <cstddef>
#include <utility>

namespace penstock::common {

/// A document of nlohmann's whose end takes no memory: its own does, so as not to recurse, and ends the process where
/// there is none. Begin objects and lists as such: `json["x"]` of what is null is one whose end fails where it did.
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
  // Nothing of ours is so deep; what is, goes nlohmann's way.
  static constexpr std::size_t deepest = 64;

  static void take_apart(Json& json, std::size_t depth) noexcept {
    if (!json.is_structured() || depth == deepest) return;
    for (Json& child : json) take_apart(child, depth + 1);
    json.clear();
  }

  Json json_;
};

}  // namespace penstock::common
