// SPDX-License-Identifier: Apache-2.0
#include "library/mapping.hpp"

#include <penstock/error.hpp>

namespace penstock::hdf5 {

Mapping mapping_of(hid_t creation, std::size_t number) {
  const auto text = [&](auto get) {
    const ssize_t length = get(creation, number, nullptr, 0);
    std::string name(length < 0 ? 1 : static_cast<std::size_t>(length) + 1, '\0');
    if (length >= 0) get(creation, number, name.data(), name.size());
    name.pop_back();
    return name;
  };
  Mapping mapping;
  mapping.file = text(H5Pget_virtual_filename);
  mapping.dataset = text(H5Pget_virtual_dsetname);
  mapping.to = own_space(H5Pget_virtual_vspace(creation, number));
  mapping.from = own_space(H5Pget_virtual_srcspace(creation, number));
  if (!mapping.to || !mapping.from) throw Error(Errc::corrupt, library_says());
  return mapping;
}

std::string name_of_block(const std::string& name, std::int64_t block) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char next = name[i] == '%' && i + 1 < name.size() ? name[i + 1] : '\0';
    if (next == 'b') text += std::to_string(block);
    if (next == '%') text += '%';
    if (next == 'b' || next == '%')
      ++i;
    else
      text += name[i];
  }
  return text;
}

bool has_block(const std::string& name) {
  for (std::size_t i = name.find('%'); i != std::string::npos && i + 1 < name.size(); i = name.find('%', i + 2))
    if (name[i + 1] == 'b') return true;
  return false;
}

}  // namespace penstock::hdf5
