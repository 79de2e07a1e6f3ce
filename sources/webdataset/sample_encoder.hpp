// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/extend/sample.hpp>
#include <penstock/schema.hpp>
#include <penstock/sources/webdataset_sink.hpp>

#include "field_plan.hpp"

namespace penstock::webdataset {

/// Returns a field's name as the first part of an extension. The '/' of HDF5's groups becomes '.', and each character
/// that is not allowed in an extension becomes '_'.
std::string name_as_extension(std::string_view field);

/// Turns samples into tar members. One thread at a time may use it.
class SampleEncoder {
 public:
  /// @throws
  /// - Error(invalid_argument) if the schema has no fields, or if readers could not find the fields by these
  ///   extensions;
  /// - Error(unsupported) if a field is bf16;
  /// - what `Schema::slot` throws if an extension is for a field that doesn't exist.
  SampleEncoder(const Schema& schema, const std::vector<WebDatasetExtension>& extensions);

  /// Returns the fields that readers must look for.
  const std::vector<PlannedField>& fields() const noexcept { return fields_; }
  /// Returns the fields with their extensions as a text, for example "image=jpg|png|bin, label=cls".
  std::string text() const;

  /// Makes the members of `sample`. Does not copy the sample's values, so they must stay valid until the last use of
  /// `pieces()`. Returns the members' size in bytes, with headers and padding.
  std::uint64_t encode(std::string_view key, const Sample& sample);
  /// Returns the bytes of the last encoded sample, in pieces that follow one another.
  std::span<const std::span<const std::byte>> pieces() const noexcept { return pieces_; }

 private:
  enum class Content : std::uint8_t { sniffed, bytes, digits, array };

  const Schema schema_;
  std::vector<PlannedField> fields_;
  std::vector<Content> contents_;
  std::vector<std::string> heads_;  // per field: the tar header, plus the .npy header or a number's digits
  std::vector<std::span<const std::byte>> pieces_;
};

}  // namespace penstock::webdataset
