// A database of SQLite that another program wrote, to be read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace scanlab {

/// Errors are CommandErrors (status 2) that begin with the file's name; in a build without SQLite the constructor's has
/// status 3.
class SqliteFile {
 public:
  struct Column {
    std::string name;
    bool must_be_there = true;  ///< else its values are absent where the table lacks it
  };

  /// One row of a table; its columns are numbered as they were asked for.
  class Row {
   public:
    Row(const SqliteFile& file, std::string_view table, const std::vector<Column>& columns, sqlite3_stmt* at)
        : file_(file), table_(table), columns_(columns), at_(at) {}
    /// Nothing where there is no whole number.
    std::optional<std::int64_t> number(int column) const;
    /// Throws where there is no whole number, with the table and the column.
    std::int64_t whole(int column) const;
    std::string text(int column) const;

   private:
    const SqliteFile& file_;
    std::string_view table_;
    const std::vector<Column>& columns_;
    sqlite3_stmt* at_;
  };

  /// Throws for what cannot be opened and for what is no SQLite.
  explicit SqliteFile(std::filesystem::path path);

  bool has(std::string_view table) const;
  bool has(std::string_view table, std::string_view column) const;

  /// Calls `visit` with each row of a table, in no order; of a table that is not there, never. Throws if a
  /// table that has rows lacks a column that must be there.
  void read(std::string_view table, const std::vector<Column>& columns,
            const std::function<void(const Row&)>& visit) const;

  [[noreturn]] void refuse(const std::string& reason) const;

 private:
  bool finds_row(const std::string& sql) const;
  void query(const std::string& sql, const std::function<void(sqlite3_stmt*)>& visit) const;

  std::filesystem::path path_;
  std::shared_ptr<sqlite3> database_;
};

}  // namespace scanlab
