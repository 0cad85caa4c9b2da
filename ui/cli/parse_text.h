// Small texts of the command line: "3:17", "640x480".
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "compute/backend.h"
#include "compute/error.h"

namespace echolux {

// What the command line itself gets wrong: told like any error, with the exit code of one.
class UsageError : public Error {
  public:
    UsageError(const std::string& what, const std::string& where, const std::string& remedy)
        : Error(ErrorCode::bad_setting, what, where, remedy) {}
};

// A whole number. `expected` completes the remedy: "a number or all". Throws UsageError.
std::int64_t parsed_number(const std::string& text, const char* option, const char* expected);

// "A:B" with whole numbers; A may be missing (0), B may be missing (0: the end). Throws UsageError.
std::pair<std::int64_t, std::int64_t> parsed_interval(const std::string& text, const char* option);

// "-5:45". Throws UsageError.
std::pair<double, double> parsed_range(const std::string& text, const char* option);

// "640x480". Throws UsageError.
std::pair<std::int64_t, std::int64_t> parsed_size(const std::string& text, const char* option);

// "320,200". `expected` completes the remedy. Throws UsageError.
std::pair<std::int64_t, std::int64_t> parsed_pixel(
    const std::string& text, const char* option,
    const char* expected = "X,Y in pixels from the left and the top, e.g. 320,200");

// "auto", "cpu" or "cuda", checked before.
Backend parsed_backend(const std::string& name);

// "cpu" or "cuda", and for people "CPU" or "GPU".
const char* word_for(Backend processor);
const char* name_of(Backend processor);

}  // namespace echolux
