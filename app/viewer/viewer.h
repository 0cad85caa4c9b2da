// The renderer and what it shows: nothing (the start page) or one view source. Both are recreated if the graphics
// device is lost.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/viewer/view_source.h"
#include "compute/backend.h"
#include "compute/plan/describe.h"
#include "engine/acquire/source.h"
#include "engine/offline/series.h"
#include "engine/progress.h"
#include "render/gpu_device.h"
#include "render/renderer.h"

namespace echolux {

// ---- Renderer and view source

// Creates a view source on the renderer; called again after a lost device.
using ViewSourceFactory = std::function<std::unique_ptr<ViewSource>(Renderer&)>;

class Viewer {
  public:
    // Throws Error{device}.
    Viewer(GpuDevice device, BackendChoice backend);
    ~Viewer();

    Renderer& renderer() { return *renderer_; }                 // must exist
    bool has_renderer() const { return renderer_ != nullptr; }  // false after revive() failed; it may be called again
    const BackendChoice& backend() const { return backend_; }

    ViewSource* view_source() { return view_source_.get(); }
    bool is_open() const { return view_source_ != nullptr; }
    LiveController* live() const { return view_source_ ? view_source_->live() : nullptr; }  // nullptr for volume files

    // Replaces what was shown. The old view source is destroyed first, since memory may not hold both, so it is gone
    // even if this throws.
    void show(ViewSourceFactory make);
    void clear();

    // Call after Error{device}: creates a new renderer with the view source. Everything that uses the old renderer
    // (screens) must have been released. Throws Error{device} if it fails.
    void revive();

  private:
    GpuDevice device_;
    BackendChoice backend_;
    std::unique_ptr<Renderer> renderer_;
    ViewSourceFactory make_;
    std::unique_ptr<ViewSource> view_source_;  // destroyed before the renderer
};

// ---- Opening of files and sources as view sources. The slow part (reading, simulating, connecting) runs in these
// functions, in a job. The returned function only creates the view source on the renderer.

// Returns true for volumes (a file, a folder or pattern of time points), false for spectra.
bool holds_volumes(const std::filesystem::path& path);

// Opens one volume file, a 4-D file, a folder of volume files (time points sorted by name) or a scan TOML. Throws
// Error{bad_file, bad_setting, out_of_memory, cancelled}.
ViewSourceFactory open_source_view(const std::filesystem::path& path, const std::vector<std::string>& assignments,
                                   const BackendChoice& backend, const SeriesBudget& budget, Progress& progress);

// Opens a live source. It starts when it is shown.
ViewSourceFactory open_live_source(const SourceRequest& source, const BackendChoice& backend, Progress& progress);

}  // namespace echolux
