// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock_test {

// A tar header block, field by field, as its formats lay them down.
struct TarBlock {
  std::string bytes = std::string(512, '\0');

  TarBlock& put(std::size_t at, std::string_view text) {
    bytes.replace(at, text.size(), text);
    return *this;
  }
  TarBlock& octal(std::size_t at, int digits, std::uint64_t number) {
    char text[32];
    std::snprintf(text, sizeof(text), "%0*llo", digits, static_cast<unsigned long long>(number));
    return put(at, text);
  }
  TarBlock& sum() {
    put(148, "        ");
    unsigned all = 0;
    for (const char c : bytes) all += static_cast<unsigned char>(c);
    return octal(148, 6, all).put(154, std::string_view("\0 ", 2));
  }
};

inline TarBlock tar_block(std::string_view name, std::uint64_t size, char type = '0') {
  TarBlock block;
  block.put(0, name.substr(0, 100)).octal(100, 7, 0644).octal(108, 7, 1000).octal(116, 7, 1000);
  block.octal(124, 11, size).octal(136, 11, 1'700'000'000).put(156, {&type, 1});
  block.put(257, std::string_view("ustar\00000", 8));
  return block.sum();
}

inline std::string tar_padded(std::string data) {
  data.append((512 - data.size() % 512) % 512, '\0');
  return data;
}

inline std::string tar_member(std::string_view name, const std::string& data, char type = '0') {
  return tar_block(name, data.size(), type).bytes + tar_padded(data);
}

inline const std::string tar_end(1024, '\0');

inline std::string pax_record(std::string_view key, std::string_view value) {
  for (std::size_t length = key.size() + value.size() + 4;; ++length) {
    std::string record = std::to_string(length) + " " + std::string(key) + "=" + std::string(value) + "\n";
    if (record.size() == length) return record;
  }
}

inline std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("can't open " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline bool runs(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

inline const char* const python = "/usr/bin/python3";

// What Python's tarfile, which shares nothing with the library, finds in a shard: names and bytes of regular files, in
// order. Its folder must be writable.
inline std::vector<std::pair<std::string, std::string>> members_by_python(const std::string& shard) {
  const std::string script = shard + ".py", dump = shard + ".dump";
  std::ofstream(script) << "import sys, tarfile\n"
                           "with tarfile.open(sys.argv[1], 'r:') as tar, open(sys.argv[2], 'wb') as out:\n"
                           "    for m in tar:\n"
                           "        assert (m.mode, m.uid, m.gid, m.mtime, m.uname) == (0o644, 0, 0, 0, ''), m.name\n"
                           "        if not m.isreg(): continue\n"
                           "        name = m.name.encode('utf-8', 'surrogateescape')\n"
                           "        data = tar.extractfile(m).read()\n"
                           "        out.write(b'%d %d\\n' % (len(name), len(data)) + name + data)\n";
  if (!runs(std::string(python) + " " + script + " " + shard + " " + dump))
    throw std::runtime_error("Python's tarfile can't read " + shard);
  std::ifstream in(dump, std::ios::binary);
  std::vector<std::pair<std::string, std::string>> members;
  std::size_t name_bytes = 0, data_bytes = 0;
  while (in >> name_bytes >> data_bytes) {
    in.get();
    std::string name(name_bytes, '\0'), data(data_bytes, '\0');
    in.read(name.data(), static_cast<std::streamsize>(name_bytes));
    in.read(data.data(), static_cast<std::streamsize>(data_bytes));
    members.emplace_back(std::move(name), std::move(data));
  }
  return members;
}

}  // namespace penstock_test
