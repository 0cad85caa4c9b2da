#include "ui/window/folder_listing.h"

#include <algorithm>
#include <system_error>

#include "engine/io/lower_case.h"

namespace echolux {
namespace {

bool goes_before(const FolderEntry& a, const FolderEntry& b) {
    if (a.is_folder != b.is_folder) return a.is_folder;
    const std::string one = lower_case(a.name), other = lower_case(b.name);
    return one != other ? one < other : a.name < b.name;
}

}  // namespace

FolderListing list_folder(const std::filesystem::path& folder, std::size_t max_entries) {
    FolderListing listing{folder, {}, {}};
    std::error_code problem;
    std::filesystem::directory_iterator entry(folder, problem);
    const std::filesystem::directory_iterator end;
    while (!problem && entry != end && listing.entries.size() < max_entries) {
        FolderEntry found{entry->path().filename().string(), false, 0, {}};
        std::error_code gone;  // the entry may be deleted while the folder is read
        found.is_folder = entry->is_directory(gone);
        if (!found.is_folder) found.bytes = entry->file_size(gone);
        if (gone) found.bytes = 0;
        found.changed = entry->last_write_time(gone);
        if (!found.name.starts_with('.')) listing.entries.push_back(std::move(found));
        entry.increment(problem);
    }
    if (problem) listing.problem = problem.message();
    std::ranges::sort(listing.entries, goes_before);
    return listing;
}

bool has_ending(std::string_view name, const std::vector<std::string>& endings) {
    if (endings.empty()) return true;
    const std::string plain = lower_case(std::string(name));
    return std::ranges::any_of(endings,
                               [&plain](const std::string& ending) { return plain.ends_with(lower_case(ending)); });
}

}  // namespace echolux
