// Pictures, figures, tables, movies and volumes of the open document as files. Small pictures are drawn like a pane
// until they are final; large ones and those with 16 bits use a separate renderer on the thread of a job. Failures
// become notices.
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

#include "app/figure/figure_job.h"
#include "app/open/open_volume.h"
#include "app/settings/session_text.h"
#include "ui/workspace/filtering.h"
#include "ui/workspace/workspace_state.h"

namespace echolux {

struct MovieSpec;  // app/movie/movie_plan.h

class Exporting {
  public:
    Exporting(WorkspaceState& state, Workspace& work, const Filtering& filtering)
        : state_(state), work_(work), filtering_(filtering) {}

    // Saves the view at full quality as PNG or TIFF (by the name), with all settings. Pictures of up to 4096 x 4096
    // pixels with 8 bits per channel are drawn between frames of the window; others use a separate renderer in a job.
    void save_picture(const std::filesystem::path& path, PictureBits bits = PictureBits::eight);
    // Returns the progress from 0 to 1 of a picture that is drawn between frames, or nullopt.
    std::optional<double> share_of_picture() const;
    // Draws such a picture for `receive` instead of a file. Up to 4096 x 4096 pixels.
    void draw_picture(const View& view, std::function<void(Image)> receive);

    // Runs `work` in a job that writes this file.
    void write_beside(const std::filesystem::path& path, const std::function<void(Progress&)>& work);

    // Saves a B-scan (by default at the cross-hair) and a projection with axes as PDF, SVG or PNG.
    void save_figure(const std::filesystem::path& path, FigureContent content, const FigureStyle& style);
    // A-scan at the cross-hair; strongest echo of each A-scan in the B-scan there
    enum class TableKind { a_scan, echoes };
    void save_table(const std::filesystem::path& path, TableKind kind);
    // Makes a movie of the current view with a separate renderer. A job; if cancelled, the part made is kept as a valid
    // movie. The codec follows from the name.
    void make_movie(const std::filesystem::path& path, const MovieSpec& spec);

    void save_volume(const std::filesystem::path& path);  // the displayed volume; starts a job
    // Saves the kept volumes of a live source as one series: those of the last `seconds`, or all if 0. A job; display
    // and source continue.
    void save_kept(const std::filesystem::path& path, double seconds = 0);
    // Returns another time point of the open file, or nullopt for a live source.
    std::optional<VolumeSource> time_point(std::int64_t step) const;

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
        std::shared_ptr<UserRequest> request{};  // request to which it belongs
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
    Workspace& work_;
    const Filtering& filtering_;
    std::deque<PendingScreenshot> pending_screenshots_;
    std::mutex job_messages_mutex_;
    std::vector<std::string> job_messages_;  // lines for notices
};

}  // namespace echolux
