#include "engine/io/regular_file.h"

#include <fmt/format.h>

#include <cerrno>

#include "compute/error.h"

namespace echolux {
namespace {

std::string or_path(const std::string& where, const std::filesystem::path& path) {
    return where.empty() ? path.string() : where;
}

}  // namespace

// Does not open other kinds of files, because opening a FIFO blocks.
std::ifstream regular_stream(const std::filesystem::path& path) {
    std::ifstream stream;
    std::error_code problem;
    if (std::filesystem::is_regular_file(path, problem)) {
        stream.open(path, std::ios::binary);
    } else {
        stream.setstate(std::ios::failbit);
    }
    return stream;
}

std::ifstream open_file(const std::filesystem::path& path, const std::string& where) {
    std::error_code problem;
    if (!std::filesystem::exists(path, problem))
        throw Error(ErrorCode::bad_file, "does not exist", or_path(where, path), "check the name");
    if (!std::filesystem::is_regular_file(path, problem))
        throw Error(ErrorCode::bad_file, "is not a file", or_path(where, path), "check the name");
    errno = 0;
    std::ifstream stream = regular_stream(path);
    if (!stream) check_open_files(errno, or_path(where, path));
    if (!stream) throw Error(ErrorCode::bad_file, "cannot be read", or_path(where, path), "check its permissions");
    return stream;
}

std::string whole_file(const std::filesystem::path& path, std::uintmax_t max, const std::string& too_large,
                       const std::string& remedy, const std::string& where) {
    std::ifstream stream = open_file(path, where);
    std::error_code problem;
    const std::uintmax_t size = std::filesystem::file_size(path, problem);
    if (problem || size > max) throw Error(ErrorCode::bad_file, too_large, or_path(where, path), remedy);
    std::string bytes(size, '\0');
    if (stream.read(bytes.data(), static_cast<std::streamsize>(size))) return bytes;
    throw Error(ErrorCode::bad_file, "cannot be read", or_path(where, path), "check its permissions");
}

bool read_line(std::istream& stream, std::string& line, std::size_t max, const std::string& where) {
    line.clear();
    std::streambuf& bytes = *stream.rdbuf();
    for (int next = 0; (next = bytes.sbumpc()) != std::char_traits<char>::eof();) {
        if (next == '\n') return true;
        if (line.size() == max) {
            throw Error(ErrorCode::bad_file, fmt::format("has a line of more than {} characters", max), where,
                        "check that it is the right file");
        }
        line += static_cast<char>(next);
    }
    stream.setstate(std::ios::eofbit);
    return !line.empty();
}

}  // namespace echolux
