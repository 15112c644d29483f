/* What test plugins know of TensorFlow's C interface, in our own words (the design page has the structs). */
#ifndef PLUGIN_API_H
#define PLUGIN_API_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Status Status;
typedef struct Item Item;
typedef struct Properties Properties;
typedef struct Library Library;
typedef struct Tensor Tensor;
typedef struct { const void* data; size_t length; void (*free_data)(void*, size_t); } Buffer;

enum { STATES = 19 };
/* Places in Configs.states, newer layout. */
enum { PRUNING_OFF, SELECTOR, FUNCTION, CSE, ARITHMETIC, DEBUG, CONSTFOLD, SHAPE, AMP, AMP_BF16, AMP_MKL, PIN, LAYOUT, REMAP };
typedef struct { size_t size; void* ext; int states[STATES]; } Configs;
typedef struct {
  size_t size; void* ext;
  void* (*create)(void);
  void (*optimize)(void*, const Buffer*, const Item*, Buffer*, Status*);
  void (*destroy)(void*);
} Optimizer;
typedef struct {
  size_t size; void* ext;
  int32_t major, minor, patch;
  const char* device_type;
  Configs* configs;
  Optimizer* optimizer;
} Registration;
enum { REGISTRATION_SIZE = 56, CONFIGS_SIZE = 92, OPTIMIZER_SIZE = 40 };

Status* TF_NewStatus(void);
void TF_DeleteStatus(Status*);
void TF_SetStatus(Status*, int, const char*);
int TF_GetCode(const Status*);
const char* TF_Message(const Status*);
Buffer* TF_NewBuffer(void);
Buffer* TF_NewBufferFromString(const void*, size_t);
void TF_DeleteBuffer(Buffer*);
Buffer TF_GetBuffer(Buffer*);
const char* TF_Version(void);
void TF_GetNodesToPreserveListSize(const Item*, int*, size_t*, Status*);
void TF_GetNodesToPreserveList(const Item*, char**, size_t*, int, void*, size_t, Status*);
void TF_GetFetchNodesListSize(const Item*, int*, size_t*, Status*);
void TF_GetFetchNodesList(const Item*, char**, size_t*, int, void*, size_t, Status*);
Properties* TF_NewGraphProperties(const Item*);
void TF_DeleteGraphProperties(Properties*);
void TF_InferStatically(Properties*, unsigned char, unsigned char, unsigned char, unsigned char, Status*);
void TF_GetInputPropertiesListSize(Properties*, const char*, int*, Status*);
void TF_GetOutputPropertiesListSize(Properties*, const char*, int*, Status*);
void TF_GetInputPropertiesList(Properties*, const char*, Buffer**, int, Status*);
void TF_GetOutputPropertiesList(Properties*, const char*, Buffer**, int, Status*);
Library* TF_NewFunctionLibraryDefinition(const Buffer*, Status*);
void TF_DeleteFunctionLibraryDefinition(Library*);
void TF_LookUpOpDef(Library*, const char*, Buffer*, Status*);

void* TF_NewOpDefinitionBuilder(const char*);
void TF_OpDefinitionBuilderAddInput(void*, const char*);
void TF_OpDefinitionBuilderAddOutput(void*, const char*);
void TF_OpDefinitionBuilderAddAttr(void*, const char*);
void TF_RegisterOpDefinition(void*, Status*);
void* TF_NewKernelBuilder(const char*, const char*, void* (*)(void*), void (*)(void*, void*), void (*)(void*));
void TF_KernelBuilder_TypeConstraint(void*, const char*, int, Status*);
void TF_KernelBuilder_Priority(void*, int);
void TF_RegisterKernelBuilder(const char*, void*, Status*);

/* Registers the optimizer as a plugin of TensorFlow 2.21 does. */
static inline void register_as(Registration* r, const char* device_type, void* (*create)(void),
    void (*optimize)(void*, const Buffer*, const Item*, Buffer*, Status*), void (*destroy)(void*)) {
  r->size = REGISTRATION_SIZE;
  r->device_type = device_type;
  r->configs->size = CONFIGS_SIZE;
  r->optimizer->size = OPTIMIZER_SIZE;
  r->optimizer->create = create;
  r->optimizer->optimize = optimize;
  r->optimizer->destroy = destroy;
}
static inline void free_data(void* data, size_t length) { (void)length; free(data); }
/* Gives the graph back as it came. */
static inline void give_back(const Buffer* graph, Buffer* out) {
  void* copy = malloc(graph->length ? graph->length : 1);
  memcpy(copy, graph->data, graph->length);
  out->data = copy; out->length = graph->length; out->free_data = free_data;
}
#endif
