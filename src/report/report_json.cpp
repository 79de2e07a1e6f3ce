// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <penstock/report.hpp>

#include "base/json_text.hpp"
#include "base/number_text.hpp"
#include "report/report_fields.hpp"

namespace penstock {

namespace {

const char* name_of(Bound bound) {
  switch (bound) {
    case Bound::unknown:
      return "unknown";
    case Bound::consumer:
      return "consumer";
    case Bound::cpu:
      return "cpu";
    case Bound::storage:
      return "storage";
    case Bound::waiting:
      return "waiting";
    case Bound::lock:
      return "lock";
    case Bound::stragglers:
      return "stragglers";
    case Bound::buffers:
      return "buffers";
    case Bound::entries:
      return "entries";
    case Bound::blocks:
      return "blocks";
    case Bound::network:
      return "network";
    case Bound::stream:
      return "stream";
    case Bound::order:
      return "order";
    case Bound::memory:
      return "memory";
    case Bound::copies:
      return "copies";
    case Bound::sink:
      return "sink";
    case Bound::device:
      return "device";
    case Bound::threads:
      return "threads";
    case Bound::cores:
      return "cores";
    case Bound::other_processes:
      return "other_processes";
  }
  return "unknown";
}

/// Collects the members of an object, or of a list.
class JsonMembers {
 public:
  explicit JsonMembers(char opens) : text_(1, opens) {}
  void add(const std::string& value) { text_ += (text_.size() > 1 ? ", " : "") + value; }
  void add(const std::string& name, const std::string& value) { add("\"" + name + "\": " + value); }
  std::string closed(char closes) { return std::move(text_) + closes; }

 private:
  std::string text_;
};

template <class T>
constexpr bool is_list = false;
template <class T>
constexpr bool is_list<std::vector<T>> = true;
template <class T>
constexpr bool is_optional = false;
template <class T>
constexpr bool is_optional<std::optional<T>> = true;

const char* name_of(const IdleShare& idle) { return to_string(idle.why); }
const char* name_of(const WaitShare& wait) { return to_string(wait.what); }

template <class T>
std::string json_of(const T& value) {
  if constexpr (std::same_as<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::unsigned_integral<T>) {
    return std::to_string(value);
  } else if constexpr (std::same_as<T, double>) {
    return std::isfinite(value) ? detail::shortest(value) : "0";
  } else if constexpr (std::same_as<T, std::string>) {
    return detail::json_string(value);
  } else if constexpr (std::same_as<T, Bound>) {
    return detail::json_string(name_of(value));
  } else if constexpr (is_optional<T>) {
    return value ? json_of(*value) : "null";
  } else if constexpr (std::same_as<T, std::vector<IdleShare>> || std::same_as<T, std::vector<WaitShare>>) {
    JsonMembers shares('{');
    for (const auto& one : value) shares.add(name_of(one), json_of(one.share));
    return shares.closed('}');
  } else if constexpr (is_list<T>) {
    JsonMembers list('[');
    for (const auto& one : value) list.add(json_of(one));
    return list.closed(']');
  } else {
    JsonMembers fields('{');
    detail::runtime::for_each_field(value,
                                    [&](const char* name, const auto& field) { fields.add(name, json_of(field)); });
    return fields.closed('}');
  }
}

}  // namespace

std::string Report::json() const { return json_of(*this); }

}  // namespace penstock
