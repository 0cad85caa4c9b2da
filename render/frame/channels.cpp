// Uniforms and lookup tables of the channels for the ray caster and the path tracer.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <span>

#include "render/camera.h"
#include "render/channel_curve.h"
#include "render/frame/parts.h"
#include "render/majorants.h"
#include "render/raycast_constants.h"

namespace echolux {
namespace {

static_assert(max_channels == shared::max_channels + 1 && max_label + 1 == shared::channel_entries_of_one &&
              shared::transfer_entries == shared::channel_entries_of_one &&
              4 * shared::channel_peaks_of_one == int{extinction_peaks_count});

const Channel& channel_of(const Shot& shot, const SceneChannel& channel) {
    return shot.view.channels.at(channel.place);
}

// Returns true if the channel is shown as its maximum along the ray instead of by compositing.
bool shows_maximum(const Shot& shot, const Channel& channel) {
    switch (mode_of(shot)) {
        case ViewMode::composite:
        case ViewMode::mida:
        case ViewMode::isosurface:
        case ViewMode::points: return channel.mode == ChannelMode::mip;
        case ViewMode::traced: return false;
        default: return true;
    }
}

// Label tables are indexed by the label number.
TransferTable label_table(const Channel& channel) {
    TransferTable table;
    table.extinctions.resize(shared::channel_entries_of_one);
    table.colours.resize(shared::channel_entries_of_one);
    for (const TissueLabel& label : labels_of(channel)) {
        const auto place = static_cast<std::size_t>(label.id);
        table.extinctions[place] = static_cast<float>(label.extinction);
        for (std::size_t i = 0; i < 3; ++i) {
            table.colours[place][i] =
                static_cast<std::uint8_t>(std::lround(255 * std::clamp(label.colour[i], 0.0, 1.0)));
        }
        table.colours[place][3] = 255;
    }
    return table;
}

TransferTable table_of(const Shot& shot, const SceneChannel& channel) {
    const Channel& of = channel_of(shot, channel);
    return of.labels ? label_table(of)
                     : transfer_table(channel_function(shot.view, of, *channel.texture), shared::transfer_entries);
}

// Returns scale and offset from texture values to table entries, and the extinction factor in bits per um. Same
// convention as raycast_frame() uses for the volume.
glm::dvec4 lookup_of(const Shot& shot, const SceneChannel& channel) {
    const Channel& of = channel_of(shot, channel);
    const VolumeTexture& texture = *channel.texture;
    // log2(e): shaders compute transmittance with exp2.
    const double bits = of.opacity * std::log2(std::exp(1.0));
    if (of.labels) {
        const double given = shot.view.opacity_length_um;
        const double length = given > 0 ? given : volume_extent(shot.scene.grid()).x;
        return {texture.scale(), texture.offset(), bits / length, 0};
    }
    const TransferFunction function = channel_function(shot.view, of, texture);
    const auto [low, high] = function.range;
    const double per_level = (shared::transfer_entries - 1) / (high - low);
    return {texture.scale() * per_level, (texture.offset() - low) * per_level, bits / function.length, 0};
}

// Returns the width of the volume's range in texture values.
double range_of_volume(const Shot& shot) {
    const VolumeTexture& volume = shot.scene.volume;
    const auto [low, high] = transfer_function(shot.view, volume.grid(), volume.range(shot.view.range)).range;
    return (high - low) / volume.scale();
}

shared::ChannelFrame frame_of(const Shot& shot, const SceneChannel& channel) {
    const Channel& of = channel_of(shot, channel);
    const VolumeGrid& grid = channel.texture->grid();
    const glm::dvec4 lookup = lookup_of(shot, channel);
    const TransferTable table = table_of(shot, channel);
    const double largest = of.labels ? 1 : std::max(1e-20, double{std::ranges::max(table.extinctions)});
    const double opacity = std::min(of.opacity, 1.0);
    const double of_range = range_of_volume(shot);
    // Gradients of labels are those of visibility, gradients of values are relative to the range.
    const double slopes = of.labels ? of_range : of_range * lookup.x / (shared::transfer_entries - 1);
    const glm::dvec3 bricks =
        glm::dvec3(grid.depth, grid.a_scans, grid.b_scans) / double(channel.texture->bricks().edge());
    return {.lookup = glm::vec4(lookup),
            .look = glm::vec4(glm::dvec4(opacity / largest, of.blend == ChannelBlend::over ? 1 : 0, slopes, opacity)),
            .bricks = glm::vec4(glm::dvec4(bricks, 0))};
}

// Writes extinction, colour, and the next visible entry at or after each one.
void write_entries(const TransferTable& table, std::span<std::byte> bytes) {
    std::uint32_t visible = shared::channel_entries_of_one;
    for (std::size_t i = table.extinctions.size(); i-- > 0;) {
        if (table.extinctions[i] > 0) visible = static_cast<std::uint32_t>(i);
        std::byte* entry = bytes.data() + 16 * i;
        std::memcpy(entry, &table.extinctions[i], 4);
        std::memcpy(entry + 4, &table.colours[i], 4);
        std::memcpy(entry + 8, &visible, 4);
    }
}

}  // namespace

shared::ChannelsFrame channels_frame(const Shot& shot) {
    shared::ChannelsFrame frame{};
    for (std::size_t i = 0; i < shot.scene.channels.size(); ++i)
        frame.channel[i] = frame_of(shot, shot.scene.channels[i]);
    return frame;
}

// Labels without a table have no names, hence no legend.
std::vector<ChannelLegend> channel_legends(const Shot& shot) {
    std::vector<ChannelLegend> legends;
    for (const SceneChannel& channel : shot.scene.channels) {
        const Channel& of = channel_of(shot, channel);
        if (!of.labels)
            legends.push_back({&of, channel.texture->grid().unit, channel_function(shot.view, of, *channel.texture)});
        else if (!of.labels->empty())
            legends.push_back({&of, "", {}});
    }
    return legends;
}

int channels_constant(const Shot& shot) {
    int constant = static_cast<int>(shot.scene.channels.size());
    for (int i = 0; i < std::ssize(shot.scene.channels); ++i) {
        const Channel& of = channel_of(shot, shot.scene.channels[static_cast<std::size_t>(i)]);
        if (of.labels) constant |= 1 << (shared::channels_label_bit + i);
        if (shows_maximum(shot, of)) constant |= 1 << (shared::channels_maximum_bit + i);
    }
    return constant;
}

std::vector<std::byte> channel_tables(const Shot& shot) {
    if (shot.scene.channels.empty()) return {};
    constexpr std::size_t entries = 16 * std::size_t{shared::channel_entries_of_one};
    constexpr std::size_t peaks = 16 * std::size_t{shared::channel_peaks_of_one};
    std::vector<std::byte> bytes(channel_tables_bytes);
    for (std::size_t i = 0; i < shot.scene.channels.size(); ++i) {
        const TransferTable table = table_of(shot, shot.scene.channels[i]);
        write_entries(table, std::span(bytes).subspan(i * entries, entries));
        if (!is_traced(shot)) continue;
        write_extinction_peaks(table.extinctions,
                               std::span(bytes).subspan(shared::max_channels * entries + i * peaks, peaks));
    }
    return bytes;
}

}  // namespace echolux
