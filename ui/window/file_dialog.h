// Choosing a file or folder, or a name to save under: our own dialog, by keyboard alone or with the mouse. Typing
// narrows the list, Enter goes on, Backspace goes up; a path may be typed or pasted as well.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ui/panels/panel_state.h"
#include "ui/window/folder_listing.h"
#include "ui/window/overlay.h"

namespace echolux {

class FileDialog : public Overlay {
  public:
    // What a panel or an action wishes. Opening takes what may_open() where no endings are given.
    void ask(Workspace& work, FileWish wish);

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
    void take(const PanelContext& context, const FolderEntry& entry, bool goes_on);
    void answer(const PanelContext& context, const std::filesystem::path& path);

    FileWish wish_;
    std::shared_ptr<FolderListing> listing_ = std::make_shared<FolderListing>();  // filled by a job
    std::filesystem::path folder_;                                                // that is shown, or being read
    std::vector<std::filesystem::path> recent_folders_;
    std::string typed_;    // narrows the list, or is a path, or the name to save under
    std::string ending_;   // of the name to save under, kept where another name is typed
    int stem_length_ = 0;  // of the name that is to be selected; 0: none is
    bool shows_all_ = false;
    int chosen_ = 0;
    bool follows_ = false, begins_typing_ = false;
    std::filesystem::path asks_to_replace_;
};

}  // namespace echolux
