/* Kernels: TestScale multiplies by the attribute "factor" and can be made to misbehave by "mode"; TestAsk reads all kinds of
   attributes and writes them down. */
#include "plugin_api.h"
#include <stdbool.h>
typedef struct { const char* data; size_t len; } View;
int TF_NumInputs(void*);
int TF_NumOutputs(void*);
void TF_GetInput(void*, int, Tensor**, Status*);
void TF_SetOutput(void*, int, const Tensor*, Status*);
Tensor* TF_AllocateOutput(void*, int, int, const int64_t*, int, size_t, Status*);
Tensor* TF_AllocateTemp(void*, int, const int64_t*, int, void*, Status*);
Tensor* TF_ForwardInputOrAllocateOutput(void*, const int*, int, int, const int64_t*, int, int*, Status*);
int TF_ExpectedOutputDataType(void*, int);
void TF_OpKernelContext_Failure(void*, Status*);
void TF_OpKernelConstruction_Failure(void*, Status*);
void TF_OpKernelConstruction_GetAttrFloat(void*, const char*, float*, Status*);
void TF_OpKernelConstruction_GetAttrInt64(void*, const char*, int64_t*, Status*);
void TF_OpKernelConstruction_GetAttrInt32List(void*, const char*, int32_t*, int, Status*);
void TF_OpKernelConstruction_GetAttrSize(void*, const char*, int32_t*, int32_t*, Status*);
void TF_OpKernelConstruction_GetAttrString(void*, const char*, char*, size_t, Status*);
void TF_OpKernelConstruction_GetAttrStringList(void*, const char*, char**, size_t*, int, void*, size_t, Status*);
void TF_OpKernelConstruction_GetAttrType(void*, const char*, int*, Status*);
void TF_OpKernelConstruction_GetAttrBool(void*, const char*, unsigned char*, Status*);
void TF_OpKernelConstruction_GetAttrTensor(void*, const char*, Tensor**, Status*);
void TF_OpKernelConstruction_GetAttrTensorShape(void*, const char*, int64_t*, size_t, Status*);
bool TF_OpKernelConstruction_HasAttr(void*, const char*, Status*);
View TF_OpKernelConstruction_GetName(void*);
Tensor* TF_AllocateTensor(int, const int64_t*, int, size_t);
void TF_DeleteTensor(Tensor*);
int TF_TensorType(const Tensor*);
int TF_NumDims(const Tensor*);
int64_t TF_Dim(const Tensor*, int);
size_t TF_TensorByteSize(const Tensor*);
void* TF_TensorData(const Tensor*);
int64_t TF_TensorElementCount(const Tensor*);
bool TF_TensorIsAligned(const Tensor*);
void TF_KernelBuilder_HostMemory(void*, const char*);

typedef struct { float factor; int64_t mode; Tensor* kept; } State;
enum { ALLOCATE, FORWARD, OWN_TENSOR, FAILS, NO_OUTPUT, WRONG_INDEX, WRONG_SHAPE, KEEPS, TEMPORARY };

static void* create(void* construction) {
  Status* status = TF_NewStatus();
  State* state = calloc(1, sizeof *state);
  TF_OpKernelConstruction_GetAttrFloat(construction, "factor", &state->factor, status);
  TF_OpKernelConstruction_GetAttrInt64(construction, "mode", &state->mode, status);
  if (state->mode < 0) { TF_SetStatus(status, 3, "mode must not be negative"); TF_OpKernelConstruction_Failure(construction, status); }
  TF_DeleteStatus(status);
  return state;
}
static void delete(void* held) {
  State* state = held;
  TF_DeleteTensor(state->kept);
  if (getenv("TEST_SAY")) { fprintf(stderr, "deleted %g\n", state->factor); fflush(stderr); }
  free(state);
}
static void compute(void* held, void* context) {
  State* state = held;
  Status* status = TF_NewStatus();
  Tensor *x = NULL, *y = NULL;
  TF_GetInput(context, state->mode == WRONG_INDEX ? 7 : 0, &x, status);
  if (TF_GetCode(status)) { TF_OpKernelContext_Failure(context, status); TF_DeleteStatus(status); return; }
  int64_t dims[16]; int rank = TF_NumDims(x), from = -1, first = 0;
  for (int i = 0; i < rank; i++) dims[i] = TF_Dim(x, i);
  if (state->mode == FAILS || !TF_TensorIsAligned(x)) { TF_SetStatus(status, 9, "not today"); TF_OpKernelContext_Failure(context, status); }
  else if (state->mode == NO_OUTPUT) {}
  else {
    if (state->mode == WRONG_SHAPE) { dims[0] = -5; rank = 1; }
    if (state->mode == FORWARD) y = TF_ForwardInputOrAllocateOutput(context, &first, 1, 0, dims, rank, &from, status);
    else if (state->mode == OWN_TENSOR) y = TF_AllocateTensor(TF_TensorType(x), dims, rank, TF_TensorByteSize(x));
    else if (state->mode == TEMPORARY) y = TF_AllocateTemp(context, TF_TensorType(x), dims, rank, NULL, status);
    else y = TF_AllocateOutput(context, 0, TF_ExpectedOutputDataType(context, 0), dims, rank, TF_TensorByteSize(x), status);
    if (TF_GetCode(status)) TF_OpKernelContext_Failure(context, status);
    else {
      const float* in = TF_TensorData(x); float* out = TF_TensorData(y);
      for (int64_t i = 0; i < TF_TensorElementCount(x); i++) out[i] = in[i] * state->factor;
      if (state->mode == OWN_TENSOR || state->mode == TEMPORARY) TF_SetOutput(context, 0, y, status);
    }
  }
  if (state->mode == KEEPS && !state->kept) state->kept = x; else TF_DeleteTensor(x);
  TF_DeleteTensor(y);
  TF_DeleteStatus(status);
}
static void* ask(void* c) {
  Status* s = TF_NewStatus();
  View name = TF_OpKernelConstruction_GetName(c);
  fprintf(stderr, "name %.*s\n", (int)name.len, name.data);
  int32_t list, total, numbers[4] = {0}; int type = 0; unsigned char flag = 9; char text[32] = {0}, storage[32]; char* values[4]; size_t lengths[4];
  const char* all[] = {"s", "ss", "is", "none", "t", "shape", "b", "missing"};
  for (int i = 0; i < 8; i++) {
    list = total = 77;
    TF_OpKernelConstruction_GetAttrSize(c, all[i], &list, &total, s);
    fprintf(stderr, "%s %d %d code %d\n", all[i], list, total, TF_GetCode(s));
  }
  TF_OpKernelConstruction_GetAttrString(c, "s", text, 31, s); fprintf(stderr, "s %s\n", text);
  TF_OpKernelConstruction_GetAttrStringList(c, "ss", values, lengths, 4, storage, 32, s);
  fprintf(stderr, "ss %.*s %.*s\n", (int)lengths[0], values[0], (int)lengths[1], values[1]);
  TF_OpKernelConstruction_GetAttrStringList(c, "ss", values, lengths, 4, storage, 2, s); fprintf(stderr, "small storage %d\n", TF_GetCode(s));
  TF_OpKernelConstruction_GetAttrInt32List(c, "is", numbers, 4, s); fprintf(stderr, "is %d %d %d\n", numbers[0], numbers[1], numbers[2]);
  TF_OpKernelConstruction_GetAttrType(c, "T", &type, s); fprintf(stderr, "T %d\n", type);
  TF_OpKernelConstruction_GetAttrBool(c, "b", &flag, s); fprintf(stderr, "b %d\n", flag);
  TF_OpKernelConstruction_GetAttrBool(c, "s", &flag, s); fprintf(stderr, "b of s %d\n", TF_GetCode(s));
  Tensor* t = NULL; TF_OpKernelConstruction_GetAttrTensor(c, "t", &t, s);
  fprintf(stderr, "t %d %d %g\n", TF_TensorType(t), (int)TF_Dim(t, 0), ((float*)TF_TensorData(t))[1]); TF_DeleteTensor(t);
  int64_t dims[4]; TF_OpKernelConstruction_GetAttrTensorShape(c, "shape", dims, 4, s); fprintf(stderr, "shape %d %d\n", (int)dims[0], (int)dims[1]);
  fprintf(stderr, "has %d %d\n", TF_OpKernelConstruction_HasAttr(c, "s", s), TF_OpKernelConstruction_HasAttr(c, "missing", s));
  TF_DeleteStatus(s);
  return create(c);
}
static void add_kernel(const char* op, void* (*make)(void*), void (*run)(void*, void*), int type, int priority) {
  Status* status = TF_NewStatus();
  void* kernel = TF_NewKernelBuilder(op, "CPU", make, run, delete);
  TF_KernelBuilder_TypeConstraint(kernel, "T", type, status);
  TF_KernelBuilder_HostMemory(kernel, "x");
  TF_KernelBuilder_Priority(kernel, priority);
  TF_RegisterKernelBuilder(op, kernel, status);
  TF_DeleteStatus(status);
}
static void never(void* state, void* context) {
  Status* status = TF_NewStatus();
  (void)state;
  TF_SetStatus(status, 13, "the kernel of lower priority ran");
  TF_OpKernelContext_Failure(context, status);
  TF_DeleteStatus(status);
}
static void add_op(const char* name, const char** attributes) {
  Status* status = TF_NewStatus();
  void* op = TF_NewOpDefinitionBuilder(name);
  TF_OpDefinitionBuilderAddInput(op, "x: T");
  TF_OpDefinitionBuilderAddOutput(op, "y: T");
  for (; *attributes; attributes++) TF_OpDefinitionBuilderAddAttr(op, *attributes);
  TF_RegisterOpDefinition(op, status);
  if (TF_GetCode(status)) fprintf(stderr, "%s\n", TF_Message(status));
  TF_DeleteStatus(status);
}
void TF_InitKernel(void) {
  const char* scale[] = {"T: {float, double, string} = DT_FLOAT", "factor: float = 2.0", "mode: int = 0", NULL};
  const char* asked[] = {"T: {float} = DT_FLOAT", "factor: float = 1.0", "mode: int = 0", "s: string = 'text'", "ss: list(string) = ['a', 'bcd']",
    "is: list(int) = [5, -6, 7]", "none: list(int) = []", "b: bool = true", "shape: shape = { dim { size: 3 } dim { size: -1 } }",
    "t: tensor = { dtype: DT_FLOAT tensor_shape { dim { size: 2 } } float_val: 1.5 float_val: 2.5 }", NULL};
  add_op("TestScale", scale);
  add_op("TestAsk", asked);
  add_kernel("TestScale", create, never, 1, 0);
  add_kernel("TestScale", create, compute, 1, 5);
  add_kernel("TestScale", create, compute, 7, 5);
  add_kernel("TestScale", create, never, 1, 1);
  add_kernel("TestAsk", ask, compute, 1, 0);
  add_kernel("Relu", create, compute, 1, 0); /* an op of TensorFlow's: with the defaults of no attribute, all becomes 0 */
}
