#include "engine/acquire/several_sources.h"

#include <algorithm>
#include <utility>

namespace echolux {

SeveralSources::SeveralSources(std::vector<std::unique_ptr<Source>> parts,
                               Scan (*scan_of_all)(const std::vector<std::unique_ptr<Source>>&))
    : scan_(scan_of_all(parts)) {
    for (auto& part : parts) parts_.push_back({std::move(part), {}});
    capabilities_.sends_when_asked =
        std::ranges::all_of(parts_, [](const Part& part) { return part.source->capabilities().sends_when_asked; });
}

std::string SeveralSources::name() const {
    std::string names;
    for (const Part& part : parts_) names += (names.empty() ? "" : " + ") + part.source->name();
    return names;
}

double SeveralSources::line_rate_hz() const {
    double all = 0;
    for (const Part& part : parts_) all += part.source->line_rate_hz();
    return all;
}

std::vector<std::filesystem::path> SeveralSources::played_files() const {
    std::vector<std::filesystem::path> files;
    for (const Part& part : parts_) {
        for (std::filesystem::path& file : part.source->played_files()) files.push_back(std::move(file));
    }
    return files;
}

void SeveralSources::start() {
    try {
        for (Part& part : parts_) {
            part.waits.reset();
            part.source->start();
        }
    } catch (...) {
        SeveralSources::stop();
        throw;
    }
}

void SeveralSources::stop() noexcept {
    for (Part& part : parts_) part.source->stop();
}

Arrival SeveralSources::next(std::chrono::milliseconds patience) {
    try {
        Arrival arrival = next_of_all(Clock::now() + patience);
        if (arrival.kind == Arrival::Kind::ended) stop();
        return arrival;
    } catch (...) {  // volumes need all of them
        stop();
        throw;
    }
}

std::optional<Arrival> SeveralSources::anything_but_a_block(Part& part, Clock::time_point until) {
    if (part.waits) return {};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    Arrival arrival = part.source->next(std::max(left, std::chrono::milliseconds(0)));
    if (arrival.kind != Arrival::Kind::block) return arrival;
    part.waits = std::move(arrival.block);
    return {};
}

}  // namespace echolux
