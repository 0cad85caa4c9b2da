// Renderer: still pictures at full quality, rendered tile by tile, or begun now and read later while the device works
// on the next ones.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "render/renderer_parts.h"
#include "render/stereo.h"

namespace echolux {
namespace {

// Limits the memory of a tile.
constexpr std::int64_t max_columns = 4096;

constexpr std::size_t parts_of_pixel = 4;

std::size_t bytes_per_pixel(PictureBits bits) {
    return parts_of_pixel * static_cast<std::size_t>(bits) / 8;
}

std::uint16_t code_of(float level) {
    return static_cast<std::uint16_t>(std::lround(65535 * std::clamp(level, 0.0F, 1.0F)));
}

// Converts floats in [0, 1] to 16-bit codes.
void put_codes(std::span<const std::byte> levels, std::byte* codes) {
    for (std::size_t i = 0; i < levels.size() / sizeof(float); ++i) {
        float level = 0;
        std::memcpy(&level, levels.data() + i * sizeof level, sizeof level);
        const std::uint16_t code = code_of(level);
        std::memcpy(codes + i * sizeof code, &code, sizeof code);
    }
}

// Copies the pixels of a tile into rows of the picture's full width. The first row is that of the tile.
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

// Collects rows of 8 bits into a picture in memory.
class Gathered {
  public:
    explicit Gathered(const View& view) : image_{view.width, view.height, {}} {
        image_.pixels.reserve(static_cast<std::size_t>(view.width * view.height) * parts_of_pixel);
    }

    void add(const PictureRows& rows) {
        const auto* first = reinterpret_cast<const std::uint8_t*>(rows.pixels.data());
        image_.pixels.insert(image_.pixels.end(), first, first + rows.pixels.size());
    }

    Image take() { return std::move(image_); }

  private:
    Image image_;
};

// Returns a buffer of the view's size. Waits for pending work before it replaces one of another size.
AccumulationBuffer& accumulation_of(std::optional<AccumulationBuffer>& accumulation, gpu::Queue& queue,
                                    const gpu::Device& device, const View& view) {
    if (accumulation && accumulation->columns() == view.width && accumulation->rows() == view.height)
        return *accumulation;
    queue.wait_for_all();
    accumulation.reset();
    return accumulation.emplace(device, view.width, view.height);
}

// Returns true if the ray caster writes the pixels directly, without an accumulation buffer.
bool is_cast_at_once(const View& view) {
    return passes_when_saved(view) == 1 && view.mode != ViewMode::traced;
}

// Returns the tile with the margin that the denoiser reads, clipped to the picture.
Region with_rim(const Region& tile, const View& view) {
    const std::int64_t left = std::max<std::int64_t>(0, tile.left - filter_reach);
    const std::int64_t top = std::max<std::int64_t>(0, tile.top - filter_reach);
    return {left, top, std::min(view.width, tile.left + tile.width + filter_reach) - left,
            std::min(view.height, tile.top + tile.height + filter_reach) - top};
}

// Returns the rows per tile of traced pictures. Paths of a tile end once the noise is low, so tiles must be independent
// of the device for reproducible pictures.
std::int64_t rows_of_paths(const View& view) {
    constexpr std::int64_t max_pixels = 1 << 22;
    return std::min(view.height, max_pixels / std::min(max_columns, view.width));
}

// Accumulates the passes of a part of a picture.
struct Summing {
    Renderer::Parts& parts;
    const Shot& shot;  // with the requested region
    AccumulationBuffer& accumulation;
    Region region;  // region to cast, including margins
    const std::function<void(std::int64_t passes)>& pause;

    // Casts a pass. Splits long passes and waits for each part, so that cancelling waits for one part only.
    void cast(std::int64_t number, const gpu::Chain& chain) const {
        constexpr double patience_s = 0.3;
        Shot pass{.scene = shot.scene, .view = shot.view, .region = region, .pass = {&accumulation, number}};
        const std::int64_t rows = pass.group_rows();
        const std::int64_t at_once = pause ? parts.raycaster.group_rows_within(patience_s, pass) : rows;
        // Without `pause` the whole pass is submitted at once.
        for (std::int64_t first = 0; first < rows; first += at_once) {
            pass.part = {first, std::min(rows, first + at_once)};
            const CastPicture cast =
                parts.raycaster.cast(pass, gpu::share_of(chain, first == 0, pass.part.end == rows));
            if (at_once >= rows) continue;
            parts.queue.wait(cast.value);
            pause(number);
        }
        if (pause) pause(number + 1);
    }
};

// Casts all passes and resolves them to a picture.
const gpu::DeviceImage& summed_picture(const Summing& summing, const gpu::Chain& chain, PictureDepth depth) {
    const Shot& shot = summing.shot;
    const std::int64_t passes = passes_when_saved(shot.view);
    for (std::int64_t number = 0; number < passes; ++number)
        summing.cast(number, gpu::share_of(chain, number == 0, number + 1 == passes));
    return *summing.parts.resolver
                .resolve(summing.parts.still_pictures, summing.accumulation, 1, shot.region, sheet_of(shot), depth)
                .image;
}

// Casts paths until the noise target or the max number is reached, and resolves them to a picture.
const gpu::DeviceImage& traced_picture(const Summing& summing, const gpu::Chain& chain, PictureDepth depth) {
    Renderer::Parts& parts = summing.parts;
    const Shot& shot = summing.shot;
    Denoiser::Light light;
    for (std::int64_t paths = 1;; ++paths) {
        summing.cast(paths - 1, gpu::share_of(chain, paths == 1, false));
        const bool is_last = paths == shot.view.paths;
        const bool is_judged = is_time_to_judge(shot.view, paths);
        if (!is_last && !is_judged) continue;
        light = parts.denoiser.light(summing.accumulation, shot.view, paths);
        if (is_last) break;
        parts.queue.wait(light.value);
        if (parts.denoiser.noise(summing.accumulation) <= shot.view.noise_target) break;
    }
    parts.queue.submit([](const auto&) {}, gpu::share_of(chain, false, true));
    Toning toning = *toning_of({.scene = shot.scene, .view = shot.view, .pass = {&summing.accumulation}});
    toning.rim =
        glm::vec4(glm::dvec4(shot.region.left - summing.region.left, shot.region.top - summing.region.top, 0, 0));
    return *parts.resolver
                .resolve(parts.still_pictures, summing.accumulation, 1, shot.region, sheet_of(shot), depth, toning,
                         light.image)
                .image;
}

const gpu::DeviceImage& picture_of(const Summing& summing, const gpu::Chain& chain, PictureDepth depth) {
    return summing.shot.view.mode == ViewMode::traced ? traced_picture(summing, chain, depth)
                                                      : summed_picture(summing, chain, depth);
}

// Submits a picture without waiting for it.
const gpu::DeviceImage& submitted(Renderer::Parts& parts, const Shot& shot, const gpu::Chain& chain,
                                  const std::function<void()>& pause) {
    if (is_cast_at_once(shot.view)) return *parts.raycaster.cast(shot, chain).image;
    AccumulationBuffer& accumulation = accumulation_of(parts.begun_accumulation, parts.queue, parts.device, shot.view);
    const auto pausing = [&](std::int64_t) {
        if (pause) pause();
    };
    try {
        return picture_of({parts, shot, accumulation, shot.region, pausing}, chain, PictureDepth::codes);
    } catch (...) {
        parts.queue.wait_for_all();
        parts.begun_accumulation.reset();
        throw;
    }
}

}  // namespace

// Returns the number of rows to render at a time. Progress is not reported in between, so the time for them is limited.
std::int64_t Renderer::Parts::rows_at_a_time(const Shot& shot) {
    if (shot.view.mode == ViewMode::traced) return std::min(rows_of_paths(shot.view), shot.region.height);
    constexpr std::int64_t min_rows = 64, max_rows = 1024;
    constexpr double patience_s = 0.2;
    const double passes = static_cast<double>(passes_when_saved(shot.view));
    const std::int64_t rows = raycaster.group_rows_within(patience_s / passes, shot) * shared::group_height;
    return std::min(std::clamp(rows, min_rows, max_rows), shot.region.height);
}

// Renders a part of a still picture and waits for it: RGBA of 8 bits, or floats depending on `depth`. `pause` is called
// between passes with the number of passes done; it may throw to cancel.
std::span<const std::byte> Renderer::Parts::pixels_of(const Shot& shot, const gpu::Chain& chain, PictureDepth depth,
                                                      const std::function<void(std::int64_t passes)>& pause) {
    if (is_cast_at_once(shot.view) && depth == PictureDepth::codes)
        return read_back.pixels(*raycaster.cast(shot, chain).image);
    const Region region = shot.view.mode == ViewMode::traced ? with_rim(shot.region, shot.view) : shot.region;
    AccumulationBuffer accumulation(device, region.width, region.height);
    try {
        return read_back.pixels(picture_of({*this, shot, accumulation, region, pause}, chain, depth));
    } catch (...) {
        queue.wait_for_all();  // earlier passes use the accumulation buffer
        throw;
    }
}

// Renders the rows of `band` for one eye, tile by tile.
std::vector<std::byte> Renderer::Parts::band_of(const Shot& band, PictureBits bits, const gpu::Chain& chain,
                                                const std::function<void(std::int64_t columns)>& done) {
    const PictureDepth depth = bits == PictureBits::sixteen ? PictureDepth::floats : PictureDepth::codes;
    const std::int64_t passes = passes_when_saved(band.view), width = band.view.width;
    std::vector<std::byte> rows(static_cast<std::size_t>(width * band.region.height) * bytes_per_pixel(bits));
    Region tile = band.region;
    for (tile.left = 0; tile.left < width; tile.left += tile.width) {
        tile.width = std::min(max_columns, width - tile.left);
        const auto pause = [&](std::int64_t number) { done(tile.left + tile.width * number / passes); };
        const gpu::Chain part = gpu::share_of(chain, tile.left == 0, tile.left + tile.width == width);
        place(rows, width, bits, tile,
              pixels_of({.scene = band.scene, .view = band.view, .region = tile}, part, depth, pause));
    }
    return rows;
}

void Renderer::Parts::still(const Scene& scene, const View& view, PictureBits bits, const TakeRows& take,
                            const gpu::Chain& chain) {
    const std::vector<View> eyes = eyes_of(view);
    const std::int64_t columns = std::ssize(eyes) * eyes.front().width;
    for (Region band{0, 0, eyes.front().width, 0}; band.top < view.height; band.top += band.height) {
        band.height = view.height - band.top;
        Region tile = band;
        tile.width = std::min(max_columns, band.width);
        band.height = rows_at_a_time({.scene = scene, .view = eyes.front(), .region = tile});
        std::int64_t told = 0;
        std::vector<std::vector<std::byte>> rows;
        for (const View& eye : eyes) {
            const bool is_first = band.top == 0 && rows.empty();
            const bool is_last = band.top + band.height == view.height && rows.size() + 1 == eyes.size();
            const auto tell = [&, before = std::ssize(rows) * eye.width](std::int64_t done) {
                const std::int64_t worth = band.height * (before + done) / columns - told;
                told += worth;
                take({0, {}, worth});
            };
            rows.push_back(band_of({.scene = scene, .view = eye, .region = band}, bits,
                                   gpu::share_of(chain, is_first, is_last), tell));
        }
        take({band.height, joined(view, bits, std::move(rows)), band.height - told});
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
        if (done) done(rows.worth);
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
        std::vector<gpu::ComingPixels> coming = parts_->with_chain(subject, [&](const gpu::Chain& chain) {
            std::vector<gpu::ComingPixels> begun;
            for (const std::vector<View> eyes = eyes_of(view); const View& eye : eyes) {
                const gpu::Chain part = gpu::share_of(chain, begun.empty(), begun.size() + 1 == eyes.size());
                begun.push_back(
                    parts_->read_back.begin(submitted(*parts_, {.scene = scene, .view = eye}, part, pause)));
            }
            return begun;
        });
        return [coming = std::move(coming), pages, view] {
            return gpu::reporting("reading a picture", [&] {
                std::vector<std::vector<std::byte>> eyes;
                for (const gpu::ComingPixels& eye : coming) {
                    const std::span<const std::byte> pixels = eye.wait();
                    eyes.emplace_back(pixels.begin(), pixels.end());
                }
                const std::vector<std::byte> pixels = joined(view, PictureBits::eight, std::move(eyes));
                const auto* first = reinterpret_cast<const std::uint8_t*>(pixels.data());
                return Image{view.width, view.height, {first, first + pixels.size()}, pages};
            });
        };
    });
}

}  // namespace echolux
