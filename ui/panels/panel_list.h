// Factories of the panels, one panel per source file. panels.cpp lists them in order.
#pragma once

#include <memory>
#include <string_view>

#include "ui/panels/panel.h"

namespace echolux {

// Panel with constant id, title and side.
class NamedPanel : public Panel {
  public:
    NamedPanel(std::string_view id, std::string_view title, PanelSide side) : id_(id), title_(title), side_(side) {}

    std::string_view id() const override { return id_; }
    std::string_view title() const override { return title_; }
    PanelSide side() const override { return side_; }

  private:
    std::string_view id_, title_;  // of string literals
    PanelSide side_;
};

std::unique_ptr<Panel> make_source_panel();
std::unique_ptr<Panel> make_processing_panel();
std::unique_ptr<Panel> make_flow_panel();
std::unique_ptr<Panel> make_statistics_panel();
std::unique_ptr<Panel> make_log_panel();
std::unique_ptr<Panel> make_overlays_panel();
std::unique_ptr<Panel> make_stabilise_panel();
std::unique_ptr<Panel> make_filters_panel();
std::unique_ptr<Panel> make_surfaces_panel();
std::unique_ptr<Panel> make_view_panel();
std::unique_ptr<Panel> make_transfer_panel();
std::unique_ptr<Panel> make_measure_panel();
std::unique_ptr<Panel> make_export_panel();
std::unique_ptr<Panel> make_time_panel();
std::unique_ptr<Panel> make_keys_panel();

}  // namespace echolux
