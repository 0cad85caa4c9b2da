#include "engine/io/regular_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <vector>

namespace echolux {
namespace {

// Returns false if the file cannot be opened.
bool add_file(Fingerprint& print, const std::filesystem::path& path) {
    std::ifstream file = regular_stream(path);
    if (!file) return false;
    std::vector<std::byte> piece(std::size_t{1} << 20);
    while (file) {
        file.read(reinterpret_cast<char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
        print.add(std::span(piece).first(static_cast<std::size_t>(file.gcount())));
    }
    return true;
}

// Returns the regular files in all subfolders, sorted, so that the fingerprint does not depend on the file system.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
}

}  // namespace

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
