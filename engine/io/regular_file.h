// Reads files that a user or another file names: opening, texts and fingerprints. Only regular files are accepted: a
// FIFO could block forever, and a device has no end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// Reports exhausted file descriptors as such, instead of blaming the file that could not be opened: throws
// Error{device} naming `where` if `problem`, an errno, means that this process or the system has too many open files.
// Otherwise does nothing.
void check_open_files(int problem, const std::string& where);

// ---- text headers ---------------------------------------------------------------------------------------------------
// Of NRRD, MetaImage, .npy and others: the beginning of a file, and the words and numbers in its lines.

// Returns up to `max` bytes from the beginning of a file. Throws Error{bad_file} if it cannot be opened.
std::string start_of_file(const std::filesystem::path& path, std::size_t max = 4 << 20);

// Decodes the escapes of a one-line value: \n for a line break, \\ for a backslash.
std::string with_line_breaks(std::string_view line);

// Returns `text` without white space at both ends.
std::string_view trimmed(std::string_view text);

// Splits `text` at runs of any of `separators`.
std::vector<std::string> words_of(std::string_view text, std::string_view separators = " \t\r");

// Splits `text` and converts each word. Words that are not numbers (nan, none) become NaN.
std::vector<double> numbers_of(std::string_view text, std::string_view separators = " \t\r");

// Parses a size along an axis, which is at least 1. Throws Error{bad_file} naming `where`.
std::int64_t size_of(const std::string& word, const std::string& where);

// Returns the length of the unit ("um", "mm", ...) in millimetres; 0 if unknown.
double millimetres_in(std::string_view unit);

// Returns the duration of the unit ("s", "ms", ...) in seconds; 0 if unknown.
double seconds_in(std::string_view unit);

// ---- fingerprints ---------------------------------------------------------------------------------------------------
// Short fingerprints of files and pictures, recorded in results to identify their inputs.

// Incremental 64-bit FNV-1a hash (G. Fowler, L. C. Noll, K.-P. Vo).
class Fingerprint {
  public:
    void add(std::span<const std::byte> bytes);
    std::string text() const;  // 16 hexadecimal digits

  private:
    std::uint64_t hash_ = 0xcbf29ce484222325u;
};

// Returns the fingerprint of a file's bytes. For a folder it covers only names and sizes of the files in it, because
// their contents may be too large to read. Returns "missing" if the path cannot be read.
std::string file_hash(const std::filesystem::path& path);

}  // namespace echolux
