// The program `echolux`.
#include "ui/cli/program.h"

int main(int argc, char** argv) {
    using namespace echolux;
    return run_program(argc, argv,
                       {{
#ifdef ECHOLUX_RENDER
                            add_demo,
#endif
                            add_info,    add_simulate,   add_calibrate,   add_reconstruct, add_batch,
                            add_convert, add_operations, add_attenuation, add_flow,        add_register,
#ifdef ECHOLUX_RENDER
                            add_render,  add_reproduce,  add_figure,      add_segment,
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
                            add_record,  add_bench,      add_validate},
                        hand_over_batch_verb});
}
