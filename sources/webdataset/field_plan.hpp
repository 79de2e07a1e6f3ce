// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/sources/webdataset.hpp>

namespace penstock::webdataset {

/// One field of the samples, with its kind decided.
struct PlannedField {
  std::string name;
  std::vector<std::string> extensions;  ///< lower case
  WebDatasetKind kind = WebDatasetKind::bytes;
};

/// Returns the fields to read, with `automatic` kinds decided. @throws Error(invalid_argument) if the fields can't be
/// read together.
std::vector<PlannedField> plan_fields(const std::vector<WebDatasetField>& fields);

/// Returns the field's extensions, for example "jpg", or "jpg|jpeg|png".
std::string extensions_text(const PlannedField& field);

/// Describes the field's extensions, for example "the extension jpg", or "one of the extensions jpg, jpeg, png".
std::string extensions_in_words(const PlannedField& field);

}  // namespace penstock::webdataset
