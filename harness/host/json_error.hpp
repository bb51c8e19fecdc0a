// What is wrong with a JSON text, for people: no names of exceptions and functions of the library.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace scanlab {

/// Of `text`, which was parsed, if it is given: "line 3, column 5: unexpected '}' behind '[1, 2'". Of a value in it:
/// "key 'schema' not found", or what type it should have and has.
std::string what_is_wrong(const nlohmann::json::exception& error, std::string_view text = {});

/// Of a document that says the schema `found` where this program reads `known` ("scanlab-results/2"): "its schema is
/// 'scanlab-results/9', of a newer Scanlab: update", or what else to do about it: `remedy`.
std::string wrong_schema(std::string_view found, std::string_view known, std::string_view remedy);

/// A field of an object. Throws nlohmann::json::exception if it is missing, FieldError if it is of another type.
struct FieldError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
template <class T, class Json>
T field_of(const Json& object, const char* field) {
  const Json& value = object.at(field);
  const bool fits = std::is_same_v<T, bool>       ? value.is_boolean()
                    : std::is_integral_v<T>       ? value.is_number_integer()
                    : std::is_floating_point_v<T> ? value.is_number()
                                                  : value.is_string();
  const char* const wanted = std::is_same_v<T, bool>       ? "true or false"
                             : std::is_integral_v<T>       ? "an integer"
                             : std::is_floating_point_v<T> ? "a number"
                                                           : "a string";
  if (!fits) throw FieldError(std::string(field) + " is " + value.dump().substr(0, 40) + ", and must be " + wanted);
  return value.template get<T>();
}

}  // namespace scanlab
