// The compiled shaders as arrays. The .num files are built from the GLSL sources in this folder.
#pragma once

#include <cstdint>

namespace echolux::spirv {

inline constexpr std::uint32_t raycast[] = {
#include "raycast.comp.num"
};

// Unoptimised, for specialization at run time.
inline constexpr std::uint32_t raycast_as_written[] = {
#include "raycast.comp.as-written.num"
};

inline constexpr std::uint32_t trace_as_written[] = {
#include "trace.comp.as-written.num"
};

inline constexpr std::uint32_t brick_range[] = {
#include "brick_range.comp.num"
};

inline constexpr std::uint32_t brick_peaks[] = {
#include "brick_peaks.comp.num"
};

inline constexpr std::uint32_t brick_dilate[] = {
#include "brick_dilate.comp.num"
};

inline constexpr std::uint32_t brick_class[] = {
#include "brick_class.comp.num"
};

inline constexpr std::uint32_t light_cells[] = {
#include "light_cells.comp.num"
};

inline constexpr std::uint32_t light_volume[] = {
#include "light_volume.comp.num"
};

inline constexpr std::uint32_t plane_histogram[] = {
#include "plane_histogram.comp.num"
};

inline constexpr std::uint32_t trace[] = {
#include "trace.comp.num"
};

inline constexpr std::uint32_t majorant_ranges[] = {
#include "majorant_ranges.comp.num"
};

inline constexpr std::uint32_t majorants[] = {
#include "majorants.comp.num"
};

inline constexpr std::uint32_t path_variance[] = {
#include "path_variance.comp.num"
};

inline constexpr std::uint32_t denoise[] = {
#include "denoise.comp.num"
};

inline constexpr std::uint32_t restore[] = {
#include "restore.comp.num"
};

inline constexpr std::uint32_t noise[] = {
#include "noise.comp.num"
};

inline constexpr std::uint32_t resolve[] = {
#include "resolve.comp.num"
};

inline constexpr std::uint32_t texture_rate[] = {
#include "texture_rate.comp.num"
};

inline constexpr std::uint32_t annotate[] = {
#include "annotate.comp.num"
};

inline constexpr std::uint32_t annotate_floats[] = {
#include "annotate_floats.comp.num"
};

inline constexpr std::uint32_t interface_vert[] = {
#include "interface.vert.num"
};

inline constexpr std::uint32_t interface_frag[] = {
#include "interface.frag.num"
};

inline constexpr std::uint32_t histogram[] = {
#include "histogram.comp.num"
};

}  // namespace echolux::spirv
