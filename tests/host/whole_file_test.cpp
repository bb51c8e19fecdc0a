// Files that are written whole or not at all.
#include "harness/host/whole_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "harness/host/status.hpp"
#include "tests/test_folder.hpp"

namespace scanlab {
namespace {

class WholeFiles : public testing::Test {
 protected:
  std::filesystem::path path() const { return folder_ / "file"; }
  std::string held() const { return text_of(path()); }
  std::ptrdiff_t files() const { return std::distance(std::filesystem::directory_iterator(folder_.path()), {}); }
  static std::string refusal(const std::filesystem::path& path, bool replace) {
    try {
      WholeFile file(path, replace);
    } catch (const CommandError& error) {
      EXPECT_EQ(error.status, kBadInput);
      return error.what();
    }
    return {};
  }

  TestFolder folder_;
};

TEST_F(WholeFiles, LeaveNoEmptyFolders) {
  const std::filesystem::path above = folder_ / "above";
  { const WholeFile abandoned(above / "below" / "file", false); }
  EXPECT_FALSE(std::filesystem::exists(above));
  WholeFile(above / "below" / "file", false).write("text");
  { const WholeFile abandoned(above / "other" / "file", false); }
  EXPECT_TRUE(std::filesystem::exists(above / "below" / "file"));
  EXPECT_FALSE(std::filesystem::exists(above / "other"));
}

TEST_F(WholeFiles, AreWrittenWholeOrNotAtAll) {
  { const WholeFile abandoned(path(), false); }
  EXPECT_EQ(files(), 0);
  WholeFile(path(), false).write("first");
  EXPECT_EQ(held(), "first");
  EXPECT_NE(refusal(path(), false).find("--force"), std::string::npos);
  WholeFile(path(), true).write("second");
  EXPECT_EQ(held(), "second");
  EXPECT_EQ(files(), 1);
}

TEST_F(WholeFiles, AFileOfAnotherThatIsCalledPartialStays) {
  const std::filesystem::path mine = path().string() + ".partial";
  std::ofstream(mine) << "mine";
  WholeFile(path(), false).write("first");
  EXPECT_EQ(held(), "first");
  EXPECT_EQ(std::filesystem::file_size(mine), 4U);
  EXPECT_EQ(files(), 2);
}

TEST_F(WholeFiles, AFullDiskKeepsWhatWasThere) {
  WholeFile(path(), false).write("first");
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);  // the system refuses more, as a full disk would
    const rlimit most{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &most);
    try {
      WholeFile(path(), true).write(std::string(100'000, 'x'));
    } catch (const CommandError& error) {
      _exit(error.status);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), kBadInput);
  EXPECT_EQ(held(), "first");
  EXPECT_EQ(files(), 1);
}

TEST_F(WholeFiles, OnlyFilesAreReplaced) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);  // or a device: a rename would put a file in its place
  EXPECT_NE(refusal(path(), true).find("not a regular file"), std::string::npos);
  EXPECT_NE(refusal(folder_.path(), true).find("not a regular file"), std::string::npos);
  EXPECT_NE(refusal(folder_.path(), false).find("not a regular file"), std::string::npos);
  EXPECT_NE(refusal(folder_ / "new" / "", true).find("names no file"), std::string::npos);
  EXPECT_NE(refusal(path() / "below", true).find("Not a directory"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_fifo(path()));
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace scanlab
