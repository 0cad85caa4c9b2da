// The program `echolux`.
#include "ui/cli/program.h"

int main(int argc, char** argv) {
    using namespace echolux;
    return run_program(argc, argv,
                       {{
#ifdef ECHOLUX_RENDER
                            add_demo,
#endif
                            add_info, add_batch, add_operations,
#ifdef ECHOLUX_RENDER
#ifdef ECHOLUX_WINDOW
                            add_view,
#ifdef ECHOLUX_NET
                            add_serve,
#endif
#endif
#ifdef ECHOLUX_NET
                            add_ctl,
#endif
                            add_live,
#endif
                            add_record, add_bench},
                        hand_over_batch});
}
