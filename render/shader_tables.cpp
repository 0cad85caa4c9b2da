#include "render/shader_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>

#include "compute/indexing.h"
#include "render/transfer_function.h"
#include "render/view/curve.h"
#include "render/vk/memory.h"
#include "shaders/shared/flow.h"
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

// For roughness from min_roughness to 1. Cached because it takes 0.1 s.
const std::vector<float>& albedos_by_roughness() {
    static const std::vector<float> albedos = [] {
        std::vector<float> all;
        for (int i = 0; i < shared::roughness_steps; ++i) {
            const double part = static_cast<double>(i) / (shared::roughness_steps - 1);
            const SurfaceAlbedo albedo = surface_albedo(std::lerp(double{shared::min_roughness}, 1.0, part));
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

// ---- Flow colours

gpu::DeviceImage flow_colours(const gpu::Device& device, gpu::Queue& queue, const std::string& name) {
    const ColourMap map = colour_map(name);
    constexpr std::size_t entries = shared::flow_colour_entries;
    std::array<std::array<std::uint8_t, 4>, entries> colours{};
    for (std::size_t i = 0; i < entries; ++i) {
        const glm::dvec3 colour = colour_at(map, static_cast<double>(i) / (entries - 1));
        for (int channel = 0; channel < 3; ++channel) {
            colours[i][index(channel)] = static_cast<std::uint8_t>(std::lround(255 * colour[channel]));
        }
    }
    gpu::DeviceImage image(device,
                           {.type = vk::ImageType::e1D,
                            .format = vk::Format::eR8G8B8A8Unorm,
                            .extent = {static_cast<std::uint32_t>(entries), 1, 1},
                            .usage = vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eTransferDst},
                           "colours of flow");
    const gpu::HostBuffer staging(device, sizeof colours, vk::BufferUsageFlagBits::eTransferSrc);
    std::memcpy(staging.bytes().data(), colours.data(), sizeof colours);
    queue.run([&](const vk::raii::CommandBuffer& commands) {
        image.record_first_use(commands);
        image.record_copy_from(commands, staging.handle(), 0);
    });
    return image;
}

// ---- Surface albedo

constexpr int strata = 48;  // per random number of a facet

// Integrates over stratified facets.
static float directional(float cosine, float alpha) {
    const glm::vec3 out_to(std::sqrt(std::max(1 - cosine * cosine, 0.0F)), 0, cosine);
    double sum = 0;
    for (int i = 0; i < strata * strata; ++i) {
        const glm::vec2 u((static_cast<float>(i % strata) + 0.5F) / strata,
                          (static_cast<float>(i / strata) + 0.5F) / strata);
        const glm::vec3 facet = shared::ggx_facet(out_to, alpha, u);
        const glm::vec3 in_from = glm::reflect(-out_to, facet);
        if (in_from.z > 0) sum += shared::ggx_share(out_to, in_from, facet, alpha);
    }
    return static_cast<float>(sum / (strata * strata));
}

float albedo_at(const SurfaceAlbedo& albedo, float cosine) {
    const float place = std::clamp(cosine, 0.0F, 1.0F) * (shared::albedo_steps - 1);
    const auto below = std::min(static_cast<std::size_t>(place), std::size_t{shared::albedo_steps} - 2);
    return std::lerp(albedo.of_cosine[below], albedo.of_cosine[below + 1], place - static_cast<float>(below));
}

// Grazing incidence is evaluated slightly above the horizon, where all terms are finite.
SurfaceAlbedo surface_albedo(double roughness) {
    const auto alpha = static_cast<float>(roughness * roughness);
    SurfaceAlbedo albedo;
    for (std::size_t i = 0; i < albedo.of_cosine.size(); ++i) {
        const float cosine = std::max(static_cast<float>(i) / (shared::albedo_steps - 1), 1e-3F);
        albedo.of_cosine[i] = directional(cosine, alpha);
    }
    // Integral of 2 E(cosine) cosine, with E piecewise linear.
    constexpr int parts = 16 * (shared::albedo_steps - 1);
    double sum = 0;
    for (int i = 0; i < parts; ++i) {
        const float cosine = (static_cast<float>(i) + 0.5F) / parts;
        sum += 2.0 / parts * cosine * albedo_at(albedo, cosine);
    }
    albedo.mean = static_cast<float>(sum);
    return albedo;
}

// ---- Sky light

void SkyLight::bind(gpu::Bindings& bindings, const std::shared_ptr<const SkyPicture>& sky) {
    if (sky != shown_) {
        const std::span<const std::byte> bytes = std::as_bytes(std::span(sky->texels));
        const gpu::HostBuffer staging(device_, bytes.size(), vk::BufferUsageFlagBits::eTransferSrc);
        std::memcpy(staging.bytes().data(), bytes.data(), bytes.size());
        queue_.wait_for_all();  // pending pictures use the old sky
        shown_.reset();
        texels_.emplace(device_, bytes.size(), vk::BufferUsageFlagBits::eStorageBuffer);
        queue_.run([&](const vk::raii::CommandBuffer& commands) {
            texels_->record_copy_from(commands, staging.handle(), 0);
            gpu::record_order(commands);
        });
        shown_ = sky;
    }
    bindings.set_buffer(shared::binding_sky, texels_->handle());
}

// ---- Blue noise

namespace {

// A set of pixels on a torus with the local density around each pixel. The density is an integer, so the result does
// not depend on the compiler's order of operations.
class Pattern {
  public:
    explicit Pattern(int edge) : edge_(edge), member_(index(edge * edge)), crowding_(member_.size()) {
        constexpr double width = 1.5;  // in pixels, of the Gaussian (value of Ulichney)
        for (int y = -reach; y <= reach; ++y) {
            for (int x = -reach; x <= reach; ++x) {
                weight_[index((y + reach) * (2 * reach + 1) + x + reach)] =
                    std::llround(1e6 * std::exp(-0.5 * (x * x + y * y) / (width * width)));
            }
        }
    }

    std::size_t size() const { return member_.size(); }
    bool has(std::size_t pixel) const { return member_[pixel] != 0; }

    void set(std::size_t pixel, bool to) {
        if (has(pixel) == to) return;
        member_[pixel] = to ? 1 : 0;
        const int row = static_cast<int>(pixel) / edge_;
        const int column = static_cast<int>(pixel) % edge_;
        auto weight = weight_.begin();
        for (int y = row - reach; y <= row + reach; ++y) {
            for (int x = column - reach; x <= column + reach; ++x) {
                const int at = (y & (edge_ - 1)) * edge_ + (x & (edge_ - 1));
                crowding_[index(at)] += to ? *weight : -*weight;
                ++weight;
            }
        }
    }

    // Returns the member with the highest density.
    std::size_t tightest_cluster() const {
        return best([this](std::size_t i) { return has(i) ? crowding_[i] : -1; });
    }

    // Returns the non-member with the lowest density.
    std::size_t largest_void() const {
        return best([this](std::size_t i) { return has(i) ? INT64_MIN : -crowding_[i]; });
    }

  private:
    static constexpr int reach = 6;

    template <class Merit>
    std::size_t best(const Merit& merit) const {
        std::size_t found = 0;
        std::int64_t max = INT64_MIN;
        for (std::size_t i = 0; i < size(); ++i) {
            const std::int64_t here = merit(i);
            if (here > max) found = i, max = here;
        }
        return found;
    }

    int edge_;
    std::vector<char> member_;  // faster than std::vector<bool>
    std::vector<std::int64_t> crowding_;
    std::array<std::int64_t, (2 * reach + 1) * (2 * reach + 1)> weight_{};
};

// Returns a pattern of a tenth of the pixels. Members move from the tightest cluster to the largest void until nothing
// changes.
Pattern even_pattern(int edge) {
    Pattern pattern(edge);
    std::mt19937 random(1);
    for (std::size_t count = 0; count < pattern.size() / 10;) {
        const std::size_t pixel = random() % pattern.size();
        if (pattern.has(pixel)) continue;
        pattern.set(pixel, true);
        ++count;
    }
    while (true) {
        const std::size_t cluster = pattern.tightest_cluster();
        pattern.set(cluster, false);
        const std::size_t gap = pattern.largest_void();
        pattern.set(gap, true);
        if (gap == cluster) return pattern;
    }
}

}  // namespace

// Removing members from the tightest cluster onwards assigns the low ranks in descending order. Adding pixels at the
// largest void onwards assigns the remaining ranks in ascending order.
std::vector<float> blue_noise(int edge) {
    const Pattern start = even_pattern(edge);
    std::vector<float> noise(start.size());
    const auto set_rank = [&](std::size_t pixel, std::size_t rank) {
        noise[pixel] = (static_cast<float>(rank) + 0.5f) / static_cast<float>(start.size());
    };
    const std::size_t members = start.size() / 10;
    Pattern leaving = start;
    for (std::size_t rank = members; rank-- > 0;) {
        const std::size_t pixel = leaving.tightest_cluster();
        leaving.set(pixel, false);
        set_rank(pixel, rank);
    }
    Pattern joined = start;
    for (std::size_t rank = members; rank < start.size(); ++rank) {
        const std::size_t pixel = joined.largest_void();
        joined.set(pixel, true);
        set_rank(pixel, rank);
    }
    return noise;
}

}  // namespace echolux
