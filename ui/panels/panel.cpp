// List of all panels in their order from top to bottom.
#include "ui/panels/panel.h"

namespace echolux {

std::vector<std::unique_ptr<Panel>> make_panels() {
    std::vector<std::unique_ptr<Panel>> panels;
    panels.push_back(make_source_panel());
    panels.push_back(make_processing_panel());
    panels.push_back(make_statistics_panel());
    panels.push_back(make_log_panel());
    panels.push_back(make_flow_panel());
    panels.push_back(make_overlays_panel());
    panels.push_back(make_view_panel());
    panels.push_back(make_transfer_panel());
    panels.push_back(make_measure_panel());
    panels.push_back(make_stabilise_panel());
    panels.push_back(make_filters_panel());
    panels.push_back(make_surfaces_panel());
    panels.push_back(make_export_panel());
    panels.push_back(make_operation_panel());
    panels.push_back(make_time_panel());
    panels.push_back(make_keys_panel());
    return panels;
}

}  // namespace echolux
