// What is wrong with a JSON text, for people: no names of exceptions and functions of the library.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace scanlab {

/// Of `text`, which was parsed, if it is given: "line 3, column 5: unexpected '}' behind '[1, 2'". Of a value in it:
/// "key 'schema' not found", or what type it should have and has.
std::string what_is_wrong(const nlohmann::json::exception& error, std::string_view text = {});

}  // namespace scanlab
