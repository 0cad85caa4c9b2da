// Files named by the channels of a view: volumes, transfer functions, labels.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "render/view/view.h"

namespace echolux {

// Reads [[label]] tables with id, name, colour and extinction; see docs/rendering.md. Throws Error{bad_file,
// bad_setting} with file, line and key.
std::vector<TissueLabel> read_labels(const std::filesystem::path& path);

// Reads the files named by the view's channels. Volumes already read for this view or `before` are reused. Throws
// Error{bad_file, bad_setting, out_of_memory}.
void load_channels(View& view, const View* before = nullptr);

// Adds another file, optionally with a curve after a colon ("octa.nrrd:angiogram"), to the first free channel of the
// view. Throws Error{bad_setting} if there is none.
void add_channel(Channels& channels, const std::string& text);

// Returns the same as settings: "view.channel_2_file=octa.nrrd".
std::vector<std::string> channel_assignments(const std::vector<std::string>& texts);

// Throws Error{bad_setting} if volumes shown together cannot be flattened or do not fit `grid` of `name`.
void check_channels_of(const View& view, const VolumeGrid& grid, const std::string& name);

}  // namespace echolux
