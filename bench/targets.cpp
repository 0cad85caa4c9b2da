#include "bench/targets.h"

#include <utility>

namespace echolux {
namespace {

// Keys are NAME/SAMPLES or NAME/VOLUME. 0 if the figure was not measured, which misses every lower bound.
double median(const BenchReport& report, const std::string& key) {
    const BenchFigure* figure = report.find(key);
    return figure == nullptr ? 0 : figure->spread.median;
}

constexpr double percent = 100;

// Ratio of `key` to `of`, with units converted by `each`; 0 if one is missing.
double ratio(const BenchReport& report, const std::string& key, const std::string& of, double each = 1) {
    const double limit = median(report, of);
    return limit > 0 ? median(report, key) * each / limit : 0;
}

// An upper bound. An amount of 0 was not measured and would meet it.
Check limited_to(std::string what, std::string unit, double found, double limit) {
    Check target = at_most(std::move(what), std::move(unit), found, limit);
    target.is_measured = found > 0;
    return target;
}

}  // namespace

std::vector<Check> judged(const BenchReport& report) {
    // Bytes per A-scan: the link's rate is in bytes/s, the figures are in A-scans/s.
    constexpr double u16_bytes = 2048 * 2, packed_bytes = 2048 * 1.5;
    std::vector<Check> targets{
        at_least("device-resident into the texture", "A-scans/s", median(report, "texture/2048"), 180e6),
        at_least("in half precision into the texture", "A-scans/s", median(report, "texture.fast/2048"), 270e6),
        at_least("without dispersion", "A-scans/s", median(report, "real/2048"), 240e6),
        at_least("device-resident beside separate passes", "x", ratio(report, "texture/2048", "separate/2048"), 2.5),
        at_least("structure and Doppler, of the rate of structure", "%",
                 ratio(report, "doppler/2048", "texture/2048", percent), 65),
        at_least("u16 from pinned memory, of the link", "%",
                 ratio(report, "pinned/2048", "link.to_device", u16_bytes * percent), 95),
        at_least("packed 12 from pinned memory, of the link", "%",
                 ratio(report, "packed12/2048", "link.to_device", packed_bytes * percent), 90),
        at_least("u16 beside 60 pictures/s, of the rate without", "%",
                 ratio(report, "rendering/2048", "pinned/2048", percent), 90),
        at_least("pictures a second beside it", "pictures/s", median(report, "pictures/2048"), 59),
        at_least("exact NUDFT", "A-scans/s", median(report, "nudft/2048"), 45e6),
        limited_to("last byte to finished picture", "s", median(report, "latency/2048"), 1.2e-3),
        limited_to("one B-scan from pinned memory to voxels", "s", median(report, "block/512"), 60e-6),
    };
    for (const std::int64_t samples : other_lengths) {
        const std::string length = std::to_string(samples);
        const double each = percent * static_cast<double>(samples) / 2048;  // from A-scans/s to samples/s
        targets.push_back(at_least(length + " samples, of the rate of 2048, sample for sample", "%",
                                   ratio(report, "linear/" + length, "linear/2048", each), 60));
    }
    return targets;
}

std::vector<Check> judged_on_cpu(const BenchReport& report) {
    return {
        at_least("the whole chain, of the bare transform", "%", ratio(report, "linear/2048", "fft.2048", percent), 50)};
}

std::vector<Check> judged_rendering(const BenchReport& report, const std::vector<std::filesystem::path>& volumes) {
    std::vector<Check> targets{
        limited_to("lit composite, 512^3, changing", "s", median(report, "changing/512/1920x1080"), 0.8e-3),
        limited_to("lit composite, 1024 x 1836 x 1000, changing", "s",
                   median(report, "changing/1024x1836x1000/1920x1080"), 1.25e-3),
        at_least("of the texture unit's rate, nothing saved", "%",
                 ratio(report, "rate.composite/512", "texture.samples", percent), 60),
    };
    for (const std::filesystem::path& volume : volumes) {
        const std::string name = volume.filename().string();
        targets.push_back(at_least("samples saved, " + name, "x", median(report, "saved/" + name), 2));
    }
    return targets;
}

std::vector<Check> judged_rendering_in_software(const BenchReport& report) {
    return {limited_to("lit composite, 256^3 at rest", "s", median(report, "still/256/640x480"), 60e-3)};
}

std::vector<Check> judged_methods(const BenchReport& report) {
    constexpr double set = 240.0 * 240 * 11;  // A-scans of the volumes that the AO-OCT paper times
    // Time for the whole set, which the paper reports instead of a rate.
    const auto seconds = [&](const std::string& key) {
        const double rate = median(report, key);
        return rate > 0 ? set / rate : 0;
    };
    struct TargetSpec {
        const char* name;
        const char* key;
        double exact, fast;  // A-scans/s
    };
    constexpr TargetSpec methods[] = {{"DEFR, 10 iterations, up-sampled by two", "defr", 9.2e6, 12e6},
                                      {"NUFFT, Kaiser-Bessel, R = 2, W = 3", "nufft", 64e6, 100e6},
                                      {"NUFFT-CS, 15 iterations, 30 % of the samples", "compressive", 2.4e6, 4e6},
                                      {"MNUDFT-CS, 15 iterations, 30 % of the samples", "mnudft", 2e6, 3e6}};
    std::vector<Check> targets{
        limited_to("AO-OCT, 832 x 240 x 240 x 11, device-resident", "s", seconds("ao-oct/832"), 20e-3),
        limited_to("AO-OCT, 832 x 240 x 240 x 11, from pinned memory", "s", seconds("ao-oct.arriving/832"), 30e-3),
    };
    for (const TargetSpec& method : methods) {
        const std::string key = method.key, name = method.name;
        targets.push_back(at_least(name, "A-scans/s", median(report, key + "/2048"), method.exact));
        targets.push_back(
            at_least(name + ", precision = fast", "A-scans/s", median(report, key + ".fast/2048"), method.fast));
    }
    return targets;
}

std::vector<Check> judged_scaling(const BenchReport& report, int gpus) {
    std::vector<Check> targets;
    // Blocks are independent, so only submission and shared links can cost more than a few per cent.
    const auto judge = [&](const std::string& name, int count, double bound) {
        const std::string of = "gpus." + name + "/";
        targets.push_back(at_least(std::to_string(count) + " GPUs, " + name, "x",
                                   ratio(report, of + std::to_string(count), of + "1"), bound));
    };
    for (const std::string name : {"linear", "nufft", "defr"}) {
        if (gpus >= 2) judge(name, 2, 1.9);
        if (gpus >= 4) judge(name, 4, 3.8);
    }
    return targets;
}

std::vector<Check> judged_light(const BenchReport& report, const std::vector<std::filesystem::path>& volumes) {
    std::vector<Check> targets{
        limited_to("a path a pixel, 4 bounces, 512^3", "s", median(report, "picture.traced/512/1920x1080"), 4e-3),
        limited_to("a path a pixel, 4 bounces, 1024 x 1836 x 1000", "s",
                   median(report, "picture.traced/1024x1836x1000/1920x1080"), 8e-3),
        limited_to("a changed curve before the first path, 512^3", "s", median(report, "majorants/512"), 0.2e-3),
        limited_to("a changed curve before the first path, 1024 x 1836 x 1000", "s",
                   median(report, "majorants/1024x1836x1000"), 0.2e-3),
    };
    for (const std::filesystem::path& volume : volumes) {
        const std::string name = volume.filename().string();
        targets.push_back(
            limited_to("noise a second after rest, " + name, "of 255", median(report, "clean/" + name), 1));
        targets.push_back(at_least("32 paths, denoised, " + name, "dB", median(report, "psnr/" + name), 36));
    }
    return targets;
}

// Drawing and encoding overlap: 1 is the best possible.
std::vector<Check> judged_movie(const BenchReport& report) {
    return {limited_to("turntable of 300 pictures, beside the slower of drawing and encoding alone", "x",
                       median(report, "movie.share"), 1.2)};
}

std::vector<Check> judged_loops(const BenchReport& report) {
    return {
        at_least("standard chain, 1 thread, of the bare transform (aim 35 %)", "%",
                 ratio(report, "chain/1", "fft.2048", percent), 25),
        at_least("standard chain, 2 threads, of the rate of 1 thread", "x", ratio(report, "chain/2", "chain/1"), 1.6),
        limited_to("ray casting 128^3 at 256 x 256, unlit", "s", median(report, "picture/128"), 25e-3),
        at_least("through shared memory, the producer, of a memory copy", "%", median(report, "push.producer"), 90),
        at_least("through shared memory, the viewer, of a memory copy", "%", median(report, "push.viewer"), 90),
    };
}

}  // namespace echolux
