#include "render/annotations/annotator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <glm/common.hpp>
#include <glm/geometric.hpp>
#include <map>
#include <utility>

#include "compute/indexing.h"
#include "render/vk/queue.h"
#include "shaders/spirv.h"

namespace echolux {
namespace {

constexpr std::array binding_types{vk::DescriptorType::eStorageBuffer, vk::DescriptorType::eStorageBuffer,
                                   vk::DescriptorType::eStorageBuffer, vk::DescriptorType::eStorageBuffer,
                                   vk::DescriptorType::eStorageImage};
static_assert(binding_types.size() == shared::annotate_binding_count);

constexpr std::size_t alignment = 256;  // of buffer offsets: sufficient for every device

gpu::Bindings create_bindings(const gpu::Device& device) {
    return {device, binding_types, sizeof(shared::AnnotatePart)};
}

// Returns true if the glyph overlaps the region.
bool meets(const SheetGlyph& glyph, const Region& region) {
    const glm::ivec2 end = glyph.left_top + glyph.pixels->size;
    return glyph.left_top.x < region.left + region.width && end.x > region.left &&
           glyph.left_top.y < region.top + region.height && end.y > region.top;
}

// Coverage of all glyphs of a picture. Each glyph is stored once, aligned to 32-bit words.
class Coverage {
  public:
    std::uint32_t word_of(const GlyphPixels& glyph) {
        const auto [place, is_new] = words_.try_emplace(&glyph, static_cast<std::uint32_t>(bytes_.size() / 4));
        if (is_new) {
            bytes_.insert(bytes_.end(), glyph.coverage.begin(), glyph.coverage.end());
            bytes_.resize((bytes_.size() + 3) / 4 * 4);
        }
        return place->second;
    }

    std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }

  private:
    std::map<const GlyphPixels*, std::uint32_t> words_;
    std::vector<std::uint8_t> bytes_;
};

// `word` is the index of the glyph's first word in the coverage buffer.
shared::Shape shape_of(const SheetGlyph& glyph, std::uint32_t word) {
    return {.at = {glm::vec2(glyph.left_top), glm::vec2(glyph.left_top + glyph.pixels->size)},
            .colour = glyph.colour,
            .more = {},
            .kind = shared::shape_glyph,
            .coverage = word};
}

}  // namespace

SheetBuffers::SheetBuffers(const gpu::Device& device) : device_(&device), bindings_(create_bindings(device)) {}

Annotator::Annotator(const gpu::Device& device)
    : bindings_(create_bindings(device)), on_codes_(gpu::compute_pipeline(device, bindings_, spirv::annotate, {})),
      on_floats_(gpu::compute_pipeline(device, bindings_, spirv::annotate_floats, {})) {}

void Annotator::prepare(SheetBuffers& drawn, const Sheet& sheet, const Region& region,
                        const gpu::DeviceImage& picture) {
    drawn.part_.tiles = 0;
    if (sheet.is_empty()) return;
    std::vector<shared::Shape> shapes = sheet.shapes();
    Coverage coverage;
    for (const Label& label : sheet.labels()) {
        if (!typesetter_) break;
        // On the picture's frame, text has the colour of rims, so its own rim has the colour of text.
        const glm::vec3 rim = label.colour == sheet.rim() ? sheet.ink() : sheet.rim();
        for (const SheetGlyph& glyph : typesetter_->set(label, rim)) {
            if (meets(glyph, region)) shapes.push_back(shape_of(glyph, coverage.word_of(*glyph.pixels)));
        }
    }
    const auto [tiles, list] = tiles_of(shapes, region);
    if (tiles.empty()) return;

    // All contents share one buffer, in the order of their bindings.
    const std::array<std::span<const std::byte>, 4> contents{std::as_bytes(std::span(shapes)),
                                                             std::as_bytes(std::span(tiles)),
                                                             std::as_bytes(std::span(list)), coverage.bytes()};
    std::array<std::size_t, 4> begins{};
    drawn.bytes_ = 0;
    for (std::size_t i = 0; i < contents.size(); ++i) {
        begins[i] = drawn.bytes_;
        drawn.bytes_ += std::max<std::size_t>(1, (contents[i].size() + alignment - 1) / alignment) * alignment;
    }
    // both have the same size because the whole buffer is copied
    if (!drawn.staging_ || drawn.staging_->bytes().size() < drawn.bytes_) {
        gpu::HostBuffer staging(*drawn.device_, drawn.bytes_, vk::BufferUsageFlagBits::eTransferSrc);
        gpu::DeviceBuffer buffer(*drawn.device_, drawn.bytes_, vk::BufferUsageFlagBits::eStorageBuffer);
        drawn.staging_.emplace(std::move(staging));
        drawn.buffer_.emplace(std::move(buffer));
    }
    for (std::uint32_t i = 0; i < contents.size(); ++i) {
        std::ranges::copy(contents[i], drawn.staging_->bytes().begin() + static_cast<std::ptrdiff_t>(begins[i]));
        drawn.bindings_.set_buffer(i, drawn.buffer_->handle(), begins[i], std::max<std::size_t>(contents[i].size(), 4));
    }
    drawn.bindings_.set_image(shared::annotate_picture, picture.view());
    drawn.is_of_floats_ = picture.shape().format == vk::Format::eR32G32B32A32Sfloat;
    drawn.part_ = {.region = {region.left, region.top, region.width, region.height},
                   .tiles = static_cast<std::uint32_t>(tiles.size())};
}

void Annotator::record(const vk::raii::CommandBuffer& commands, const SheetBuffers& drawn) const {
    if (drawn.part_.tiles == 0) return;
    drawn.buffer_->record_copy_from(commands, drawn.staging_->handle(), 0);
    gpu::record_order(commands);  // also orders the drawing after the picture
    gpu::record_bind(commands, drawn.bindings_, drawn.is_of_floats_ ? on_floats_ : on_codes_);
    gpu::record_push(commands, drawn.bindings_, drawn.part_);
    // A dispatch has at most 65535 groups per axis, so tiles are arranged in rows.
    const auto row = static_cast<std::uint32_t>(shared::annotate_row);
    commands.dispatch(std::min(drawn.part_.tiles, row), (drawn.part_.tiles + row - 1) / row, 1);
}

// ---- Tiles

namespace {

using shared::Shape;

struct Bounds {
    glm::vec2 low, high;
};

// Returns the bounding box including partially covered pixels at its edges.
Bounds bounds_of(const Shape& shape) {
    const glm::vec2 a(shape.at.x, shape.at.y);
    const glm::vec2 b(shape.at.z, shape.at.w);
    Bounds bounds{glm::min(a, b), glm::max(a, b)};
    if (shape.kind == shared::shape_triangle) {
        bounds = {glm::min(bounds.low, shape.more), glm::max(bounds.high, shape.more)};
    }
    const float beyond = 1 + (shape.kind == shared::shape_line ? 0.5F * shape.more.x : 0);
    return {bounds.low - beyond, bounds.high + beyond};
}

// Returns true unless a long line, whose bounding box is large, misses the tile.
bool is_near(const Shape& shape, const glm::vec2& middle) {
    if (shape.kind != shared::shape_line) return true;
    const glm::vec2 from(shape.at.x, shape.at.y);
    const glm::vec2 along = glm::vec2(shape.at.z, shape.at.w) - from;
    const float length = glm::length(along);
    if (length < shared::annotate_tile) return true;
    const glm::vec2 off = middle - from;
    const float across = std::abs(off.x * along.y - off.y * along.x) / length;
    // sqrt(1/2) is half of the diagonal of a unit tile.
    return across <= 0.5F * shape.more.x + 1 + 0.7072F * shared::annotate_tile;
}

}  // namespace

Tiles tiles_of(std::span<const Shape> shapes, const Region& region) {
    constexpr auto edge = static_cast<float>(shared::annotate_tile);
    const glm::vec2 corner(region.left, region.top);
    const glm::ivec2 count((region.width + shared::annotate_tile - 1) / shared::annotate_tile,
                           (region.height + shared::annotate_tile - 1) / shared::annotate_tile);
    // One list of shapes per tile, filled in drawing order.
    std::vector<std::vector<std::uint32_t>> touching(index(count.x) * index(count.y));
    for (std::uint32_t i = 0; i < shapes.size(); ++i) {
        const auto [low, high] = bounds_of(shapes[i]);
        const glm::ivec2 first = glm::clamp(glm::floor((low - corner) / edge), glm::vec2(0), glm::vec2(count));
        const glm::ivec2 last = glm::clamp(glm::floor((high - corner) / edge), glm::vec2(-1), glm::vec2(count - 1));
        for (int y = first.y; y <= last.y; ++y) {
            for (int x = first.x; x <= last.x; ++x) {
                if (!is_near(shapes[i], corner + edge * (glm::vec2(x, y) + 0.5F))) continue;
                touching[index(y) * index(count.x) + index(x)].push_back(i);
            }
        }
    }
    Tiles tiles;
    for (std::size_t i = 0; i < touching.size(); ++i) {
        if (touching[i].empty()) continue;
        const auto begin = static_cast<std::uint32_t>(tiles.list.size());
        tiles.list.insert(tiles.list.end(), touching[i].begin(), touching[i].end());
        const auto columns = index(count.x);
        tiles.tiles.push_back({i % columns, i / columns, begin, tiles.list.size()});
    }
    return tiles;
}

}  // namespace echolux
