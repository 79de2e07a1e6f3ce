// How fields are read, in words.
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
  if (const auto& of_first = impl_->parts.front().keys) notes.push_back(of_first->describe());
  if (!impl_->keys_left_out.empty()) notes.push_back(impl_->keys_left_out);
  notes.insert(notes.end(), impl_->left_out.begin(), impl_->left_out.end());
  if (impl_->options.isolate)
    notes.emplace_back("isolated: the HDF5 library works in another process, one for each file");
  return notes;
}

}  // namespace penstock
