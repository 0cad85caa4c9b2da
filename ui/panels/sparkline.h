// Small curve of a figure over the last minute.
#pragma once

#include <deque>
#include <string>

#include "ui/panels/panel.h"

namespace echolux {

class RecentValues {
  public:
    // Adds a value, at most twice per second. Values older than a minute are removed.
    void add(double now_s, double value);

    double max() const;

    struct At {
        double time_s, value;
    };
    const std::deque<At>& values() const { return values_; }

  private:
    std::deque<At> values_;
};

// Draws "name   [curve]   value unit". `name` and `unit` are printed muted.
void sparkline(const PanelContext& context, const char* name, const RecentValues& recent, double now_s,
               const std::string& value, const char* unit);

}  // namespace echolux
