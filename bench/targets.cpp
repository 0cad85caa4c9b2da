#include "bench/targets.h"

namespace echolux {
namespace {

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

BenchTarget at_least(const std::string& name, double reached, const std::string& unit, double bound) {
    return {name, reached, unit, ">=", bound, reached >= bound};
}

BenchTarget at_most(const std::string& name, double reached, const std::string& unit, double bound) {
    return {name, reached, unit, "<=", bound, reached > 0 && reached <= bound};
}

}  // namespace

std::vector<BenchTarget> judged(const BenchReport& report) {
    constexpr double u16_bytes = 2048 * 2, packed_bytes = 2048 * 1.5;
    std::vector<BenchTarget> targets{
        at_least("device-resident into the texture", median(report, "texture/2048"), "A-scans/s", 180e6),
        at_least("in half precision into the texture", median(report, "texture.fast/2048"), "A-scans/s", 270e6),
        at_least("without dispersion", median(report, "real/2048"), "A-scans/s", 240e6),
        at_least("device-resident beside separate passes", ratio(report, "texture/2048", "separate/2048"), "x", 2.5),
        at_least("structure and Doppler, of the rate of structure",
                 ratio(report, "doppler/2048", "texture/2048", percent), "%", 65),
        at_least("u16 from pinned memory, of the link",
                 ratio(report, "pinned/2048", "link.to_device", u16_bytes * percent), "%", 95),
        at_least("packed 12 from pinned memory, of the link",
                 ratio(report, "packed12/2048", "link.to_device", packed_bytes * percent), "%", 90),
        at_least("u16 beside 60 pictures/s, of the rate without",
                 ratio(report, "rendering/2048", "pinned/2048", percent), "%", 90),
        at_least("pictures a second beside it", median(report, "pictures/2048"), "pictures/s", 59),
        at_least("exact NUDFT", median(report, "nudft/2048"), "A-scans/s", 45e6),
        at_most("last byte to finished picture", median(report, "latency/2048"), "s", 1.2e-3),
        at_most("one B-scan from pinned memory to voxels", median(report, "block/512"), "s", 60e-6),
    };
    for (const std::int64_t samples : other_lengths) {
        const std::string length = std::to_string(samples);
        const double each = percent * static_cast<double>(samples) / 2048;
        targets.push_back(at_least(length + " samples, of the rate of 2048, sample for sample",
                                   ratio(report, "linear/" + length, "linear/2048", each), "%", 60));
    }
    return targets;
}

std::vector<BenchTarget> judged_on_cpu(const BenchReport& report) {
    return {
        at_least("the whole chain, of the bare transform", ratio(report, "linear/2048", "fft.2048", percent), "%", 50)};
}

std::vector<BenchTarget> judged_rendering(const BenchReport& report,
                                          const std::vector<std::filesystem::path>& volumes) {
    std::vector<BenchTarget> targets{
        at_most("lit composite, 512^3, changing", median(report, "changing/512/1920x1080"), "s", 0.8e-3),
        at_most("lit composite, 1024 x 1836 x 1000, changing", median(report, "changing/1024x1836x1000/1920x1080"), "s",
                1.25e-3),
        at_least("of the texture unit's rate, nothing saved",
                 ratio(report, "rate.composite/512", "texture.samples", percent), "%", 60),
    };
    for (const std::filesystem::path& volume : volumes) {
        const std::string name = volume.filename().string();
        targets.push_back(at_least("samples saved, " + name, median(report, "saved/" + name), "x", 2));
    }
    return targets;
}

std::vector<BenchTarget> judged_rendering_in_software(const BenchReport& report) {
    return {at_most("lit composite, 256^3 at rest", median(report, "still/256/640x480"), "s", 60e-3)};
}

std::vector<BenchTarget> judged_methods(const BenchReport& report) {
    constexpr double set = 240.0 * 240 * 11;  // A-scans
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
    std::vector<BenchTarget> targets{
        at_most("AO-OCT, 832 x 240 x 240 x 11, device-resident", seconds("ao-oct/832"), "s", 20e-3),
        at_most("AO-OCT, 832 x 240 x 240 x 11, from pinned memory", seconds("ao-oct.arriving/832"), "s", 30e-3),
    };
    for (const TargetSpec& method : methods) {
        const std::string key = method.key, name = method.name;
        targets.push_back(at_least(name, median(report, key + "/2048"), "A-scans/s", method.exact));
        targets.push_back(
            at_least(name + ", precision = fast", median(report, key + ".fast/2048"), "A-scans/s", method.fast));
    }
    return targets;
}

std::vector<BenchTarget> judged_scaling(const BenchReport& report, int gpus) {
    std::vector<BenchTarget> targets;
    const auto judge = [&](const std::string& name, int count, double bound) {
        const std::string of = "gpus." + name + "/";
        targets.push_back(at_least(std::to_string(count) + " GPUs, " + name,
                                   ratio(report, of + std::to_string(count), of + "1"), "x", bound));
    };
    for (const std::string name : {"linear", "nufft", "defr"}) {
        if (gpus >= 2) judge(name, 2, 1.9);
        if (gpus >= 4) judge(name, 4, 3.8);
    }
    return targets;
}

std::vector<BenchTarget> judged_light(const BenchReport& report, const std::vector<std::filesystem::path>& volumes) {
    std::vector<BenchTarget> targets{
        at_most("a path a pixel, 4 bounces, 512^3", median(report, "picture.traced/512/1920x1080"), "s", 4e-3),
        at_most("a path a pixel, 4 bounces, 1024 x 1836 x 1000",
                median(report, "picture.traced/1024x1836x1000/1920x1080"), "s", 8e-3),
        at_most("a changed curve before the first path, 512^3", median(report, "majorants/512"), "s", 0.2e-3),
        at_most("a changed curve before the first path, 1024 x 1836 x 1000", median(report, "majorants/1024x1836x1000"),
                "s", 0.2e-3),
    };
    for (const std::filesystem::path& volume : volumes) {
        const std::string name = volume.filename().string();
        targets.push_back(at_most("noise a second after rest, " + name, median(report, "clean/" + name), "of 255", 1));
        targets.push_back(at_least("32 paths, denoised, " + name, median(report, "psnr/" + name), "dB", 36));
    }
    return targets;
}

std::vector<BenchTarget> judged_movie(const BenchReport& report) {
    return {at_most("turntable of 300 pictures, beside the slower of drawing and encoding alone",
                    median(report, "movie.share"), "x", 1.2)};
}

}  // namespace echolux
