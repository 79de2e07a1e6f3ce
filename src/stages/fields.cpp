#include <penstock/stages/fields.hpp>

#include <string>
#include <utility>

#include <penstock/error.hpp>

#include "stages/stage_model.hpp"

namespace penstock {

Stage select_fields(std::vector<std::string> names) {
  if (names.empty()) throw Error(Errc::invalid_argument, "name at least one field to keep").with_stage("select_fields");
  return detail::make_stage(detail::SelectFieldsItem{std::move(names)});
}

Stage drop_fields(std::vector<std::string> names) {
  if (names.empty())
    throw Error(Errc::invalid_argument, "name at least one field to leave out").with_stage("drop_fields");
  return detail::make_stage(detail::DropFieldsItem{std::move(names)});
}

Stage rename(std::string from, std::string to) {
  if (to.empty()) throw Error(Errc::invalid_argument, "say the field's new name").with_stage("rename(" + from + ")");
  return detail::make_stage(detail::RenameItem{std::move(from), std::move(to)});
}

}  // namespace penstock
