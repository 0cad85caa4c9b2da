#include "bench/texture.h"

#include <chrono>
#include <thread>

#include "app/live/volume_path.h"
#include "app/seconds_since.h"
#include "compute/error.h"

namespace echolux {

void feed_volume(VolumePath& path, const std::vector<Block>& blocks, std::int64_t number, std::size_t end) {
    constexpr double max_seconds = 10;
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < end; ++i) {
        Block block = blocks[i];
        block.volume = number;
        while (!path.feed(block)) {
            if (i > 0 || seconds_since(start) > max_seconds) {
                throw Error(ErrorCode::device, "a volume was given up on its way to the texture", "bench");
            }
            std::this_thread::yield();
        }
    }
}

std::string texture_refusal(const BackendChoice& choice, const std::string& device) {
    DeviceChoice wanted;
    wanted.name = device;
    try {
        const Renderer renderer(beside(wanted, choice));
        return "";
    } catch (const Error& error) {
        return error.line();
    }
}

std::vector<double> texture_rates(BenchBook& book, const BenchSize& size, const ReconstructionSpec& plan,
                                  const BackendChoice& choice, const std::string& device, const BenchSpectra& spectra) {
    DeviceChoice wanted;
    wanted.name = device;
    LoneVolumePath path(plan, choice, wanted);
    std::int64_t number = 0;
    const auto volume = [&] {
        book.poll();
        feed_volume(path, spectra.blocks(), number++, spectra.blocks().size());
    };
    return rates_of(static_cast<double>(size.lines()), book.effort(), volume, [&] { path.finish(); });
}

}  // namespace echolux
