// Dialog to choose a file, a folder, or a name to save under. Works with the mouse or the keyboard alone: typing
// filters the list, Enter opens, Backspace leads to the parent folder. Paths can be typed or pasted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ui/panels/panel.h"
#include "ui/window/overlay.h"

namespace echolux {

// ---- Content of a folder for the file dialog, read once by a job.

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

class FileDialog : public Overlay {
  public:
    // Opens the dialog for a request. Without extensions, files to open are filtered by may_open().
    void ask(Workspace& work, FileRequest request);

    void draw(const PanelContext& context, ImVec2 size) override;

  private:
    void go_to(Workspace& work, const std::filesystem::path& folder);
    std::filesystem::path first_folder(const Workspace& work) const;
    std::string ending_of(const std::string& name) const;
    std::filesystem::path complete(const std::filesystem::path& path) const;
    void take_name(const std::string& name);
    void draw_places(const PanelContext& context);
    void draw_path(const PanelContext& context);
    void draw_list(const PanelContext& context, float height);
    void draw_answer(const PanelContext& context);
    bool draw_row(const PanelContext& context, const FolderEntry& entry, int number);
    std::vector<const FolderEntry*> fitting() const;
    bool fits(const FolderEntry& entry) const;
    void enter(const PanelContext& context);
    void take(const PanelContext& context, const FolderEntry& entry, bool continues);
    void answer(const PanelContext& context, const std::filesystem::path& path);

    FileRequest request_;
    std::shared_ptr<FolderListing> listing_ = std::make_shared<FolderListing>();  // filled by a job
    std::filesystem::path folder_;                                                // displayed, or being read
    std::vector<std::filesystem::path> recent_folders_;
    std::string typed_;    // filter, path, or name to save under
    std::string ending_;   // extension of the name to save under, kept for other names
    int stem_length_ = 0;  // length of the part to select; 0: none
    bool shows_all_ = false;
    int chosen_ = 0;
    bool follows_ = false, begins_typing_ = false;
    std::filesystem::path asks_to_replace_;  // file to be replaced after confirmation
};

}  // namespace echolux
