// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <penstock/error.hpp>

namespace penstock::common {

/// Returns the implementation of an open sink. `Impl::sink_name` is the name of the sink's type. `Impl::sink_source` is
/// the sink's name in errors. @throws Error(invalid_argument) if open() was not called.
template <class Impl>
Impl& opened(const std::unique_ptr<Impl>& impl) {
  if (impl == nullptr)
    throw Error(Errc::invalid_argument, std::string(Impl::sink_name) + ": open() must come first")
        .with_source(Impl::sink_source);
  return *impl;
}

}  // namespace penstock::common
