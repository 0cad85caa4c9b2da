// Still pictures at full quality: tile by tile and finished, or begun now and read later, while the device works on the
// next ones.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "render/renderer_parts.h"

namespace echolux {
namespace {

// Of what is cast at a time: bounds the memory that it takes.
constexpr std::int64_t max_columns = 4096;

constexpr std::size_t channels = 4;

std::size_t bytes_per_pixel(PictureBits bits) {
    return channels * static_cast<std::size_t>(bits) / 8;
}

std::uint16_t code_of(float level) {
    return static_cast<std::uint16_t>(std::lround(65535 * std::clamp(level, 0.0F, 1.0F)));
}

// A row of floats as 16-bit codes.
void put_codes(std::span<const std::byte> levels, std::byte* codes) {
    for (std::size_t i = 0; i < levels.size() / sizeof(float); ++i) {
        float level = 0;
        std::memcpy(&level, levels.data() + i * sizeof level, sizeof level);
        const std::uint16_t code = code_of(level);
        std::memcpy(codes + i * sizeof code, &code, sizeof code);
    }
}

// The pixels of a tile into rows of the whole width, of which the first is the tile's.
void place(std::span<std::byte> rows, std::int64_t width, PictureBits bits, const Region& tile,
           std::span<const std::byte> pixels) {
    const std::size_t of_tile = pixels.size() / static_cast<std::size_t>(tile.height);
    const std::size_t of_row = static_cast<std::size_t>(width) * bytes_per_pixel(bits);
    std::byte* out = rows.data() + static_cast<std::size_t>(tile.left) * bytes_per_pixel(bits);
    for (std::int64_t row = 0; row < tile.height; ++row, out += of_row) {
        const auto from = pixels.subspan(static_cast<std::size_t>(row) * of_tile, of_tile);
        if (bits == PictureBits::sixteen)
            put_codes(from, out);
        else
            std::ranges::copy(from, out);
    }
}

// Gathers rows of 8 bits to a picture in memory.
class Gathered {
  public:
    explicit Gathered(const View& view) : image_{view.width, view.height, {}} {
        image_.pixels.reserve(static_cast<std::size_t>(view.width * view.height) * channels);
    }

    void add(const PictureRows& rows) {
        const auto* first = reinterpret_cast<const std::uint8_t*>(rows.pixels.data());
        image_.pixels.insert(image_.pixels.end(), first, first + rows.pixels.size());
    }

    Image take() { return std::move(image_); }

  private:
    Image image_;
};

// What `begun_accumulation` held is finished before memory is taken for another size.
AccumulationBuffer& accumulation_of(std::optional<AccumulationBuffer>& accumulation, gpu::Queue& queue,
                                    const gpu::Device& device, const View& view) {
    if (accumulation && accumulation->columns() == view.width && accumulation->rows() == view.height)
        return *accumulation;
    queue.wait_for_all();
    accumulation.reset();
    return accumulation.emplace(device, view.width, view.height);
}

// What is not there as a whole is cast, not traced.
std::int64_t passes_of(const Shot& shot) {
    return shot.scene.is_partial() ? shot.view.samples : passes_when_saved(shot.view);
}

// Whether the ray caster makes the picture's pixels at once, without an accumulation buffer.
bool is_cast_at_once(const Shot& shot) {
    return passes_of(shot) == 1 && shot.view.mode != ViewMode::traced;
}

// What passes of a shot have summed, as a picture.
const gpu::DeviceImage& summed_picture(Renderer::Parts& parts, const Shot& shot, AccumulationBuffer& accumulation,
                                       PictureDepth depth) {
    const Shot summed{.scene = shot.scene, .view = shot.view, .pass = {&accumulation}};
    const auto picture = parts.resolver.resolve(parts.still_pictures, accumulation, 1, shot.region, sheet_of(shot),
                                                depth, toning_of(summed));
    return *picture.image;
}

const gpu::DeviceImage& submitted(Renderer::Parts& parts, const Shot& shot, const gpu::Chain& chain,
                                  const std::function<void()>& pause) {
    const std::int64_t passes = passes_of(shot);
    if (is_cast_at_once(shot)) return *parts.raycaster.cast(shot, chain).image;
    AccumulationBuffer& accumulation = accumulation_of(parts.begun_accumulation, parts.queue, parts.device, shot.view);
    try {
        for (std::int64_t number = 0; number < passes; ++number) {
            parts.raycaster.cast({.scene = shot.scene, .view = shot.view, .pass = {&accumulation, number}},
                                 share_of(chain, number == 0, number + 1 == passes));
            if (pause) pause();
        }
    } catch (...) {
        parts.queue.wait_for_all();
        parts.begun_accumulation.reset();
        throw;
    }
    return summed_picture(parts, shot, accumulation, PictureDepth::codes);
}

}  // namespace

// As many rows of the region as are cast soon enough: for so long nobody hears of progress.
std::int64_t Renderer::Parts::rows_at_a_time(const Shot& shot) {
    constexpr std::int64_t min_rows = 64, max_rows = 1024;
    constexpr double patience_s = 0.2;
    const double passes = static_cast<double>(passes_of(shot));
    const std::int64_t rows = raycaster.group_rows_within(patience_s / passes, shot) * shared::group_height;
    return std::min(std::clamp(rows, min_rows, max_rows), shot.region.height);
}

// The pixels of a part of a still picture, finished: RGBA of 8 bits or, where `depth` says so, floats. `pause` is
// called between passes and may throw to stop.
std::span<const std::byte> Renderer::Parts::pixels_of(const Shot& shot, const gpu::Chain& chain, PictureDepth depth,
                                                      const std::function<void()>& pause) {
    const std::int64_t passes = passes_of(shot);
    if (is_cast_at_once(shot) && depth == PictureDepth::codes)
        return read_back.pixels(*raycaster.cast(shot, chain).image);
    AccumulationBuffer accumulation(device, shot.region.width, shot.region.height);
    try {
        for (std::int64_t number = 0; number < passes; ++number) {
            raycaster.cast(
                {.scene = shot.scene, .view = shot.view, .region = shot.region, .pass = {&accumulation, number}},
                share_of(chain, number == 0, number + 1 == passes));
            pause();
        }
        return read_back.pixels(summed_picture(*this, shot, accumulation, depth));
    } catch (...) {
        queue.wait_for_all();  // earlier passes use the accumulation buffer
        throw;
    }
}

void Renderer::Parts::still(const Scene& scene, const View& view, PictureBits bits, const TakeRows& take,
                            const gpu::Chain& chain) {
    const PictureDepth depth = bits == PictureBits::sixteen ? PictureDepth::floats : PictureDepth::codes;
    std::vector<std::byte> rows;
    bool is_first = true;
    for (Region tile{0, 0, 0, 0}; tile.top < view.height; tile.top += tile.height) {
        tile.height = view.height - tile.top;
        tile.width = std::min(max_columns, view.width);
        tile.height = rows_at_a_time({.scene = scene, .view = view, .region = tile});
        rows.resize(static_cast<std::size_t>(view.width * tile.height) * bytes_per_pixel(bits));
        for (tile.left = 0; tile.left < view.width; tile.left += tile.width) {
            tile.width = std::min(max_columns, view.width - tile.left);
            const bool is_last = tile.top + tile.height == view.height && tile.left + tile.width == view.width;
            const Shot shot{.scene = scene, .view = view, .region = tile};
            place(rows, view.width, bits, tile,
                  pixels_of(shot, share_of(chain, std::exchange(is_first, false), is_last), depth, [&] { take({}); }));
        }
        take({tile.height, rows});
    }
}

PagesShown Renderer::render(const View& wanted, PictureBits bits,
                            const std::function<void(const PictureRows& rows)>& take, const Subject& subject) {
    return gpu::reporting("rendering", [&] {
        const View view = parts_->resolved(wanted, subject);
        const PagesShown pages = parts_->bring_in(view, subject, [&] { take({}); });
        const Scene scene = parts_->scene_of(subject, view);
        parts_->with_chain(subject, [&](const gpu::Chain& chain) { parts_->still(scene, view, bits, take, chain); });
        return pages;
    });
}

Image Renderer::render(const View& wanted, const Subject& subject, const std::function<void(std::int64_t rows)>& done) {
    check_view(wanted);
    Gathered gathered(wanted);
    const auto take = [&](const PictureRows& rows) {
        gathered.add(rows);
        if (done) done(rows.count);
    };
    const PagesShown pages = render(wanted, PictureBits::eight, take, subject);
    Image image = gathered.take();
    image.pages = pages;
    return image;
}

std::function<Image()> Renderer::begin(const View& wanted, const Subject& subject, const std::function<void()>& pause) {
    return gpu::reporting("rendering", [&]() -> std::function<Image()> {
        const View view = parts_->resolved(wanted, subject);
        const PagesShown pages = parts_->bring_in(view, subject);
        const Scene scene = parts_->scene_of(subject, view);
        const gpu::ComingPixels coming = parts_->with_chain(subject, [&](const gpu::Chain& chain) {
            return parts_->read_back.begin(submitted(*parts_, {.scene = scene, .view = view}, chain, pause));
        });
        return [coming, pages, width = view.width, height = view.height] {
            return gpu::reporting("reading a picture", [&] {
                const std::span<const std::byte> pixels = coming.wait();
                const auto* first = reinterpret_cast<const std::uint8_t*>(pixels.data());
                return Image{width, height, {first, first + pixels.size()}, pages};
            });
        };
    });
}

}  // namespace echolux
