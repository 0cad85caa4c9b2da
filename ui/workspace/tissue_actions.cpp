// Actions for filtered and stabilised volumes and for surfaces between layers.
#include "ui/workspace/filtering.h"
#include "ui/workspace/layering.h"
#include "ui/workspace/standard_actions.h"

namespace echolux {

void add_tissue_actions(Workspace& work) {
    add_switch(work, "filter.show", "Show the filtered volume", "Tissue", {}, "filter.shown");
    add_switch(work, "registration.show", "Show the stabilised volume", "Tissue", {}, "registration.shown");
    Actions& actions = work.actions();
    actions.add({"registration.find",
                 "Measure the motion of B-scans",
                 "Tissue",
                 {},
                 [&work] { work.filtering().measure(work); },
                 [&work] { return work.filtering().can_measure(work); },
                 {}});
    actions.add({"layers.search",
                 "Find layers",
                 "Tissue",
                 {},
                 [&work] { work.layering().find(work); },
                 [&work] { return work.layering().can_find(work); },
                 {}});
    actions.add({"layers.by_hand",
                 "Edit surfaces by hand",
                 "Tissue",
                 {},
                 [&work] { work.layering().edits = !work.layering().edits; },
                 [&work] { return work.layering().surfaces() != nullptr; },
                 [&work] { return work.layering().edits; }});
}

}  // namespace echolux
