// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "library/access.hpp"
#include "library/element.hpp"
#include "library/library.hpp"
#include "library/outside_values.hpp"

namespace penstock::hdf5 {

/// Access by the HDF5 library in this process.
class DirectAccess final : public Access {
 public:
  /// @throws Error(corrupt | io).
  explicit DirectAccess(const std::string& path);

  int descriptor() const noexcept override { return descriptor_; }
  std::vector<ListedDataset> list() override;
  DatasetFacts dataset(const std::string& path) override;
  ElementFacts element(std::size_t dataset, const std::string& member) override;
  std::optional<StoredChunk> find_chunk(std::size_t dataset, std::span<const std::uint64_t> first) override;
  void read(const Slab& slab, std::span<std::byte> out) override;
  void read_column(const Slab& slab, std::size_t element, std::span<std::byte> out) override;
  void read_variable(const Slab& slab, std::size_t element,
                     const std::function<std::span<std::byte>(std::uint64_t)>& memory_for) override;
  Texts read_texts(const Slab& slab, std::size_t element, std::uint64_t max_bytes) override;
  void convert(std::size_t element, std::uint64_t count, std::span<const std::byte> stored,
               std::span<std::byte> out) override;
  std::vector<std::string> attributes(const std::string& object) override;
  std::optional<Hdf5Attribute> attribute(const std::string& object, const std::string& name) override;

 private:
  struct OpenDataset {
    Handle id, type;
    std::optional<OutsideValues> elsewhere;
    /// Whether the library may leave some values in memory unwritten.
    bool leaves_places = false;
    std::vector<std::byte> fill;  ///< if `leaves_places`: written to the memory before each read
  };
  struct OpenElement {
    Element element;
    Handle alone;                 ///< type to read only this element into memory; a column is nested like in the file
    std::vector<std::byte> fill;  ///< the fill value of this element, if the dataset has `leaves_places`
  };
  void read_one(const Slab& slab, std::uint64_t number, hid_t memory, const char*& out, const Handle& transfer);
  void read_filled(const Slab& slab, hid_t memory, std::span<const std::byte> fill, std::span<std::byte> out);
  void read_slab(const Slab& slab, hid_t memory, std::span<std::byte> out, const Handle& transfer);

  Handle file_;
  int descriptor_ = -1;
  // Both lists grow only under the lock.
  std::deque<OpenDataset> datasets_;
  std::deque<OpenElement> elements_;
};

}  // namespace penstock::hdf5
