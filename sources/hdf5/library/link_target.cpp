// SPDX-License-Identifier: Apache-2.0
#include "library/link_target.hpp"

#include <algorithm>
#include <vector>

#include "library/other_files.hpp"

namespace penstock::hdf5 {

namespace {

// The file and object to which a link leads. `file` is empty for a link within its own file.
struct Target {
  std::string file, object;
};

// Returns an empty Target if the name is not a soft or external link.
Target target_of(hid_t within, const std::string& name) {
  H5L_info_t link{};
  if (H5Lget_info(within, name.c_str(), &link, H5P_DEFAULT) < 0) return {};
  if (link.type != H5L_TYPE_SOFT && link.type != H5L_TYPE_EXTERNAL) return {};
  std::vector<char> value(link.u.val_size + 1, '\0');
  if (H5Lget_val(within, name.c_str(), value.data(), link.u.val_size, H5P_DEFAULT) < 0) return {};
  if (link.type == H5L_TYPE_SOFT) return {{}, value.data()};
  unsigned flags = 0;
  const char *file = nullptr, *object = nullptr;
  if (H5Lunpack_elink_val(value.data(), link.u.val_size, &flags, &file, &object) < 0) return {};
  return {file, object};
}

}  // namespace

std::string link_target(hid_t within, const std::string& name) {
  const Target target = target_of(within, name);
  if (!target.file.empty()) return "'" + target.object + "' of the file '" + target.file + "'";
  return target.object.empty() ? std::string() : "'" + target.object + "'";
}

std::string why_no_dataset(hid_t file, const std::string& name) {
  const std::string said = library_says();
  // Looks for the first link on the path `name` that leads nowhere.
  for (std::size_t end = name.find_first_not_of('/'); end < name.size();) {
    end = std::min(name.find('/', end), name.size());
    const std::string part = name.substr(0, end);
    const Target target = target_of(file, part);
    end = name.find_first_not_of('/', end);
    if (target.object.empty() || H5Oexists_by_name(file, part.c_str(), H5P_DEFAULT) > 0) continue;
    const std::string link = "'" + part + "' is a link to " + link_target(file, part);
    if (target.file.empty()) return link + ", where there is nothing";
    const OtherFile other = open_named_file(target.file, file, NamedBy::link);
    return link + (other.problem.empty() ? ", which has no such object" : ": " + other.problem);
  }
  return "there is no dataset '" + name + "' that can be opened: " + said;
}

}  // namespace penstock::hdf5
