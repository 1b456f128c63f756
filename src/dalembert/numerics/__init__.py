"""Native code: tape → LLVM text → machine code; batches; dense solves; the object cache."""
