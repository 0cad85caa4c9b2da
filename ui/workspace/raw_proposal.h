// Proposed format of a raw file without a description: sample format, samples per line, lines per B-scan, and B-scans.
// Derived from the file size and the similarity of neighbouring rows at each width. The user decides with the help of a
// preview of the spectra and of a first reconstruction.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/io/png_file.h"
#include "engine/io/raw_guess.h"
#include "engine/scan/scan.h"
#include "ui/workspace/workspace_state.h"

namespace echolux {

struct RawProposal {
    std::filesystem::path file;
    std::vector<RawGuess> guesses;    // by likeness; the best one is selected
    std::vector<std::string> doubts;  // reasons why the best one is uncertain
    Scan scan;                        // description to be written; edited through `settings`
    Settings settings;                // bound to `scan`
    Picture preview;                  // gray: spectra above their reconstruction; empty: none yet
    std::string problem;              // why it cannot be opened; otherwise empty
    bool is_stale = true;             // the preview must be computed again

    void take(const RawGuess& guess);  // replaces the current settings
};

struct RawPreview {
    Picture picture;
    std::string problem;  // why it cannot be opened; otherwise empty
};

// Returns the preview of the format in `scan`. Errors of the format take its place.
RawPreview preview_of(Scan scan, Progress& progress);

// The proposal that waits for an answer of the user.
class RawProposals {
  public:
    RawProposals(WorkspaceState& state, Workspace& work) : state_(state), work_(work) {}

    RawProposal* proposal() { return proposal_.get(); }  // nullptr: none

    void propose(const std::filesystem::path& path, const std::vector<RawGuess>& guesses);
    void accept();  // writes the TOML beside the file and opens it
    void drop();

    // Starts a preview job if the proposal changed and no preview is running.
    void update();
    bool is_stale() const { return proposal_ && proposal_->is_stale; }

  private:
    WorkspaceState& state_;
    Workspace& work_;
    std::shared_ptr<RawProposal> proposal_;  // jobs hold weak references
    std::uint64_t previewing_ = 0;           // id of the job
};

}  // namespace echolux
