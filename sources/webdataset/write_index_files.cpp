// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/webdataset_index.hpp>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <penstock/extend/store_files.hpp>

#include "common/on_threads.hpp"
#include "common/shard_names.hpp"
#include "errors.hpp"
#include "index_file.hpp"
#include "shard_paths.hpp"
#include "shard_urls.hpp"
#include "tar_scan.hpp"

namespace penstock {

webdataset::IndexWritten webdataset::write_index_file(const std::string& shard, const std::string& file) {
  const InputFile input(shard);
  TarScan scan(input);
  const IndexText index = index_text(scan);
  const std::optional<std::string> there = read_text(file, source_name, max_index_bytes);
  if (there && !there->empty() && !there->starts_with("v1."))
    throw error_in(file, Errc::invalid_argument,
                   "the file is no index file of shards; remove it, or write to another folder");
  if (there != index.text) replace_text(file, index.text, true, source_name);
  return {index.samples, there != index.text};
}

namespace {

using webdataset::error_in;

std::vector<std::string> all_shards(const std::vector<std::string>& paths) {
  std::vector<std::string> all;
  SkippedEntries others;
  for (const std::string& path : paths) {
    if (webdataset::names_url(path))
      throw Error(Errc::unsupported, "index files are made of shards on this machine")
          .with_source(webdataset::source_name);
    const std::vector<std::string> shards = webdataset::list_shards(path, others);
    all.insert(all.end(), shards.begin(), shards.end());
  }
  common::refuse_unfinished(all, webdataset::shard_extension, webdataset::source_name);
  return all;
}

std::vector<std::string> index_files_of(const std::vector<std::string>& shards, const std::string& folder) {
  std::vector<std::string> files;
  std::set<std::string> seen;
  for (const std::string& shard : shards) {
    const std::optional<std::string> beside = webdataset::index_path(shard);
    if (!beside)
      throw error_in(shard, Errc::invalid_argument,
                     "the shard's name does not end in .tar; the index file of X.tar is X.idx");
    const std::filesystem::path path(*beside);
    files.push_back(folder.empty() ? *beside : (std::filesystem::path(folder) / path.filename()).string());
    if (!seen.insert(files.back()).second)
      throw error_in(shard, Errc::invalid_argument,
                     "the shard is there twice, or another shard has the same index file, " + files.back());
  }
  return files;
}

}  // namespace

WebDatasetIndexed write_index_files(const WebDatasetIndex& options) {
  const std::vector<std::string> shards = all_shards(options.shards);
  WebDatasetIndexed result;
  result.files = index_files_of(shards, options.folder);
  if (!options.folder.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(options.folder, failed);
    if (failed) throw webdataset::system_error(failed.value(), "making the folder", options.folder);
  }
  std::vector<webdataset::IndexWritten> done(shards.size());
  common::for_each_on_threads(shards.size(), options.threads, [&](std::size_t at) {
    done[at] = webdataset::write_index_file(shards[at], result.files[at]);
  });
  for (const webdataset::IndexWritten& one : done) {
    result.samples += one.samples;
    result.written += one.written ? 1 : 0;
  }
  return result;
}

}  // namespace penstock
