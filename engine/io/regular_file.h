// Opens files named by a user or by another file. Only regular files are accepted: a FIFO could block forever, and a
// device has no end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace echolux {

// Opens the file. Errors name `where`, or the path if it is empty. Throws Error{bad_file} if it is missing, not regular
// or not readable, and Error{device} if too many files are open.
std::ifstream open_file(const std::filesystem::path& path, const std::string& where = {});

// Opens the file, and returns a failed stream if that is impossible. For callers with their own error message, and for
// optional files.
std::ifstream regular_stream(const std::filesystem::path& path);

// Returns the whole file. Throws Error{bad_file} with the text `too_large` ("is not a TOML file of at most 1 MiB") if
// it exceeds `max` bytes.
std::string whole_file(const std::filesystem::path& path, std::uintmax_t max, const std::string& too_large,
                       const std::string& remedy = {}, const std::string& where = {});

// Reads one line of up to `max` bytes, without its line feed. Returns false at the end. Throws Error{bad_file} if the
// line is longer.
bool read_line(std::istream& stream, std::string& line, std::size_t max, const std::string& where);

}  // namespace echolux
