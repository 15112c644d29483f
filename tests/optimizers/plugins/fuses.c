/* Renames: every op "Relu" in the graph's bytes becomes "Relu6", or by VARIANT a node's name or input is changed.
   A GraphDef is walked as protobuf has it: field 1 of the graph is a node, of which 1 is its name, 2 its op, 3 an input. */
#include "plugin_api.h"
#ifndef VARIANT
#define VARIANT ""
#endif
static int is(const char* name) { return strcmp(VARIANT, name) == 0; }
static size_t put_number(unsigned char* at, uint64_t value) {
  size_t n = 0;
  do { at[n] = value & 127; value >>= 7; if (value) at[n] |= 128; n++; } while (value);
  return n;
}
static uint64_t number(const unsigned char** at) {
  uint64_t value = 0; int shift = 0;
  do { value |= (uint64_t)(**at & 127) << shift; shift += 7; } while (*(*at)++ & 128);
  return value;
}
static size_t put_text(unsigned char* at, int key, const char* text, size_t length) {
  size_t n = put_number(at, key);
  n += put_number(at + n, length);
  memcpy(at + n, text, length);
  return n + length;
}
/* Copies a node, changed; returns the bytes that were written. */
static size_t put_node(unsigned char* to, const unsigned char* at, size_t length) {
  const unsigned char* end = at + length;
  size_t n = 0;
  while (at < end) {
    const unsigned char* first = at;
    int key = (int)number(&at);
    uint64_t size = number(&at);
    const char* text = (const char*)at;
    at += size;
    if (key == 0x12 && size == 4 && !memcmp(text, "Relu", 4) && is("")) n += put_text(to + n, key, "Relu6", 5);
    else if (key == 0x12 && size == 4 && !memcmp(text, "Relu", 4) && is("unknown_op")) n += put_text(to + n, key, "NoSuchOp", 8);
    else if (key == 0x0a && size == 4 && !memcmp(text, "relu", 4) && is("loses_fetch")) n += put_text(to + n, key, "elsewhere", 9);
    else if (key == 0x1a && is("wrong_input")) n += put_text(to + n, key, "nobody", 6);
    else { memcpy(to + n, first, at - first); n += at - first; }
  }
  return n;
}
static void optimize(void* state, const Buffer* graph, const Item* item, Buffer* out, Status* status) {
  (void)state; (void)item; (void)status;
  const unsigned char* at = graph->data; const unsigned char* end = at + graph->length;
  unsigned char* made = malloc(graph->length * 2 + 4096); unsigned char* node = malloc(graph->length * 2 + 4096);
  size_t n = 0;
  while (at < end) {
    const unsigned char* first = at;
    int key = (int)number(&at);
    uint64_t size = number(&at);
    if (key == 0x0a) n += put_text(made + n, key, (const char*)node, put_node(node, at, size));
    else { memcpy(made + n, first, at + size - first); n += at + size - first; }
    at += size;
  }
  free(node);
  out->data = made; out->length = n; out->free_data = free_data;
}
void TF_InitGraph(Registration* r, Status* status) { (void)status; register_as(r, "CPU", NULL, optimize, NULL); }
