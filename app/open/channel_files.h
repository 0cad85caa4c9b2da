// The files that a view's channels name: volumes, transfer functions, labels.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "render/view/view.h"

namespace echolux {

// Tables [[label]] of id, name, colour and extinction: see docs/rendering.md. Throws Error{bad_file, bad_setting}
// naming file, line and key.
std::vector<TissueLabel> read_labels(const std::filesystem::path& path);

// Reads what the view's channels name. Volumes stay where the same file was read before, for this view or `before`.
// Throws Error{bad_file, bad_setting, out_of_memory}.
void load_channels(View& view, const View* before = nullptr);

// Puts a file, with a curve behind a colon ("octa.nrrd:angiogram"), into the view's first channel that has none. Throws
// Error{bad_setting} where there is no channel left.
void add_channel(Channels& channels, const std::string& text);

// The same as settings: "view.channel_2_file=octa.nrrd".
std::vector<std::string> channel_assignments(const std::vector<std::string>& texts);

// Throws Error{bad_setting} where volumes that are seen together cannot be flattened, or do not fit `grid` of `name`.
void check_channels_of(const View& view, const VolumeGrid& grid, const std::string& name);

}  // namespace echolux
