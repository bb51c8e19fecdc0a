// A folder of the test that runs, which goes with its end.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace scanlab {

/// All that a file holds.
inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class TestFolder {
 public:
  TestFolder() { std::filesystem::create_directories(path_); }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  // Tests run beside each other: its name and its process's number are its own.
  std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("scanlab-") + testing::UnitTest::GetInstance()->current_test_info()->name() +
       std::to_string(getpid()));
};

}  // namespace scanlab
