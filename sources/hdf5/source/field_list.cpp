// SPDX-License-Identifier: Apache-2.0
#include "source/field_list.hpp"

#include <algorithm>
#include <cstddef>

#include <penstock/error.hpp>

#include "library/access.hpp"
#include "library/errors.hpp"
#include "source/dataset.hpp"

namespace penstock::hdf5 {

namespace {

std::string list_of(const std::vector<ListedDataset>& found) {
  std::string text;
  constexpr std::size_t most = 8;
  for (std::size_t i = 0; i < found.size() && i < most; ++i)
    text += (i == 0 ? "" : ", ") + found[i].path + " " + text_of(found[i].dims);
  if (found.size() > most) text += " and " + std::to_string(found.size() - most) + " more";
  return text;
}

// Removes the links from `found`, and returns a sentence about them.
std::string take_links(std::vector<ListedDataset>& found) {
  constexpr std::size_t most = 4;
  std::string text;
  std::size_t count = 0;
  for (const ListedDataset& link : found)
    if (!link.link.empty() && ++count <= most) text += (count == 1 ? "" : ", ") + link.path + " to " + link.link;
  std::erase_if(found, [](const ListedDataset& dataset) { return !dataset.link.empty(); });
  if (count == 0) return {};
  if (count > most) text += " and " + std::to_string(count - most) + " more";
  return "links: left out, as they lead to other files or to nothing: " + text +
         "; name in `fields` those that are wanted";
}

}  // namespace

std::string field_name(const Hdf5Field& field) {
  if (!field.name.empty()) return field.name;
  std::string name = field.dataset;
  name.erase(0, name.find_first_not_of('/'));
  if (!field.member.empty()) name += "/" + field.member;
  return name;
}

std::vector<Hdf5Field> all_fields(const File& file, std::vector<std::string>& left_out) {
  std::vector<ListedDataset> found;
  try {
    found = file.access().list();
  } catch (const Error& failed) {
    throw error_in(file.path(), failed.code(), failed.cause());
  }
  const std::string links = take_links(found);
  for (const ListedDataset& dataset : found)
    if (!dataset.unreadable.empty())
      left_out.push_back(field_name({.dataset = dataset.path}) +
                         ": left out, because it can't be read: " + dataset.unreadable);
    else if (dataset.dims.empty())
      left_out.push_back(field_name({.dataset = dataset.path}) +
                         ": left out, because it has no dimension that counts records");
  if (!links.empty()) left_out.push_back(links);
  const auto unreadable = std::ranges::find_if(found, [](const ListedDataset& d) { return !d.unreadable.empty(); });
  const std::string why =
      unreadable == found.end() ? "" : "dataset '" + unreadable->path + "': " + unreadable->unreadable;
  std::erase_if(found, [](const ListedDataset& dataset) { return dataset.dims.empty(); });
  if (found.empty() && !why.empty()) throw error_in(file.path(), Errc::unsupported, why);
  if (found.empty())
    throw error_in(file.path(), Errc::schema_mismatch,
                   "the file has no dataset with a dimension that counts records" +
                       (links.empty() ? std::string() : "; " + links));
  std::vector<Hdf5Field> fields;
  for (const ListedDataset& dataset : found) {
    if (dataset.dims.front() != found.front().dims.front())
      throw error_in(file.path(), Errc::schema_mismatch,
                     "the file's datasets do not count the same records: " + list_of(found) +
                         "; name in `fields` those that belong together");
    for (const std::string& member : dataset.members) fields.push_back({.dataset = dataset.path, .member = member});
  }
  return fields;
}

}  // namespace penstock::hdf5
