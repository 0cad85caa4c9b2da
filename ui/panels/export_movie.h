// The part of the export panel that makes movies of the view.
#pragma once

#include <memory>

#include "ui/panels/panel.h"

namespace echolux {

class ExportMovie {
  public:
    ExportMovie();
    ~ExportMovie();

    void draw(const PanelContext& context);

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace echolux
