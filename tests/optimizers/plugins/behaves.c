/* An optimizer that does what VARIANT says when it gets a graph. */
#include "plugin_api.h"
#include <pthread.h>
#include <unistd.h>
#ifndef VARIANT
#define VARIANT ""
#endif
static int is(const char* name) { return strcmp(VARIANT, name) == 0; }
static int freed, made, gone;
static const Item* kept;
static Properties* kept_properties;

static void count_free(void* data, size_t length) { (void)length; freed++; free(data); }
static void* create(void) { made++; return is("null_create") ? NULL : malloc(16); }
static void destroy(void* state) {
  gone++;
  if (is("counts")) fprintf(stderr, "made %d gone %d freed %d\n", made, gone, freed);
  free(state);
}
static void say(const char* what, Status* status) { fprintf(stderr, "%s: %d %s\n", what, TF_GetCode(status), TF_Message(status)); }

static void* from_thread(void* item) {
  Status* status = TF_NewStatus();
  for (int i = 0; i < 50; i++) {
    int count; size_t size;
    TF_GetFetchNodesListSize(item, &count, &size, status);
    Properties* p = TF_NewGraphProperties(item);
    TF_InferStatically(p, 0, 0, 0, 0, status);
    TF_GetOutputPropertiesListSize(p, "relu", &count, status);
    TF_DeleteGraphProperties(p);
  }
  void* answer = (void*)(intptr_t)(1 + TF_GetCode(status));
  TF_DeleteStatus(status);
  return answer;
}
static void wrong_calls(const Buffer* graph, const Item* item, Status* status) {
  int count = -1; size_t size = 0; char* values[9]; size_t lengths[9]; char storage[99];
  TF_GetFetchNodesListSize(NULL, &count, &size, status); say("null item", status);
  TF_GetFetchNodesListSize((const Item*)status, &count, &size, status); say("not an item", status);
  TF_GetFetchNodesListSize(item, NULL, NULL, status); say("null results", status);
  TF_GetFetchNodesList(item, values, lengths, 0, storage, 99, status); say("too few", status);
  TF_GetFetchNodesList(item, NULL, NULL, 9, NULL, 99, status); say("null lists", status);
  Properties* p = TF_NewGraphProperties(NULL); fprintf(stderr, "properties of null: %d\n", p != NULL);
  TF_InferStatically(p, 0, 0, 0, 0, status); say("infer null", status);
  p = TF_NewGraphProperties(item);
  TF_GetOutputPropertiesListSize(p, "relu", &count, status); fprintf(stderr, "before infer: %d\n", count);
  TF_InferStatically(p, 0, 0, 0, 0, status); say("infer", status);
  TF_InferStatically(p, 0, 0, 0, 0, status); say("infer twice", status);
  TF_GetOutputPropertiesListSize(p, "no such node", &count, status); fprintf(stderr, "unknown: %d\n", count);
  TF_GetOutputPropertiesListSize(p, NULL, &count, status); fprintf(stderr, "null name: %d\n", count);
  TF_GetOutputPropertiesListSize(p, "\xff\xfe", &count, status); fprintf(stderr, "no text: %d\n", count);
  TF_GetOutputPropertiesList(p, "relu", NULL, 1, status); say("null buffers", status);
  TF_DeleteGraphProperties(p); TF_DeleteGraphProperties(p); TF_DeleteGraphProperties(NULL);
  TF_GetOutputPropertiesListSize(p, "relu", &count, status); say("deleted", status);
  Buffer wrong = {"no graph", 8, NULL};
  Library* library = TF_NewFunctionLibraryDefinition(&wrong, status); say("library of garbage", status);
  fprintf(stderr, "library: %d\n", library != NULL);
  library = TF_NewFunctionLibraryDefinition(graph, status);
  TF_LookUpOpDef(library, NULL, NULL, status); say("null op", status);
  TF_LookUpOpDef(library, "AddV2", NULL, status); say("null buffer", status);
  TF_LookUpOpDef((Library*)item, "AddV2", NULL, status); say("not a library", status);
  TF_GetFetchNodesListSize(item, &count, &size, NULL); fprintf(stderr, "null status: %d\n", count);
  TF_DeleteFunctionLibraryDefinition(library);
  TF_DeleteStatus(NULL); TF_DeleteBuffer(NULL); TF_SetStatus(NULL, 3, "nobody");
  TF_SetStatus(status, 0, NULL);
}
static void optimize(void* state, const Buffer* graph, const Item* item, Buffer* out, Status* status) {
  (void)state;
  if (is("nothing")) return;
  if (is("empty")) { out->data = malloc(1); out->length = 0; out->free_data = free_data; return; }
  if (is("garbage")) { static char text[] = "\xff\xff this is no graph"; out->data = text; out->length = sizeof text; return; }
  if (is("null_data")) { out->data = NULL; out->length = 1 << 20; return; }
  if (is("huge")) { out->data = "x"; out->length = (size_t)-1; return; }
  if (is("truncated")) { give_back(graph, out); out->length = out->length * 2 / 3; return; }
  if (is("sleeps")) { sleep(1000); return; }
  if (is("spins")) { for (volatile int i = 0;; i++) {} }
  if (is("aborts")) { fprintf(stderr, "the plugin says why\n"); abort(); }
  if (is("segfaults")) { *(volatile int*)8 = 1; }
  if (is("looks_inside")) { fprintf(stderr, "%c", *(const char*)item); }
  if (is("exits")) exit(0);
  if (is("exits3")) _exit(3);
  if (is("noisy")) { for (int i = 0; i < 20000; i++) fprintf(stderr, "line %d of a plugin that talks\n", i); for (int i = 0; i < 20000; i++) printf("%d and on stdout\n", i); fflush(stdout); }
  if (is("pipes")) for (int fd = 3; fd < 4096; fd++) { if (write(fd, "garbage in every pipe that is open", 34) < 0) continue; }
  if (is("closes")) for (int fd = 0; fd < 4096; fd++) close(fd);
  if (is("forks")) { if (fork() == 0) { sleep(1000); _exit(0); } }
  if (is("status")) { TF_SetStatus(status, atoi(getenv("TEST_CODE")), "asked to"); return; }
  if (is("wrong_calls")) wrong_calls(graph, item, status);
  if (is("thread")) {
    pthread_t threads[3]; void* answer;
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, from_thread, (void*)item);
    for (int i = 0; i < 3; i++) { pthread_join(threads[i], &answer); fprintf(stderr, "thread %d\n", (int)(intptr_t)answer - 1); }
  }
  if (is("item_later")) {
    if (kept) {
      int count = -1; size_t size;
      TF_GetFetchNodesListSize(kept, &count, &size, status); say("item of before", status);
      TF_GetOutputPropertiesListSize(kept_properties, "relu", &count, status); fprintf(stderr, "properties of before: %d\n", count);
      TF_DeleteGraphProperties(kept_properties);
      TF_SetStatus(status, 0, "");
    }
    kept = item;
    kept_properties = TF_NewGraphProperties(item);
    TF_InferStatically(kept_properties, 0, 0, 0, 0, status);
  }
  if (is("leaks")) { TF_NewStatus(); TF_NewBuffer(); TF_NewGraphProperties(item); }
  give_back(graph, out);
  if (is("counts")) out->free_data = count_free;
  if (is("no_deallocator")) out->free_data = NULL;
}
void TF_InitGraph(Registration* r, Status* status) {
  (void)status;
  register_as(r, "CPU", is("no_create") ? NULL : create, optimize, is("no_destroy") ? NULL : destroy);
}
