// SPDX-License-Identifier: Apache-2.0
// Describes how fields are read.
#include <penstock/sources/hdf5.hpp>

#include <utility>

#include "source/source_impl.hpp"

namespace penstock {

std::string_view to_string(Hdf5Way way) noexcept {
  switch (way) {
    case Hdf5Way::kept:
      return "kept";
    case Hdf5Way::contiguous:
      return "contiguous";
    case Hdf5Way::chunks:
      return "chunks";
    case Hdf5Way::library:
      return "library";
    case Hdf5Way::rows:
      return "rows";
  }
  return "";
}

namespace {

// Calls `act(dataset)` for each dataset that is read, including datasets of keys.
template <class Act>
void for_each_dataset(const std::vector<hdf5::Part>& parts, Act act) {
  for (const hdf5::Part& part : parts) {
    for (const hdf5::Table& table : part.tables) act(table.dataset);
    if (part.keys) act(part.keys->dataset());
  }
}

// Returns lines about other files with the datasets' values. If there are many lines, returns the first ones, and a
// line that counts the others.
std::vector<std::string> lines_of_others(const std::vector<hdf5::Part>& parts) {
  constexpr std::size_t most = 32;
  std::vector<std::string> lines;
  std::size_t more = 0;
  for_each_dataset(parts, [&](const hdf5::Dataset& dataset) {
    for (const std::string& line : dataset.others().words(dataset.file().path())) {
      const std::string where = parts.size() == 1 ? std::string() : " of " + dataset.file().path();
      if (lines.size() < most)
        lines.push_back(dataset.path() + where + ": " + line);
      else
        ++more;
    }
  });
  if (more != 0) lines.push_back("of values in other files there are " + std::to_string(more) + " lines more");
  return lines;
}

}  // namespace

std::vector<std::string> Hdf5Source::faults() const {
  std::vector<std::string> lines;
  for_each_dataset(impl_->parts, [&](const hdf5::Dataset& dataset) {
    for (const std::string& fault : dataset.others().faults)
      lines.push_back(dataset.file().path() + ": dataset '" + dataset.path() + "': " + fault);
  });
  return lines;
}

std::uint64_t Hdf5Source::revision() const noexcept {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
  std::uint64_t hash = impl_->options.verify_checksum ? 1 : 0;
  for (const auto& file : impl_->files) hash = hash * factor + file->revision();
  for_each_dataset(impl_->parts, [&](const hdf5::Dataset& dataset) {
    if (const std::uint64_t others = dataset.others().revision; others != 0) hash = hash * factor + others;
  });
  return hash;
}

std::vector<std::string> Hdf5Source::notes() const {
  std::vector<std::string> notes;
  for (const Hdf5FieldInfo& field : impl_->fields) {
    std::string text = field.name + ": " + field.storage + "; ";
    switch (field.way) {
      case Hdf5Way::kept:
        text += "read whole when first needed, then from memory";
        break;
      case Hdf5Way::contiguous:
        text += "read from its place in the file, in parallel";
        break;
      case Hdf5Way::chunks:
        text += field.in_blocks ? "chunks decoded in parallel, each once while it stays"
                                : "rows read from their chunks, in parallel";
        break;
      case Hdf5Way::library:
        text += "chunks read by the HDF5 library, one at a time";
        break;
      case Hdf5Way::rows:
        text += "rows read by the HDF5 library, one at a time";
        break;
    }
    if (!field.reason.empty()) text += ", because " + field.reason;
    if (field.converted) text += "; each value is converted by the library, one at a time";
    if (field.differs) text += " (of the first file; others differ)";
    notes.push_back(std::move(text));
  }
  const std::vector<std::string> others = lines_of_others(impl_->parts);
  notes.insert(notes.end(), others.begin(), others.end());
  if (const auto& of_first = impl_->parts.front().keys) notes.push_back(of_first->describe());
  if (!impl_->keys_left_out.empty()) notes.push_back(impl_->keys_left_out);
  notes.insert(notes.end(), impl_->left_out.begin(), impl_->left_out.end());
  if (impl_->options.isolate)
    notes.emplace_back("isolated: the HDF5 library works in another process, one for each file");
  return notes;
}

}  // namespace penstock
