// Content of a folder for the file dialog, read once by a job.
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
    std::vector<FolderEntry> entries;  // folders first, then by name; without hidden entries
    std::string problem;               // why the folder could not be read; otherwise empty
};

// Reads at most `max_entries` entries. Throws only if out of memory.
FolderListing list_folder(const std::filesystem::path& folder, std::size_t max_entries = 20000);

// Returns true if the name has one of these extensions, ignoring case, or if `endings` is empty.
bool has_ending(std::string_view name, const std::vector<std::string>& endings);

}  // namespace echolux
