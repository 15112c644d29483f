"""What compiles kernels once per machine, keeps them and runs them."""
