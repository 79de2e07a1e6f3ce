// SPDX-License-Identifier: Apache-2.0
#include "tile/run_manifest.hpp"

#include <algorithm>

#include "console/json_input.hpp"

namespace penstock::cli {

namespace {

bool is_text_or_missing(const Json& object, const char* name) {
  return !object.contains(name) || object.at(name).is_string();
}

bool is_slide_of_manifest(const Json& slide) {
  if (!has_texts(slide, {"name", "file"})) return false;
  for (const char* const text : {"openslide", "other_files", "failure"})
    if (!is_text_or_missing(slide, text)) return false;
  const Json stamp = slide.value("stamp", Json());
  return stamp.is_null() || has_counts(stamp, {"bytes"});
}

bool is_result_of_manifest(const Json& result) {
  if (result.is_null()) return true;
  return has_texts(result, {"store"}) && has_counts(result, {"tiles", "left_out", "bytes"}) &&
         result.value("finished", Json()).is_boolean() && result.value("seconds", Json()).is_number() &&
         result.value("notes", Json()).is_array() &&
         std::ranges::all_of(result.at("notes"), [](const Json& note) { return note.is_string(); });
}

}  // namespace

const char* what_a_manifest_lacks(const Json& run) {
  if (!has_texts(run, {"store", "hash"})) return "store or hash";
  if (!has_counts(run, {"rank", "world"})) return "rank or world";
  if (!run.value("settings", Json()).is_object()) return "settings";
  if (!run.value("files", Json()).is_object()) return "files";
  if (!is_result_of_manifest(run.value("result", Json()))) return "result";
  const Json* const slides = run.contains("slides") ? &run.at("slides") : nullptr;
  if (slides == nullptr || !slides->is_array() || !std::ranges::all_of(*slides, is_slide_of_manifest)) return "slides";
  return nullptr;
}

}  // namespace penstock::cli
