/* Writes down everything that it is told about an item, and gives the graph back. PROBE_LOG is the file, PROBE_NODES the
   nodes that it asks about, PROBE_SAVE gets each graph behind its length in eight bytes; PROBE_FAIL is a status code to end
   with. */
#include "plugin_api.h"
static FILE* out(void) {
  static FILE* file;
  if (!file) file = getenv("PROBE_LOG") ? fopen(getenv("PROBE_LOG"), "a") : stderr;
  return file;
}
typedef void (*SizeOf)(const Item*, int*, size_t*, Status*);
typedef void (*ListOf)(const Item*, char**, size_t*, int, void*, size_t, Status*);
static void* create(void) { fprintf(out(), "create\n"); fflush(out()); return malloc(8); }
static void destroy(void* state) { fprintf(out(), "destroy\n"); fflush(out()); free(state); }
static void log_names(const char* what, const Item* item, SizeOf size_of, ListOf list_of) {
  Status* status = TF_NewStatus();
  int count = 0; size_t bytes = 0;
  size_of(item, &count, &bytes, status);
  char** values = calloc(count + 1, sizeof *values); size_t* lengths = calloc(count + 1, sizeof *lengths);
  char* storage = malloc(bytes + 1);
  fprintf(out(), "%s n=%d size=%zu:", what, count, bytes);
  list_of(item, values, lengths, count, storage, bytes, status);
  for (int i = 0; i < count; i++) fprintf(out(), " %.*s", (int)lengths[i], values[i]);
  if (count && bytes > 1) {
    list_of(item, values, lengths, count, storage, 1, status);
    fprintf(out(), " [small storage: %d %s]", TF_GetCode(status), TF_Message(status));
  }
  fprintf(out(), "\n");
  free(values); free(lengths); free(storage); TF_DeleteStatus(status);
}
static void log_properties(Properties* p, const char* side, const char* name, Status* status,
    void (*count_of)(Properties*, const char*, int*, Status*),
    void (*list_of)(Properties*, const char*, Buffer**, int, Status*)) {
  int count = 0;
  count_of(p, name, &count, status);
  fprintf(out(), " %s %s n=%d code=%d", side, name, count, TF_GetCode(status));
  Buffer** buffers = calloc(count + 1, sizeof *buffers);
  for (int i = 0; i < count; i++) buffers[i] = TF_NewBuffer();
  list_of(p, name, buffers, count, status);
  for (int i = 0; i < count; i++) {
    Buffer held = TF_GetBuffer(buffers[i]);
    fprintf(out(), " ");
    for (size_t k = 0; k < held.length; k++) fprintf(out(), "%02x", ((const unsigned char*)held.data)[k]);
    TF_DeleteBuffer(buffers[i]);
  }
  fprintf(out(), "\n");
  free(buffers);
}
static void save(const Buffer* graph, const char* path) {
  FILE* file = fopen(path, "ab");
  fwrite(&graph->length, 8, 1, file); fwrite(graph->data, 1, graph->length, file);
  fclose(file);
}
static void optimize(void* state, const Buffer* graph, const Item* item, Buffer* result, Status* outcome) {
  (void)state;
  Status* status = TF_NewStatus();
  log_names("preserve", item, TF_GetNodesToPreserveListSize, TF_GetNodesToPreserveList);
  log_names("fetch", item, TF_GetFetchNodesListSize, TF_GetFetchNodesList);
  if (getenv("PROBE_SAVE")) save(graph, getenv("PROBE_SAVE"));
  const char* listed = getenv("PROBE_NODES");
  for (int flags = 0; flags < 16; flags += 15) {
    Properties* p = TF_NewGraphProperties(item);
    TF_InferStatically(p, flags & 1, (flags >> 1) & 1, (flags >> 2) & 1, (flags >> 3) & 1, status);
    fprintf(out(), "infer flags=%d code=%d\n", flags, TF_GetCode(status));
    char* names = strdup(listed ? listed : ""); char* rest = NULL;
    for (char* name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
      log_properties(p, "in", name, status, TF_GetInputPropertiesListSize, TF_GetInputPropertiesList);
      log_properties(p, "out", name, status, TF_GetOutputPropertiesListSize, TF_GetOutputPropertiesList);
    }
    free(names);
    TF_DeleteGraphProperties(p);
  }
  Library* library = TF_NewFunctionLibraryDefinition(graph, status);
  const char* ops[] = {"AddV2", "NoSuchOp", "my_func"};
  for (int i = 0; i < 3; i++) {
    Buffer* buffer = TF_NewBuffer();
    TF_LookUpOpDef(library, ops[i], buffer, status);
    fprintf(out(), "opdef %s code=%d msg=%s len=%zu\n", ops[i], TF_GetCode(status), TF_Message(status), TF_GetBuffer(buffer).length);
    TF_DeleteBuffer(buffer);
  }
  TF_DeleteFunctionLibraryDefinition(library);
  TF_DeleteStatus(status);
  fflush(out());
  if (getenv("PROBE_FAIL")) { TF_SetStatus(outcome, atoi(getenv("PROBE_FAIL")), "probe was asked to fail"); return; }
  give_back(graph, result);
}
void TF_InitGraph(Registration* r, Status* status) {
  (void)status;
  fprintf(out(), "init params=%zu v=%d.%d.%d configs=%zu optimizer=%zu\n", r->size, r->major, r->minor, r->patch,
          r->configs->size, r->optimizer->size);
  fflush(out());
  register_as(r, "CPU", create, optimize, destroy);
  r->configs->states[REMAP] = 1;
  r->configs->states[PRUNING_OFF] = 2;
}
