// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <penstock/detail/optional_member.hpp>
#include <penstock/schema.hpp>

namespace penstock::detail {

/// The members that the models of custom transforms, flat maps and device stages have in common.
template <class F, class Model>
class CallableOf : public Model {
 public:
  explicit CallableOf(F f) : f_(std::move(f)) {}
  Schema schema(const Schema& in) const override {
    return call_or(in, PENSTOCK_MEMBER(schema, "Schema schema(const Schema& in) const"), f_, in);
  }
  std::string name() const override {
    return call_or(Model::name(), PENSTOCK_MEMBER(name, "std::string name() const"), f_);
  }
  std::uint64_t version() const override {
    return call_or(Model::version(), PENSTOCK_MEMBER(version, "std::uint64_t version() const"), f_);
  }

 protected:
  F f_;
};

}  // namespace penstock::detail
