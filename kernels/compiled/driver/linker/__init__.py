"""A linker, so that none has to be installed: LLVM's relocatable ELF objects in, a shared object out."""
