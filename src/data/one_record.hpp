// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <penstock/extend/sample.hpp>
#include <penstock/schema.hpp>

#include "data/scratch.hpp"

namespace penstock::detail {

/// Holds the cells of one record at a time. `fields` must outlive this object.
class OneRecord final : public Cells {
 public:
  explicit OneRecord(const Schema& fields) {
    schema = &fields;
    cells.resize(fields.size());
  }
  void clear() {
    arena_.reset();
    for (Cell& cell : cells) cell = {};
  }

 protected:
  std::byte* scratch(std::size_t bytes) override { return arena_.allocate(bytes); }

 private:
  ScratchArena arena_;
};

}  // namespace penstock::detail
