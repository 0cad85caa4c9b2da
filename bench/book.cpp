#include "bench/book.h"

#include "compute/error.h"

namespace echolux {

void BenchBook::begin(const std::string& task, std::int64_t count) {
    progress_.begin(task, count, "figures");
}

BenchFigure& BenchBook::figure(const std::string& key, const std::string& meaning, const std::string& unit,
                               const std::function<std::vector<double>()>& values,
                               std::initializer_list<BenchLimit> limits) {
    BenchFigure figure{key, meaning, unit, {}, {}, {}};
    try {
        figure.spread = spread_of(values());
        if (figure.spread.count == 0) figure.skipped = "nothing came of it";
        for (const BenchLimit& limit : limits) {
            const BenchFigure* other = report_.find(limit.of);
            if (other == nullptr || other->spread.median <= 0) continue;
            figure.ratios.push_back({limit.of, figure.spread.median * limit.each / other->spread.median});
        }
    } catch (const Error& error) {
        if (error.code() == ErrorCode::cancelled) throw;
        figure.skipped = error.line();
    }
    report_.figures.push_back(figure);
    progress_.advance(1);
    return report_.figures.back();
}

void BenchBook::ceiling(const Ceiling& ceiling) {
    report_.ceilings.push_back({ceiling.key, ceiling.meaning, ceiling.unit, spread_of(ceiling.rates), {}, {}});
    progress_.advance(1);
}

void BenchBook::skip(const std::string& key, const std::string& meaning, const std::string& reason) {
    report_.figures.push_back({key, meaning, "", {}, {}, reason});
    progress_.advance(1);
}

}  // namespace echolux
