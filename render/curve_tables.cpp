#include "render/curve_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "render/plane_table.h"
#include "render/surface_albedo.h"
#include "shaders/shared/raycast.h"

namespace echolux {
namespace {

constexpr std::size_t max_kept = 5;  // one per pane, and one for pictures outside the panes
constexpr std::size_t word = sizeof(float);
static_assert(shared::roughness_entries == shared::transfer_entries);

std::size_t bytes_of_tables(bool with_plane) {
    const std::size_t plane = std::size_t{shared::second_rows} * shared::transfer_entries * sizeof(PlaneEntry);
    return shared::tables_plane * word + (with_plane ? plane : 0);
}

// For roughness from least_roughness to 1. Cached because it takes 0.1 s.
const std::vector<float>& albedos_by_roughness() {
    static const std::vector<float> albedos = [] {
        std::vector<float> all;
        for (int i = 0; i < shared::roughness_steps; ++i) {
            const double part = static_cast<double>(i) / (shared::roughness_steps - 1);
            const SurfaceAlbedo albedo = surface_albedo(std::lerp(double{shared::least_roughness}, 1.0, part));
            all.insert(all.end(), albedo.of_cosine.begin(), albedo.of_cosine.end());
            all.push_back(albedo.mean);
        }
        return all;
    }();
    return albedos;
}

std::vector<float> roughness_by_value(const TransferFunction& function) {
    std::vector<float> roughness;
    for (int i = 0; i < shared::roughness_entries; ++i) {
        roughness.push_back(
            static_cast<float>(function.at(static_cast<double>(i) / (shared::roughness_entries - 1)).roughness));
    }
    return roughness;
}

}  // namespace

CurveTables::Tables::Tables(const gpu::Device& device, const TransferFunction& of, bool has_plane)
    : function(of), with_plane(has_plane),
      buffer(device, bytes_of_tables(has_plane), vk::BufferUsageFlagBits::eStorageBuffer),
      staging(device, bytes_of_tables(has_plane), vk::BufferUsageFlagBits::eTransferSrc) {
    std::byte* bytes = staging.bytes().data();
    std::memset(bytes, 0, staging.bytes().size());
    if (of.has_roughness()) {
        const std::vector<float> roughness = roughness_by_value(of);
        const std::vector<float>& albedos = albedos_by_roughness();
        std::memcpy(bytes, roughness.data(), roughness.size() * word);
        std::memcpy(bytes + shared::tables_albedo * word, albedos.data(), albedos.size() * word);
    }
    TransferFunction over_values = of;
    over_values.plane.reset();
    table = transfer_table(over_values, shared::transfer_entries);
    if (!has_plane) return;
    PlaneTable plane = plane_table(of, shared::transfer_entries);
    table.extinctions = std::move(plane.largest);
    std::memcpy(bytes + shared::tables_plane * word, plane.entries.data(), plane.entries.size() * sizeof(PlaneEntry));
}

void CurveTables::Tables::record(const vk::raii::CommandBuffer& commands) {
    if (!is_fresh) return;
    buffer.record_copy_from(commands, staging.handle(), 0);
    is_fresh = false;
}

CurveTables::Tables& CurveTables::of(const TransferFunction& function, bool with_plane) {
    const auto found = std::ranges::find_if(
        kept_, [&](const auto& tables) { return tables->with_plane == with_plane && tables->function == function; });
    if (found != kept_.end()) {
        (*found)->used = ++used_;
        return **found;
    }
    if (kept_.size() >= max_kept) {
        queue_.wait_for_all();
        kept_.erase(std::ranges::min_element(kept_, {}, [](const auto& tables) { return tables->used; }));
    }
    Tables& tables = *kept_.emplace_back(std::make_unique<Tables>(device_, function, with_plane));
    tables.number = ++made_;
    tables.used = ++used_;
    return tables;
}

void CurveTables::forget() {
    for (const auto& tables : kept_) tables->is_fresh = true;
}

}  // namespace echolux
