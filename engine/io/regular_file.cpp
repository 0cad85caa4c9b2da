#include "engine/io/regular_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <span>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"

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

void check_open_files(int problem, const std::string& where) {
    if (problem != EMFILE && problem != ENFILE) return;
    throw Error(ErrorCode::device, "cannot be opened: too many files are open", where,
                problem == EMFILE ? "close some, or allow more with ulimit -n" : "close other programs");
}

// ---- text headers ---------------------------------------------------------------------------------------------------

namespace {

struct Unit {
    std::string_view name;
    double factor;
};

// Returns 0 for an unknown unit.
double factor_of(std::string_view name, std::span<const Unit> units) {
    for (const Unit& unit : units) {
        if (unit.name == name) return unit.factor;
    }
    return 0;
}

}  // namespace

// The buffer never exceeds the file's size, even if `max` does.
std::string start_of_file(const std::filesystem::path& path, std::size_t max) {
    std::error_code problem;
    const std::uintmax_t size = std::filesystem::file_size(path, problem);
    std::ifstream stream = regular_stream(path);
    if (problem || !stream) {
        throw Error(ErrorCode::bad_file, "cannot be opened", path.string(), "check its name and permissions");
    }
    std::string start(std::min<std::uintmax_t>(max, size), '\0');
    stream.read(start.data(), static_cast<std::streamsize>(start.size()));
    start.resize(index(stream.gcount()));
    return start;
}

std::string with_line_breaks(std::string_view line) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const bool escape = line[i] == '\\' && i + 1 < line.size();
        if (escape) ++i;
        text += escape && line[i] == 'n' ? '\n' : line[i];
    }
    return text;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view white = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(white);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(white) + 1 - begin);
}

std::vector<std::string> words_of(std::string_view text, std::string_view separators) {
    std::vector<std::string> words;
    for (std::size_t begin = 0; (begin = text.find_first_not_of(separators, begin)) != std::string_view::npos;) {
        const std::size_t end = std::min(text.find_first_of(separators, begin), text.size());
        words.emplace_back(text.substr(begin, end - begin));
        begin = end;
    }
    return words;
}

std::vector<double> numbers_of(std::string_view text, std::string_view separators) {
    std::vector<double> numbers;
    for (const std::string& word : words_of(text, separators)) {
        char* end = nullptr;
        const double number = std::strtod(word.c_str(), &end);
        numbers.push_back(*end == '\0' ? number : std::numeric_limits<double>::quiet_NaN());
    }
    return numbers;
}

std::int64_t size_of(const std::string& word, const std::string& where) {
    std::int64_t size = 0;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), size);
    if (problem == std::errc() && end == word.data() + word.size() && size >= 1) return size;
    throw Error(ErrorCode::bad_file, fmt::format("\"{}\" is not a number of voxels", word.substr(0, 40)), where);
}

double millimetres_in(std::string_view unit) {
    constexpr Unit units[] = {{"mm", 1},          {"millimeter", 1},    {"um", 1e-3},        {"\u00b5m", 1e-3},
                              {"\u03bcm", 1e-3},  {"micrometer", 1e-3}, {"micron", 1e-3},    {"microns", 1e-3},
                              {"\\u00B5m", 1e-3}, {"nm", 1e-6},         {"nanometer", 1e-6}, {"cm", 10},
                              {"centimeter", 10}, {"inch", 25.4},       {"m", 1000},         {"meter", 1000}};
    return factor_of(unit, units);
}

double seconds_in(std::string_view unit) {
    constexpr Unit units[] = {
        {"s", 1},     {"sec", 1},        {"second", 1}, {"ms", 1e-3},   {"msec", 1e-3},    {"millisecond", 1e-3},
        {"us", 1e-6}, {"\u00b5s", 1e-6}, {"min", 60},   {"minute", 60}, {"\u03bcs", 1e-6}, {"microsecond", 1e-6}};
    return factor_of(unit, units);
}

// ---- fingerprints ---------------------------------------------------------------------------------------------------

// Returns false if the file cannot be opened.
static bool add_file(Fingerprint& print, const std::filesystem::path& path) {
    std::ifstream file = regular_stream(path);
    if (!file) return false;
    std::vector<std::byte> piece(std::size_t{1} << 20);
    while (file) {
        file.read(reinterpret_cast<char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
        print.add(std::span(piece).first(index(file.gcount())));
    }
    return true;
}

// Returns the regular files in all subfolders, sorted, so that the fingerprint does not depend on the file system.
static std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
}

void Fingerprint::add(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) hash_ = (hash_ ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3u;
}

std::string Fingerprint::text() const {
    return fmt::format("{:016x}", hash_);
}

// Folders are hashed by a line with relative path and size per file.
std::string file_hash(const std::filesystem::path& path) {
    std::error_code problem;
    Fingerprint print;
    if (!std::filesystem::is_directory(path, problem)) return add_file(print, path) ? print.text() : "missing";
    try {
        for (const std::filesystem::path& file : files_below(path)) {
            const std::string line = fmt::format("{} {}\n", file.lexically_relative(path).generic_string(),
                                                 std::filesystem::file_size(file));
            print.add(std::as_bytes(std::span(line)));
        }
    } catch (const std::filesystem::filesystem_error&) {
        return "missing";
    }
    return print.text();
}

}  // namespace echolux
