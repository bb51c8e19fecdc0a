// What is wrong with a JSON text, for people: the library's sentences without its names of exceptions and functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace scanlab {

/// Of a text: "line 3, column 5: unexpected end of input; expected ':'". Of a value in it: "key 'schema' not found", or
/// what type it should have and has.
std::string what_is_wrong(const nlohmann::json::exception& error);

}  // namespace scanlab
