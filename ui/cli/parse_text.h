// Parsers for short texts on the command line, such as "3:17" and "640x480".
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "compute/backend.h"
#include "compute/error.h"

namespace echolux {

// Error in the command line itself. Printed like other errors, but with its own exit code (2).
class UsageError : public Error {
  public:
    UsageError(const std::string& what, const std::string& where, const std::string& remedy)
        : Error(ErrorCode::bad_setting, what, where, remedy) {}
};

// Parses a whole number. `expected` completes the remedy: "a number or all". Throws UsageError.
std::int64_t parsed_number(const std::string& text, const char* option, const char* expected);

// Parses "A:B" with whole numbers. A missing A is 0; a missing B is 0 and means the end. Throws UsageError.
std::pair<std::int64_t, std::int64_t> parsed_interval(const std::string& text, const char* option);

// Parses "-5:45"; the lower end comes first. Throws UsageError.
std::pair<double, double> parsed_range(const std::string& text, const char* option);

// Parses "640x480" into width and height. Throws UsageError.
std::pair<std::int64_t, std::int64_t> parsed_size(const std::string& text, const char* option);

// Parses "320,200". `expected` completes the remedy. Throws UsageError.
std::pair<std::int64_t, std::int64_t> parsed_pixel(
    const std::string& text, const char* option,
    const char* expected = "X,Y in pixels from the left and the top, e.g. 320,200");

// Returns the backend for "auto", "cpu" or "cuda". The name must have been checked.
Backend parsed_backend(const std::string& name);

// Name of a backend: word_for() returns "cpu" or "cuda" for programs, name_of() "CPU" or "GPU" for people.
const char* word_for(Backend processor);
const char* name_of(Backend processor);

}  // namespace echolux
