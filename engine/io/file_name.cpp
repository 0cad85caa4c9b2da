#include "engine/io/file_name.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "compute/error.h"
#include "compute/indexing.h"

namespace echolux {
namespace {

bool is_digit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// Returns the leading digits.
std::string_view number_in_front(std::string_view text) {
    const auto end = std::ranges::find_if_not(text, is_digit) - text.begin();
    return text.substr(0, index(end));
}

std::string_view without_zeros(std::string_view digits) {
    digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
}

}  // namespace

bool is_before_naturally(std::string_view a, std::string_view b) {
    while (!a.empty() && !b.empty()) {
        const std::string_view first = number_in_front(a), second = number_in_front(b);
        if (first.empty() || second.empty()) {
            if (a.front() != b.front()) return a.front() < b.front();
            a.remove_prefix(1), b.remove_prefix(1);
            continue;
        }
        const std::string_view m = without_zeros(first), n = without_zeros(second);
        // Without leading zeros, the longer number is larger. This works for any number of digits.
        if (m != n) return m.size() != n.size() ? m.size() < n.size() : m < n;
        a.remove_prefix(first.size()), b.remove_prefix(second.size());
    }
    return a.size() < b.size();
}

FilePart file_part(const std::filesystem::path& path) {
    std::error_code problem;
    if (std::filesystem::exists(path, problem)) return {path, {}};
    const std::string text = path.string();
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0) return {path, {}};
    const std::filesystem::path file = text.substr(0, colon);
    if (!std::filesystem::exists(file, problem)) return {path, {}};
    return {file, text.substr(colon + 1)};
}

// ---- access ---------------------------------------------------------------------------------------------------------

using Path = std::filesystem::path;

// Follows symbolic links as far as the path exists.
static Path resolved(const Path& path) {
    std::error_code problem;
    const Path absolute = std::filesystem::absolute(path, problem);
    const Path whole = std::filesystem::weakly_canonical(absolute, problem);
    return problem ? absolute.lexically_normal() : whole;
}

static bool holds(const Path& folder, const Path& whole) {
    Path known = resolved(folder.empty() ? "." : folder);
    if (!known.has_filename()) known = known.parent_path();
    return std::ranges::mismatch(known, whole).in1 == known.end();
}

static std::string words_for_outside(const Path& path) {
    return "move it there, or allow its folder: `ECHOLUX_DATA_FOLDERS` " + resolved(path).parent_path().string();
}

bool is_below(const Path& folder, const Path& path) {
    return holds(folder, resolved(path));
}

bool may_be_named(const Path& folder, const Path& path) {
    const Path whole = resolved(path);
    if (holds(folder, whole)) return true;
    const char* allowed = std::getenv(data_folders_variable);
    std::string_view rest = allowed == nullptr ? "" : allowed;
    while (!rest.empty()) {
        const std::string_view one = rest.substr(0, rest.find(':'));
        if (!one.empty() && holds(one, whole)) return true;
        rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    }
    return false;
}

Path named_file(const Path& header, const std::string& name) {
    const Path path = header.parent_path() / name;
    if (!may_be_named(header.parent_path(), path)) {
        throw Error(ErrorCode::bad_file, "refers to a file outside its folder: " + name.substr(0, 200), header.string(),
                    words_for_outside(path));
    }
    std::error_code problem;
    if (std::filesystem::is_regular_file(path, problem)) return path;
    throw Error(ErrorCode::bad_file, path.string() + " cannot be read", header.string(),
                "voxels must be in one file next to the header");
}

void require_within(const Path& folder, const Path& path) {
    if (may_be_named(folder, path)) return;
    throw Error(ErrorCode::bad_file, "stores a part outside its folder: " + path.lexically_relative(folder).string(),
                folder.string(), words_for_outside(path));
}

AllowedFolders::AllowedFolders(std::vector<std::filesystem::path> folders) {
    for (const std::filesystem::path& folder : folders) {
        std::error_code problem;
        if (!std::filesystem::is_directory(folder, problem)) {
            throw Error(ErrorCode::bad_setting, "is not a folder", folder.string(), "name one that exists");
        }
        folders_.push_back(std::filesystem::canonical(folder));
    }
}

bool AllowedFolders::hold(const std::filesystem::path& path) const {
    return std::ranges::any_of(folders_, [&](const auto& folder) { return is_below(folder, path); });
}

std::filesystem::path AllowedFolders::within(const std::filesystem::path& path) const {
    // A relative path belongs in the first folder.
    const std::filesystem::path whole =
        path.is_absolute() || folders_.empty() ? path : (folders_.front() / path).lexically_normal();
    if (!folders_.empty() && hold(whole)) return whole;
    std::string names;
    for (const std::filesystem::path& folder : folders_) names += (names.empty() ? "" : ", ") + folder.string();
    throw Error(ErrorCode::bad_setting, "is outside the folders that remote clients may use", path.string(),
                names.empty() ? "no folder is allowed" : "use a file in " + names);
}

}  // namespace echolux
