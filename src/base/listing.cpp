// SPDX-License-Identifier: Apache-2.0
#include <penstock/extend/listing.hpp>

#include <dirent.h>
#include <glob.h>
#include <limits.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock {

namespace {

char small_letter(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// `small` has no capital letters.
bool same_in_either_case(std::string_view name, std::string_view small) noexcept {
  return std::ranges::equal(name, small, {}, small_letter);
}

bool begins_in_either_case(std::string_view name, std::string_view small) noexcept {
  return name.size() >= small.size() && same_in_either_case(name.substr(0, small.size()), small);
}

constexpr std::string_view no_ending = "no ending";
constexpr std::size_t longest_ending = 16, most_endings = 1000;

// Returns the ending in small letters, such as ".gz" for "a.tar.GZ". Returns `no_ending` if the name has no ending. A
// long ending, or an ending with spaces, counts as part of the name.
std::string ending_of(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == name.size()) return std::string(no_ending);
  std::string ending(name.substr(dot));
  if (ending.size() > longest_ending || ending.find(' ') != std::string::npos) return std::string(no_ending);
  std::ranges::transform(ending, ending.begin(), small_letter);
  return printable(ending);
}

std::string counted_in_words(std::uint64_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

bool is_there(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

bool is_wild(std::string_view text) noexcept { return text.find_first_of("*?[") != std::string_view::npos; }

constexpr std::string_view special = "*?[]{}\\";

// Returns a pattern that matches only this text.
std::string literally(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

struct Unreadable {
  std::array<char, PATH_MAX> folder{};  // not a std::string, because no exception may pass through glob
  int code = 0;
};
thread_local Unreadable* unreadable = nullptr;  // glob passes no pointer of ours to its callback

// Stops glob at a folder that can't be read. Lets glob continue if there is no such folder, or if only a system makes
// folders of this name, like lost+found.
int refuse_unreadable(const char* path, int code) {
  const std::string_view folder(path);
  if (code == ENOENT || code == ENOTDIR || is_of_system(folder.substr(folder.rfind('/') + 1))) return 0;
  const std::size_t bytes = std::min(folder.size(), unreadable->folder.size() - 1);
  std::memcpy(unreadable->folder.data(), path, bytes);
  unreadable->folder[bytes] = '\0';
  unreadable->code = code;
  return 1;
}

// Returns whether a part of the path is a name that only a system makes, and that the pattern does not contain.
bool has_systems_part(std::string_view path, std::string_view pattern) {
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (is_of_system(part) && pattern.find(part) == std::string_view::npos) return true;
    begin = end + 1;
  }
  return false;
}

std::vector<std::string> matches_of(const std::string& pattern, int flags, const std::string& path,
                                    std::string_view source) {
  glob_t found{};
  const std::unique_ptr<glob_t, decltype([](glob_t* g) { ::globfree(g); })> guard(&found);
  Unreadable first;
  unreadable = &first;
  const int failed = ::glob(pattern.c_str(), GLOB_NOSORT | flags, refuse_unreadable, &found);
  unreadable = nullptr;
  std::vector<std::string> files(found.gl_pathv, found.gl_pathv + (failed == 0 ? found.gl_pathc : 0));
  if (failed == GLOB_NOSPACE) throw file_error(source, path, Errc::out_of_memory, "listing the files of this pattern");
  if (failed == GLOB_ABORTED)
    throw system_error(source, first.code, "listing a folder of the pattern \"" + path + "\"", first.folder.data());
  std::erase_if(files, [&](const std::string& file) { return has_systems_part(file, path); });
  return files;
}

template <class Take>
void read_folder(const std::string& folder, int& failed, const Take& take) {
  const std::unique_ptr<DIR, decltype([](DIR* d) { ::closedir(d); })> open(::opendir(folder.c_str()));
  failed = open ? 0 : errno;
  while (open) {
    errno = 0;
    const dirent* const entry = ::readdir(open.get());
    failed = entry == nullptr ? errno : 0;
    if (entry == nullptr) break;
    if (const std::string_view name = entry->d_name; name != "." && name != "..") take(*entry);
  }
}

FolderEntry entry_of(const std::string& folder, const dirent& found) {
  FolderEntry entry{found.d_name};
  if (found.d_type == DT_REG || found.d_type == DT_DIR) {
    entry.kind = found.d_type == DT_DIR ? EntryKind::folder : EntryKind::file;
    return entry;
  }
  if (found.d_type != DT_LNK && found.d_type != DT_UNKNOWN) return entry;
  const std::string path = folder + "/" + entry.name;
  struct stat status {};
  entry.is_link = found.d_type == DT_LNK || (::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode));
  if (::stat(path.c_str(), &status) == 0)
    entry.kind = S_ISREG(status.st_mode)   ? EntryKind::file
                 : S_ISDIR(status.st_mode) ? EntryKind::folder
                                           : EntryKind::other;
  else if (entry.is_link)
    entry.kind = EntryKind::none;
  return entry;
}

}  // namespace

std::vector<std::string> names_in_folder(const std::string& folder, int& failed) {
  std::vector<std::string> names;
  read_folder(folder, failed, [&](const dirent& entry) { names.emplace_back(entry.d_name); });
  return names;
}

std::vector<FolderEntry> entries_in_folder(const std::string& folder, int& failed) {
  std::vector<FolderEntry> entries;
  read_folder(folder, failed, [&](const dirent& entry) { entries.push_back(entry_of(folder, entry)); });
  return entries;
}

bool is_of_system(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 19> names{
      ".ds_store",    ".appledouble", ".fseventsd", ".spotlight-v100", ".temporaryitems", ".trashes",
      "__macosx",     "icon\r",       "thumbs.db",  "ehthumbs.db",     "desktop.ini",     "system volume information",
      "$recycle.bin", "recycler",     "lost+found", "@eadir",          "#recycle",        "#snapshot",
      "@recycle"};
  constexpr std::array<std::string_view, 3> beginnings{"._", ".nfs", ".trash-"};
  return std::ranges::any_of(names, [&](std::string_view one) { return same_in_either_case(name, one); }) ||
         std::ranges::any_of(beginnings, [&](std::string_view one) { return begins_in_either_case(name, one); });
}

bool is_skipped(std::string_view name) noexcept { return name.starts_with('.') || is_of_system(name); }

bool has_ending(std::string_view name, std::string_view ending) noexcept {
  return name.size() >= ending.size() &&
         std::ranges::equal(name.substr(name.size() - ending.size()), ending, {}, small_letter, small_letter);
}

void SkippedEntries::add_file(std::string_view name) {
  ++files_;
  count(ending_of(name), 1);
}

void SkippedEntries::add(const SkippedEntries& other) {
  files_ += other.files_;
  folders_ += other.folders_;
  for (const auto& [ending, files] : other.endings_) count(ending, files);
}

void SkippedEntries::count(const std::string& ending, std::uint64_t files) {
  const auto found = endings_.find(ending);
  if (found != endings_.end())
    found->second += files;
  else if (endings_.size() < most_endings)
    endings_.emplace(ending, files);
}

std::string SkippedEntries::text() const {
  constexpr std::size_t max_listed = 8;
  std::string text;
  if (files_ != 0) {
    std::vector<std::pair<std::string, std::uint64_t>> kinds(endings_.begin(), endings_.end());
    std::ranges::stable_sort(kinds, std::ranges::greater{}, &std::pair<std::string, std::uint64_t>::second);
    if (kinds.size() > max_listed) kinds.resize(max_listed);
    std::uint64_t others = files_;
    for (const auto& [ending, count] : kinds) {
      text += (text.empty() ? "" : ", ") + ending + " " + std::to_string(count);
      others -= count;
    }
    if (others != 0) text += ", others " + std::to_string(others);
    text = counted_in_words(files_, "file") + " (" + text + ")";
  }
  if (folders_ != 0) text += (text.empty() ? "" : ", ") + counted_in_words(folders_, "folder");
  return text;
}

FolderListing list_files(const std::string& folder, const std::function<bool(std::string_view)>& takes,
                         std::string_view source) {
  namespace fs = std::filesystem;
  FolderListing content;
  int failed = 0;
  for (auto& [name, kind, is_link] : entries_in_folder(folder, failed)) {
    if (is_skipped(name)) continue;
    if (kind == EntryKind::folder)
      content.folders.push_back(std::move(name));
    else if (takes(name))
      content.files.push_back((fs::path(folder) / name).string());
    else
      content.others.push_back(std::move(name));
  }
  if (failed != 0) throw system_error(source, failed, "listing the folder", folder);
  for (auto* const list : {&content.files, &content.others, &content.folders}) std::ranges::sort(*list);
  return content;
}

bool is_beside_shards(std::string_view name) noexcept {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  return name == "classes.txt" || (name.ends_with(".txt") && has("-classes")) || name.ends_with("-made-by.json") ||
         has("-unfinished.") || name.ends_with(".partial") || name.ends_with(".lock") || name.ends_with("-report") ||
         name.ends_with(".idx");
}

std::string missing_folder(const std::string& file) {
  for (std::size_t slash = file.find('/'); slash != std::string::npos; slash = file.find('/', slash + 1)) {
    if (slash == 0) continue;
    struct stat status {};
    const std::string folder = file.substr(0, slash);
    const bool there = ::stat(folder.c_str(), &status) == 0;
    if (there ? !S_ISDIR(status.st_mode) : errno == ENOENT || errno == ENOTDIR) return folder;
    if (!there) break;  // the system does not let this process look into the folder
  }
  return {};
}

std::size_t literal_folders(std::string_view pattern) {
  std::size_t literal = 0;
  for (std::size_t slash = pattern.find('/'); slash != std::string_view::npos; slash = pattern.find('/', slash + 1)) {
    if (slash != 0 && !is_there(std::string(pattern.substr(0, slash)))) break;
    literal = slash + 1;
  }
  return literal;
}

std::vector<std::string> files_of_pattern(const std::string& path, std::string_view source, bool braces) {
  if (is_there(path)) return {path};
  const std::size_t literal = literal_folders(path);
  const std::string_view rest = std::string_view(path).substr(literal);
  const bool has_braces = braces && rest.find('{') != std::string_view::npos;
  if (!is_wild(rest) && !has_braces) return {path};
  const std::string before = literally(std::string_view(path).substr(0, literal));
  std::vector<std::string> files;
  const std::size_t star = rest.rfind('*');
  if (star != std::string_view::npos && rest.substr(0, star).find_first_of(special) != std::string_view::npos) {
    const std::string pattern = before + literally(rest.substr(0, star)) + "*" + literally(rest.substr(star + 1));
    files = matches_of(pattern, 0, path, source);
  }
  if (files.empty()) files = matches_of(before + std::string(rest), braces ? GLOB_BRACE : 0, path, source);
  if (files.empty()) {
    const std::string missing = missing_folder(path);
    const bool named = !missing.empty() && !is_wild(missing) && !(braces && missing.find('{') != std::string::npos);
    throw file_error(source, path, Errc::not_found,
                     "no file has a name of this pattern" + (named ? "; there is no folder " + missing : ""));
  }
  // The files are sorted here and not by glob, because glob's order depends on the locale.
  std::ranges::sort(files);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

}  // namespace penstock
