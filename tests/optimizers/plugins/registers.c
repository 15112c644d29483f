/* Registers an optimizer in the way that VARIANT says; the graph comes back as it was. */
#include "plugin_api.h"
#ifndef VARIANT
#define VARIANT ""
#endif
static int is(const char* name) { return strcmp(VARIANT, name) == 0; }
static void optimize(void* state, const Buffer* graph, const Item* item, Buffer* out, Status* status) {
  (void)state; (void)item; (void)status;
  give_back(graph, out);
}
static struct { Configs known; int more[32]; } own_configs;
void TF_InitGraph(Registration* r, Status* status) {
  register_as(r, "TEST_NPU", NULL, optimize, NULL);
  if (is("refuses")) TF_SetStatus(status, 13, "this plugin refuses");
  if (is("size0")) r->size = 0;
  if (is("configs_size0")) r->configs->size = 0;
  if (is("optimizer_size0")) r->optimizer->size = 0;
  if (is("no_device")) r->device_type = NULL;
  if (is("empty_device")) r->device_type = "";
  if (is("no_optimize")) r->optimizer->optimize = NULL;
  if (is("short_optimizer")) r->optimizer->size = 24;
  if (is("null_structs")) { r->configs = NULL; r->optimizer = NULL; }
  if (is("major")) r->major = 1;
  if (is("minor")) r->minor = 7;
  if (is("wrong_state")) r->configs->states[LAYOUT] = 77;
  if (is("configs88")) { r->configs->size = 88; r->configs->states[LAYOUT - 1] = 1; r->configs->states[REMAP - 1] = 2; }
  if (is("configs92")) { r->configs->states[LAYOUT] = 1; r->configs->states[REMAP] = 2; }
  if (is("configs20")) { r->configs->size = 20; r->configs->states[PRUNING_OFF] = 2; r->configs->states[SELECTOR] = 1; }
  if (is("long200")) { /* a newer plugin knows longer structs, and writes all of them */
    memset((char*)r->configs + 92, 1, 108); r->configs->size = 200;
    memset((char*)r->optimizer + 40, 1, 160); r->optimizer->size = 200;
    memset((char*)r + 56, 1, 144); r->size = 200;
    r->configs->states[LAYOUT] = 1;
  }
  if (is("own_structs")) {
    own_configs.known.size = sizeof own_configs; own_configs.known.states[CSE] = 1;
    r->configs = &own_configs.known;
  }
  if (is("aborts")) abort();
}
