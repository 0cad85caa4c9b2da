// The content of a folder, for the file dialog: read once, by a job.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace echolux {

struct FolderEntry {
    std::string name;
    bool is_folder = false;
    std::uintmax_t bytes = 0;
    std::filesystem::file_time_type changed{};
};

struct FolderListing {
    std::filesystem::path folder;
    std::vector<FolderEntry> entries;  // folders first, then by name; hidden ones are left out
    std::string problem;               // why it could not be read; empty: it could
};

// Never throws but for memory; at most so many entries.
FolderListing list_folder(const std::filesystem::path& folder, std::size_t max_entries = 20000);

// Whether a name has one of these endings, upper or lower case; none: any name has.
bool has_ending(std::string_view name, const std::vector<std::string>& endings);

}  // namespace echolux
