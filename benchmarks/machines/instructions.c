/* A plugin of qemu's user mode: counts the guest's instructions.

   close(-777) in the guest prints how many there were since the last one. It needs no header of qemu's: what
   it uses of the interface, version 1, is declared here. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

enum { CLOSE_ON_ARM = 57, MARK = -777, ADD = 0 };

struct block;
typedef void (*on_block)(uint64_t plugin, struct block *);
typedef void (*on_call)(uint64_t plugin, unsigned cpu, int64_t number, uint64_t first, uint64_t, uint64_t, uint64_t, uint64_t,
                        uint64_t, uint64_t, uint64_t);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t plugin, on_block);
void qemu_plugin_register_vcpu_tb_exec_inline(struct block *, int operation, void *counter, uint64_t by);
void qemu_plugin_register_vcpu_syscall_cb(uint64_t plugin, on_call);
size_t qemu_plugin_tb_n_insns(const struct block *);

int qemu_plugin_version = 1;
static uint64_t count;

static void translated(uint64_t plugin, struct block *block) {
  qemu_plugin_register_vcpu_tb_exec_inline(block, ADD, &count, qemu_plugin_tb_n_insns(block));
}

static void called(uint64_t plugin, unsigned cpu, int64_t number, uint64_t first, uint64_t b, uint64_t c, uint64_t d,
                   uint64_t e, uint64_t f, uint64_t g, uint64_t h) {
  if (number == CLOSE_ON_ARM && (int)first == MARK) {
    fprintf(stderr, "instructions %" PRIu64 "\n", count);
    count = 0;
  }
}

int qemu_plugin_install(uint64_t plugin, const void *info, int argc, char **argv) {
  qemu_plugin_register_vcpu_tb_trans_cb(plugin, translated);
  qemu_plugin_register_vcpu_syscall_cb(plugin, called);
  return 0;
}
