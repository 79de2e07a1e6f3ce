// SPDX-License-Identifier: Apache-2.0
// An index as a file: its settings, then an entry per slide.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <penstock/extend/sample.hpp>
#include <penstock/extend/sink.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/schema.hpp>

namespace penstock::slide {

/// An index in memory. A value.
struct IndexContent {
  std::string settings;
  std::map<std::string, std::string> entries;  ///< entries by the slides' names
  bool complete = false;                       ///< the file has its end; otherwise the run that wrote it was stopped
  /// `frames`: the number of entries, counting repeated names. `bytes`: the bytes up to the end of the last entry.
  std::uint64_t frames = 0, bytes = 0;
};

/// Reads an index. Returns none if the file does not exist. From a file whose name ends with ".partial", reads the
/// entries before the first incomplete or damaged one.
/// @throws Error(corrupt) if
/// - the file is not an index, or its settings are damaged;
/// - an entry, or the end of the file, is incomplete or damaged. With a name that ends with ".partial", this is an
///   error only if no entry comes before.
/// @throws Error(unsupported) if its version is different; Error(io).
std::optional<IndexContent> read_index(const std::string& path);

/// Writes an index. Until the index is complete, its file is called `partial_of(path)`. Keys of items are the slides'
/// names.
class IndexSink {
 public:
  /// `still_good`: returns whether an entry of an earlier run is still valid.
  IndexSink(std::string path, std::string settings, std::function<bool(const std::string& entry)> still_good);

  static std::string partial_of(const std::string& path) { return path + ".partial"; }

  void open(const SinkJob& job);
  bool has(const SinkItem& item) const;
  bool has_some() const noexcept { return !earlier_.entries.empty(); }
  void put(const SinkItem& item, Sample& sample);
  void commit();
  void finish();
  static std::string name() { return "slide index"; }

 private:
  void put_frame(std::string_view bytes);

  const std::string path_, settings_;
  const std::function<bool(const std::string&)> still_good_;
  IndexContent earlier_;
  MarkLock lock_;
  std::optional<OutputFile> file_;
  std::uint64_t frames_ = 0;
};

}  // namespace penstock::slide
