// SPDX-License-Identifier: Apache-2.0
// The list of a report's fields: what is in it is in the JSON, and nothing is left out.
#include "report/report_fields.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/help.hpp"
#include "support/catch.hpp"
#include "support/json.hpp"

using namespace help;
using penstock_test::Json;

namespace {

struct AnyMember {
  template <class T>
  operator T() const;
};

// How many members a struct has: as many as it can be made of.
template <class T, class... Members>
constexpr std::size_t members_of() {
  if constexpr (requires { T{Members{}..., AnyMember{}}; })
    return members_of<T, Members..., AnyMember>();
  else
    return sizeof...(Members);
}

template <class T>
std::set<std::string> fields_of(const T& value) {
  std::set<std::string> names;
  std::size_t count = 0;
  penstock::detail::runtime::for_each_field(value, [&](const char* name, const auto&) {
    names.insert(name);
    ++count;
  });
  CHECK(names.size() == count);
  CHECK(count == members_of<T>());
  return names;
}

}  // namespace

TEST_CASE("each member of a report, and of its parts, stands once in the list of fields") {
  CHECK(fields_of(ps::Report()).count("batches") == 1);
  CHECK(fields_of(ps::StageReport()).count("cpu_us_per_sample") == 1);
  CHECK(fields_of(ps::FileReport()).count("of_blocks") == 1);
  CHECK(fields_of(ps::MemoryPurpose()).count("bytes_each") == 1);
  CHECK(fields_of(ps::StreamTime()).count("us") == 1);
  CHECK(fields_of(ps::DeviceReport()).count("starved") == 1);
  CHECK(fields_of(ps::SendReport()).count("call_share") == 1);
  CHECK(fields_of(ps::FetchReport()).count("full_share") == 1);
  CHECK(fields_of(ps::TuneTrial()).count("kept") == 1);
  CHECK(fields_of(ps::TuneReport()).count("trials") == 1);
}

TEST_CASE("each number of a report is in its JSON under the name of its member") {
  ps::Report report;
  double value = 0;
  penstock::detail::runtime::for_each_field(report, [&](const char*, auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (std::is_arithmetic_v<Field>)
      field = static_cast<Field>(++value);
    else if constexpr (std::is_same_v<Field, std::optional<double>>)
      field = ++value;
  });
  CHECK(value > 30);
  CHECK(report.block_decodes_saved == report.block_uses + 1);
  const auto json = Json::parse(report.json());
  double expected = 0;
  penstock::detail::runtime::for_each_field(report, [&](const char* name, const auto& field) {
    CAPTURE(name);
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (std::is_arithmetic_v<Field> || std::is_same_v<Field, std::optional<double>>)
      CHECK(json[name] == ++expected);
    else
      CHECK(json.contains(name));
  });
}
