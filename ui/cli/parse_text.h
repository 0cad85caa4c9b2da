// Small texts of the command line: "3:17", "640x480".
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "compute/backend.h"

namespace echolux {

// A whole number. `expected` completes the remedy: "a number or all". Throws Error{bad_setting}.
std::int64_t parsed_number(const std::string& text, const char* option, const char* expected);

// "A:B" with whole numbers; A may be missing (0), B may be missing (0: the end). Throws Error{bad_setting}.
std::pair<std::int64_t, std::int64_t> parsed_interval(const std::string& text, const char* option);

// "-5:45". Throws Error{bad_setting}.
std::pair<double, double> parsed_range(const std::string& text, const char* option);

// "640x480". Throws Error{bad_setting}.
std::pair<std::int64_t, std::int64_t> parsed_size(const std::string& text, const char* option);

// "320,200". `expected` completes the remedy. Throws Error{bad_setting}.
std::pair<std::int64_t, std::int64_t> parsed_pixel(
    const std::string& text, const char* option,
    const char* expected = "X,Y in pixels from the left and the top, e.g. 320,200");

// "auto", "cpu" or "cuda", checked before.
Backend parsed_backend(const std::string& name);

}  // namespace echolux
