// State that the parts of a workspace share: the open document, all settings, jobs, notices, and limits for remote
// requests; with the texts of sessions and the handling of errors.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/open/open_volume.h"
#include "app/settings/session_text.h"
#include "app/settings/settings_book.h"
#include "app/viewer/view_source.h"
#include "compute/plan/describe.h"
#include "ui/workspace/user_folders.h"
#include "ui/workspace/workspace.h"

namespace echolux {

struct WorkspaceState {
    // Restores the window settings of the previous run and applies the settings from the command line.
    explicit WorkspaceState(const WorkspaceOptions& options);

    // Calls `work` and returns true if it did not throw. Errors become notices of `place`.
    bool attempt(std::string_view place, const std::function<void()>& work);
    Jobs::Failed to(std::string_view place);  // error handler of a job

    OpenDocument open_document() const;
    void note_recent(const std::filesystem::path& path);
    void check_recent_name(const std::filesystem::path& path) const;

    // ---- settings from the command line
    Values asked_view_values() const;
    void restore_window();
    // Settings for reconstruction, one per line.
    std::string scan_assignments() const;
    std::string assignments_for(const std::filesystem::path& file, const std::vector<std::string>& besides) const;

    // ---- limits
    const AllowedFolders* folders() const;
    void require_allowed(const std::filesystem::path& path) const;
    bool is_allowed(const std::filesystem::path& path) const;
    void require_allowed(const OpenDocument& what) const;
    void require_allowed_source(const OpenDocument& what) const;
    void require_all_read(const std::filesystem::path& file, const std::string& assignments) const;
    void require_allowed_files(const Values& wanted) const;

    // ---- texts of sessions
    std::string session_text() const;
    std::string remembered_text() const;  // for the state folder
    // For a picture that shows `shown`, regardless of the requested settings.
    std::string picture_text(TissueSettings shown) const;
    std::string look_text() const;  // sections [view] and [transfer]
    std::string preset_text() const;

    WorkspaceOptions options;
    StateFolder state;
    Notices notices;
    SettingsBook book;
    std::array<double, 3> cross_um{};
    double now_s = 0;
    OpenDocument open;                   // as it was opened
    std::filesystem::path last_session;  // session of the previous run; empty: none

    // Window settings from the command line: values before and after.
    std::map<std::string, std::pair<Value, Value>> asked_window{};

    // Allowed in addition to the folders because the program was started with them; links in files are resolved.
    std::string allowed_source;
    std::vector<std::filesystem::path> allowed_files;

    mutable Viewer viewer;
    Jobs jobs;  // last member: destroyed first, because last steps refer to the others
};

}  // namespace echolux
