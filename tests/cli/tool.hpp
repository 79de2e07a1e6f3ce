// SPDX-License-Identifier: Apache-2.0
// Runs the tool, and makes folders for it to work on.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sources/temp_folder.hpp"
#include "support/json.hpp"

namespace penstock_test {

struct ToolResult {
  int status = -1;  // exit status, or 128 + the signal that ended it
  std::string out, err;
  double cpu_s = 0;              // of all its threads
  std::uint64_t peak_bytes = 0;  // of memory
  Json json() const { return Json::parse(out); }
};

// Runs `penstock ARGUMENTS...` to its end.
ToolResult tool(const std::vector<std::string>& arguments);
// Runs `make_slides ARGUMENTS...` to its end, which draws a slide.
ToolResult make_slides(const std::vector<std::string>& arguments);

// The tool running beside the test, or another program that PATHS has.
class RunningTool {
 public:
  explicit RunningTool(const std::vector<std::string>& arguments, const std::string& program = "tool");
  RunningTool(const RunningTool&) = delete;
  RunningTool& operator=(const RunningTool&) = delete;
  ~RunningTool();
  void send(int signal) const;
  // True once it has ended.
  bool ended();
  ToolResult wait();

 private:
  bool wait_for_it(int options);
  TempFolder output_;
  pid_t pid_;
  int status_ = 0;
  double cpu_s_ = 0;
  std::uint64_t peak_bytes_ = 0;
  bool waited_ = false;
};

// An image of smooth colours and some texture, different for each number.
std::string jpeg(unsigned number, int height = 48, int width = 64);
// `classes` folders of images, "class_1/0003.jpg", `count` in all.
void write_images(const TempFolder& folder, unsigned classes, unsigned count);

// Everything in a store: key -> the values of its fields, one after the other.
std::map<std::string, std::string> content(const std::string& store);

// True for a message of exactly one line, as every error of the tool must be.
bool one_line(const std::string& text);

}  // namespace penstock_test
