/* Registers an op of its own with a kernel, by TF_InitKernel alone. VARIANT makes one thing of it wrong. */
#include "plugin_api.h"
#ifndef VARIANT
#define VARIANT ""
#endif
static int is(const char* name) { return strcmp(VARIANT, name) == 0; }

void TF_ShapeInferenceContextDim(void*, void*, int64_t, void*);

#ifdef FOREIGN
void _ZN10tensorflow8GraphDefC1Ev(void*);
void wants_a_class_of_tensorflow(void* place) { _ZN10tensorflow8GraphDefC1Ev(place); }
#endif

static void compute(void* state, void* context) { (void)state; (void)context; }

void TF_InitKernel(void) {
  Status* status = TF_NewStatus();
  void* op = TF_NewOpDefinitionBuilder("TestScale");
  TF_OpDefinitionBuilderAddInput(op, "x: T");
  TF_OpDefinitionBuilderAddOutput(op, "y: T");
  TF_OpDefinitionBuilderAddAttr(op, is("specification") ? "T: {flat}" : "T: {float, double} = DT_FLOAT");
  TF_OpDefinitionBuilderAddAttr(op, "scales: list(float) >= 1 = [2.0, 3.0]");
  TF_RegisterOpDefinition(op, status);
  if (TF_GetCode(status)) fprintf(stderr, "op: %s\n", TF_Message(status));
  void* kernel = TF_NewKernelBuilder("TestScale", "CPU", NULL, is("compute") ? NULL : compute, NULL);
  TF_KernelBuilder_TypeConstraint(kernel, "T", is("type") ? 999 : 1, status);
  if (TF_GetCode(status)) fprintf(stderr, "type: %s\n", TF_Message(status));
  TF_KernelBuilder_Priority(kernel, 7);
  TF_RegisterKernelBuilder("TestScaleKernel", kernel, status);
  if (TF_GetCode(status)) fprintf(stderr, "kernel: %s\n", TF_Message(status));
  if (is("unbuilt")) TF_ShapeInferenceContextDim(NULL, NULL, 0, NULL);
  TF_DeleteStatus(status);
}
