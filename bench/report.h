// What a bench found: figures with their spread, each beside what limits it, and how they stand to the targets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace echolux {

struct Spread {
    double median = 0;
    double low = 0;   // 10th percentile
    double high = 0;  // 90th
    std::int64_t count = 0;
};

// All zero of nothing.
Spread spread_of(std::vector<double> values);

struct BenchRatio {
    std::string of;  // key of the figure that this one is divided by, in the same unit after conversion
    double value = 0;
};

struct BenchFigure {
    std::string key;      // "texture/2048", docs/performance.md lists them
    std::string meaning;  // for people
    std::string unit;     // "A-scans/s", "B/s", "s", ...
    Spread spread;
    std::vector<BenchRatio> ratios;
    std::string skipped;      // why it was not measured; empty: it was
    std::string remark = {};  // what was done otherwise than its name says
};

struct BenchTarget {
    std::string name;
    double reached = 0;
    std::string unit;
    std::string relation;  // ">=" or "<="
    double bound = 0;
    bool met = false;
};

// Medians of figures of one kind against two sizes; 0: not measured.
struct BenchSheet {
    std::string title;
    std::string unit;
    std::vector<std::string> columns;
    struct Row {
        std::string name;
        std::vector<double> values;
    };
    std::vector<Row> rows;
};

// The parts of a system's way while it ran, each beside what it does where nothing else happens.
struct BenchStages {
    std::string title;
    struct Stage {
        std::string name;
        std::string unit;
        double reached = 0;
        std::string of;      // key of the ceiling
        double ceiling = 0;  // 0: not measured

        double share() const { return ceiling > 0 ? reached / ceiling : 0; }
    };
    std::vector<Stage> stages;
};

// A figure of a paper, and ours beside it.
struct BenchComparison {
    std::string paper;     // "Wang 2012"
    std::string what;      // "512 A-scans, 10 iterations"
    std::string hardware;  // "GeForce GTX 580"
    std::string unit;
    double published = 0;
    std::string figure;  // key of ours
    double ours = 0;     // 0: not measured
    double factor = 0;   // how many times better ours is; 0: not measured
};

struct BenchMachine {
    std::string processor;
    int threads = 0;
    std::string backend;  // as the reconstructor calls itself
    std::string remark;   // why it is no GPU; "" where it is one, or a CPU was asked for
    std::string driver;   // of the NVIDIA GPU; "" without one
    std::string display;  // the way from voxels to pictures; "" without a renderer
};

struct BenchReport {
    BenchMachine machine;
    std::string conditions;    // that all figures share, a sentence for people
    std::int64_t a_scans = 0;  // of the volume that most figures of reconstruction are of; 0: there are none
    std::int64_t b_scans = 0;
    std::int64_t block_b_scans = 0;
    bool quick = false;
    std::vector<BenchFigure> ceilings;
    std::vector<BenchFigure> figures;
    std::vector<BenchSheet> sheets;
    std::vector<BenchStages> stages;
    std::vector<BenchComparison> published;
    std::vector<BenchTarget> targets;  // none where sizes are smaller than the targets'

    // Null where there is none, or it was skipped.
    const BenchFigure* find(const std::string& key) const;
};

// For docs/performance.md: the machine, its ceilings, the figures, the targets.
std::string markdown_of(const BenchReport& report);

// The same for a terminal, one line each.
std::string text_of(const BenchReport& report);

// One JSON object, of lines, for programs; docs/performance.md lists the keys.
std::string json_of(const BenchReport& report);

// "1.23 M A-scans/s", "45.6 GB/s", "2.10 ms", "98.5 %": three digits.
std::string spelled_amount(double value, const std::string& unit);

// "149 .. 159 M A-scans/s": low to high, in the median's unit.
std::string spelled_range(const Spread& spread, const std::string& unit);

}  // namespace echolux
