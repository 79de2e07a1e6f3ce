// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/sources/webdataset_sink.hpp>

#include "sources/files/folder_files.hpp"
#include "sources/labelled_items.hpp"
#include "sources/source_checks.hpp"
#include "sources/webdataset/tar_files.hpp"

namespace penstock_test {

inline std::vector<LabelledItem> shard_items(std::size_t count, std::size_t max_bytes = 3000) {
  std::vector<LabelledItem> items;
  for (std::size_t i = 0; i < count; ++i)
    items.push_back({"class" + std::to_string(i % 3) + "/" + std::to_string(i * 7919 % 100'000),
                     std::string(i * 977 % max_bytes, static_cast<char>('a' + i % 26)), static_cast<std::int64_t>(i)});
  return items;
}

}  // namespace penstock_test
