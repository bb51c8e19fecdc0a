#include "harness/host/sqlite_file.hpp"

#include <fmt/format.h>

#include <utility>

#include "harness/host/status.hpp"
#ifdef SCANLAB_WITH_SQLITE
#include <sqlite3.h>
#endif

namespace scanlab {

void SqliteFile::refuse(const std::string& reason) const {
  throw CommandError(kBadInput, fmt::format("{}: {}", path_.string(), reason));
}

#ifdef SCANLAB_WITH_SQLITE

std::optional<std::int64_t> SqliteFile::Row::number(int column) const {
  if (sqlite3_column_type(at_, column) != SQLITE_INTEGER) return {};
  return sqlite3_column_int64(at_, column);
}

std::int64_t SqliteFile::Row::whole(int column) const {
  if (const std::optional<std::int64_t> value = number(column)) return *value;
  file_.refuse(fmt::format("its table {} has a row with no whole number in column {}", table_,
                           columns_[static_cast<std::size_t>(column)].name));
}

std::string SqliteFile::Row::text(int column) const {
  const auto* const bytes = sqlite3_column_text(at_, column);
  return bytes == nullptr ? "" : reinterpret_cast<const char*>(bytes);
}

SqliteFile::SqliteFile(std::filesystem::path path) : path_(std::move(path)) {
  std::error_code error;
  if (!std::filesystem::exists(path_, error)) refuse("there is no such file");
  if (!std::filesystem::is_regular_file(path_, error)) refuse("it is not a file");
  sqlite3* database = nullptr;
  const int status = sqlite3_open_v2(path_.c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
  database_ = {database, sqlite3_close};
  if (status != SQLITE_OK) refuse(fmt::format("cannot be opened: {}", sqlite3_errstr(status)));
  query("SELECT count(*) FROM sqlite_master", [](sqlite3_stmt*) {});  // what is no SQLite is seen when it is read
}

void SqliteFile::query(const std::string& sql, const std::function<void(sqlite3_stmt*)>& visit) const {
  const auto check = [&](int status) {
    if (status == SQLITE_OK || status == SQLITE_DONE || status == SQLITE_ROW) return status;
    if (status == SQLITE_NOTADB) refuse("it is no database of SQLite");
    refuse(fmt::format("it cannot be read: {}", sqlite3_errmsg(database_.get())));
  };
  sqlite3_stmt* prepared = nullptr;
  check(sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &prepared, nullptr));
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepared, sqlite3_finalize);
  while (check(sqlite3_step(prepared)) == SQLITE_ROW) visit(prepared);
}

bool SqliteFile::finds_row(const std::string& sql) const {
  bool found_row = false;
  query(sql, [&](sqlite3_stmt*) { found_row = true; });
  return found_row;
}

bool SqliteFile::has(std::string_view table) const {
  return finds_row(fmt::format("SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') AND name = '{}'", table));
}

bool SqliteFile::has(std::string_view table, std::string_view column) const {
  return finds_row(fmt::format("SELECT 1 FROM pragma_table_info('{}') WHERE name = '{}'", table, column));
}

void SqliteFile::read(std::string_view table, const std::vector<Column>& columns,
                      const std::function<void(const Row&)>& visit) const {
  if (!has(table)) return;
  std::string selected;
  for (const Column& column : columns) {
    const bool is_there = has(table, column.name);
    if (!is_there && column.must_be_there) {
      if (!finds_row(fmt::format("SELECT 1 FROM \"{}\" LIMIT 1", table))) return;
      refuse(fmt::format("its table {} has no column {}, without which it cannot be read", table, column.name));
    }
    selected += (selected.empty() ? "" : ", ") + (is_there ? fmt::format("\"{}\"", column.name) : "NULL");
  }
  query(fmt::format("SELECT {} FROM \"{}\"", selected, table),
        [&](sqlite3_stmt* at) { visit(Row(*this, table, columns, at)); });
}

#else

std::optional<std::int64_t> SqliteFile::Row::number(int) const { return {}; }
std::int64_t SqliteFile::Row::whole(int) const { return 0; }
std::string SqliteFile::Row::text(int) const { return {}; }
SqliteFile::SqliteFile(std::filesystem::path path) : path_(std::move(path)) {
  throw CommandError(kNoDevice, fmt::format("{}: this build reads no SQLite: install libsqlite3-dev, and build again",
                                            path_.string()));
}
bool SqliteFile::has(std::string_view) const { return false; }
bool SqliteFile::has(std::string_view, std::string_view) const { return false; }
void SqliteFile::read(std::string_view, const std::vector<Column>&, const std::function<void(const Row&)>&) const {}

#endif

}  // namespace scanlab
