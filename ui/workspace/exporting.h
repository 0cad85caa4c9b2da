// Pictures, figures, tables, movies and volumes of the open document as files. Small pictures are drawn like a pane
// until they are final; large ones and those with 16 bits use a separate renderer on the thread of a job. Workspace
// describes the public functions.
#pragma once

#include <array>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/open/open_volume.h"
#include "app/settings/session_text.h"
#include "ui/workspace/filtering.h"
#include "ui/workspace/workspace_state.h"

namespace echolux {

class Exporting {
  public:
    Exporting(WorkspaceState& state, const Filtering& filtering) : state_(state), filtering_(filtering) {}

    void save_picture(Workspace& work, const std::filesystem::path& path, PictureBits bits);
    void draw_picture(const View& view, std::function<void(Image)> receive);
    std::optional<double> share_of_picture() const;
    void write_beside(const std::filesystem::path& path, const std::function<void(Progress&)>& work);
    std::optional<VolumeSource> time_point(std::int64_t step) const;
    void save_figure(const std::filesystem::path& path, FigureContent content, const FigureStyle& style);
    void save_table(const std::filesystem::path& path, Workspace::TableKind kind);
    void make_movie(Workspace& work, const std::filesystem::path& path, const MovieSpec& spec);
    void save_volume(const std::filesystem::path& path);
    void save_kept(const std::filesystem::path& path, double seconds);

    // Draws the next pass of the pending pictures. Throws Error{device}.
    void draw_pending_screenshot();
    void drop_pending_screenshots();  // called when the displayed document is closed
    bool is_idle() const { return pending_screenshots_.empty(); }

    // Adds lines from the threads of jobs to the notices.
    void collect();

  private:
    // A picture of the view that is drawn in passes between frames of the window, then written.
    struct PendingScreenshot {
        std::filesystem::path path;
        View view;
        std::string session;   // stored in the picture
        PictureRecord record;  // stored in the picture; completed when it is written
        VolumeSource source;   // source of the displayed volume
        std::optional<double> begun_s;
        std::int64_t passes = 0;                 // completed passes, of view.rest_samples
        std::function<void(Image)> receive{};    // receiver of the picture instead of a file
        std::shared_ptr<Operation> operation{};  // operation to which it belongs
    };

    ViewSource& shown_for(const std::filesystem::path& path);
    VolumeSource file_shown() const;  // with its current settings and time point
    VolumeSource volume_shown(const std::filesystem::path& path, bool voxels_suffice);
    std::array<std::int64_t, 3> cross_voxel() const;
    void draw_picture_beside(const std::filesystem::path& path, PictureBits bits, const std::string& session);
    void start_export(const std::filesystem::path& path, const std::function<void(Progress&)>& work);
    void note_saved(const std::filesystem::path& path, NoticeFile::Opener by = NoticeFile::Opener::desktop);
    void follow_pending_screenshot();
    void write_picture(const PendingScreenshot& kept, Image image);

    WorkspaceState& state_;
    const Filtering& filtering_;
    std::deque<PendingScreenshot> pending_screenshots_;
    std::mutex job_messages_mutex_;
    std::vector<std::string> job_messages_;  // lines for notices
};

}  // namespace echolux
