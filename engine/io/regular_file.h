// Files that are read because somebody, or another file, names them: regular ones alone. A FIFO would be waited for, a
// device has no end, and what stands in a folder or a socket is nothing to us.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace echolux {

// Throws Error{bad_file} naming `where` (empty: the path): not there, no regular file, not readable; Error{device}: too
// many files are open.
std::ifstream open_file(const std::filesystem::path& path, const std::string& where = {});

// In a state of failure where it cannot be read, for whoever has words of its own or takes what is missing for nothing.
std::ifstream regular_stream(const std::filesystem::path& path);

// All of it, where that is at most `max` bytes; else `too_large` says what it is not ("is no TOML file of at most 1
// MiB").
std::string whole_file(const std::filesystem::path& path, std::uintmax_t max, const std::string& too_large,
                       const std::string& remedy = {}, const std::string& where = {});

// A line of at most `max` bytes, without its line feed. False: the end. Throws Error{bad_file}: a longer one.
bool read_line(std::istream& stream, std::string& line, std::size_t max, const std::string& where);

}  // namespace echolux
