// SPDX-License-Identifier: Apache-2.0
#include "library/outside_values.hpp"

#include <algorithm>
#include <tuple>

#include <penstock/error.hpp>

namespace penstock::hdf5 {

namespace {

constexpr auto which_file = [](const FileState& state) { return std::tuple(state.device, state.inode); };

}  // namespace

void OutsideValues::require_rows(std::uint64_t first, std::uint64_t count) const {
  if (faults.empty()) return;
  const std::string* why = faults.find(static_cast<std::int64_t>(first), static_cast<std::int64_t>(first + count));
  if (why != nullptr) throw Error(Errc::corrupt, *why);
}

// Returns the path of a file that the library could not open, or an empty text if it could open every file. With
// `lost_too`, ignores files that could not be opened during the check of the dataset's files.
std::string OutsideValues::lost_now(const OpenRecorder& opens, bool lost_too) const {
  if (!lost_too) return opens.lost();
  const auto is_new = [&](const std::string& path) { return !std::ranges::binary_search(unopened, path); };
  const auto lost = std::ranges::find_if(opens.failed(), is_new);
  return lost == opens.failed().end() ? std::string() : *lost;
}

void OutsideValues::require_unchanged(const OpenRecorder& opens, std::uint64_t first, std::uint64_t count,
                                      bool lost_too) const {
  if (!changed_.empty()) throw Error(Errc::io, changed_);
  for (const OpenRecorder::OpenedFile& opened : opens.opened()) {
    const auto known = std::ranges::lower_bound(states, which_file(opened.state), {}, which_file);
    if (known != states.end() && *known == opened.state) continue;
    changed_ = "'" + opened.path + "' was changed since the source was opened; open it again";
    throw Error(Errc::io, changed_);
  }
  if (const std::string lost = lost_now(opens, lost_too); !lost.empty())
    throw Error(Errc::io, "'" + lost + "' can't be opened any more, or no more files can be");
  const std::uint64_t begin = first * row_bytes, end = begin + count * row_bytes;
  const auto from = std::ranges::lower_bound(raw, begin, std::ranges::less_equal(), &RawPiece::end);
  const auto require_bytes = [&](std::size_t file, std::uint64_t bytes) {
    if (state_of(files[file]).bytes < bytes)
      throw Error(Errc::io, "'" + files[file] + "' was cut short since the source was opened");
  };
  for (auto piece = from; piece != raw.end() && piece->begin < end; ++piece)
    require_bytes(piece->file, piece->file_bytes);
  for (const auto& [file, bytes] : raw_below) require_bytes(file, bytes);
}

}  // namespace penstock::hdf5
