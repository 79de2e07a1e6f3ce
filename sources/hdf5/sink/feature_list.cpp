// SPDX-License-Identifier: Apache-2.0
#include "sink/feature_list.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <penstock/extend/file_descriptor.hpp>
#include <penstock/extend/listing.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/system_error.hpp>

#include "library/errors.hpp"

namespace penstock::hdf5 {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view heading = "slide_id,file,features,dimension,dtype,job\n";
constexpr std::size_t cells_a_line = 6;
// The most bytes of the last line that are kept: enough for the slide's name twice, and more.
constexpr std::size_t longest_known = 1024;
// The list has a line per slide, so its size has no limit.
constexpr std::uint64_t any_bytes = std::numeric_limits<std::uint64_t>::max();

std::string quoted_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + "\"";
}

// Returns the cells of each complete line. If a process was killed, the last line may be incomplete, and is ignored.
std::vector<std::vector<std::string>> lines_of(std::string_view text) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> cells(1);
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      cells.back() += c;
      ++i;
    } else if (c == '"') {
      inside = !inside;
    } else if (!inside && c == ',') {
      cells.emplace_back();
    } else if (c == '\n') {  // cells have no line ends
      inside = false;
      lines.push_back(std::exchange(cells, std::vector<std::string>(1)));
    } else {
      cells.back() += c;
    }
  }
  return lines;
}

// A lock that is held while the list is read and changed, because several processes may change it.
class ListLock {
 public:
  explicit ListLock(const std::string& list) {
    using namespace std::chrono_literals;
    constexpr auto longest = 60s;
    const auto begun = std::chrono::steady_clock::now();
    while (!lock_.take(list + ".lock", source_name)) {
      if (std::chrono::steady_clock::now() - begun > longest)
        throw error_in(list, Errc::io, lock_holder(list + ".lock") + " holds " + list + ".lock for a minute; stop it");
      std::this_thread::sleep_for(2ms);
    }
  }

 private:
  FileLock lock_;
};

}  // namespace

FeatureList::FeatureList(std::string file, std::string slides, bool sync)
    : file_(std::move(file)),
      slides_(std::move(slides)),
      folder_name_(fs::path(slides_).filename().string()),
      sync_(sync) {}

std::string FeatureList::line_of(const std::string& slide, const FeatureFacts& facts) const {
  return quoted_cell(slide) + "," + quoted_cell(folder_name_ + "/" + slide + ".h5") + "," +
         std::to_string(facts.features) + "," + std::to_string(facts.dimension) + "," +
         std::string(to_string(facts.dtype)) + "," + quoted_cell(facts.job) + "\n";
}

void FeatureList::renew(const std::string& job, DType dtype) {
  const ListLock lock(file_);
  const std::string before = read_text(file_, source_name, any_bytes).value_or("");
  struct MadeBy {
    std::string job, dtype;
  };
  std::map<std::string, MadeBy> made;  // how each slide was made
  std::vector<std::string> order;
  std::map<std::string, std::string> listed;
  for (const auto& cells : lines_of(before)) {
    if (cells.size() != cells_a_line || cells[0] == "slide_id") continue;
    std::string line;
    for (const std::string& cell : cells) line += (line.empty() ? "" : ",") + quoted_cell(cell);
    if (!listed.emplace(cells[0], line + "\n").second) continue;
    made[cells[0]] = {cells[5], cells[4]};
    order.push_back(cells[0]);
  }
  std::map<std::string, bool> there;
  int failed = 0;
  for (const std::string& name : names_in_folder(slides_, failed))
    if (const fs::path file(name); file.extension() == ".h5" && !is_of_system(name)) there[file.stem().string()] = true;
  if (failed != 0) throw system_error(failed, "listing the folder", slides_);
  std::string after(heading);
  for (const std::string& slide : order)
    if (there.erase(slide) != 0)
      after += listed[slide];
    else
      made.erase(slide);
  for (const auto& [slide, ignored] : there) {
    const FeatureFacts facts = read_feature_file(file_of(slide));
    made[slide] = {facts.job, std::string(to_string(facts.dtype))};
    after += line_of(slide, facts);
  }
  for (const auto& [slide, by] : made) {
    const auto refuse = [&](const std::string& why) {
      throw error_in(file_of(slide), Errc::invalid_argument, why + "; write to another folder");
    };
    if (by.job != job) refuse("the slide was made by another job, \"" + printable(by.job) + "\"");
    if (by.dtype != to_string(dtype)) refuse("the slide's features are " + printable(by.dtype));
  }
  if (after != before) replace_text(file_, after, sync_, source_name);
}

void FeatureList::end(const std::string& slide, const FeatureFacts& facts, const std::string& file) {
  const ListLock lock(file_);
  rename_file(file, file_of(slide), source_name);
  if (sync_) sync_folder_of(file, source_name);
  list(slide, facts);
}

void FeatureList::list(const std::string& slide, const FeatureFacts& facts) {
  read_on();
  const std::string line = line_of(slide, facts);
  if (read_ == 0) return replace_text(file_, std::string(heading) + line, sync_, source_name);
  if (listed_.contains(slide)) {  // the slide's file was deleted by hand, and made again
    std::string before = read_text(file_, source_name, any_bytes).value_or("");
    before.resize(before.rfind('\n') + 1);
    const auto there = before.find("\n" + quoted_cell(slide) + ",");
    if (there != std::string::npos) before.erase(there + 1, before.find('\n', there + 1) - there);
    return replace_text(file_, before + line, sync_, source_name);
  }
  // Opening the list cuts off an incomplete line that a killed process has left.
  OutputFile list(file_, read_, source_name);
  list.append(line);
  list.flush();
  if (sync_) list.sync();
  list.close();
  take(line);
}

// Reads what other processes have appended since the last call. If the list was replaced, reads all of it.
void FeatureList::read_on() {
  const auto refuse = [&] { return system_error(errno, "reading the list", file_); };
  const FileDescriptor list(uninterrupted([&] { return ::open(file_.c_str(), O_RDONLY | O_CLOEXEC); }));
  struct stat facts {};
  if (list.get() < 0 && errno != ENOENT) throw refuse();
  if (list.get() >= 0 && ::fstat(list.get(), &facts) != 0) throw refuse();
  const std::uint64_t bytes = list.get() < 0 ? 0 : static_cast<std::uint64_t>(facts.st_size);
  if (bytes < read_ || device_ != facts.st_dev || number_ != facts.st_ino || !goes_on(list.get())) {
    read_ = 0;
    listed_.clear();
  }
  if (list.get() < 0) return;
  device_ = facts.st_dev;
  number_ = facts.st_ino;
  if (bytes == read_) return;
  std::string text(bytes - read_, '\0');
  if (read_whole(list.get(), std::as_writable_bytes(std::span(text)), read_) != text.size()) throw refuse();
  take(std::string_view(text).substr(0, text.rfind('\n') + 1));
}

// Returns whether the list still has, at the same offset, the last line that was read. If not, the list was replaced.
// The inode would not show that, because a new list may have the inode of the old list.
bool FeatureList::goes_on(int descriptor) const {
  std::string there(last_line_.size(), '\0');
  return read_whole(descriptor, std::as_writable_bytes(std::span(there)), last_begin_) == there.size() &&
         there == last_line_;
}

// Notes the slides in `text`. `text`: complete lines, which follow the lines that were read before.
void FeatureList::take(std::string_view text) {
  if (text.empty()) return;
  for (const auto& cells : lines_of(text))
    if (cells.size() == cells_a_line) listed_.insert(cells[0]);
  const std::size_t before_last = text.rfind('\n', text.size() - 2);
  const std::size_t begin = text.size() < 2 || before_last == std::string_view::npos ? 0 : before_last + 1;
  last_line_ = text.substr(begin, longest_known);
  last_begin_ = read_ + begin;
  read_ += text.size();
}

}  // namespace penstock::hdf5
